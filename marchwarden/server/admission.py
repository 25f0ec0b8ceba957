"""Places for the calls that a server runs at once, a short queue for them, and a refusal at once beyond it.

A call is a process of some 100 MB. Without a limit, 400 calls at once are as many processes, none of which
gets anywhere. A call that waits has not begun, and its own time does not run.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from marchwarden.errors import ServerBusy

# Seconds that a call takes, before any has ended; then it is the mean of the last ones. A guess.
_FIRST_S = 10.0
# Calls whose mean that is. A guess.
_REMEMBERED = 20


class Admission:
    """Admits calls in the order in which they came."""

    def __init__(self, running: int, waiting: int) -> None:
        """Make an admission of so many calls that run at once, and so many that wait for a place."""
        self._places = anyio.CapacityLimiter(running)
        self._most_waiting = waiting
        self._waiting = 0
        self._took: deque[float] = deque([_FIRST_S], maxlen=_REMEMBERED)

    @asynccontextmanager
    async def place(self, tell: Callable[[str], None]) -> AsyncIterator[None]:
        """Wait for a place, and hold it; `tell` hears how many wait before. Raises ServerBusy where too many wait."""
        running, caller = int(self._places.total_tokens), object()
        if self._waiting or self._places.available_tokens < 1:
            if self._waiting >= self._most_waiting:
                raise ServerBusy(running, self._waiting, retry_after=self._seconds_for(self._waiting + 1))
            tell(f"waiting for a place (calls that run: {running}, that wait before this one: {self._waiting})")
            self._waiting += 1
            try:
                await self._places.acquire_on_behalf_of(caller)
            finally:
                self._waiting -= 1
        else:
            self._places.acquire_on_behalf_of_nowait(caller)
        began = time.monotonic()
        try:
            yield
        finally:
            self._took.append(time.monotonic() - began)
            self._places.release_on_behalf_of(caller)

    def _seconds_for(self, calls: int) -> int:
        """Return about how long so many waiting calls take, in whole seconds."""
        mean = sum(self._took) / len(self._took)
        return max(1, math.ceil(mean * calls / self._places.total_tokens))
