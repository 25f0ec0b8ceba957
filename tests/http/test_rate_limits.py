"""How often and how many at once a host is asked, over real connections."""

from __future__ import annotations

import asyncio
import itertools
import time
from datetime import datetime, timezone
from email.utils import format_datetime

import httpx
import pytest

from marchwarden.http.rate_limits import PoliteTransport, retry_after_of
from marchwarden.observations import FailureKind, FetchOutcome
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from tests.http.loopback import Asked, Write, loopback, response
from tests.profiles import within
from tests.reading.pages import article

pytestmark = pytest.mark.anyio


def polite(**options: object) -> Fetcher:
    return Fetcher(Settings(allow_private_addresses=True, **options))  # type: ignore[arg-type]


def robots(text: str) -> bytes:
    return response(text.encode(), content_type="text/plain")


def kinds(outcomes: list[FetchOutcome]) -> list[FailureKind | None]:
    return [outcome.failure.kind if outcome.failure else None for outcome in outcomes]


async def test_a_host_gets_two_requests_at_once() -> None:
    async def slow(asked: Asked, write: Write) -> None:
        await asyncio.sleep(0.05)
        await write(response(article()))

    async with loopback({f"/{n}": slow for n in range(6)}) as site, polite() as fetcher:
        outcomes = await asyncio.gather(*(fetcher.fetch(f"{site.url}/{n}") for n in range(6)))
    assert kinds(list(outcomes)) == [None] * 6
    assert site.most_at_once == 2


async def test_a_place_is_given_back_whatever_becomes_of_the_request() -> None:
    async def never(asked: Asked, write: Write) -> None:
        await asyncio.sleep(0.3)

    async with (
        loopback({"/never": never, "/huge": response(b"x" * 500_000)}) as site,
        polite(max_page_bytes=1000) as fetcher,
    ):
        for _ in range(3):
            await asyncio.gather(
                fetcher.fetch(f"{site.url}/never", timeout=0.05),
                fetcher.fetch(f"{site.url}/huge"),
            )
        assert kinds([await fetcher.fetch(f"{site.url}/a")]) == [None]
    with_content = httpx.MockTransport(lambda request: httpx.Response(200, content=b"x"))
    transport = PoliteTransport(with_content, at_once=1)
    for _ in range(3):
        await transport.handle_async_request(httpx.Request("GET", "http://example.org/"))


async def test_the_delay_of_robots_txt_lies_between_the_requests() -> None:
    began: list[float] = []

    async def page(asked: Asked, write: Write) -> None:
        began.append(time.monotonic())
        await write(response(article()))

    pages = {f"/{n}": page for n in range(3)}
    rules = robots("User-agent: *\nCrawl-delay: 1")
    async with loopback({"/robots.txt": rules, **pages}) as site, polite() as fetcher:
        started = time.monotonic()
        outcomes = await asyncio.gather(*(fetcher.fetch(f"{site.url}/{n}") for n in range(3)))
    assert kinds(list(outcomes)) == [None] * 3
    assert began[0] - started < within(1), "the first page does not wait for robots.txt"
    assert [later - earlier > 0.5 for earlier, later in itertools.pairwise(began)] == [True, True]


async def test_a_delay_that_does_not_fit_the_time_is_not_waited_for() -> None:
    rules = robots("User-agent: *\nCrawl-delay: 60")
    async with loopback({"/robots.txt": rules}) as site, polite(fetch_timeout=5) as fetcher:
        first, second = [await fetcher.fetch(f"{site.url}/{path}") for path in "ab"]
    assert first.failure is None
    assert second.failure is not None
    assert second.failure.kind is FailureKind.RATE_LIMITED
    assert "asks for 60 seconds between requests" in second.failure.detail
    assert second.seconds < within(2)
    assert site.paths() == ["/a"]


async def test_a_redirect_within_a_host_is_part_of_the_page() -> None:
    replies = {"/robots.txt": robots("User-agent: *\nCrawl-delay: 60"), "/a": response(status=301, Location="/b")}
    async with loopback({**replies}) as site, polite() as fetcher:
        assert kinds([await fetcher.fetch(f"{site.url}/a")]) == [None]
    assert site.paths() == ["/a", "/b"]


@pytest.mark.parametrize("status", [429, 503])
async def test_a_pause_that_fits_is_kept_and_the_page_asked_for_once_more(status: int) -> None:
    busy = response(status=status, Retry_After="1")
    async with loopback({"/a": [busy, response(article())]}) as site, polite() as fetcher:
        outcome = await fetcher.fetch(f"{site.url}/a")
    assert kinds([outcome]) == [None]
    assert outcome.seconds >= 1
    assert site.paths() == ["/a", "/a"]


async def test_a_host_that_wants_a_long_pause_is_left_alone_for_the_call() -> None:
    busy = response(status=429, Retry_After="600")
    async with loopback({"/a": busy}) as site, polite() as fetcher:
        outcomes = [await fetcher.fetch(f"{site.url}/{path}") for path in "ab"]
    assert kinds(outcomes) == [FailureKind.RATE_LIMITED] * 2
    assert [outcome.status for outcome in outcomes] == [429, None]
    assert all(outcome.failure and "in 10 minutes" in outcome.failure.detail for outcome in outcomes)
    assert site.paths() == ["/a"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 0 "}, 0),
        ({"retry-after": "Fri, 27 Nov 2026 10:01:00 GMT", "date": "Fri, 27 Nov 2026 10:00:00 GMT"}, 60),
        ({"retry-after": "Fri, 27 Nov 2026 09:00:00 GMT", "date": "Fri, 27 Nov 2026 10:00:00 GMT"}, 0),
        ({"retry-after": "Friday, 27-Nov-26 10:01:00 GMT", "date": "Fri, 27 Nov 2026 10:00:00 GMT"}, 60),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "²"}, None),
        ({"retry-after": "Fri, 27 Nov 99999 10:01:00 GMT"}, None),
        ({}, None),
    ],
)
async def test_both_forms_of_retry_after_are_read(headers: dict[str, str], seconds: float | None) -> None:
    asked = retry_after_of(headers)
    assert (asked.seconds if asked else None) == seconds


async def test_a_date_to_come_back_is_read_against_our_clock_where_the_answer_has_none() -> None:
    asked = retry_after_of({"retry-after": format_datetime(datetime.now(timezone.utc))})
    assert asked is not None
    assert asked.seconds <= 1
