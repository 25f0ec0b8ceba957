"""News of a running call for its caller: in order, and no faster than a person reads.

A message costs the server as much as a small request: it passes through the SDK's streams, is kept for clients that
are cut off, and is sent. So news that is overtaken by other news is not sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

# Seconds between two messages. A guess: what stands shorter is not read.
NEWS_S = 0.5
# Seconds by which a message may come early. A guess: a process is read as often as messages are sent, and a timer for
# the milliseconds between would wake the server once more.
_EARLY_S = 0.02


class News:
    """Messages for one caller. `relay` sends them, while the call runs."""

    def __init__(self, send: Callable[[int, str], Awaitable[None]], every_s: float = NEWS_S) -> None:
        """`send` gets the number of each message, from 1 on. Of what is told within `every_s` seconds after a
        message, only the last is sent."""
        self._send = send
        self._every_s = every_s
        self._waiting: list[str] = []
        self._kept = 0
        """Number of messages that wait and are sent in any case: the first ones."""
        self._arrived = anyio.Event()
        self._over = anyio.Event()

    def tell(self, message: str, *, keep: bool = False) -> None:
        """Tell a message; with `keep`, no later one takes its place."""
        del self._waiting[self._kept :]
        self._waiting.append(message)
        if keep:
            self._kept = len(self._waiting)
        self._arrived.set()

    def end(self) -> None:
        """Let `relay` send what waits, and return."""
        self._over.set()
        self._arrived.set()

    async def relay(self) -> None:
        number, next_time = 0, 0.0
        while True:
            await self._arrived.wait()
            # Only where something waits: a timer after each message would wake the server for nothing.
            if (seconds := next_time - anyio.current_time()) > _EARLY_S:
                with anyio.move_on_after(seconds):
                    await self._over.wait()
            self._arrived = anyio.Event()
            waiting, self._waiting, self._kept = self._waiting, [], 0
            for message in waiting:
                number += 1
                await self._send(number, message)
            if self._over.is_set() and not self._waiting:
                return
            next_time = anyio.current_time() + self._every_s
