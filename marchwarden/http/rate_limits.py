"""When a host may be asked: few requests at once, the delay of its robots.txt, the pause that it asked for.

`PoliteTransport` stands before the network and after the cache: what the cache answers does not wait. Waiting never
goes past the deadline in force (`anyio.move_on_after`): what would is refused at once, with the reason, and the time
is there for other pages.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import anyio
import httpx

AT_ONCE = 2
"""Requests that one host gets side by side."""

CRAWL_DELAY = "crawl_delay"
"""The extension of a request that says how many seconds its host wants between such requests."""

_PAUSES = frozenset({429, 503})


class NotInTime(Exception):
    """The host wants us to wait for longer than there is time; `str(error)` says so in one sentence."""


@dataclass(frozen=True)
class RetryAfter:
    """RFC 9110 section 10.2.3: seconds, or a date, which is read against the answer's own."""

    seconds: float
    words: str
    """`in 120 seconds`, `at 2026-11-27 10:01:00 UTC`: as the server put it."""


def retry_after_of(headers: Mapping[str, str]) -> RetryAfter | None:
    """None where there is none, or none that can be read. Names of headers in lower case."""
    asked = headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        seconds = int(asked[:9])
        return RetryAfter(float(seconds), f"in {seconds} seconds")
    moment = _moment(asked)
    if moment is None:
        return None
    now = _moment(headers.get("date", "")) or datetime.now(timezone.utc)
    return RetryAfter(max(0.0, (moment - now).total_seconds()), f"at {moment:%Y-%m-%d %H:%M:%S} UTC")


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment).astimezone(timezone.utc)
    except (ValueError, TypeError, OverflowError):
        return None


def seconds_left() -> float:
    """Until the nearest deadline that is in force; infinite where there is none."""
    return anyio.current_effective_deadline() - anyio.current_time()


@dataclass
class _Host:
    name: str
    places: anyio.Semaphore
    free_at: float = 0.0
    """When its next request with a delay may start, in the clock's seconds."""
    paused_until: float = 0.0
    pause: str = ""
    """When it wants to be asked again, in its own words."""


class PoliteTransport(httpx.AsyncBaseTransport):
    """Asks `inner` when the host's turn has come; knows the hosts of one research call."""

    def __init__(
        self, inner: httpx.AsyncBaseTransport, *, at_once: int = AT_ONCE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._inner = inner
        self._at_once = at_once
        self._clock = clock
        self._hosts: dict[str, _Host] = {}

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises NotInTime, before it waits or asks, where the host's turn comes after the deadline."""
        host = self._host(request.url.host)
        await host.places.acquire()
        try:
            await self._wait(host, float(request.extensions.get(CRAWL_DELAY, 0.0)))
            response = await self._inner.handle_async_request(request)
        except BaseException:
            host.places.release()
            raise
        self._heed(host, response)
        if response.is_closed:  # built from content, in memory
            host.places.release()
        else:
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = _UntilClosed(response.stream, host.places)
        return response

    def _host(self, name: str) -> _Host:
        if name not in self._hosts:
            self._hosts[name] = _Host(name, anyio.Semaphore(self._at_once))
        return self._hosts[name]

    async def _wait(self, host: _Host, delay: float) -> None:
        now = self._clock()
        turn = max(now, host.free_at) if delay else now
        start = max(turn, host.paused_until)
        if start - now >= seconds_left():
            raise NotInTime(_paused(host) if start == host.paused_until else _delayed(host, delay, start - now))
        if delay:
            host.free_at = start + delay
        if start > now:
            await anyio.sleep(start - now)

    def _heed(self, host: _Host, response: httpx.Response) -> None:
        asked = retry_after_of(response.headers) if response.status_code in _PAUSES else None
        if asked and self._clock() + asked.seconds > host.paused_until:
            host.paused_until = self._clock() + asked.seconds
            host.pause = asked.words


def _paused(host: _Host) -> str:
    return f"{host.name} wants fewer requests: it is to be asked again {host.pause}, which is too late for this page"


def _delayed(host: _Host, delay: float, wait: float) -> str:
    return (
        f"robots.txt of {host.name} wants {delay:g} seconds between requests: our next turn, in {wait:.1f} seconds, "
        "is too late for this page"
    )


class _UntilClosed(httpx.AsyncByteStream):
    """A body that gives its place back when it is closed, once."""

    def __init__(self, body: httpx.AsyncByteStream, places: anyio.Semaphore) -> None:
        self._body = body
        self._places: anyio.Semaphore | None = places

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._body:
            yield piece

    async def aclose(self) -> None:
        places, self._places = self._places, None
        if places is not None:
            places.release()
        await self._body.aclose()
