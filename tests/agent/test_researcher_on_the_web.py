"""The web researcher: Tavily's official client against a loopback server, pages from loopback too; failures midway."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from marchwarden.agent.rerun_call import Exchange, rerun
from marchwarden.settings import Settings, load_settings
from tests.runs import run
from tests.webs import article

pytestmark = pytest.mark.anyio

QUESTION = "When was the Halden Bridge built, and who designed the lighthouse of Ostvik?"


@contextmanager
def serving(
    search: Callable[[dict[str, Any], str], tuple[int, Any]], pages: Mapping[str, str | int]
) -> Iterator[str]:
    """A loopback host that answers Tavily's search and serves pages, or fails with a status; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, body = search(asked, f"http://127.0.0.1:{self.server.server_port}")  # type: ignore[attr-defined]
            self._answer(status, json.dumps(body).encode(), "application/json")

        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0], 404)
            status, text = (page, "not here") if isinstance(page, int) else (200, page)
            self._answer(status, text.encode(), "text/html; charset=utf-8")

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def settings_for(address: str, **more: Any) -> Settings:
    return load_settings(
        model="extractive", source="web", tavily_api_key="tvly-secret", tavily_base_url=address,
        allow_private_addresses=True, **more,
    )  # fmt: skip


def hit(address: str, path: str, title: str) -> dict[str, Any]:
    return {"url": f"{address}{path}", "title": title, "content": title, "score": 0.9, "raw_content": None}


BRIDGE = {"/halden": article("Halden Bridge", "The Halden Bridge was built in 1931 over the river Tista.")}


async def test_the_web_researcher_answers_from_pages_that_the_search_names() -> None:
    def search(asked: dict[str, Any], address: str) -> tuple[int, Any]:
        return 200, {
            "query": asked["query"],
            "results": [hit(address, "/halden", "When the Halden Bridge was built")],
        }

    with serving(search, BRIDGE) as address:
        done = await run("When was the Halden Bridge built?", settings=settings_for(address))
    assert "1931" in done.result.answer
    assert done.locators() == {f"{address}/halden"}
    assert done.problems == []
    assert "tvly-secret" not in done.trace.path.read_text(encoding="utf-8")


async def test_6_a_search_that_fails_midway_leaves_a_partial_answer() -> None:
    calls = itertools.count()

    def search(asked: dict[str, Any], address: str) -> tuple[int, Any]:
        if "lighthouse" in asked["query"]:
            return 429, {"detail": {"error": "Your request has been blocked due to excessive requests."}}
        next(calls)
        return 200, {
            "query": asked["query"],
            "results": [hit(address, "/halden", "When the Halden Bridge was built")],
        }

    with serving(search, BRIDGE) as address:
        done = await run(QUESTION, settings=settings_for(address))
    assert "1931" in done.result.answer
    assert done.categories() == ["access_denied"]
    assert "lighthouse" in done.result.gaps[0].topic
    assert {event.failure.kind for event in done.events("search") if event.failure} == {"rate_limited"}


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "bad_key"), (429, "rate_limited"), (500, "service_down"), (503, "service_down")]
)
async def test_a_search_that_is_down_is_access_denied_not_an_exception(status: int, kind: str) -> None:
    with serving(lambda asked, address: (status, {"detail": {"error": "no"}}), {}) as address:
        done = await run("When was the Halden Bridge built?", settings=settings_for(address))
    assert done.result.citations == []
    assert done.categories() == ["access_denied"]
    assert {event.failure.kind for event in done.events("search")} == {kind}
    assert "tvly-secret" not in done.result.model_dump_json()


async def test_an_empty_search_is_source_not_found() -> None:
    with serving(lambda asked, address: (200, {"query": asked["query"], "results": []}), {}) as address:
        done = await run("When was the Halden Bridge built?", settings=settings_for(address))
    assert done.categories() == ["source_not_found"]
    assert done.result.status == "nothing_found"


