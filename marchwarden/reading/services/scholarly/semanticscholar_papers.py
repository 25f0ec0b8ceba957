"""Semantic Scholar's API (JSON) → records of papers, and the page of one (https://api.semanticscholar.org/api-docs/).

It says nothing of retractions, so that a paper's standing stays unknown here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from marchwarden.observations import Failure, Page, Work
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.services.scholarly.work_records import (
    WorkRecord,
    abstract_blocks,
    no_answer,
    object_in,
    objects_in,
    page_of_records,
    text_in,
    title_line,
)
from marchwarden.text.works import identified

# Fields that a request asks for.
FIELDS = "title,abstract,authors,year,venue,publicationDate,publicationTypes,externalIds,openAccessPdf,url"


def semanticscholar_papers(body: bytes) -> list[WorkRecord] | None:
    """Return the papers of an answer, of a search or of one paper; None where it is no answer of the service's."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or not ("data" in answer or "paperId" in answer or answer.get("total") == 0):
        return None
    items = [answer] if "paperId" in answer else objects_in(answer.get("data"))
    # References and citations hold the paper one level below.
    papers = (object_in(item, "citedPaper") or object_in(item, "citingPaper") or item for item in items)
    return [record for item in papers if (record := _record(item))]


def read_semanticscholar(page: Page, body: bytes) -> Page | Failure:
    """Read the record of one paper: its title and abstract."""
    papers = semanticscholar_papers(body)
    return no_answer("Semantic Scholar") if papers is None else page_of_records(page, papers)


def _record(item: Mapping[str, Any]) -> WorkRecord | None:
    title, identifier = title_line(item.get("title")), text_in(item, "paperId")
    if not title or not identifier:
        return None
    ids, year = object_in(item, "externalIds"), item.get("year")
    types = item.get("publicationTypes")
    is_article = isinstance(types, list) and bool({"JournalArticle", "Conference", "Review"} & set(map(str, types)))
    work = identified(
        Work(
            doi=text_in(ids, "DOI"),
            arxiv=text_in(ids, "ArXiv"),
            pmid=text_in(ids, "PubMed"),
            authors=tuple(name for each in objects_in(item.get("authors")) if (name := text_in(each, "name"))),
            year=year if isinstance(year, int) else None,
            venue=text_in(item, "venue") or text_in(object_in(item, "journal"), "name"),
        )
    )
    # The service calls preprints journal articles too; a DOI besides arXiv's own is that of a publisher.
    is_preprint = bool(work.arxiv) and not work.doi and (work.venue or "arxiv").casefold().startswith("arxiv")
    copy = text_in(object_in(item, "openAccessPdf"), "url")
    return WorkRecord(
        source="semanticscholar",
        url=f"https://www.semanticscholar.org/paper/{identifier}",
        title=title,
        work=Work(**{**vars(work), "is_peer_reviewed": False if is_preprint else True if is_article else None}),
        abstract=abstract_blocks(item.get("abstract")),
        published=as_date(text_in(item, "publicationDate") or ""),
        open_copies=(copy,) if copy else (),
    )
