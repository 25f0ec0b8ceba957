"""Events of sessions over HTTP, kept for clients that were cut off: they fetch the rest of an answer by
`Last-Event-ID`.

The SDK gives a store no session, only the number of a request, which other sessions have too. So the session is in a
context variable, and no session is shown the events of another.
"""

from __future__ import annotations

from collections import OrderedDict
from contextvars import ContextVar
from dataclasses import dataclass, field
from secrets import token_hex

from mcp.server.streamable_http import GET_STREAM_KEY, EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse, jsonrpc_message_adapter

# Bytes of all events, at most; the oldest streams are dropped. A guess: a thousand results of 60 kB.
MAX_BYTES = 64_000_000
# Bytes that a stream and an event take beside their text, so that a million short ones are bounded too
# (tracemalloc, CPython 3.11: 490 and 45, and some to spare).
STREAM_BYTES, EVENT_BYTES = 600, 60

# Session of the request that is being served: it is set anew for each request, and inherited by a session's tasks.
session: ContextVar[str] = ContextVar("session")


@dataclass
class _Stream:
    session: str
    stream_id: StreamId
    name: str = field(default_factory=lambda: token_hex(8))
    events: list[bytes] = field(default_factory=list)
    """Messages as JSON: as models they took three times the memory (tracemalloc). Empty for none."""
    is_over: bool = False
    """True once the last message is the response."""
    size: int = STREAM_BYTES


class SessionEvents(EventStore):
    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self.size = 0
        """Bytes of all events, with what they take beside their text."""
        self._streams: OrderedDict[tuple[str, StreamId], _Stream] = OrderedDict()
        self.streams: dict[str, _Stream] = {}
        """Streams by the names that their events' ids begin with."""
        self._of_session: dict[str, list[StreamId]] = {}

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        key = (session.get(""), stream_id)
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream(*key)
            self.streams[stream.name] = stream
            self._of_session.setdefault(stream.session, []).append(stream_id)
            self.size += stream.size
        self._streams.move_to_end(key)
        written = message.model_dump_json(by_alias=True, exclude_unset=True).encode() if message else b""
        size = len(written) + EVENT_BYTES
        stream.events.append(written)
        stream.is_over = isinstance(message, JSONRPCResponse | JSONRPCError)
        stream.size += size
        self.size += size
        while self.size > self._max_bytes and len(self._streams) > 1:
            self._drop(next(iter(self._streams)))
        return f"{stream.name}-{len(stream.events)}"

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        name, _, number = last_event_id.partition("-")
        stream = self.streams.get(name)
        if stream is None or stream.session != session.get("") or not number.isdecimal():
            return None
        for place, written in enumerate(list(stream.events), start=1):
            if place > int(number) and written:
                message = jsonrpc_message_adapter.validate_json(written)
                await send_callback(EventMessage(message, f"{name}-{place}"))
        # With the response, a stream is at its end: the SDK would wait for more of one that it gets to know.
        return None if stream.is_over else stream.stream_id

    def has_unanswered(self, named: str) -> bool:
        """Return whether a session has a request without a response yet."""
        of_session = self._of_session.get(named, ())
        return any(not self._streams[named, each].is_over for each in of_session if each != GET_STREAM_KEY)

    def forget(self, ended: str) -> None:
        """Drop the events of a session that has ended."""
        for stream_id in list(self._of_session.get(ended, ())):
            self._drop((ended, stream_id))

    def _drop(self, key: tuple[str, StreamId]) -> None:
        stream = self._streams.pop(key)
        del self.streams[stream.name]
        self.size -= stream.size
        left = self._of_session[stream.session]
        left.remove(stream.stream_id)
        if not left:
            del self._of_session[stream.session]
