"""Scholarly sources: what they ask, what they find, and in which form a paper is read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import httpx
import pytest

from marchwarden.audit.citation_check import plan_check, web_of
from marchwarden.contract import SourceFilter
from marchwarden.observations import FailureKind, FetchOutcome, SearchOutcome
from marchwarden.source_table import SOURCES
from marchwarden.sources.api_source import content_words
from marchwarden.sources.scholarly.scholarly_api import email_of
from marchwarden.sources.source_registry import open_tools
from tests.reading.services.recorded_answers import answer
from tests.sources.scholarly.calls import call, settings
from tests.sources.scholarly.recorded_network import RecordedNetwork, recorded, web_page

pytestmark = pytest.mark.anyio

EVERYTHING = SourceFilter(None)
LONG = "The diameter of these graphs on fibers of a fixed integer matrix is bounded from above by a constant. " * 15
ARXIV_HTML = (
    '<!doctype html><html lang="en"><body><article class="ltx_document"><h1>Walks</h1><div class="ltx_authors">'
    '<span class="ltx_creator ltx_role_author"><span class="ltx_personname">Caprice Stanley</span></span>'
    '<span class="ltx_creator ltx_role_author"><span class="ltx_personname">Tobias Windisch<sup>1</sup></span></span>'
    '<span class="ltx_personname">Department 7, write to walks@example.org</span></div>'
    f'<section id="S1"><h2>1 Introduction</h2><p>{LONG}</p></section>'
    "<section id='S3.SS2'><h3>3.2 Heat baths</h3><p>The heat-bath random walk mixes rapidly on every fiber of a "
    "matrix with two columns.</p></section></article></body></html>"
)
ARXIV_PAPER = {"export.arxiv.org/api/query": recorded("arxiv-paper.xml")}
S2_PAPER = "https://www.semanticscholar.org/paper/2d5673caa9e6af3a7b82a43f19ee920992db07ad"

# Source, its answers, the first hit, and the words of the query in the request.
SEARCHES: list[tuple[str, Mapping[str, httpx.Response], str, str]] = [
    (
        "arxiv",
        {"export.arxiv.org/api/query": recorded("arxiv-search.xml")},
        "https://arxiv.org/abs/2202.12139v1",
        "search_query=all%3Afish+AND+all%3Alake",
    ),
    (
        "crossref",
        {"api.crossref.org/works": recorded("crossref-search.json")},
        "https://doi.org/10.7717/peerj.3811",
        "query.bibliographic=which+fish+are+in+the+lake%3F",
    ),
    (
        "europepmc",
        {"www.ebi.ac.uk/europepmc/webservices/rest/search": recorded("europepmc-search.json")},
        "https://europepmc.org/article/MED/20981092",
        "query=fish+AND+lake",
    ),
    (
        "pubmed",
        {
            "eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi": recorded("pubmed-search.xml"),
            "eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi": recorded("pubmed-article.xml"),
        },
        "https://pubmed.ncbi.nlm.nih.gov/11748933/",
        "term=fish+AND+lake",
    ),
    (
        "openalex",
        {"api.openalex.org/works": recorded("openalex-work.json")},
        "https://doi.org/10.1016/j.addr.2015.01.008",
        "search=which+fish+are+in+the+lake",
    ),
    (
        "semanticscholar",
        {"api.semanticscholar.org/graph/v1/paper/search": recorded("semanticscholar-paper.json")},
        S2_PAPER,
        "query=which+fish+are+in+the+lake%3F",
    ),
]
NAMES = [name for name, *_ in SEARCHES]


async def search(name: str, network: RecordedNetwork, **more: object) -> SearchOutcome:
    tools = open_tools(settings(name, **more), transport=network)
    return await tools.search.search("which fish are in the lake?", max_results=5, source_filter=EVERYTHING)


async def fetch(name: str, network: RecordedNetwork, url: str, **more: object) -> FetchOutcome:
    tools = open_tools(settings(name, **more), transport=network)
    assert tools.address(url) == url
    return await tools.fetcher.fetch(url, timeout=5, allows=EVERYTHING.allows)


@pytest.mark.parametrize(("name", "answers", "first", "words"), SEARCHES, ids=NAMES)
async def test_a_search_becomes_hits_that_can_be_read_without_a_further_request(
    name: str, answers: Mapping[str, httpx.Response], first: str, words: str
) -> None:
    network = RecordedNetwork(answers)
    tools = open_tools(settings(name), transport=network)
    found = await tools.search.search("which fish are in the lake?", max_results=5, source_filter=EVERYTHING)
    assert found.failure is None
    hit = found.hits[0]
    assert hit.url == first
    assert hit.snippet[:40].strip()
    assert words in str(network.asked[0])
    assert "secret" not in " ".join(map(str, network.asked))
    registry = network.asked[0].host
    requests = network.hosts().count(registry)
    outcome = await tools.fetcher.fetch(hit.url, timeout=5, allows=EVERYTHING.allows)
    assert outcome.page is not None
    assert (outcome.page.source, outcome.final_url, outcome.page.url) == (name, first, first)
    assert outcome.page.work is not None
    assert outcome.page.work.is_abstract
    assert network.hosts().count(registry) == requests


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (httpx.Response(429, headers={"retry-after": "90"}), FailureKind.RATE_LIMITED),
        (httpx.Response(429), FailureKind.RATE_LIMITED),
        (httpx.Response(500), FailureKind.SERVICE_DOWN),
        (httpx.Response(403), FailureKind.BAD_KEY),
        (httpx.Response(400, content=answer("arxiv-error.xml")), FailureKind.BAD_REQUEST),
        (httpx.Response(200, content=b'{"unfinished": '), FailureKind.SERVICE_DOWN),
        (httpx.Response(200, content=b"<html><body>Maintenance</body></html>"), FailureKind.SERVICE_DOWN),
        (httpx.Response(200, content=b""), FailureKind.SERVICE_DOWN),
        (httpx.Response(301, headers={"location": "https://elsewhere.example/"}), FailureKind.SERVICE_DOWN),
    ],
    ids=["429-later", "429", "500", "403", "400", "cut", "html", "empty", "moved"],
)
@pytest.mark.parametrize(("name", "answers"), [(name, answers) for name, answers, *_ in SEARCHES], ids=NAMES)
async def test_a_service_that_fails_is_a_failure_of_its_kind(
    name: str, answers: Mapping[str, httpx.Response], broken: httpx.Response, kind: FailureKind
) -> None:
    outcome = await search(name, RecordedNetwork(dict.fromkeys(answers, broken)))
    assert (outcome.hits, outcome.failure and outcome.failure.kind) == ((), kind)


async def test_a_service_that_has_moved_within_its_site_is_followed() -> None:
    moved = httpx.Response(301, headers={"location": "https://api.crossref.org/v1/works"})
    found = recorded("crossref-search.json")
    network = RecordedNetwork({"api.crossref.org/works": moved, "api.crossref.org/v1/works": found})
    assert (await search("crossref", network)).hits


async def test_where_no_work_has_all_words_those_with_some_are_found() -> None:
    network = RecordedNetwork({"export.arxiv.org/api/query": recorded("arxiv-empty.xml")})
    outcome = await search("arxiv", network)
    assert (outcome.hits, outcome.failure) == ((), None)
    assert [re.findall(r"search_query=([^&]*)", str(url))[0] for url in network.asked] == [
        "all%3Afish+AND+all%3Alake",
        "all%3Afish+OR+all%3Alake",
    ]


async def test_a_filter_that_lets_no_paper_of_arxiv_through_sends_no_request() -> None:
    network = RecordedNetwork({})
    tools = open_tools(settings("arxiv"), transport=network)
    outcome = await tools.search.search("fish", max_results=5, source_filter=SourceFilter("*.gov"))
    assert (outcome.hits, outcome.failure, network.asked) == ((), None, [])


async def test_the_contact_is_named_to_services_that_ask_for_it() -> None:
    network = RecordedNetwork({"api.crossref.org/works": recorded("crossref-search.json")})
    await search("crossref", network, contact="ann@example.org")
    assert network.asked[0].params["mailto"] == "ann@example.org"
    assert email_of("https://example.org/@ann") is None


# The best readable form


async def test_arxiv_is_read_in_html_with_its_sections_and_version() -> None:
    network = RecordedNetwork({**ARXIV_PAPER, "arxiv.org/html/1605.08386v1": web_page(ARXIV_HTML)})
    outcome = await fetch("arxiv", network, "https://arxiv.org/abs/1605.08386")
    assert outcome.page is not None
    assert outcome.page.url == outcome.final_url == "https://arxiv.org/html/1605.08386v1"
    assert outcome.page.passages[-1].place == "S3.SS2"
    assert outcome.page.source == "arxiv"
    assert outcome.page.work is not None
    assert (outcome.page.work.version, outcome.page.work.year) == ("v1", 2016)
    assert outcome.page.work.authors == ("Caprice Stanley", "Tobias Windisch")


async def test_without_a_full_text_the_abstract_is_read_at_the_address_of_its_version() -> None:
    network = RecordedNetwork(ARXIV_PAPER)
    outcome = await fetch("arxiv", network, "https://arxiv.org/abs/1605.08386")
    assert outcome.page is not None
    assert outcome.page.url == "https://arxiv.org/abs/1605.08386v1"
    assert outcome.page.work is not None
    assert outcome.page.work.is_abstract
    assert outcome.content_type == 'application/xml; profile="arxiv"'
    assert [url.path for url in network.asked] == ["/api/query", "/html/1605.08386v1", "/pdf/1605.08386v1"]


async def test_an_open_article_is_read_in_full_under_the_address_of_its_archive() -> None:
    body = json.loads(answer("europepmc-search.json"))
    body["resultList"]["result"][0] |= {"isOpenAccess": "Y", "pmcid": "PMC1794134"}
    network = RecordedNetwork(
        {
            "www.ebi.ac.uk/europepmc/webservices/rest/search": httpx.Response(200, json=body),
            "www.ebi.ac.uk/europepmc/webservices/rest/PMC1794134/fullTextXML": recorded("jats-article.xml"),
        }
    )
    outcome = await fetch("europepmc", network, "https://europepmc.org/article/MED/20981092")
    assert outcome.page is not None
    assert outcome.final_url == "https://pmc.ncbi.nlm.nih.gov/articles/PMC1794134/"
    assert {passage.place for passage in outcome.page.passages} >= {"s1", "s2a"}
    assert outcome.page.work is not None
    assert not outcome.page.work.is_abstract
    again = await fetch("europepmc", network, outcome.final_url)
    assert (again.final_url, again.content_hash) == (outcome.final_url, outcome.content_hash)


async def test_a_retracted_work_is_not_read_in_full() -> None:
    paper = json.loads(answer("semanticscholar-paper.json"))
    paper["externalIds"] = {"DOI": "10.1155/2022/9172719", "ArXiv": "2202.12139"}
    network = RecordedNetwork(
        {
            "api.semanticscholar.org/graph/v1/paper/": httpx.Response(200, json=paper),
            "api.crossref.org/works/10.1155": recorded("crossref-retracted.json"),
            "arxiv.org/html/": web_page(ARXIV_HTML),
        }
    )
    outcome = await fetch("semanticscholar", network, S2_PAPER)
    assert outcome.page is None
    assert outcome.failure is not None
    assert "retracted" in outcome.failure.detail
    assert "arxiv.org" not in network.hosts()


async def test_the_record_of_a_retracted_work_says_so() -> None:
    work = json.loads(answer("crossref-work.json"))
    work["message"]["updated-by"] = [{"type": "retraction", "DOI": "10.7717/peerj.9", "source": "retraction-watch"}]
    network = RecordedNetwork({"api.crossref.org/works/": httpx.Response(200, json=work)})
    outcome = await fetch("crossref", network, "https://doi.org/10.7717/peerj.3811")
    assert outcome.page is not None
    assert outcome.page.standing == "retracted"
    assert network.hosts() == ["api.crossref.org"]


# Corrections and expressions of concern


async def test_a_correction_is_told_beside_the_citation() -> None:
    found = json.loads(answer("crossref-search.json"))
    found["message"]["items"][0]["updated-by"] = [{"type": "correction", "DOI": "10.7717/peerj.9"}]
    network = RecordedNetwork({"api.crossref.org/works": httpx.Response(200, json=found)})
    done = await call("What plays an important role in the Semantic Web?", network, "crossref")
    (citation,) = [each for each in done.result.citations if each.doi == "10.7717/peerj.3811"]
    assert citation.notices is not None
    assert [(each.kind, each.detail, each.url) for each in citation.notices] == [
        ("corrected", "Crossref has a notice of correction", "https://doi.org/10.7717/peerj.9")
    ]
    assert done.problems == []


async def test_an_expression_of_concern_at_crossref_is_told_of_a_paper_that_another_source_found() -> None:
    paper = json.loads(answer("semanticscholar-paper.json"))
    paper["externalIds"] = {"DOI": "10.7717/peerj.3811"}
    work = json.loads(answer("crossref-work.json"))
    work["message"]["updated-by"] = [{"type": "expression_of_concern", "DOI": "10.7717/peerj.9"}]
    network = RecordedNetwork(
        {
            "api.semanticscholar.org/graph/v1/paper/": httpx.Response(200, json=paper),
            "api.crossref.org/works/10.7717": httpx.Response(200, json=work),
        }
    )
    outcome = await fetch("semanticscholar", network, S2_PAPER)
    assert outcome.page is not None
    assert [notice.kind for notice in outcome.notices] == ["concern"]


async def test_a_full_text_of_pubmed_central_is_checked_for_notices() -> None:
    work = json.loads(answer("crossref-work.json"))
    work["message"]["updated-by"] = [{"type": "erratum", "DOI": "10.1371/journal.pone.9"}]
    network = RecordedNetwork(
        {
            "www.ebi.ac.uk/europepmc/webservices/rest/PMC1794134/fullTextXML": recorded("jats-article.xml"),
            "api.crossref.org/works/10.1371": httpx.Response(200, json=work),
        }
    )
    outcome = await fetch("europepmc", network, "https://pmc.ncbi.nlm.nih.gov/articles/PMC1794134/")
    assert outcome.page is not None
    assert [notice.kind for notice in outcome.notices] == ["corrected"]


async def test_a_closed_paper_is_a_failure_that_names_the_open_copy() -> None:
    work = json.loads(answer("crossref-work.json"))
    work["message"] |= {"DOI": "10.1073/pnas.1414271111", "abstract": None, "license": []}
    network = RecordedNetwork(
        {
            "api.crossref.org/works/": httpx.Response(200, json=work),
            "doi.org/": httpx.Response(403),
            "api.unpaywall.org/v2/": recorded("unpaywall-work.json"),
        }
    )
    url = "https://doi.org/10.1073/pnas.1414271111"
    outcome = await fetch("crossref", network, url, contact="ann@example.org")
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.FORBIDDEN
    copy = "https://www.pnas.org/content/pnas/111/45/E4832.full.pdf"
    assert outcome.failure.detail.endswith(f"an open copy is at {copy}")
    # Unpaywall wants to know who asks.
    outcome = await fetch("crossref", RecordedNetwork(dict(network.answers)), url)
    assert outcome.failure is not None
    assert "open copy" not in outcome.failure.detail


async def test_an_open_copy_on_a_host_of_works_is_read() -> None:
    work = json.loads(answer("crossref-work.json"))
    network = RecordedNetwork(
        {"api.crossref.org/works/": httpx.Response(200, json=work), "peerj.com/articles/": web_page(ARXIV_HTML)}
    )
    outcome = await fetch("crossref", network, "https://doi.org/10.7717/peerj.3811")
    assert outcome.final_url == "https://peerj.com/articles/3811.pdf"


# A whole call


async def test_an_answer_from_arxiv_cites_the_section_and_verifies_offline(tmp_path: Path) -> None:
    network = RecordedNetwork({**ARXIV_PAPER, "arxiv.org/html/1605.08386v1": web_page(ARXIV_HTML)})
    done = await call("On which fibers does the heat-bath random walk mix rapidly?", network, "arxiv")
    citation = done.result.citations[0]
    assert (citation.source, citation.locator) == ("arxiv", "https://arxiv.org/html/1605.08386v1#S3.SS2")
    assert citation.version == "v1"
    assert done.problems == []


async def test_an_answer_from_an_abstract_has_the_fields_of_the_work_and_verifies_offline() -> None:
    network = RecordedNetwork({"api.crossref.org/works": recorded("crossref-search.json")})
    done = await call("What plays an important role in the Semantic Web?", network, "crossref")
    citation = done.result.citations[0]
    assert (citation.source, citation.locator) == ("crossref", "https://doi.org/10.7717/peerj.3811")
    assert (citation.doi, citation.venue, citation.year) == ("10.7717/peerj.3811", "PeerJ", 2017)
    assert citation.authors is not None
    assert citation.authors[0] == "Ali, Najib M."
    assert citation.published == date(2017, 9, 15)
    assert done.problems == []


async def test_the_pages_of_today_are_read_by_the_source_that_read_them() -> None:
    network = RecordedNetwork({**ARXIV_PAPER, "arxiv.org/html/1605.08386v1": web_page(ARXIV_HTML)})
    done = await call("On which fibers does the heat-bath random walk mix rapidly?", network, "arxiv")
    plan = plan_check(done.trace)
    assert web_of(plan.started) == "web arxiv"
    assert plan.addresses == {"https://arxiv.org/html/1605.08386v1"}


# What the table says


def test_content_words_leave_out_what_every_text_has() -> None:
    assert content_words("Which fish live in the lake, and which fish in the sea?") == ["fish", "live", "lake", "sea"]


@pytest.mark.parametrize("name", NAMES)
def test_each_source_has_a_rule_and_a_licence(name: str) -> None:
    entry = SOURCES[name]
    assert entry.kind == "scholarly"
    assert entry.rule
    assert entry.licence
