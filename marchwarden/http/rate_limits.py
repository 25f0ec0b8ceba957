"""Rate limits of a host: few requests at once, the delay of its robots.txt, the pause that it asked for.

`PoliteTransport` stands before the network and after the cache: answers from the cache do not wait. No request waits
past the deadline in force (`anyio.move_on_after`). One that would is refused at once, with the reason, so that other
pages have the time.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import anyio
import httpx

# Requests that one host gets at the same time. A guess: browsers open six connections, crawlers one.
AT_ONCE = 2

# Name of a request's extension: seconds that its host wants between such requests.
CRAWL_DELAY = "crawl_delay"

PAUSES = frozenset({429, 503})


class NotInTime(Exception):
    """The host wants us to wait past the deadline; `str(error)` says so in one sentence."""


@dataclass(frozen=True)
class RetryAfter:
    """A Retry-After header (RFC 9110 section 10.2.3): seconds, or a date, which is compared to the answer's own."""

    seconds: float
    words: str
    """The server's wish in words: `in 2 minutes`, `at 2026-11-27 10:01:00 UTC`."""


def retry_after_of(headers: Mapping[str, str]) -> RetryAfter | None:
    """Parse Retry-After; None where it is missing or can't be read. Names of headers are in lower case."""
    asked = headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        seconds = int(asked[:9])
        # In the largest unit of which it has two, rounded up: `in 90 seconds`, `in 10 minutes`.
        words = f"in {seconds} {'second' if seconds == 1 else 'seconds'}"
        for unit, length in (("minutes", 60), ("hours", 3600)):
            if seconds >= 2 * length:
                words = f"in {-(-seconds // length)} {unit}"
        return RetryAfter(float(seconds), words)
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
    """Return the seconds until the nearest deadline in force; infinite where there is none."""
    return anyio.current_effective_deadline() - anyio.current_time()


@dataclass
class _Host:
    name: str
    places: anyio.Semaphore
    free_at: float = 0.0
    """Time from which the next request with a delay may start, in the clock's seconds."""
    paused_until: float = 0.0
    """Time until which the host wants no requests, in the clock's seconds."""
    pause: str = ""
    """The host's own words for the end of its pause: `in 2 minutes`."""


class PoliteTransport(httpx.AsyncBaseTransport):
    """Transport that asks `inner` when the host's turn has come; knows the hosts of one research call."""

    def __init__(self, inner: httpx.AsyncBaseTransport, *, at_once: int = AT_ONCE) -> None:
        self._inner = inner
        self._at_once = at_once
        self._hosts: dict[str, _Host] = {}

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Wait for the host's turn, then ask. Raises NotInTime at once where that turn comes after the deadline."""
        name = request.url.host
        host = self._hosts.setdefault(name, _Host(name, anyio.Semaphore(self._at_once)))
        await host.places.acquire()
        try:
            await self._wait(host, float(request.extensions.get(CRAWL_DELAY, 0.0)))
            response = await self._inner.handle_async_request(request)
        except BaseException:
            host.places.release()
            raise
        asked = retry_after_of(response.headers) if response.status_code in PAUSES else None
        if asked and time.monotonic() + asked.seconds > host.paused_until:
            host.paused_until = time.monotonic() + asked.seconds
            host.pause = asked.words
        if response.is_closed:  # built from content, in memory
            host.places.release()
        else:
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = UntilClosed(response.stream, host.places.release)
        return response

    async def _wait(self, host: _Host, delay: float) -> None:
        now = time.monotonic()
        turn = max(now, host.free_at) if delay else now
        start = max(turn, host.paused_until)
        if start - now >= seconds_left():
            if start == host.paused_until:
                raise NotInTime(
                    f"{host.name} asked for fewer requests: it can be asked again {host.pause}, "
                    "which is too late for this page"
                )
            raise NotInTime(
                f"robots.txt of {host.name} asks for {delay:g} seconds between requests: the next one is possible "
                f"in {start - now:.1f} seconds, which is too late for this page"
            )
        if delay:
            host.free_at = start + delay
        if start > now:
            await anyio.sleep(start - now)


class UntilClosed(httpx.AsyncByteStream):
    """Body that calls `release`, once, when it is closed: then another request may go out."""

    def __init__(self, body: httpx.AsyncByteStream, release: Callable[[], object]) -> None:
        self._body = body
        self._release: Callable[[], object] | None = release

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._body:
            yield piece

    async def aclose(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            release()
        await self._body.aclose()
