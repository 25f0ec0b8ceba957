"""The door of the server over HTTP: a call that can't be run is refused before the protocol's machinery is started.

So it can be told with an HTTP status, 429 or 503 with `Retry-After`, beside the JSON-RPC error: later, the answer's
stream has begun with 200.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import anyio
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from marchwarden.errors import AllowanceSpent, Refused
from marchwarden.server.admission import Presence
from marchwarden.server.http.callers import Caller
from marchwarden.server.http.event_store import SessionEvents, session
from marchwarden.server.mcp import refusal
from marchwarden.server.messages import read_body
from marchwarden.server.service import EXCHANGE, Exchange, Service

# Bytes of a request's body, at most: as the SDK has it.
MAX_BODY_BYTES = 4 * 1024 * 1024
# Seconds for the whole body of a request. A guess.
BODY_S = 30.0
# Sessions that are kept; many clients never end theirs. The SDK keeps 10,000, at 45 kB each
# (evals/reports/endurance.md). A guess.
SESSIONS = 1_000
# Seconds after its last request for which the SDK keeps a session: its own default.
IDLE_S = 1_800.0


@dataclass
class _Session:
    own: str
    """Name by which its events are kept (event_store.py)."""
    user: Any
    """User in the scope of the request that opened it: the SDK takes requests from no other."""
    caller: str | None
    requests: int = 0
    """Number of its requests that are being answered."""
    listening: int = 0
    """Number of streams on which its client waits for news, which many clients do all the time."""
    last: float = field(default_factory=time.monotonic)
    """Time on the monotonic clock at which its last request ended."""


class Door:
    """Stands before the MCP endpoint: knows the caller, watches the connection, and refuses what can't be run."""

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        events: SessionEvents,
        most_sessions: int = SESSIONS,
        idle_s: float = IDLE_S,
    ) -> None:
        """Of more than `most_sessions` sessions, those that were idle for longest are ended, and so answer 404; `app`
        itself ends those that were idle for `idle_s` seconds."""
        self._app = app
        self._service = service
        self._events = events
        self._most_sessions = most_sessions
        self._idle_s = idle_s
        # By their ids, in the order of their last requests.
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(Presence(), self._service.callers.caller_of(scope.get("user")))
        scope[EXCHANGE] = exchange
        body = b""
        if scope["method"] == "POST":
            try:
                with anyio.fail_after(BODY_S):
                    body = await _body(receive)
            except TimeoutError:
                await PlainTextResponse("The request took too long.", 408)(scope, receive, send)
                return
            if len(body) > MAX_BODY_BYTES:
                await PlainTextResponse("The request is too long.", 413)(scope, receive, send)
                return
            message, unanswerable = read_body(body)
            if unanswerable is not None:
                await JSONResponse(unanswerable, 400)(scope, receive, send)
                return
            if refused := self._refused(message, exchange.caller):
                await refused(scope, receive, send)
                return
        given = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"mcp-session-id"), None)
        known = self._sessions.get(given) if given else None
        own = known.own if known else uuid4().hex
        session.set(own)

        async def watched_receive() -> Message:
            nonlocal body
            if scope["method"] == "POST" and body is not None:
                message: Message = {"type": "http.request", "body": body, "more_body": False}
                body = None  # type: ignore[assignment]  # it is told once
                return message
            message = await receive()
            if message["type"] == "http.disconnect":
                exchange.presence.leave()
            return message

        async def watched_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                if not given and message["status"] < HTTPStatus.BAD_REQUEST:
                    self._remember(message, _Session(own, scope.get("user"), _name(exchange.caller)))
                if scope["method"] == "DELETE" and message["status"] == HTTPStatus.OK and given:
                    self._sessions.pop(given, None)
                    self._events.forget(own)
            await send(message)

        listens = scope["method"] == "GET"
        if known:
            known.requests += not listens
            known.listening += listens
        try:
            await self._app(scope, watched_receive, watched_send)
        finally:
            if known and given:
                known.requests -= not listens
                known.listening -= listens
                known.last = time.monotonic()
                if given in self._sessions:
                    self._sessions.move_to_end(given)
        self._forget_expired_sessions()
        await self._end_idle_sessions(scope)

    def _forget_expired_sessions(self) -> None:
        """Drop what is kept of the sessions that the SDK has ended because they were idle: it tells nobody."""
        latest = time.monotonic() - self._idle_s
        for name, each in list(self._sessions.items()):
            if each.last > latest:
                return  # they stand in the order of their last requests
            if not (each.requests or each.listening):
                del self._sessions[name]
                self._events.forget(each.own)

    async def _end_idle_sessions(self, scope: Scope) -> None:
        """End what is too much: of whoever has the most sessions, the one that was idle for longest."""
        while len(self._sessions) > self._most_sessions:
            name = self._idle_for_longest()
            if name is None:
                return
            oldest = self._sessions.pop(name)
            self._events.forget(oldest.own)
            host = [(key, value) for key, value in scope["headers"] if key == b"host"]
            ending = {**scope, "method": "DELETE", "headers": [*host, (b"mcp-session-id", name.encode("latin-1"))]}
            if oldest.user is not None:
                ending["user"] = oldest.user
            else:
                ending.pop("user", None)
            await self._app(ending, _nothing, _unheard)

    def _idle_for_longest(self) -> str | None:
        by_number = Counter(each.caller for each in self._sessions.values())
        most = max(by_number.values())
        *others, _ = self._sessions.items()  # but for the one of this request
        # Nobody else's, however busy those of the caller with the most are. Those that only listen come last.
        for may_listen in (False, True):
            for name, each in others:
                if by_number[each.caller] < most or each.requests or (each.listening and not may_listen):
                    continue
                # A client that was cut off fetches the answer to what it asked.
                if not self._events.has_unanswered(each.own):
                    return name
        return None

    def _refused(self, message: Any, caller: Caller | None) -> JSONResponse | None:
        """Return the response to a call of the tool that can't be run now; None where it can, and for the rest."""
        if not isinstance(message, dict) or message.get("method") != "tools/call":
            return None
        error: Refused | None = self._service.admission.refusal()
        if error is None and caller is not None:
            error = self._service.allowances.take_call(caller)
        if error is None:
            return None
        said = refusal(error).error
        answer = {
            "jsonrpc": "2.0",
            "id": message.get("id"),
            "error": {"code": said.code, "message": said.message, "data": said.data},
        }
        status = 429 if isinstance(error, AllowanceSpent) else 503
        return JSONResponse(answer, status, headers={"retry-after": str(error.retry_after)})

    def _remember(self, message: Message, opened: _Session) -> None:
        for name, value in message.get("headers", ()):
            if name.lower() == b"mcp-session-id":
                self._sessions[value.decode("latin-1")] = opened


def _name(caller: Caller | None) -> str | None:
    return caller.name if caller else None


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(message: Message) -> None:
    return None


async def _body(receive: Receive) -> bytes:
    """Return the whole body, or the first bytes of one that is too long."""
    parts: list[bytes] = []
    size = 0
    while size <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            break
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if not message.get("more_body", False):
            break
    return b"".join(parts)
