"""Wikidata, Stack Exchange, Hacker News and SearXNG: what they ask, what they find, and what they make of errors."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError
from marchwarden.observations import FailureKind, FetchOutcome, SearchOutcome
from marchwarden.reading.page import read_page
from marchwarden.settings import Settings
from marchwarden.sources.community.stackexchange import sites_for
from marchwarden.sources.encyclopedia.wikidata import names_to_look_up
from marchwarden.sources.source_registry import open_tools
from marchwarden.sources.tools import Tools

pytestmark = pytest.mark.anyio

CASSETTES = Path(__file__).parents[1] / "cassettes"
QUESTION = "What are the correct version numbers for C#?"
SEARXNG = "http://127.0.0.1:8888"
# Written by hand after each service's documentation: the fields that are used, and some that are not.
ENTITIES = {
    "searchinfo": {"search": "Douglas Adams"},
    "search": [
        {"id": "Q42", "label": "Douglas Adams", "description": "English writer and humorist", "match": {}},
        {"id": "Q28421831", "label": "Douglas Adams", "description": "American environmental engineer"},
    ],
    "success": 1,
}
RESULTS = {
    "query": "beans",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://a.example/beans",
            "title": "Beans",
            "content": "Beans grow.",
            "publishedDate": "2025-03-01T00:00:00",
            "engine": "duckduckgo",
            "engines": ["duckduckgo"],
            "score": 1.0,
        }
    ],
    "answers": [],
    "unresponsive_engines": [["google", "CAPTCHA"]],
}
EMPTY: dict[str, Any] = {
    "wikidata": {"search": [], "success": 1},
    "stackexchange": {"items": [], "has_more": False, "quota_max": 300, "quota_remaining": 200},
    "hackernews": {"hits": [], "nbHits": 0},
    "web": {"results": []},
}
SERVICES = list(EMPTY)


def cassette(name: str, status: int = 200) -> httpx.Response:
    return httpx.Response(
        status, content=(CASSETTES / name).read_bytes(), headers={"content-type": "application/json"}
    )


def found_by(service: str) -> httpx.Response:
    named = {"stackexchange": "stackexchange/questions.json", "hackernews": "hackernews/search.json"}
    if service in named:
        return cassette(named[service])
    return httpx.Response(200, json=ENTITIES if service == "wikidata" else RESULTS)


class Network:
    """Tools of one source, over a network that answers by a function and notes what was asked."""

    def __init__(self, source: str, folder: Path, answer: Callable[[httpx.Request], httpx.Response]) -> None:
        self.asked: list[httpx.Request] = []

        def respond(request: httpx.Request) -> httpx.Response:
            if request.url.path != "/robots.txt":
                self.asked.append(request)
            return answer(request)

        settings = Settings(source=source, cache_dir=folder, searxng_url=SEARXNG)
        self.tools: Tools = open_tools(settings, transport=httpx.MockTransport(respond))

    async def search(self, question: str = QUESTION, most: int = 5) -> SearchOutcome:
        return await self.tools.search.search(question, max_results=most, source_filter=SourceFilter(None))

    async def fetch(self, url: str) -> FetchOutcome:
        assert self.tools.address(url) == url
        return await self.tools.fetcher.fetch(url, timeout=5, allows=lambda host: True)


@pytest.mark.parametrize(
    ("service", "first", "address"),
    [
        (
            "wikidata",
            "https://www.wikidata.org/wiki/Q42",
            "https://www.wikidata.org/w/api.php?action=wbsearchentities&search=Douglas+Adams&limit=2&format=json"
            "&language=en&uselang=en&type=item",
        ),
        (
            "stackexchange",
            "https://stackoverflow.com/questions/247621/what-are-the-correct-version-numbers-for-c",
            "https://api.stackexchange.com/2.3/search/advanced?q=correct+version+numbers+C%23&site=stackoverflow"
            "&answers=1&order=desc&sort=relevance&pagesize=5",
        ),
        (
            "hackernews",
            "http://finance.yahoo.com/news/Steve-Jobs-Resigns-as-CEO-of-bw-19285464.html?x=0&.v=1",
            "https://hn.algolia.com/api/v1/search?query=correct+version+numbers&tags=story&hitsPerPage=5",
        ),
        (
            "web",
            "https://a.example/beans",
            f"{SEARXNG}/search?q=What+are+the+correct+version+numbers+for+C%23%3F&format=json",
        ),
    ],
)
async def test_a_search_asks_the_service_in_its_words_and_finds(
    service: str, first: str, address: str, tmp_path: Path
) -> None:
    network = Network(service, tmp_path, lambda request: found_by(service))
    found = await network.search("When was Douglas Adams born?" if service == "wikidata" else QUESTION)
    assert found.failure is None
    assert found.hits[0].url == first
    assert str(network.asked[0].url) == address
    assert "marchwarden" in network.asked[0].headers["user-agent"]


ERRORS = [
    (cassette("stackexchange/throttled.json", 400), FailureKind.RATE_LIMITED, ["stackexchange"]),
    (cassette("stackexchange/backoff-ignored.json", 400), FailureKind.RATE_LIMITED, ["stackexchange"]),
    (
        httpx.Response(200, json={"error": {"code": "ratelimited", "info": "…"}}),
        FailureKind.SERVICE_DOWN,
        ["wikidata"],
    ),
    (httpx.Response(429, headers={"retry-after": "3600"}), FailureKind.RATE_LIMITED, SERVICES),
    (httpx.Response(403, text="JSON is not among the formats"), FailureKind.BAD_KEY, ["web"]),
    (httpx.Response(500), FailureKind.SERVICE_DOWN, SERVICES),
    (httpx.Response(200, text="<html>"), FailureKind.SERVICE_DOWN, SERVICES),
    (httpx.Response(200, json=[1]), FailureKind.SERVICE_DOWN, SERVICES),
    (httpx.Response(301, headers={"location": "https://elsewhere.example/"}), FailureKind.SERVICE_DOWN, SERVICES),
]


@pytest.mark.parametrize(
    ("service", "answer", "kind"),
    [(service, answer, kind) for answer, kind, services in ERRORS for service in services],
)
async def test_an_error_is_a_failure_of_its_kind(
    service: str, answer: httpx.Response, kind: FailureKind, tmp_path: Path
) -> None:
    found = await Network(service, tmp_path, lambda request: answer).search()
    assert found.hits == ()
    assert found.failure is not None
    assert found.failure.kind is kind


@pytest.mark.parametrize("service", SERVICES)
async def test_nothing_found_is_no_failure(service: str, tmp_path: Path) -> None:
    found = await Network(service, tmp_path, lambda request: httpx.Response(200, json=EMPTY[service])).search()
    assert (found.hits, found.failure) == ((), None)


async def test_engines_that_failed_are_a_failure_where_nothing_was_found(tmp_path: Path) -> None:
    body = {"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["brave", "timeout"], [], 7]}
    found = await Network("web", tmp_path, lambda request: httpx.Response(200, json=body)).search()
    assert found.failure is not None
    assert found.failure.kind is FailureKind.SERVICE_DOWN
    assert found.failure.detail.endswith("google (CAPTCHA), brave (timeout)")
    rest = await Network("web", tmp_path, lambda request: httpx.Response(200, json=RESULTS)).search()
    assert (len(rest.hits), rest.failure) == (1, None)


@pytest.mark.parametrize("service", SERVICES)
async def test_strange_results_raise_nothing(service: str, tmp_path: Path) -> None:
    strange: list[Any] = [None, 7, "text", {}, {"id": 3, "link": [], "objectID": {}, "url": 4, "title": 5}]
    shape = {"search": strange, "items": strange, "hits": strange, "results": strange}
    found = await Network(service, tmp_path, lambda request: httpx.Response(200, json=shape)).search()
    assert found.failure is not None
    assert found.failure.kind is FailureKind.SERVICE_DOWN


# Wikidata


def wikidata(request: httpx.Request) -> httpx.Response:
    return cassette("wikidata/labels.json" if request.url.params["props"] == "labels" else "wikidata/q42.json")


async def test_an_entity_is_read_with_the_labels_that_its_statements_need(tmp_path: Path) -> None:
    network = Network("wikidata", tmp_path, wikidata)
    outcome = await network.fetch("https://www.wikidata.org/wiki/Q42")
    assert outcome.page is not None
    assert "Douglas Adams was born in Cambridge." in outcome.page.text
    labels = [request.url.params["ids"].split("|") for request in network.asked[1:]]
    assert [len(each) for each in labels] == [50, 28]
    assert not {"P214", "P345", "P18"} & {each for ids in labels for each in ids}
    assert outcome.content_type == 'application/json; profile="wikidata"'
    assert outcome.body is not None
    again = read_page(outcome.body, url=outcome.url, content_type=outcome.content_type, status=200)
    assert again == outcome.page


@pytest.mark.parametrize(
    ("props", "answer", "kind"),
    [
        ("info|labels|descriptions|claims", cassette("wikidata/missing.json"), FailureKind.NOT_FOUND),
        (
            "info|labels|descriptions|claims",
            httpx.Response(200, json={"error": {"code": "x"}}),
            FailureKind.SERVICE_DOWN,
        ),
        ("labels", httpx.Response(500), FailureKind.SERVICE_DOWN),
        ("labels", httpx.Response(200, json={"entities": 7}), FailureKind.SERVICE_DOWN),
    ],
    ids=["missing", "error", "labels 500", "labels strange"],
)
async def test_an_entity_that_cannot_be_read_whole_is_a_failure(
    props: str, answer: httpx.Response, kind: FailureKind, tmp_path: Path
) -> None:
    network = Network(
        "wikidata", tmp_path, lambda request: answer if request.url.params["props"] == props else wikidata(request)
    )
    outcome = await network.fetch("https://www.wikidata.org/wiki/Q42")
    assert outcome.failure is not None
    assert outcome.failure.kind is kind


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who founded the University of Utah in 1850?", ["University of Utah"]),
        ("Is Provo larger than Salt Lake City?", ["Salt Lake City", "Provo"]),
        ("What is the Netherlands' capital?", ["Netherlands"]),
        ("what is the capital of utah", ["capital utah"]),
    ],
)
def test_the_names_of_a_question_are_looked_up(question: str, names: list[str]) -> None:
    assert names_to_look_up(question) == names


# Stack Exchange


@pytest.mark.parametrize(
    ("question", "sites"),
    [
        ("How do I parse a date string in Python?", ["stackoverflow"]),
        ("Which bash command lists open ports on Linux?", ["unix"]),
        ("How long do you boil an egg, and in which oven do you bake bread?", ["cooking"]),
        ("Why does the sky look blue?", ["stackoverflow"]),
    ],
)
def test_the_sites_that_are_searched_fit_the_question(question: str, sites: list[str]) -> None:
    assert sites_for(question)[:1] == sites


@pytest.mark.parametrize(
    ("told", "seconds"),
    [({"backoff": 10}, 10), ({"quota_remaining": 0}, None)],
    ids=["backoff", "quota"],
)
async def test_a_pause_that_comes_with_an_answer_is_kept_for_all_processes(
    told: dict[str, int], seconds: int | None, tmp_path: Path
) -> None:
    answer = {**json.loads(found_by("stackexchange").content), "quota_remaining": 5, **told}
    began = time.time()
    found = await Network("stackexchange", tmp_path, lambda request: httpx.Response(200, json=answer)).search()
    assert len(found.hits) == 3  # what came with the pause counts
    pause = json.loads((tmp_path / "rates" / "stackexchange.json").read_text())["next"] - began
    if seconds is None:
        assert 0 < pause <= 24 * 3600
    else:
        assert seconds <= pause < seconds + 5


async def test_answers_are_read_from_the_api_and_cite_the_answer_itself(tmp_path: Path) -> None:
    network = Network("stackexchange", tmp_path, lambda request: cassette("stackexchange/answers.json"))
    outcome = await network.fetch("https://stackoverflow.com/questions/21006707/proper-usage-of-realloc")
    assert outcome.page is not None
    assert outcome.page.passages[0].place == "21006798"
    assert str(network.asked[0].url) == (
        "https://api.stackexchange.com/2.3/questions/21006707/answers?site=stackoverflow&order=desc&sort=votes"
        "&pagesize=10&filter=withbody"
    )
    assert network.tools.address("https://stackoverflow.com/users/22656/jon-skeet") is None
    assert network.tools.address("https://cooking.stackexchange.com/questions/1/a") is not None


# Hacker News


async def test_a_discussion_is_read_from_the_api_and_a_page_that_it_is_about_from_its_own_host(
    tmp_path: Path,
) -> None:
    page = "<html><body><main><p>Steve Jobs announced his resignation as chief executive of Apple today.</p></main></body>"

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "hn.algolia.com":
            return cassette("hackernews/item.json" if "/items/" in request.url.path else "hackernews/search.json")
        return httpx.Response(404 if request.url.path == "/robots.txt" else 200, html=page)

    network = Network("hackernews", tmp_path, answer)
    found = await network.search("Why did Steve Jobs resign?")
    about, discussion = found.hits
    assert discussion.url == "https://news.ycombinator.com/item?id=2922756"
    assert (about.published, str(discussion.published)) == (None, "2011-08-24")
    read = await network.fetch(about.url)
    assert read.page is not None
    assert (read.page.source, read.page.text[:11]) == ("web", "Steve Jobs ")
    read = await network.fetch("https://news.ycombinator.com/item?id=17")
    assert read.page is not None
    assert read.page.source == "hackernews"
    assert network.tools.address("https://elsewhere.example/page") is None


async def test_a_story_without_an_address_is_its_discussion(tmp_path: Path) -> None:
    found = await Network("hackernews", tmp_path, lambda request: cassette("hackernews/ask.json")).search("apple")
    [hit] = found.hits
    assert hit.url == "https://news.ycombinator.com/item?id=1256391"
    assert hit.snippet.startswith("It would be interesting to know")


async def test_where_nothing_has_all_words_the_names_are_searched(tmp_path: Path) -> None:
    network = Network("hackernews", tmp_path, lambda request: httpx.Response(200, json=EMPTY["hackernews"]))
    await network.search("What do developers think of the new MacBook Pro?")
    assert [request.url.params["query"] for request in network.asked] == [
        "developers think new macbook pro",
        "MacBook Pro",
    ]


async def test_a_site_that_fails_takes_nothing_from_the_one_before_it_and_is_told(tmp_path: Path) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        first = len(network.asked) == 1
        return found_by("stackexchange") if first else cassette("stackexchange/throttled.json", 400)

    network = Network("stackexchange", tmp_path, respond)
    found = await network.search("How do I grep python code with git on ubuntu linux?")
    sites = [request.url.params["site"] for request in network.asked]
    assert len(sites) == 2
    assert found.hits
    assert found.failure is None
    (told,) = found.incomplete
    assert told.startswith(f"Stack Exchange found nothing for {sites[1]}: Stack Exchange takes its next request in ")


async def test_a_name_that_can_not_be_looked_up_takes_nothing_from_the_one_before_it(tmp_path: Path) -> None:
    answers = iter([found_by("wikidata"), httpx.Response(503), httpx.Response(503)])
    network = Network("wikidata", tmp_path, lambda request: next(answers))
    found = await network.search("Did Douglas Adams meet Terry Pratchett?")
    assert found.hits[0].title == "Douglas Adams"
    assert found.incomplete == ("Wikidata found nothing for Douglas Adams: Wikidata is down (status 503).",)


# SearXNG


async def test_engines_that_fail_beside_others_that_answer_are_told(tmp_path: Path) -> None:
    found = await Network("web", tmp_path, lambda request: cassette("searxng/partial.json")).search()
    assert [hit.title for hit in found.hits] == ["Sowing runner beans"]
    assert found.failure is None
    failed = "brave (HTTP connection error), duckduckgo (HTTP connection error)"
    assert found.incomplete == (f"SearXNG got nothing from these engines: {failed}.",)
    nothing = await Network("web", tmp_path, lambda request: cassette("searxng/nothing.json")).search("nothing")
    assert nothing.failure is not None
    assert "brave (Suspended: HTTP connection error)" in nothing.failure.detail


async def test_the_users_own_search_server_may_be_inside_and_the_pages_that_it_finds_may_not(tmp_path: Path) -> None:
    inside = {"results": [{"url": "http://127.0.0.1/secret", "title": "a", "content": "b"}]}
    network = Network("web", tmp_path, lambda request: httpx.Response(200, json=inside))
    found = await network.search("beans")
    assert [hit.url for hit in found.hits] == ["http://127.0.0.1/secret"]
    outcome = await network.fetch("http://127.0.0.1/secret")
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.REFUSED_ADDRESS
    assert len(network.asked) == 1


async def test_a_search_server_needs_an_address(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="MARCHWARDEN_SEARXNG_URL: 'not an address' is not a web address"):
        open_tools(Settings(source="web", cache_dir=tmp_path, searxng_url="not an address"))
    with pytest.raises(ConfigurationError, match="MARCHWARDEN_SEARXNG_URL is not set"):
        Settings(source="web", cache_dir=tmp_path, web_search="searxng").require_search_key()
