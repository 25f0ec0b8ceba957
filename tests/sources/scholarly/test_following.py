"""Papers are followed one step: to what they cite for an open sub-question, and to later work that cites them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import httpx
import pytest

from marchwarden.agent.rerun_call import Exchange, rerun
from marchwarden.observations import FailureKind
from tests.reading.services.recorded_answers import answer
from tests.runs import Run
from tests.sources.scholarly.calls import call, settings
from tests.sources.scholarly.recorded_network import RecordedNetwork, web_page

pytestmark = pytest.mark.anyio

QUESTION = "How much does the zinc coating of the Halden process reduce corrosion of steel pipes?"
REVIEW = "10.7717/peerj.3811"
FIRST = "10.1038/s41586-020-0001-1"
SAID = "The zinc coating of the Halden process reduces corrosion of steel pipes, as an earlier trial has shown"
FOUND = "We found that the zinc coating of the Halden process reduces corrosion of steel pipes by 41 percent."
# The calls here keep no program.
NO_PROGRAM = ["the program and its parameters: those in force now are used"]
FILLER = (
    "<p>Pipes carry water through many towns, and their upkeep takes much of what a town spends on water.</p>" * 9
)


def paper(cites: str) -> httpx.Response:
    """The full text of the review; `cites` is the entry that it cites for what it says."""
    return web_page(
        "<!doctype html><html lang='en'><head><title>A review of pipes</title>"
        f"<meta name='citation_doi' content='{REVIEW}'><meta name='citation_author' content='Ali, Najib'></head>"
        f"<body><article><h1>A review of pipes</h1>{FILLER}"
        f"<p>{SAID} <a href='#ref-2'>[2]</a>. Other metals were tried <a href='#ref-1'>[1]</a>.</p>{FILLER}"
        "<h2>References</h2><ol><li id='ref-1'>Smith J. Copper in pipes of old towns. Metals, 1999.</li>"
        f"<li id='ref-2'>{cites}</li></ol></article></body></html>"
    )


def crossref_work(doi: str, title: str, abstract: str | None, author: str, **more: object) -> dict[str, object]:
    return {
        "DOI": doi,
        "title": [title],
        "type": "journal-article",
        "author": [{"family": author, "given": "A."}],
        "published": {"date-parts": [[2020, 5, 1]]},
        **({"abstract": abstract} if abstract else {}),
        **more,
    }


def told(work: dict[str, object]) -> httpx.Response:
    return httpx.Response(200, json={"message": work})


REVIEW_WORK = crossref_work(
    REVIEW,
    "A review of pipes: zinc coating of the Halden process, corrosion of steel",
    "Coatings of pipes are reviewed.",
    "Ali",
    license=[{"URL": "https://creativecommons.org/licenses/by/4.0/"}],
    link=[{"URL": "https://peerj.com/articles/3811.html"}],
)
BY_DOI = f"Berg B. A trial of zinc coating on steel pipes. <a href='https://doi.org/{FIRST}'>doi</a>"


def network(cites: str, more: Mapping[str, httpx.Response]) -> RecordedNetwork:
    return RecordedNetwork(
        {
            "api.crossref.org/works": httpx.Response(200, json={"message": {"items": [REVIEW_WORK]}}),
            f"api.crossref.org/works/{REVIEW}": told(REVIEW_WORK),
            # Every other work is unknown, but for those in `more`.
            "api.crossref.org/works/10.": httpx.Response(404),
            "peerj.com/articles/3811.html": paper(cites),
            **more,
        }
    )


def reasons(done: Run) -> list[str]:
    return [event.decision for event in done.events("fetch_url")]


async def test_a_work_that_is_cited_for_the_answer_is_read_as_evidence_of_its_own() -> None:
    first = told(crossref_work(FIRST, "A trial of zinc coating on steel pipes", FOUND, "Berg"))
    done = await call(QUESTION, network(BY_DOI, {f"api.crossref.org/works/{FIRST}": first}), "crossref")
    assert done.locators() == {"https://peerj.com/articles/3811.html", f"https://doi.org/{FIRST}"}
    assert done.result.confidence_factors.num_corroborating_sources == 2
    assert f"“A review of pipes” cites it for: “{SAID} [2].”" in reasons(done)
    assert done.problems == []


async def test_a_call_that_followed_a_reference_is_the_same_again() -> None:
    first = told(crossref_work(FIRST, "A trial of zinc coating on steel pipes", FOUND, "Berg"))
    done = await call(QUESTION, network(BY_DOI, {f"api.crossref.org/works/{FIRST}": first}), "crossref")
    ran = await rerun(done.trace, settings("crossref"), Exchange())
    assert (ran.differences, ran.lacks, ran.first) == ([], NO_PROGRAM, None)


async def test_what_was_followed_is_not_followed_further() -> None:
    deeper = [
        {"DOI": "10.1038/deeper", "article-title": "Zinc coating of the Halden process: corrosion of steel pipes"}
    ]
    first = told(crossref_work(FIRST, "A trial of zinc coating on steel pipes", FOUND, "Berg", reference=deeper))
    asked = network(BY_DOI, {f"api.crossref.org/works/{FIRST}": first})
    await call(QUESTION, asked, "crossref", depth="deep")
    assert any(FIRST in url.path for url in asked.asked)
    assert not any("deeper" in url.path for url in asked.asked)


async def test_an_entry_without_identifier_is_looked_up_by_its_title() -> None:
    first = crossref_work(FIRST, "A trial of zinc coating on steel pipes", FOUND, "Berg")
    found = httpx.Response(200, json={"message": {"items": [REVIEW_WORK, first]}})
    cites = "Berg B. A trial of zinc coating on steel pipes. Journal of Metals, 2020."
    done = await call(QUESTION, network(cites, {"api.crossref.org/works": found}), "crossref")
    assert f"https://doi.org/{FIRST}" in done.locators()


async def test_a_cited_work_that_is_closed_is_a_gap_and_a_discovery_with_its_identifier() -> None:
    work = told(crossref_work(FIRST, "A trial of zinc coating on steel pipes", None, "Berg"))
    closed = {f"api.crossref.org/works/{FIRST}": work, "doi.org/": httpx.Response(403)}
    done = await call(QUESTION, network(BY_DOI, closed), "crossref")
    failed = [event for event in done.events("fetch_url") if event.failure]
    assert [(event.url, event.failure.kind) for event in failed] == [
        (f"https://doi.org/{FIRST}", FailureKind.FORBIDDEN.value)
    ]
    assert [gap.category.value for gap in done.result.gaps if FIRST in gap.detail] == ["access_denied"]
    assert FIRST in [event.identifier for event in done.result.discovery_events]
    assert done.problems == []


async def test_nothing_is_followed_beyond_the_pages_that_the_caller_allows() -> None:
    asked = network(BY_DOI, {})
    await call(QUESTION, asked, "crossref", constraints={"max_sources": 1})
    assert not any(FIRST in url.path for url in asked.asked)


# Later work


async def test_a_work_that_cites_the_paper_is_read_where_the_question_asks_for_later_work() -> None:
    review = json.loads(answer("semanticscholar-paper.json")) | {
        "title": "Zinc coating of the Halden process and corrosion of steel pipes",
        "abstract": FOUND,
        "externalIds": {"DOI": FIRST},
    }
    later = {
        **review,
        "paperId": "a" * 40,
        "title": "A replication of the zinc coating trial",
        "abstract": "We replicated the zinc coating trial of the Halden process and found no lower corrosion of steel.",
        "authors": [{"name": "Chen Li"}],
        "externalIds": {"DOI": "10.1038/s41586-022-0002-2"},
    }
    place = "api.semanticscholar.org/graph/v1/paper"
    asked = RecordedNetwork(
        {
            f"{place}/search": httpx.Response(200, json={"total": 1, "data": [review]}),
            f"{place}/DOI:{FIRST}/citations": httpx.Response(200, json={"data": [{"citingPaper": later}]}),
        }
    )
    question = "Has the zinc coating trial of the Halden process been replicated?"
    done = await call(question, asked, "semanticscholar")
    address = f"https://www.semanticscholar.org/paper/{'a' * 40}"
    assert address in done.locators()
    assert any(f"works that cite doi:{FIRST}" == event.query for event in done.events("search"))
    assert any("The question asks for later work" in reason for reason in reasons(done))
    assert done.problems == []
    ran = await rerun(done.trace, settings("semanticscholar"), Exchange())
    assert (ran.differences, ran.lacks, ran.first) == ([], NO_PROGRAM, None)