@pytest.mark.parametrize("question", ["When was the Halden Bridge built?", "Who designed the lighthouse of Ostvik?"])
async def test_what_a_search_could_not_search_is_in_the_trace_and_where_nothing_answers_in_the_gap(
    question: str,
) -> None:
    with serving(lambda asked, address: (500, None), BRIDGE) as pages:
        found = {"url": f"{pages}/halden", "title": "When the Halden Bridge was built", "content": "A bridge."}
        answer = {"results": [found], "unresponsive_engines": [["brave", "timeout"]]}
        with serving(lambda asked, address: (500, None), {"/search": json.dumps(answer)}) as searxng:
            settings = load_settings(
                model="extractive", source="web", searxng_url=searxng, allow_private_addresses=True
            )
            done = await run(question, settings=settings)
    missing = "SearXNG got nothing from these engines: brave (timeout)."
    assert {tuple(event.incomplete) for event in done.events("search")} == {(missing,)}
    assert all(missing in event.decision for event in done.events("search"))
    assert done.problems == []
    if "Bridge" in question:
        assert done.result.gaps == []
        return
    (gap,) = done.result.gaps
    assert gap.category.value == "source_not_found"
    assert gap.detail.endswith(f" A search was incomplete: {missing}")
    assert not (await rerun(done.trace, settings, Exchange())).differences


@pytest.mark.parametrize(("status", "ending"), [(503, "failed"), (404, "nothing_found"), (403, "nothing_found")])
async def test_a_server_that_fails_is_told_as_a_failure_and_a_page_that_is_gone_or_closed_as_a_finding(
    status: int, ending: str
) -> None:
    def search(asked: dict[str, Any], address: str) -> tuple[int, Any]:
        found = [hit(address, "/halden", "When the Halden Bridge was built")]
        return 200, {"query": asked["query"], "results": found}

    with serving(search, {"/halden": status}) as address:
        done = await run("When was the Halden Bridge built?", settings=settings_for(address))
    assert done.result.status == ending
    (gap,) = done.result.gaps
    assert f"{address}/halden could not be read: " in gap.detail
    assert gap.category == ("source_not_found" if status == 404 else "access_denied")
    assert (gap.cause == "source_failed") == (status == 503)


async def test_private_addresses_are_refused_unless_allowed() -> None:
    def search(asked: dict[str, Any], address: str) -> tuple[int, Any]:
        return 200, {
            "query": asked["query"],
            "results": [hit(address, "/halden", "When the Halden Bridge was built")],
        }

    with serving(search, BRIDGE) as address:
        guarded = settings_for(address).model_copy(update={"allow_private_addresses": False})
        done = await run("When was the Halden Bridge built?", settings=guarded)
    assert done.result.citations == []
    assert {event.failure.kind for event in done.events("fetch_url")} == {"refused_address"}


async def test_a_search_that_cannot_be_reached_is_access_denied_too() -> None:
    with serving(lambda asked, address: (200, {}), {}) as address:
        pass  # it is closed again
    done = await run("When was the Halden Bridge built?", settings=settings_for(address))
    assert {event.failure.kind for event in done.events("search")} == {"network"}
    assert done.categories() == ["access_denied"]
    assert done.result.status == "failed"
    (gap,) = done.result.gaps
    assert gap.cause == "source_failed"
    assert gap.detail.startswith("The search failed: Tavily could not be reached")
    assert gap.detail.endswith("Check the network and the address, then ask again.")


async def test_13_hits_that_spell_one_address_in_many_ways_are_one_page_and_no_address_is_none() -> None:
    def search(asked: dict[str, Any], address: str) -> tuple[int, Any]:
        paths = ["/halden", "/halden#history", "/halden?utm_source=x", "/a/../halden", "/halden"]
        hits = [hit(address, path, "When the Halden Bridge was built") for path in paths]
        return 200, {
            "query": asked["query"],
            "results": [*hits, hit("http://[::1", "/halden", "Halden Bridge built")],
        }

    with serving(search, BRIDGE) as address:
        done = await run("When was the Halden Bridge built?", settings=settings_for(address))
    assert [event.url for event in done.events("fetch_url")] == [f"{address}/halden"]
