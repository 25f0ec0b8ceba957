"""OpenAlex's API (JSON) → records of works, and the page of one (https://docs.openalex.org/api-entities/works)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from marchwarden.observations import Failure, Page, Work
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.services.scholarly.work_records import (
    WorkRecord,
    no_answer,
    object_in,
    objects_in,
    page_of_records,
    text_in,
    title_line,
)
from marchwarden.reading.text_blocks import Block
from marchwarden.text.invisible import visible_line
from marchwarden.text.works import DOI_RESOLVER, arxiv_paper_of, identified

# Positions of words in an abstract, beyond which an index is damaged. A guess.
_MAX_POSITION = 20_000


def openalex_works(body: bytes) -> list[WorkRecord] | None:
    """Return the works of an answer, of a search or of one work; None where it is no answer of OpenAlex's."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or not ("results" in answer or "display_name" in answer or "id" in answer):
        return None
    items = objects_in(answer["results"]) if "results" in answer else [answer]
    return [record for item in items if (record := _record(item))]


def read_openalex(page: Page, body: bytes) -> Page | Failure:
    """Read the record of one work: its title and abstract."""
    works = openalex_works(body)
    return no_answer("OpenAlex") if works is None else page_of_records(page, works)


def _record(item: Mapping[str, Any]) -> WorkRecord | None:
    title, address = title_line(item.get("display_name") or item.get("title")), text_in(item, "id")
    if not title or not address:
        return None
    source = object_in(object_in(item, "primary_location"), "source")
    ids = object_in(item, "ids")
    year = item.get("publication_year")
    doi = text_in(item, "doi")
    locations = objects_in(item.get("locations"))
    papers = (
        arxiv_paper_of((text_in(each, "landing_page_url") or "").replace("http:", "https:")) for each in locations
    )
    paper = next(filter(None, papers), None)
    is_repository = source.get("type") == "repository" or item.get("type") == "preprint"
    is_article = source.get("type") in ("journal", "conference")
    abstract = _abstract(item.get("abstract_inverted_index"))
    work = identified(Work(doi=doi))
    authors = (
        text_in(object_in(each, "author"), "display_name") or text_in(each, "raw_author_name")
        for each in objects_in(item.get("authorships"))
    )
    copies = (
        text_in(location, kind)
        for location in (object_in(item, "best_oa_location"), *locations)
        if location.get("is_oa") is True
        for kind in ("pdf_url", "landing_page_url")
    )
    return WorkRecord(
        source="openalex",
        url=f"{DOI_RESOLVER}{work.doi}" if work.doi else address,
        title=title,
        work=identified(
            Work(
                doi=doi,
                arxiv=paper.id if paper else None,
                pmid=(text_in(ids, "pmid") or "").rpartition("/")[2] or None,
                authors=tuple(filter(None, authors)),
                year=year if isinstance(year, int) else None,
                venue=text_in(source, "display_name"),
                is_peer_reviewed=False if is_repository else True if is_article else None,
            )
        ),
        abstract=(Block("paragraph", abstract),) if abstract else (),
        published=as_date(text_in(item, "publication_date") or ""),
        standing="retracted" if item.get("is_retracted") is True else None,
        open_copies=tuple(dict.fromkeys(filter(None, copies))),
    )


def _abstract(index: object) -> str:
    """Return the words of an inverted index in their order."""
    if not isinstance(index, dict):
        return ""
    words = {
        place: word
        for word, places in index.items()
        for place in (places if isinstance(places, list) else ())
        if isinstance(place, int) and 0 <= place <= _MAX_POSITION
    }
    return visible_line(" ".join(words[place] for place in sorted(words)))
