"""What servers let us keep is kept across calls, over real connections."""

from __future__ import annotations

import asyncio
import gzip
import sqlite3
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import brotli
import httpx
import pytest
import zstandard

from marchwarden.http.cache import CacheTransport, cache_file
from marchwarden.observations import FailureKind, FetchOutcome
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from tests.http.loopback import Asked, Write, loopback, response
from tests.reading.pages import article

pytestmark = pytest.mark.anyio

OLD = "Fri, 02 Jan 2015 10:00:00 GMT"


async def test_nobody_else_may_read_the_cache(tmp_path: Path, open_umask: None) -> None:
    async with loopback({"/a": response(article(), Cache_Control="max-age=600")}) as site:
        await fetch(f"{site.url}/a", tmp_path / "caches")
    file = cache_file(tmp_path / "caches", private=True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (file.parent, file.parent.parent)} == {0o700}


async def fetch(url: str, folder: Path, **options: object) -> FetchOutcome:
    """In a call of its own."""
    settings = Settings(allow_private_addresses=True, cache_dir=folder, **options)  # type: ignore[arg-type]
    async with Fetcher(settings) as fetcher:
        return await fetcher.fetch(url)


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstandard.ZstdCompressor().compress)],
)
async def test_a_fresh_page_is_not_asked_for_again_and_is_the_same_in_all_that_the_trace_tells(
    encoding: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    page = response(pack(article()), Content_Encoding=encoding, Cache_Control="max-age=600")
    async with loopback({"/a": page}) as site:
        first, second = [await fetch(f"{site.url}/a", tmp_path) for _ in range(2)]
    assert site.paths() == ["/a"]
    assert first.page is not None
    assert second.page == first.page
    told = ("status", "content_type", "content_hash", "content_length", "body", "final_url")
    assert [getattr(second, name) for name in told] == [getattr(first, name) for name in told]
    assert first.kept_for is None
    assert second.kept_for is not None
    assert 0 <= second.kept_for < 60


@pytest.mark.parametrize(
    ("validator", "condition"),
    [({"ETag": '"v1"'}, ("if-none-match", '"v1"')), ({"Last_Modified": OLD}, ("if-modified-since", OLD))],
)
async def test_a_page_that_does_not_say_how_long_it_is_fresh_is_asked_for_under_its_validator(
    validator: dict[str, str], condition: tuple[str, str], tmp_path: Path
) -> None:
    """Nothing is guessed from an old Last-Modified: evidence is as of today."""
    changed = response(article("<p>One more sentence on the crops of the garden.</p>"), **validator)
    replies = [response(article(), **validator), response(status=304, **validator), changed]
    async with loopback({"/a": [*replies]}) as site:
        outcomes = [await fetch(f"{site.url}/a", tmp_path) for _ in range(3)]
    name, value = condition
    asked = [each.headers.get(name) for each in site.asked if each.path == "/a"]
    assert asked == [None, value, value]
    assert [outcome.status for outcome in outcomes] == [200, 200, 200]
    assert [outcome.kept_for for outcome in outcomes] == [None, 0, None], "its server said that it still stands"
    assert outcomes[1].content_hash == outcomes[0].content_hash
    assert b"One more sentence" in outcomes[2].body


@pytest.mark.parametrize(
    "headers",
    [
        {"Cache_Control": "no-store, max-age=600", "ETag": '"v1"'},
        {},
        {"Cache_Control": "public"},
        {"Cache_Control": "max-age=600", "Vary": "*"},
    ],
)
async def test_what_may_not_be_kept_or_could_not_be_used_is_not_kept(headers: dict[str, str], tmp_path: Path) -> None:
    async with loopback({"/a": response(article(), **headers)}) as site:
        for _ in range(2):
            assert (await fetch(f"{site.url}/a", tmp_path)).failure is None
    assert [each.headers.get("if-none-match") for each in site.asked if each.path == "/a"] == [None, None]


async def test_the_setting_turns_it_off(tmp_path: Path) -> None:
    async with loopback({"/a": response(article(), Cache_Control="max-age=600")}) as site:
        for _ in range(2):
            await fetch(f"{site.url}/a", tmp_path, http_cache=False)
    assert site.paths() == ["/a", "/a"]
    assert not cache_file(tmp_path, private=True).parent.exists()


async def test_a_world_that_is_given_is_never_kept(tmp_path: Path) -> None:
    asked: list[str] = []

    def world(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(200, headers={"cache-control": "max-age=600"}, html=article().decode())

    for _ in range(2):
        async with Fetcher(Settings(cache_dir=tmp_path), transport=httpx.MockTransport(world)) as fetcher:
            await fetcher.fetch("https://example.org/a")
    assert asked.count("/a") == 2
    assert not cache_file(tmp_path, private=False).parent.exists()


async def test_robots_txt_is_followed_before_a_kept_page_is_given(tmp_path: Path) -> None:
    closed = response(b"User-agent: *\nDisallow: /", content_type="text/plain")
    replies = {"/robots.txt": [response(status=404), closed], "/a": response(article(), Cache_Control="max-age=600")}
    async with loopback({**replies}) as site:
        outcomes = [await fetch(f"{site.url}/a", tmp_path) for _ in range(2)]
    assert outcomes[0].failure is None
    assert outcomes[1].failure is not None
    assert outcomes[1].failure.kind is FailureKind.ROBOTS_DISALLOWED


async def test_robots_txt_is_kept_for_a_day_and_a_page_for_a_month(tmp_path: Path) -> None:
    fresh = "max-age=99999999"
    rules = response(b"User-agent: *\nDisallow: /x", content_type="text/plain", Cache_Control=fresh)
    async with loopback({"/robots.txt": rules, "/a": response(article(), Cache_Control=fresh)}) as site:
        await fetch(f"{site.url}/a", tmp_path)
        await fetch(f"{site.url}/a", tmp_path)
    assert len(site.asked) == 2
    connection = sqlite3.connect(cache_file(tmp_path, private=True))
    kept = connection.execute("SELECT ttl_deadline - last_accessed_at FROM entries ORDER BY 1").fetchall()
    connection.close()
    assert [round(seconds / 3600) for (seconds,) in kept] == [24, 30 * 24]


async def test_what_was_read_of_private_addresses_is_in_a_file_of_its_own(tmp_path: Path) -> None:
    async with loopback({"/a": response(article(), Cache_Control="max-age=600")}) as site:
        await fetch(f"{site.url}/a", tmp_path)
    assert cache_file(tmp_path, private=True).is_file()
    assert not cache_file(tmp_path, private=False).exists()


async def test_a_request_with_cookies_passes_the_cache_by(tmp_path: Path) -> None:
    replies = {
        "/a": response(status=302, Location="/b", Set_Cookie="seen=1; Path=/"),
        "/b": response(article(), Cache_Control="max-age=600"),
    }
    async with loopback({**replies}) as site:
        for _ in range(2):
            await fetch(f"{site.url}/a", tmp_path)
        assert site.paths() == ["/a", "/b", "/a", "/b"]
        assert site.asked[2].headers["cookie"] == "seen=1"


async def test_a_page_that_was_cut_or_broke_off_is_not_kept(tmp_path: Path) -> None:
    async def half(asked: Asked, write: Write) -> None:
        await write(response(article(), Cache_Control="max-age=600")[:-50])

    huge = response(article() * 100, Cache_Control="max-age=600")
    async with loopback({"/half": half, "/huge": huge}) as site:
        for path in ("/half", "/huge", "/huge"):
            await fetch(f"{site.url}{path}", tmp_path, max_page_bytes=20_000)
        whole = await fetch(f"{site.url}/huge", tmp_path)
    assert site.paths().count("/half") == 2, "asked for once more, as for any broken connection"
    assert whole.content_length == len(article() * 100)


async def test_the_file_stays_within_its_size(tmp_path: Path) -> None:
    file = tmp_path / "pages.sqlite"
    transport = CacheTransport(_Pages(), file, largest=100_000, most=400_000)
    for number in range(30):
        answer = await transport.handle_async_request(httpx.Request("GET", f"https://example.org/{number}"))
        assert len(await answer.aread()) == 50_000
        await answer.aclose()
    await transport.aclose()
    assert 0 < file.stat().st_size < 600_000


class _Pages(httpx.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = {"cache-control": "max-age=600", "content-length": "50000"}
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(b"x" * 50_000))


async def test_a_damaged_file_or_folder_costs_no_page(tmp_path: Path) -> None:
    file = cache_file(tmp_path, private=True)
    file.parent.mkdir()
    file.write_bytes(b"not a database" * 1000)
    (tmp_path / "taken").write_text("a file where a folder should be")
    async with loopback({"/a": response(article(), Cache_Control="max-age=600")}) as site:
        for folder in (tmp_path, tmp_path / "taken"):
            assert (await fetch(f"{site.url}/a", folder)).failure is None


async def test_an_answer_is_closed_where_the_time_ends_before_it_is_kept(tmp_path: Path) -> None:
    closed: list[bool] = []

    class Stream(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"x"

        async def aclose(self) -> None:
            closed.append(True)

    class Late(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            scope.cancel()
            return httpx.Response(200, headers={"cache-control": "max-age=600"}, stream=Stream())

    transport = CacheTransport(Late(), tmp_path / "pages.sqlite", largest=1000)
    with anyio.CancelScope() as scope:
        await transport.handle_async_request(httpx.Request("GET", "https://example.org/a"))
    await transport.aclose()
    assert scope.cancelled_caught
    assert closed == [True]


async def test_a_host_gets_its_place_back_when_a_page_that_could_be_kept_runs_out_of_time(tmp_path: Path) -> None:
    async def stuck(asked: Asked, write: Write) -> None:
        await write(response(article(), Cache_Control="max-age=600")[:-50])
        await asyncio.sleep(1)

    settings = Settings(allow_private_addresses=True, cache_dir=tmp_path)
    async with loopback({f"/{n}": stuck for n in range(4)}) as site, Fetcher(settings) as fetcher:
        for number in range(4):
            outcome = await fetcher.fetch(f"{site.url}/{number}", timeout=0.1)
            assert outcome.failure is not None
            assert outcome.failure.kind is FailureKind.TIMEOUT
        assert (await fetcher.fetch(f"{site.url}/a")).failure is None
