"""The door of the server over HTTP: a call that can't be run is refused before the protocol's machinery is started.

So it can be told with an HTTP status, 429 or 503 with `Retry-After`, beside the JSON-RPC error: later, the answer's
stream has begun with 200.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import anyio
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from marchwarden.errors import AllowanceSpent, Refused
from marchwarden.server.admission import Presence
from marchwarden.server.http.callers import Caller
from marchwarden.server.http.event_store import session
from marchwarden.server.mcp import refusal
from marchwarden.server.service import EXCHANGE, Exchange, Service

# Bytes of a request's body, at most: as the SDK has it.
MAX_BODY_BYTES = 4 * 1024 * 1024
# Seconds for the whole body of a request. A guess.
BODY_S = 30.0
# Sessions whose events can be told apart. The SDK keeps 10,000.
_SESSIONS = 10_000


class Door:
    """Stands before the MCP endpoint: knows the caller, watches the connection, and refuses what can't be run."""

    def __init__(
        self, app: ASGIApp, service: Service, on_session_end: Callable[[str], None] = lambda session: None
    ) -> None:
        """`on_session_end` is called with a session, as event_store.py has it, that its client has ended."""
        self._app = app
        self._service = service
        self._on_session_end = on_session_end
        self._sessions: OrderedDict[str, str] = OrderedDict()

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
            if refused := self._refused(body, exchange.caller):
                await refused(scope, receive, send)
                return
        given = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"mcp-session-id"), None)
        own = self._sessions.get(given) if given else None
        own = own or uuid4().hex
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
                self._remember(message, own)
                if scope["method"] == "DELETE" and message["status"] == HTTPStatus.OK and given:
                    self._sessions.pop(given, None)
                    self._on_session_end(own)
            await send(message)

        await self._app(scope, watched_receive, watched_send)

    def _refused(self, body: bytes, caller: Caller | None) -> JSONResponse | None:
        """Return the response to a call of the tool that can't be run now; None where it can, and for the rest."""
        message: Any = None
        with suppress(ValueError, RecursionError):
            message = json.loads(body)
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

    def _remember(self, message: Message, own: str) -> None:
        for name, value in message.get("headers", ()):
            if name.lower() == b"mcp-session-id":
                self._sessions[value.decode("latin-1")] = own
                while len(self._sessions) > _SESSIONS:
                    self._sessions.popitem(last=False)


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
