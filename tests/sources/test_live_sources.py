"""Services that search the web, and Wikipedia: what they answer becomes hits, and what fails becomes a failure.

No recordings of these services could be had: the answers are written after their public documentation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError
from marchwarden.observations import FailureKind, SearchOutcome
from marchwarden.settings import Settings, WebSearch
from marchwarden.sources.source_registry import open_tools

pytestmark = pytest.mark.anyio

KEY = "key-0123456789abcdef"
ANSWERS: dict[str, Any] = {
    "brave": {
        "web": {
            "results": [
                {
                    "title": "Beans",
                    "url": "https://a.example/beans",
                    "description": "Beans grow.",
                    "page_age": "2025-03-01T10:00:00",
                }
            ]
        }
    },
    "exa": {
        "results": [
            {
                "title": "Beans",
                "url": "https://a.example/beans",
                "text": "Beans grow.",
                "publishedDate": "2025-03-01T00:00:00.000Z",
            }
        ]
    },
    "serper": {
        "organic": [
            {"title": "Beans", "link": "https://a.example/beans", "snippet": "Beans grow.", "date": "Mar 1, 2025"}
        ]
    },
    "wikipedia": {
        "query": {
            "search": [
                {
                    "ns": 0,
                    "title": "Common bean",
                    "pageid": 4487,
                    "snippet": 'The <span class="searchmatch">bean</span> grows.',
                }
            ]
        }
    },
}
SERVICES = list(ANSWERS)


def settings_for(service: str, folder: Path, **more: Any) -> Settings:
    if service == "wikipedia":
        return Settings(source="wikipedia", cache_dir=folder, **more)
    return Settings(source="web", cache_dir=folder, **{f"{service}_api_key": KEY}, **more)


async def search(
    service: str, folder: Path, answer: httpx.Response | Exception, *, source_filter: str | None = None
) -> tuple[SearchOutcome, list[httpx.Request]]:
    asked: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    tools = open_tools(settings_for(service, folder), transport=httpx.MockTransport(respond))
    found = await tools.search.search("How do beans grow?", max_results=5, source_filter=SourceFilter(source_filter))
    await tools.aclose()
    return found, asked


@pytest.mark.parametrize("service", SERVICES)
async def test_results_become_hits_and_keys_go_into_headers_alone(service: str, tmp_path: Path) -> None:
    outcome, (request,) = await search(service, tmp_path, httpx.Response(200, json=ANSWERS[service]))
    (hit,) = outcome.hits
    assert hit.url == (
        "https://en.wikipedia.org/wiki/Common_bean" if service == "wikipedia" else "https://a.example/beans"
    )
    assert "grow" in hit.snippet
    assert "<" not in hit.snippet
    if service != "wikipedia":
        assert str(hit.published) == "2025-03-01"
        assert KEY in request.headers.values()
    assert KEY not in str(request.url)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.Response(429, headers={"retry-after": "3600"}), FailureKind.RATE_LIMITED),
        (httpx.Response(401, text=f"bad {KEY}"), FailureKind.BAD_KEY),
        (httpx.Response(500), FailureKind.SERVICE_DOWN),
        (httpx.Response(200, text="<html>"), FailureKind.SERVICE_DOWN),
        (httpx.Response(200, json=[1]), FailureKind.SERVICE_DOWN),
        (httpx.Response(302, headers={"location": "https://elsewhere.example/"}), FailureKind.SERVICE_DOWN),
        (httpx.ConnectError("refused"), FailureKind.NETWORK),
    ],
    ids=["429", "401", "500", "html", "list", "moved", "refused"],
)
async def test_what_fails_is_a_failure_that_tells_no_key(
    service: str, answer: httpx.Response | Exception, kind: FailureKind, tmp_path: Path
) -> None:
    outcome, _ = await search(service, tmp_path, answer)
    assert outcome.hits == ()
    assert outcome.failure is not None
    assert outcome.failure.kind is kind
    assert KEY not in outcome.failure.detail


@pytest.mark.parametrize("service", [each for each in SERVICES if each != "wikipedia"])
@pytest.mark.parametrize(
    "body",
    [
        {"error": f"No credit left for {KEY}"},
        {"message": f"No credit left for {KEY}"},
        {"type": "ErrorResponse", "error": {"code": 7, "detail": f"No credit left for {KEY}"}},
        {"errors": [{"message": f"No credit left for {KEY}"}], "results": None},
    ],
)
async def test_an_error_with_status_200_is_a_failure_in_the_services_words(
    service: str, body: Any, tmp_path: Path
) -> None:
    outcome, _ = await search(service, tmp_path, httpx.Response(200, json=body))
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.SERVICE_DOWN
    assert "reports an error: No credit left for" in outcome.failure.detail
    assert KEY not in outcome.failure.detail


@pytest.mark.parametrize("service", ["brave", "exa", "serper"])
@pytest.mark.parametrize(
    "body",
    [
        {"message": "OK"},
        {"status": 200, "detail": "The index was searched."},
        {"success": True, "message": "Your plan ends in 3 days."},
        {"message": "No results found for beans"},
        {"detail": {"took": 7}},
    ],
)
async def test_a_message_that_tells_of_no_error_is_an_answer_without_results(
    service: str, body: Any, tmp_path: Path
) -> None:
    outcome, _ = await search(service, tmp_path, httpx.Response(200, json=body))
    assert (outcome.hits, outcome.failure) == ((), None)


STRANGE: list[Any] = [None, 7, "text", {}, {"title": 3, "url": 4, "link": []}, {"title": "a\0b", "snippet": "a\0b"}]


@pytest.mark.parametrize("service", SERVICES)
async def test_strange_results_raise_nothing(service: str, tmp_path: Path) -> None:
    shapes = {"wikipedia": {"query": {"search": STRANGE}}, "brave": {"web": {"results": STRANGE}}}
    shape = shapes.get(service, {"results": STRANGE, "organic": STRANGE})
    outcome, _ = await search(service, tmp_path, httpx.Response(200, json=shape))
    assert outcome.failure is None or outcome.failure.kind is FailureKind.SERVICE_DOWN


@pytest.mark.parametrize("service", SERVICES)
async def test_a_hang_leaves_half_of_the_time(service: str, tmp_path: Path) -> None:
    async def hang(request: httpx.Request) -> httpx.Response:
        await anyio.sleep_forever()
        raise AssertionError

    tools = open_tools(settings_for(service, tmp_path), transport=httpx.MockTransport(hang))
    with anyio.fail_after(0.4):
        found = await tools.search.search("beans", max_results=1, source_filter=SourceFilter(None))
    assert found.failure is not None
    assert found.failure.kind is FailureKind.TIMEOUT


@pytest.mark.parametrize("service", SERVICES)
async def test_nothing_found_is_no_failure(service: str, tmp_path: Path) -> None:
    empty = {"query": {"search": []}} if service == "wikipedia" else {}
    outcome, _ = await search(service, tmp_path, httpx.Response(200, json=empty))
    assert (outcome.hits, outcome.failure) == ((), None)


async def test_a_filter_that_lets_no_article_through_sends_no_request(tmp_path: Path) -> None:
    answer = httpx.Response(200, json=ANSWERS["wikipedia"])
    outcome, asked = await search("wikipedia", tmp_path, answer, source_filter="usu.edu")
    assert (outcome.hits, asked) == ((), [])


@pytest.mark.parametrize("chosen", ["brave", "exa"])
async def test_the_service_that_is_set_goes_first(chosen: WebSearch, tmp_path: Path) -> None:
    settings = Settings(brave_api_key=KEY, exa_api_key=KEY, web_search=chosen, cache_dir=tmp_path)
    assert settings.source_name == "web"
    assert settings.web_searches[0] == chosen


async def test_a_service_without_its_key_is_refused_with_what_to_set() -> None:
    with pytest.raises(ConfigurationError, match="SERPER_API_KEY"):
        Settings(source="web", brave_api_key=KEY, web_search="serper").require_search_key()


async def test_a_body_is_sent_as_json(tmp_path: Path) -> None:
    _, (request,) = await search("serper", tmp_path, httpx.Response(200, json={}))
    assert json.loads(request.content) == {"q": "How do beans grow?", "num": 5}


async def test_articles_that_only_list_meanings_are_left_out(tmp_path: Path) -> None:
    results = [{"title": "Bean (disambiguation)"}, {"title": "Common bean"}]
    pages = [{"title": "Bean (disambiguation)", "pageprops": {"disambiguation": ""}}, {"title": "Common bean"}]
    answer = httpx.Response(200, json={"query": {"search": results, "pages": pages}})
    outcome, _ = await search("wikipedia", tmp_path, answer)
    assert [hit.title for hit in outcome.hits] == ["Common bean"]


@pytest.mark.parametrize(
    ("warnings", "told"),
    [
        (
            {"search": {"warnings": "The search timed out, only partial results are available."}},
            ("Wikipedia warns of its search: The search timed out, only partial results are available.",),
        ),
        ({"main": {"warnings": "Unrecognized parameter: gsrprop."}}, ()),
        ({"search": ["strange"]}, ()),
        (["strange"], ()),
    ],
)
async def test_a_search_of_wikipedia_that_ended_early_is_told(
    warnings: Any, told: tuple[str, ...], tmp_path: Path
) -> None:
    answer = httpx.Response(200, json={**ANSWERS["wikipedia"], "warnings": warnings})
    outcome, _ = await search("wikipedia", tmp_path, answer)
    assert len(outcome.hits) == 1
    assert outcome.incomplete == told


@pytest.mark.parametrize("service", ["brave", "serper"])
async def test_a_filter_is_told_in_the_query(service: str, tmp_path: Path) -> None:
    _, (request,) = await search(service, tmp_path, httpx.Response(200, json={}), source_filter="gov, edu, -x.gov")
    asked = request.url.params["q"] if service == "brave" else json.loads(request.content)["q"]
    assert asked == "How do beans grow? (site:gov OR site:edu) -site:x.gov"
