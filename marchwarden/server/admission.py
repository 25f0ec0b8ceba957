"""Places for the calls that a server runs at once, a short queue for them, and a refusal at once beyond it.

A call is a process with 40 to 100 MB of its own. Without a limit, 400 calls at once are as many processes, none of
which gets anywhere. A call that waits has not begun, and its own time does not run. It hears at which place it waits,
and gives that up when its caller is gone. A limiter of anyio would do for the places, but tells nobody's position.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio

from marchwarden.errors import CallerGone, Refused, ServerBusy, ServerStopping
from marchwarden.settings import Settings
from marchwarden.trace.events import WasCancelled

# Memory of one call in MB, with its share of what all have: up to 137 over the frozen web with 4 at once, and less
# with more (evals/reports/server.md). The rest is a guess.
CALL_MB = 150
# Seconds that a call takes, before any has ended; then it is the mean of the last ones. A guess.
_FIRST_S = 10.0
# Calls whose mean that is. A guess.
_REMEMBERED = 20
# Seconds after which the last message is repeated, while a call waits or runs: callers want to hear something every
# 10 seconds.
HEARTBEAT_SECONDS = 8.0
# Positions at the front of the queue that are told each time that they change. A guess.
_NEAR = 5


def places(settings: Settings) -> int:
    """Return how many calls run at once: by the cores, as many as fit into the memory."""
    if settings.server_calls is not None:
        return settings.server_calls
    by_cores = max(4, 2 * (os.cpu_count() or 1))
    memory = memory_mb()
    return by_cores if memory is None else max(1, min(by_cores, memory // CALL_MB))


def memory_mb() -> int | None:
    """Return the memory that this process and its children may use, in MB; None where the system does not say."""
    sizes = []
    with suppress(OSError, ValueError):
        # Of the container, where there is one; "max" is no number.
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    with suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(sizes) // 1_000_000 if sizes else None


class Presence:
    """Connection of a call's caller: over HTTP it can close while the call waits or runs."""

    def __init__(self) -> None:
        self.is_gone = False
        self._on_leave: Callable[[], None] | None = None

    def on_leave(self, callback: Callable[[], None] | None) -> None:
        """Set what is called when the caller leaves, at once where it has left; None for nothing."""
        self._on_leave = callback
        if self.is_gone and callback:
            callback()

    def leave(self) -> None:
        self.is_gone = True
        if self._on_leave:
            self._on_leave()


