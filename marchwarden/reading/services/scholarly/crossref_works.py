"""Crossref's API (JSON) → records of works, and the page of one (https://api.crossref.org/swagger-ui/index.html)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from marchwarden.observations import Failure, Page, Reference, Work
from marchwarden.reading.services.scholarly.work_records import (
    WorkRecord,
    abstract_blocks,
    day_of,
    no_answer,
    object_in,
    objects_in,
    page_of_records,
    text_in,
    title_line,
)
from marchwarden.reading.works.notices import notices_of
from marchwarden.reading.works.references import reference_of
from marchwarden.text.works import DOI_RESOLVER, doi_of, identified

# Types whose works are reviewed by rule, and those that never are. Books, reports and data say nothing of it.
_REVIEWED = frozenset({"journal-article", "proceedings-article"})
_UNREVIEWED = frozenset({"posted-content"})
# Relations between the forms of one work.
_OTHER_FORMS = ("is-preprint-of", "has-preprint", "is-version-of", "has-version", "is-identical-to", "is-same-as")


def crossref_record(message: Mapping[str, Any]) -> WorkRecord | None:
    """Return the record of one work; None for what is no work with a DOI and a title."""
    doi, title = text_in(message, "DOI"), next(map(title_line, _listed(message, "title")), "")
    if not doi or not title:
        return None
    authors = (
        ", ".join(filter(None, (text_in(each, "family"), text_in(each, "given")))) or text_in(each, "name")
        for each in objects_in(message.get("author"))
    )
    days: list[list[object]] = []
    for name in ("published", "published-online", "issued", "posted"):
        parts = object_in(message, name).get("date-parts")
        first = parts[0] if isinstance(parts, list) and parts else None
        if isinstance(first, list) and first and first[0]:
            days.append(first)
    kind = message.get("type")
    institution = next((text_in(each, "name") for each in objects_in(message.get("institution"))), None)
    notices = tuple(notices_of(message))
    # Links alone say nothing of access.
    licences = (text_in(each, "URL") or "" for each in objects_in(message.get("license")))
    is_open = any("creativecommons.org" in licence for licence in licences)
    copies = [text_in(link, "URL") for link in objects_in(message.get("link"))] if is_open else []
    relations = object_in(message, "relation")
    forms = [
        each for name in _OTHER_FORMS for each in objects_in(relations.get(name)) if each.get("id-type") == "doi"
    ]
    same_as = [found.lower() for each in forms if (found := doi_of(text_in(each, "id") or ""))]
    return WorkRecord(
        source="crossref",
        url=f"{DOI_RESOLVER}{doi.lower()}",
        title=title,
        work=identified(
            Work(
                doi=doi,
                authors=tuple(filter(None, authors)),
                year=next((parts[0] for parts in days if isinstance(parts[0], int)), None),
                venue=next(map(title_line, _listed(message, "container-title")), None) or institution,
                is_peer_reviewed=True if kind in _REVIEWED else False if kind in _UNREVIEWED else None,
                same_as=tuple(f"doi:{other}" for other in same_as if other != doi.lower()),
            )
        ),
        abstract=abstract_blocks(message.get("abstract")),
        published=next(filter(None, map(day_of, days)), None),
        standing="retracted" if any(notice.kind == "retracted" for notice in notices) else None,
        open_copies=tuple(filter(None, copies)),
        references=tuple(map(_reference, objects_in(message.get("reference")))),
        notices=notices,
    )


def _reference(entry: Mapping[str, Any]) -> Reference:
    title = text_in(entry, "article-title") or text_in(entry, "volume-title")
    parts = (text_in(entry, name) for name in ("author", "year", "article-title", "volume-title", "journal-title"))
    words = text_in(entry, "unstructured") or " ".join(filter(None, parts))
    return reference_of(words, work=Work(doi=text_in(entry, "DOI")), title=title)


def crossref_items(body: bytes) -> list[WorkRecord] | None:
    """Return the works of an answer, of a search or of one work; None where it is no answer of Crossref's."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    message = answer.get("message") if isinstance(answer, dict) else None
    if not isinstance(message, dict):
        return None
    items = objects_in(message["items"]) if "items" in message else [message]
    return [record for item in items if (record := crossref_record(item))]


def read_crossref(page: Page, body: bytes) -> Page | Failure:
    """Read the record of one work: its title and abstract."""
    works = crossref_items(body)
    return no_answer("Crossref") if works is None else page_of_records(page, works)


def _listed(message: Mapping[str, Any], name: str) -> Iterator[object]:
    value = message.get(name)
    return (each for each in (value if isinstance(value, list) else [value]) if each)
