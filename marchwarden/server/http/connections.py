"""Connections over HTTP: how many there may be, and how long one may take to send a request's head.

uvicorn has a limit of requests, and a time-out between them. It has none for a connection that sends nothing, or a
head that never ends: 1,100 such connections took all descriptors. Nor has it a limit of a head's length where it uses
httptools, which takes less time than h11.
"""

from __future__ import annotations

import asyncio
import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# httptools has no wheel for some systems.
HAS_HTTPTOOLS = find_spec("httptools") is not None

if TYPE_CHECKING or HAS_HTTPTOOLS:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Seconds for the head of a request. A guess.
HEAD_S = 10.0
# Bytes of the head of a request, at most. h11 has the same limit.
HEAD_BYTES = 16 * 1024

logger = logging.getLogger(__name__)


class Connections:
    """Connections of one server. Those without a request in progress are closed first, the oldest before others."""

    def __init__(self, most: int, head_s: float = HEAD_S, *, uses_httptools: bool = HAS_HTTPTOOLS) -> None:
        self.most = most
        self.head_s = head_s
        self._protocol = GuardedHttpTools if uses_httptools else GuardedH11
        self._all: set[Guarded] = set()
        # In the order in which they began to wait.
        self._idle: dict[Guarded, None] = {}

    def __len__(self) -> int:
        return len(self._all)

    def protocol(self, *arguments: Any, **options: Any) -> Guarded:
        """Make a connection's protocol, as uvicorn's setting `http` does."""
        made = self._protocol(*arguments, **options)
        made.guard = self
        return made

    def add(self, connection: Guarded) -> None:
        self._all.add(connection)
        if len(self._all) > self.most:
            # With none that waits, the new one goes.
            next(iter(self._idle), connection).abort()

    def remove(self, connection: Guarded) -> None:
        self._all.discard(connection)
        self._idle.pop(connection, None)

    def set_idle(self, connection: Guarded, idle: bool) -> None:
        if not idle:
            self._idle.pop(connection, None)
        elif connection in self._all:
            self._idle.setdefault(connection)


class Guarded(asyncio.Protocol):
    """Addition to a protocol of uvicorn's, which stands after it among the bases: a time for each head."""

    guard: Connections
    cycle: Any
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self.guard.add(self)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.guard.remove(self)
        self._stop_timer()

    def abort(self) -> None:
        self.guard.remove(self)
        self.transport.abort()

    def note_idle(self) -> bool:
        """Note whether a request is in progress, and return whether none is."""
        is_idle = self.cycle is None or self.cycle.response_complete
        self.guard.set_idle(self, is_idle)
        return is_idle

    def _watch(self) -> None:
        if not self.note_idle():
            self._stop_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.guard.head_s, self._give_up)

    def _give_up(self) -> None:
        self._head_timer = None
        logger.info("a connection sent no request in %g s, and was closed", self.guard.head_s)
        self.abort()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class GuardedH11(Guarded, H11Protocol):
    """uvicorn's protocol in Python."""

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # uvicorn's own time-out closes a connection on which no further request begins.
        self.note_idle()


if TYPE_CHECKING or HAS_HTTPTOOLS:

    class GuardedHttpTools(Guarded, HttpToolsProtocol):
        """uvicorn's protocol with httptools, and a limit of a head's length, which both lack."""

        _is_open = False
        """True from a request's first byte to its last."""
        _is_in_head = False
        _received_bytes = 0
        """Bytes that came after the request's beginning, or since a part of its body."""
        _line_bytes = 0
        """Bytes of the head's lines that are whole, and of those behind the body."""

        def data_received(self, data: bytes) -> None:
            self._received_bytes += len(data)
            super().data_received(data)
            # The parser keeps a line until it is whole: of the head, or behind the body.
            if not self._is_open or self._received_bytes <= HEAD_BYTES or self.transport.is_closing():
                return
            if self._is_in_head:
                self.send_400_response("The head of the request is too long.")
            else:
                self.abort()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._is_open = self._is_in_head = True
            self._received_bytes = self._line_bytes = 0

        def on_url(self, url: bytes) -> None:
            self._count(len(url))
            super().on_url(url)

        def on_header(self, name: bytes, value: bytes) -> None:
            self._count(len(name) + len(value) + len(b": \r\n"))
            # llhttp takes away white space before a value alone, and not behind it (RFC 9110, 5.5; h11 both).
            super().on_header(name, value.strip(b" \t"))

        def on_headers_complete(self) -> None:
            self._is_in_head = False
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self._received_bytes = 0
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._is_open = False
            super().on_message_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self.note_idle()

        def _count(self, size: int) -> None:
            """Count bytes of the head. Raises ValueError where it is too long, which becomes an answer with 400."""
            self._line_bytes += size
            if self._line_bytes > HEAD_BYTES:
                raise ValueError("the head of the request is too long")
