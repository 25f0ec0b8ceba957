"""Connections over HTTP: how many there may be, and how long one may take to send a request's head.

uvicorn has a limit of requests, and a time-out between them. It has none for a connection that sends nothing, or a
head that never ends: 1,100 such connections took all descriptors.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request. A guess.
HEAD_S = 10.0

logger = logging.getLogger(__name__)


class Connections:
    """Connections of one server. Those without a request in progress are closed first, the oldest before others."""

    def __init__(self, most: int, head_s: float = HEAD_S) -> None:
        self.most = most
        self.head_s = head_s
        self._all: set[GuardedProtocol] = set()
        # In the order in which they began to wait.
        self._idle: dict[GuardedProtocol, None] = {}

    def __len__(self) -> int:
        return len(self._all)

    def protocol(self, *arguments: Any, **options: Any) -> GuardedProtocol:
        """Make a connection's protocol, as uvicorn's setting `http` does."""
        return GuardedProtocol(self, *arguments, **options)

    def add(self, connection: GuardedProtocol) -> None:
        self._all.add(connection)
        if len(self._all) > self.most:
            # With none that waits, the new one goes.
            next(iter(self._idle), connection).abort()

    def remove(self, connection: GuardedProtocol) -> None:
        self._all.discard(connection)
        self._idle.pop(connection, None)

    def set_idle(self, connection: GuardedProtocol, idle: bool) -> None:
        if not idle:
            self._idle.pop(connection, None)
        elif connection in self._all:
            self._idle.setdefault(connection)


class GuardedProtocol(H11Protocol):
    """uvicorn's protocol, with a time for each head."""

    def __init__(self, connections: Connections, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guard = connections
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self._guard.add(self)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # uvicorn's own time-out closes a connection on which no further request begins.
        self._guard.set_idle(self, idle=True)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._guard.remove(self)
        self._stop_timer()

    def abort(self) -> None:
        self._guard.remove(self)
        self.transport.abort()

    def _watch(self) -> None:
        has_request = self.cycle is not None and not self.cycle.response_complete
        self._guard.set_idle(self, idle=not has_request)
        if has_request:
            self._stop_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self._guard.head_s, self._give_up)

    def _give_up(self) -> None:
        self._head_timer = None
        logger.info("a connection sent no request in %g s, and was closed", self._guard.head_s)
        self.abort()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
