"""What the search service does becomes hits or a recorded failure; nothing of it raises, nothing shows the key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError
from marchwarden.evidence.question import QUERY_LIMIT
from marchwarden.observations import SNIPPET_CHARS, TITLE_CHARS, Failure, FailureKind, SearchHit, SearchOutcome
from marchwarden.settings import Settings, load_settings
from marchwarden.sources.web.tavily import MAX_ANSWER_BYTES, TavilySearch
from tests.sources.loopback_tavily import Service, running

KEY = "tvly-secret-0123456789"
RECORDED_PORT = 8931
EVERYWHERE = SourceFilter(None)


def settings_for(address: str, key: str = KEY) -> Settings:
    return load_settings(tavily_api_key=key, tavily_base_url=address)


async def search(
    address: str, query: str, *, max_results: int = 5, within: str | None = None, **options: Any
) -> SearchOutcome:
    key = options.pop("key", KEY)
    provider = TavilySearch(settings_for(address, key), **options)
    try:
        return await provider.search(query, max_results=max_results, source_filter=SourceFilter(within))
    finally:
        await provider.aclose()


# Recorded: cassettes/tavily/README.md says from what.


@pytest.fixture(scope="module")
def vcr_cassette_dir() -> str:
    return str(Path(__file__).parents[1] / "cassettes" / "tavily")


@pytest.fixture(scope="module")
def vcr_config() -> dict[str, Any]:
    return {"filter_headers": ["authorization"], "match_on": ["method", "scheme", "host", "port", "path", "body"]}


@pytest.fixture
def recorded(record_mode: str) -> Iterator[str]:
    """The address that the cassettes were recorded from; a service stands there only while recording."""
    if record_mode == "none":
        yield f"http://127.0.0.1:{RECORDED_PORT}"
    else:
        with running(RECORDED_PORT) as service:
            yield service.address


@pytest.mark.vcr
@pytest.mark.anyio
async def test_results_become_hits(recorded: str) -> None:
    outcome = await search(recorded, "ideal crops for a garden in Utah")
    assert outcome.failure is None
    assert (outcome.provider, outcome.query) == ("tavily", "ideal crops for a garden in Utah")
    first, second = outcome.hits
    assert first.url == "https://extension.wasatchvalley-state.edu/gardening/what-to-grow-in-utah"
    assert first.title == "What to grow in a Utah vegetable garden"
    assert first.snippet.startswith("Ideal crops")
    assert (first.score, first.published) == (0.91, None)
    assert (second.title, second.published) == (second.url, date(2022, 1, 23))


@pytest.mark.vcr
@pytest.mark.anyio
async def test_no_results_are_no_failure(recorded: str) -> None:
    outcome = await search(recorded, "nothing at all")
    assert (outcome.hits, outcome.failure) == ((), None)


@pytest.mark.vcr
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("query", "kind", "says"),
    [
        ("a wrong key", FailureKind.BAD_KEY, "invalid API key"),
        ("a key that may not", FailureKind.BAD_KEY, "Forbidden"),
        ("too many requests", FailureKind.RATE_LIMITED, "excessive requests"),
        ("the plan is used up", FailureKind.RATE_LIMITED, "plan's set usage limit"),
        ("pay as you go is used up", FailureKind.RATE_LIMITED, "pay-as-you-go limit"),
        ("a bad request", FailureKind.BAD_REQUEST, "400 characters"),
        ("an outage", FailureKind.SERVICE_DOWN, "HTTP 500"),
    ],
    ids=["401", "403", "429", "432", "433", "400", "500"],
)
async def test_each_refusal_is_a_failure_of_its_kind(recorded: str, query: str, kind: FailureKind, says: str) -> None:
    outcome = await search(recorded, query)
    assert outcome.hits == ()
    assert outcome.failure is not None
    assert outcome.failure.kind is kind
    assert says in outcome.failure.detail


# Live, on loopback: what is asked, and what no cassette can hold.


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as service:
        yield service


@pytest.mark.anyio
async def test_the_request_says_what_is_wanted(service: Service) -> None:
    await search(service.address, "crops", max_results=50, within="usu.edu, *.gov, *.ac.uk, -pinterest.com")
    (asked,) = service.requests
    assert asked == {
        "query": "crops",
        "search_depth": "basic",
        "max_results": 20,
        "include_domains": ["usu.edu", "*.gov", "*.ac.uk"],
        "exclude_domains": ["pinterest.com"],
    }
    assert service.keys == [f"Bearer {KEY}"]


@pytest.mark.anyio
async def test_hits_that_the_filter_excludes_are_dropped_whatever_the_service_sends(service: Service) -> None:
    outcome = await search(service.address, "crops", within="*.edu")
    assert [hit.url for hit in outcome.hits] == [
        "https://extension.wasatchvalley-state.edu/gardening/what-to-grow-in-utah"
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2024-05-01", date(2024, 5, 1)),
        ("2024-05-01T10:00:00", date(2024, 5, 1)),
        ("last week", None),
        (20240501, None),
    ],
)
async def test_a_day_that_cannot_be_read_is_unknown(service: Service, written: object, day: date | None) -> None:
    body = json.dumps({"results": [{"url": "https://example.org/", "published_date": written}]}).encode()
    service.first = [(200, {"content-type": "application/json"}, body)]
    (hit,) = (await search(service.address, "crops")).hits
    assert (hit.published, hit.title, hit.snippet, hit.score) == (day, "https://example.org/", "", 0.0)


@pytest.mark.anyio
async def test_no_more_hits_than_asked_for(service: Service) -> None:
    assert len((await search(service.address, "crops", max_results=1)).hits) == 1


@pytest.mark.anyio
async def test_a_long_query_is_cut_between_words(service: Service) -> None:
    outcome = await search(service.address, "irrigated vegetables " * 30)
    (asked,) = service.requests
    assert outcome.query == asked["query"]
    assert len(asked["query"]) <= QUERY_LIMIT
    assert asked["query"].endswith(("irrigated", "vegetables"))


@pytest.mark.anyio
async def test_an_empty_query_is_not_sent(service: Service) -> None:
    outcome = await search(service.address, " \n ")
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.BAD_REQUEST
    assert service.requests == []


def refusal(status: int, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, b"{}"


@pytest.mark.anyio
@pytest.mark.parametrize("first", [refusal(503), refusal(500, retry_after="0"), refusal(429, retry_after="0")])
async def test_a_passing_failure_is_tried_once_more(service: Service, first: Any) -> None:
    service.first = [first]
    outcome = await search(service.address, "crops")
    assert (len(outcome.hits), outcome.failure) == (2, None)
    assert len(service.requests) == 2


@pytest.mark.anyio
async def test_it_is_tried_once_more_only(service: Service) -> None:
    service.first = [refusal(503), refusal(503), refusal(503)]
    outcome = await search(service.address, "crops")
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.SERVICE_DOWN
    assert len(service.requests) == 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    "first",
    [
        refusal(429),
        refusal(429, retry_after="60"),
        refusal(503, retry_after="Sat, 28 Nov 2026 10:00:00 GMT"),
        refusal(401),
    ],
)
async def test_a_long_or_final_refusal_is_not_tried_again(service: Service, first: Any) -> None:
    service.first = [first]
    assert (await search(service.address, "crops")).failure is not None
    assert len(service.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    "body",
    [
        b"<html>gateway</html>",
        b"[]",
        b'{"results": null}',
        b'{"results": ["x"]}',
        b"\xff\xfe{",
        b'{"results": [{"url": 1}]}',
    ],
)
async def test_an_answer_without_a_usable_result_is_an_outage(service: Service, body: bytes) -> None:
    service.first = [(200, {"content-type": "application/json"}, body)]
    outcome = await search(service.address, "crops")
    assert outcome.hits == ()
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.SERVICE_DOWN


@pytest.mark.anyio
@pytest.mark.parametrize("status", [301, 402, 404, 418])
async def test_a_status_that_no_query_mends_is_the_services_own_failure(service: Service, status: int) -> None:
    service.first = [refusal(status)]
    outcome = await search(service.address, "crops")
    assert outcome.failure == Failure(
        FailureKind.SERVICE_DOWN,
        f"Tavily rejects the request (HTTP {status}); check MARCHWARDEN_TAVILY_BASE_URL",
    )


@pytest.mark.anyio
async def test_an_empty_answer_is_a_failure(service: Service) -> None:
    service.first = [refusal(204)]
    assert (await search(service.address, "crops")).failure is not None


def answer(**fields: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {"content-type": "application/json"}, json.dumps(fields).encode()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "problem",
    [
        {"error": "No credit left"},
        {"detail": {"error": "No credit left"}},
        {"message": "No credit left", "results": []},
    ],
)
async def test_an_error_in_place_of_results_is_a_failure_in_the_services_words(
    service: Service, problem: dict[str, Any]
) -> None:
    service.first = [answer(**problem)]
    outcome = await search(service.address, "crops")
    assert outcome.failure == Failure(FailureKind.SERVICE_DOWN, "Tavily reports an error: No credit left")


@pytest.mark.anyio
async def test_malformed_results_are_skipped_and_counted(service: Service) -> None:
    good = {
        "url": "https://example.org/",
        "title": "Crops",
        "content": 7,
        "score": "high",
        "published_date": "9" * 99,
    }
    long = {"url": "https://example.org/?" + "x" * 9_000}
    service.first = [answer(results=["x", None, [], {"url": 1}, {"title": "Crops"}, {"url": "http://["}, long, good])]
    outcome = await search(service.address, "crops")
    assert outcome.failure is None
    assert outcome.hits == (SearchHit("https://example.org/", "Crops"),)
    assert outcome.malformed == 7


@pytest.mark.anyio
@pytest.mark.parametrize("score", ["NaN", "Infinity", "1" + "0" * 400])
async def test_a_score_that_is_no_number_spoils_nothing(service: Service, score: str) -> None:
    body = f'{{"results": [{{"url": "https://example.org/", "score": {score}}}]}}'.encode()
    service.first = [(200, {"content-type": "application/json"}, body)]
    (hit,) = (await search(service.address, "crops")).hits
    assert hit.score == 0.0


@pytest.mark.anyio
async def test_long_titles_and_snippets_are_cut(service: Service) -> None:
    service.first = [answer(results=[{"url": "https://a.org/", "title": "t" * 500_000, "content": "s" * 500_000}])]
    (hit,) = (await search(service.address, "crops")).hits
    assert (len(hit.title), len(hit.snippet)) == (TITLE_CHARS, SNIPPET_CHARS)


@pytest.mark.anyio
async def test_an_answer_that_is_too_large_is_not_read_to_its_end(service: Service) -> None:
    service.first = [answer(results=[{"url": "https://a.org/", "title": "t" * MAX_ANSWER_BYTES}])]
    outcome = await search(service.address, "crops")
    assert outcome.failure == Failure(FailureKind.SERVICE_DOWN, "Tavily sends more than 2 MB")


@pytest.mark.anyio
async def test_control_characters_reach_neither_hits_nor_failures(service: Service) -> None:
    nasty = "\x1b[31mred\x1b[0m \u202etext\x00 \ud800end"
    service.first = [
        answer(results=[{"url": "https://a.org/", "title": nasty, "content": nasty}]),
        (400, {"content-type": "application/json"}, json.dumps({"detail": {"error": nasty}}).encode()),
    ]
    (hit,) = (await search(service.address, "crops")).hits
    assert (hit.title, hit.snippet) == ("red text end", "red text end")
    failed = await search(service.address, "crops")
    assert failed.failure is not None
    assert failed.failure.detail == "Tavily rejects the query: red text end"


@pytest.mark.anyio
async def test_a_service_that_does_not_answer_is_a_timeout(service: Service) -> None:
    service.delay = 0.3
    outcome = await search(service.address, "crops", timeout=0.05)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.TIMEOUT
    assert 0.05 <= outcome.seconds < 5


@pytest.mark.anyio
async def test_a_search_that_would_take_half_of_the_time_left_is_a_timeout(service: Service) -> None:
    await search(service.address, "crops")  # imports the client
    service.delay = 30
    with anyio.fail_after(4):
        outcome = await search(service.address, "crops")
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.TIMEOUT


@pytest.mark.anyio
async def test_an_answer_that_trickles_in_is_a_timeout(service: Service) -> None:
    service.trickle = 0.05
    outcome = await search(service.address, "crops", timeout=1)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.TIMEOUT


@pytest.mark.anyio
async def test_a_service_that_is_not_there_is_a_network_failure() -> None:
    with running() as service:
        address = service.address
    outcome = await search(address, "crops")
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.NETWORK


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["tvly-s\u00e9cret", "tvly-sec\nret"])
async def test_a_key_that_cannot_be_one_is_a_bad_key(service: Service, key: str) -> None:
    outcome = await search(service.address, "crops", key=key)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.BAD_KEY
    assert key not in outcome.failure.detail


@pytest.mark.anyio
async def test_the_key_never_shows_even_where_the_service_repeats_it(service: Service) -> None:
    body = f'{{"detail": {{"error": "No such key: {KEY}"}}}}'.encode()
    service.first = [(401, {"content-type": "application/json"}, body)]
    outcome = await search(service.address, "crops")
    assert outcome.failure is not None
    assert outcome.failure.detail.endswith("No such key: …")


@pytest.mark.anyio
async def test_cancellation_passes_through(service: Service) -> None:
    service.delay = 0.3
    task = asyncio.ensure_future(search(service.address, "crops"))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.anyio
async def test_searches_share_a_client_and_run_at_once(service: Service) -> None:
    service.delay = 0.2
    provider = TavilySearch(settings_for(service.address))
    began = asyncio.get_running_loop().time()
    outcomes = await asyncio.gather(
        *(provider.search(f"crops {n}", max_results=3, source_filter=EVERYWHERE) for n in range(4))
    )
    await provider.aclose()
    assert all(outcome.failure is None for outcome in outcomes)
    assert asyncio.get_running_loop().time() - began < 0.7


@pytest.mark.anyio
async def test_one_that_never_searched_closes_quietly() -> None:
    await TavilySearch(settings_for("http://127.0.0.1:1")).aclose()


def test_without_a_key_there_is_no_search() -> None:
    with pytest.raises(ConfigurationError, match="TAVILY_API_KEY") as raised:
        TavilySearch(load_settings())
    assert "snapshot" in (raised.value.hint or "")


@pytest.mark.parametrize("address", ["api.tavily.com", "http://[", "ftp://api.tavily.com"])
def test_an_address_that_is_none_is_named(address: str) -> None:
    with pytest.raises(ConfigurationError, match="MARCHWARDEN_TAVILY_BASE_URL"):
        TavilySearch(settings_for(address))
