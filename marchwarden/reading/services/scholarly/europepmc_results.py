"""Europe PMC's search (JSON, `resultType=core`) → records of articles, and the page of one
(https://europepmc.org/RestfulWebService)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from marchwarden.observations import Failure, Notice, Page, Work
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
from marchwarden.reading.works.notices import listed_notice
from marchwarden.text.works import identified


def europepmc_results(body: bytes) -> list[WorkRecord] | None:
    """Return the articles of an answer; None where it is no answer of Europe PMC's."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or not isinstance(answer.get("resultList"), dict):
        return None
    return [record for each in objects_in(answer["resultList"].get("result")) if (record := _record(each))]


def read_europepmc(page: Page, body: bytes) -> Page | Failure:
    """Read the answer for one article: its title and abstract."""
    results = europepmc_results(body)
    return no_answer("Europe PMC") if results is None else page_of_records(page, results)


def _record(result: Mapping[str, Any]) -> WorkRecord | None:
    identifier, archive, title = text_in(result, "id"), text_in(result, "source"), title_line(result.get("title"))
    if not identifier or not archive or not title:
        return None
    listed = object_in(result, "pubTypeList").get("pubType")
    types = {each.casefold() for each in (listed if isinstance(listed, list) else [listed]) if isinstance(each, str)}
    types |= {each.strip().casefold() for each in (text_in(result, "pubType") or "").split(";")}
    is_preprint = archive == "PPR" or "preprint" in types
    year = text_in(result, "pubYear") or ""
    pmcid = text_in(result, "pmcid")
    is_open = result.get("isOpenAccess") == "Y"
    journal = object_in(object_in(result, "journalInfo"), "journal")
    corrections = [
        (str(each.get("type")).casefold(), each)
        for each in objects_in(object_in(result, "commentCorrectionList").get("commentCorrection"))
    ]
    notices: list[Notice | None] = []
    for _, each in corrections:
        listed_in, number = text_in(each, "source"), text_in(each, "id")
        url = f"https://europepmc.org/article/{listed_in}/{number}" if listed_in and number else None
        notices.append(listed_notice(str(each.get("type")), "Europe PMC", url))
    is_retracted = "retracted publication" in types or any(kind == "retraction in" for kind, _ in corrections)
    return WorkRecord(
        source="europepmc",
        url=f"https://europepmc.org/article/{archive}/{identifier}",
        title=title,
        work=identified(
            Work(
                doi=text_in(result, "doi"),
                pmid=text_in(result, "pmid"),
                authors=tuple(_authors(result)),
                year=int(year) if year.isdecimal() else None,
                venue=title_line(journal.get("title"))
                or text_in(result, "journalTitle")
                or text_in(object_in(result, "bookOrReportDetails"), "publisher"),
                is_peer_reviewed=False if is_preprint else True if archive in ("MED", "PMC") else None,
                same_as=tuple(
                    f"pmid:{each.get('id')}"
                    for kind, each in corrections
                    if kind.startswith("preprint") and each.get("source") == "MED"
                ),
            )
        ),
        abstract=abstract_blocks(result.get("abstractText")),
        published=as_date(text_in(result, "firstPublicationDate") or ""),
        standing="retracted" if is_retracted else None,
        open_copies=(f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/",) if pmcid and is_open else (),
        pmcid=pmcid if is_open else None,
        notices=tuple(filter(None, notices)),
    )


def _authors(result: Mapping[str, Any]) -> Iterator[str]:
    listed = objects_in(object_in(result, "authorList").get("author"))
    for each in listed:
        named = ", ".join(filter(None, (text_in(each, "lastName"), text_in(each, "firstName"))))
        if name := text_in(each, "collectiveName") or named or text_in(each, "fullName"):
            yield name
    if not listed:
        yield from (name.strip() for name in (text_in(result, "authorString") or "").rstrip(".").split(",") if name)