class Stop:
    """The end of the server, once its operator asks for it: running calls may go on for `seconds`."""

    def __init__(self) -> None:
        self.is_asked = False
        self.seconds = 0.0
        self._callbacks: list[Callable[[], None]] = []

    def ask(self, seconds: float) -> None:
        """Ask for the end. Asking again can shorten the time."""
        self.is_asked, self.seconds = True, seconds
        for callback in list(self._callbacks):
            callback()

    @contextmanager
    def heard_by(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback` each time that the end is asked for, and at once where it was."""
        self._callbacks.append(callback)
        try:
            if self.is_asked:
                callback()
            yield
        finally:
            self._callbacks.remove(callback)


STOPPED = "the server was stopped by its operator"


@dataclass(frozen=True)
class Ending:
    """Those who may end a call early: its caller, by leaving, or the operator, by stopping the server."""

    presence: Presence = field(default_factory=Presence)
    stop: Stop = field(default_factory=Stop)

    def cancellation(self, question: str) -> WasCancelled:
        """Return the event of a call that is cancelled now, with its true cause."""
        if self.stop.is_asked:
            return WasCancelled(decision=STOPPED, by="operator", question=question)
        why = "the caller's connection was closed" if self.presence.is_gone else "the caller cancelled the call"
        return WasCancelled(decision=why, question=question)


@dataclass(eq=False)
class _Waiter:
    tell: Callable[[str], None]
    outcome: Literal["admitted", "gone", "stopping"] | None = None
    decided: anyio.Event = field(default_factory=anyio.Event)

    def decide(self, outcome: Literal["admitted", "gone", "stopping"]) -> None:
        self.outcome = self.outcome or outcome
        self.decided.set()


class Admission:
    """Admits calls in the order in which they came."""

    def __init__(self, running: int, waiting: int) -> None:
        """Make an admission of so many calls that run at once, and so many that wait for a place."""
        self._most_running, self._most_waiting = running, waiting
        self._running = 0
        self._queue: deque[_Waiter] = deque()
        self._is_closed = False
        self._took: deque[float] = deque([_FIRST_S], maxlen=_REMEMBERED)

    @property
    def running(self) -> int:
        """Number of calls that run."""
        return self._running

    @property
    def waiting(self) -> int:
        """Number of calls that wait for a place."""
        return len(self._queue)

    def resize(self, running: int, waiting: int) -> None:
        """Change the limits. Calls that run or wait already stay."""
        self._most_running, self._most_waiting = running, waiting
        self._admit()

    def close(self) -> None:
        """Refuse every call from now on, also those that wait."""
        self._is_closed = True
        while self._queue:
            self._queue.popleft().decide("stopping")

    def refusal(self) -> Refused | None:
        """Return the error that a call gets now; None where there is room for it."""
        if self._is_closed:
            return ServerStopping(retry_after=self._seconds_for(1))
        if self._must_wait() and len(self._queue) >= self._most_waiting:
            waiting = len(self._queue)
            return ServerBusy(self._running, waiting, retry_after=self._seconds_for(waiting + 1))
        return None

    @asynccontextmanager
    async def place(self, tell: Callable[[str], None], presence: Presence | None = None) -> AsyncIterator[None]:
        """Wait for a place, and hold it; `tell` hears how many wait before.

        Raises ServerBusy where too many wait, ServerStopping after `close`, and CallerGone where the caller leaves.
        """
        if refusal := self.refusal():
            raise refusal
        if self._must_wait():
            await self._wait(_Waiter(tell), presence or Presence())
        else:
            self._running += 1
        began = time.monotonic()
        try:
            yield
        finally:
            self._took.append(time.monotonic() - began)
            self._leave_place()

    async def _wait(self, waiter: _Waiter, presence: Presence) -> None:
        """Return with a place."""
        self._queue.append(waiter)
        self._tell_position(len(self._queue) - 1)
        presence.on_leave(lambda: waiter.decide("gone"))
        try:
            while waiter.outcome is None:
                with anyio.move_on_after(HEARTBEAT_SECONDS):
                    await waiter.decided.wait()
                if waiter.outcome is None:
                    self._tell_position(self._queue.index(waiter))
        except BaseException:
            # It may have got a place in the moment in which it was cancelled.
            if waiter.outcome == "admitted":
                self._leave_place()
            raise
        finally:
            presence.on_leave(None)
            if waiter in self._queue:
                self._queue.remove(waiter)
                self._tell_positions()
        if waiter.outcome == "gone":
            raise CallerGone
        if waiter.outcome == "stopping":
            raise ServerStopping(retry_after=self._seconds_for(1))

    def _must_wait(self) -> bool:
        return bool(self._queue) or self._running >= self._most_running

    def _leave_place(self) -> None:
        self._running -= 1
        self._admit()

    def _admit(self) -> None:
        moved = False
        while self._queue and self._running < self._most_running:
            self._running += 1
            self._queue.popleft().decide("admitted")
            moved = True
        if moved:
            self._tell_positions()

    def _tell_positions(self) -> None:
        for before in range(len(self._queue)):
            # Every step near the front, and each tenth behind it: else a long queue is told more than it is served.
            if before < _NEAR or before % 10 == 0:
                self._tell_position(before)

    def _tell_position(self, before: int) -> None:
        running = self._running
        self._queue[before].tell(
            f"waiting for a place (calls that run: {running}, that wait before this one: {before})"
        )

    def _seconds_for(self, calls: int) -> int:
        """Return about how long so many waiting calls take, in whole seconds."""
        mean = sum(self._took) / len(self._took)
        return max(1, math.ceil(mean * calls / self._most_running))
