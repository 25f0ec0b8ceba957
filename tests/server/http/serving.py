"""A server over HTTP in this process: the application is asked without a socket, and calls need no process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.server.admission import Ending
from marchwarden.server.http.app import http_app
from marchwarden.server.http.door import IDLE_S, SESSIONS
from marchwarden.server.mcp import build
from marchwarden.server.service import Service
from marchwarden.server.worker import Tell
from marchwarden.settings import Settings
from marchwarden.trace.events import Finished
from marchwarden.trace.writer import TraceWriter
from tests.standins import a_result, started

URL = "http://127.0.0.1:8111/mcp"
ACCEPT = {"accept": "application/json, text/event-stream"}
TOKENS = 700
"""Model tokens that every call uses."""


async def research(
    request: ResearchRequest,
    *,
    settings: Settings,
    trace_id: str,
    on_progress: Tell,
    ending: Ending,
    continues: str | None = None,
) -> ResearchResult:
    on_progress(f"doing: {request.question}")
    result = a_result(trace_id, f"answers: {request.question}", TOKENS)
    with TraceWriter(settings.traces, trace_id) as writer:
        writer.record(started(request, settings))
        writer.record(Finished(decision="done", result=result))
    return result


@asynccontextmanager
async def an_app(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    research: Callable[..., Awaitable[ResearchResult]] = research,
    service: Service | None = None,
    most_sessions: int = SESSIONS,
    idle_s: float = IDLE_S,
) -> AsyncIterator[Starlette]:
    service = service or Service(settings)
    server = build(settings, research=research, service=service)
    app = http_app(server, service, host, most_sessions=most_sessions, idle_s=idle_s)
    async with app.router.lifespan_context(app):
        yield app


@asynccontextmanager
async def a_client(*apps: Starlette, token: str | None = None, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    """Requests go to the apps in turn, as a proxy sends them."""
    if token:
        headers["authorization"] = f"Bearer {token}"
    async with httpx.AsyncClient(transport=_InTurn(apps), headers={**ACCEPT, **headers}) as client:
        yield client


class _InTurn(httpx.AsyncBaseTransport):
    def __init__(self, apps: tuple[Starlette, ...]) -> None:
        self._transports = [httpx.ASGITransport(app) for app in apps]
        self._next = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._next += 1
        return await self._transports[self._next % len(self._transports)].handle_async_request(request)


def message(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(question: str, number: int = 1, **constraints: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {"question": question}
    if constraints:
        arguments["constraints"] = constraints
    return message("tools/call", number, name="research", arguments=arguments, _meta={"progressToken": number})


INITIALIZE = message(
    "initialize",
    0,
    protocolVersion="2025-11-25",
    capabilities={},
    clientInfo={"name": "test", "version": "0"},
)


async def initialize(client: httpx.AsyncClient) -> dict[str, str]:
    """Open a session, and return the headers of the requests in it."""
    answer = await client.post(URL, json=INITIALIZE)
    assert answer.status_code == 200, answer.text
    session = answer.headers.get("mcp-session-id")
    headers = {"mcp-protocol-version": "2025-11-25", **({"mcp-session-id": session} if session else {})}
    await client.post(URL, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    return headers


def events(answer: httpx.Response) -> list[tuple[str | None, dict[str, Any]]]:
    """Return (id, message) of each event of a stream; the message of an answer that is no stream."""
    if answer.headers["content-type"].startswith("application/json"):
        return [(None, answer.json())]
    found = []
    for block in answer.text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.splitlines())
        if fields.get("data"):
            found.append((fields.get("id"), json.loads(fields["data"])))
    return found


def result_of(answer: httpx.Response) -> dict[str, Any]:
    """Return the result of the request that was answered."""
    assert answer.status_code == 200, answer.text
    _, last = events(answer)[-1]
    assert "result" in last, last
    result: dict[str, Any] = last["result"]
    return result
