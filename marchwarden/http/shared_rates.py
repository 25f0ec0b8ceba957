"""Rate limits of services, held across all processes of a user: each call runs in a process of its own.

The time of the next request to a service stands in a file under a lock, of which the system lets go when its holder
dies. As in rate_limits.py, a request that can't go out before the deadline in force is refused at once.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import anyio
import anyio.to_thread
import httpx
from filelock import FileLock, Timeout

from marchwarden.http.rate_limits import PAUSES, NotInTime, UntilClosed, retry_after_of, seconds_left

# Name of a request's extension: the RateRule of the service that it goes to.
RATE_RULE = "rate_rule"

# Seconds between two looks at a lock that another process holds. A guess.
_LOOK_S = 0.05
# Seconds that a time in the file may lie ahead, beyond which a clock was set back. A guess: services ask for hours at
# most.
_MAX_AHEAD_S = 24 * 3600.0
# Seconds without a request after a 429 or 503 that names no time. A guess.
_PAUSE_S = 5.0

# Moments in the file of a service: of the next free turn, and of the last request that went out.
_Moment: TypeAlias = Literal["next", "sent"]


@dataclass(frozen=True)
class RateRule:
    service: str
    """Name of the service, which is the file's name: `arxiv`."""
    every_s: float
    """Seconds between the starts of two requests; of one at a time, from an answer to the next request."""
    one_at_a_time: bool = False
    """True where the service allows a single connection: the next request begins after the last answer."""


class SharedRateTransport(httpx.AsyncBaseTransport):
    """Transport that asks `inner` when the turn of a request has come; one without a RateRule goes out at once."""

    def __init__(self, inner: httpx.AsyncBaseTransport, folder: Path) -> None:
        self._inner = inner
        self._folder = folder

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Wait, then ask. Raises NotInTime at once where the turn comes after the deadline in force."""
        rule = request.extensions.get(RATE_RULE)
        if not isinstance(rule, RateRule):
            return await self._inner.handle_async_request(request)
        connection = await self._locked(rule, "connection") if rule.one_at_a_time else None
        try:
            await self._wait(rule)
            response = await self._inner.handle_async_request(request)
        except BaseException:
            if connection is not None:
                connection.release()
            raise
        if connection is not None:
            # A request that woke late, or was long on its way, came after its turn. Its answer tells that it came.
            with suppress(NotInTime):
                await self.pause(rule, rule.every_s)
            if response.is_closed:  # built from content, in memory
                connection.release()
            else:
                assert isinstance(response.stream, httpx.AsyncByteStream)
                response.stream = UntilClosed(response.stream, connection.release)
        if response.status_code in PAUSES:
            asked = retry_after_of(response.headers)
            with suppress(NotInTime):
                await self.pause(rule, asked.seconds if asked else _PAUSE_S)
        return response

    async def _wait(self, rule: RateRule) -> None:
        lock = await self._locked(rule, "turn")
        try:
            now = time.time()
            start = max(now, self._next(rule))
            if start - now >= seconds_left():
                raise NotInTime(
                    f"{rule.service} takes its next request in {start - now:.1f} seconds, which is too late for this "
                    "call"
                )
            self._write(rule, "next", start + rule.every_s)
        finally:
            lock.release()
        # A process that woke late went after its turn, so that the one behind it waits for as long again.
        wait = start - now
        while wait > 0 or (wait := await self._until_free(rule)) > 0:
            await anyio.sleep(wait)
            wait = 0.0

    async def _until_free(self, rule: RateRule) -> float:
        """Return the seconds until a request may follow the last one that went out; 0 where this one now has."""
        lock = await self._locked(rule, "turn")
        try:
            now = time.time()
            sent = self._read(rule, "sent")
            wait = sent + rule.every_s - now if sent <= now else 0.0
            if wait <= 0:
                self._write(rule, "sent", now)
            return max(0.0, wait)
        finally:
            lock.release()

    async def pause(self, rule: RateRule, seconds: float) -> None:
        """Send no request to a service for some seconds, in no process. Raises NotInTime where another process
        holds the service's file past the deadline in force."""
        lock = await self._locked(rule, "turn")
        try:
            self._write(rule, "next", max(self._next(rule), time.time() + min(seconds, _MAX_AHEAD_S)))
        finally:
            lock.release()

    def _next(self, rule: RateRule) -> float:
        held = self._read(rule, "next")
        return held if held <= time.time() + _MAX_AHEAD_S else 0.0

    def _read(self, rule: RateRule, name: _Moment) -> float:
        """Return a moment in the file, in seconds of the clock; 0 where it has none."""
        try:
            return float(json.loads((self._folder / f"{rule.service}.json").read_text("utf-8"))[name])
        except (OSError, ValueError, KeyError, TypeError):
            return 0.0

    def _write(self, rule: RateRule, name: _Moment, moment: float) -> None:
        held = {each: self._read(rule, each) for each in get_args(_Moment)}
        (self._folder / f"{rule.service}.json").write_text(json.dumps({**held, name: moment}), "utf-8")

    async def _locked(self, rule: RateRule, what: str) -> FileLock:
        """Return the lock, held. Raises NotInTime where another process holds it past the deadline in force."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(self._folder / f"{rule.service}.{what}.lock", thread_local=False)
        while True:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                if seconds_left() <= _LOOK_S:
                    raise NotInTime(
                        f"another call is using {rule.service}, which takes one request at a time"
                    ) from None
                await anyio.sleep(_LOOK_S)
            else:
                return lock
