"""Calls that behave as their mode says, and a real MCP server over HTTP that answers with them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import MarchwardenError
from marchwarden.ledger import Ledger
from marchwarden.server.http.app import http_app
from marchwarden.server.mcp import build
from marchwarden.server.service import Service
from marchwarden.settings import Settings
from marchwarden.stages.gaps import GapsGiven, find_decided_gaps
from marchwarden.trace.events import WasCancelled
from marchwarden.trace.writer import TraceWriter
from tests.cli.results import a_result, an_empty_result
from tests.trace.samples import started

Research = Callable[..., Awaitable[ResearchResult]]


def tiny_research(mode: str) -> Research:
    """Mode: answers, nothing, refuses, fails, silent, slow, or by_question."""

    async def research(
        request: ResearchRequest,
        *,
        settings: Settings,
        trace_id: str,
        on_progress: Callable[[str], None],
        **more: Any,
    ) -> ResearchResult:
        on_progress("planning\x1b[2J the [bold]search[/bold]")
        if mode == "silent":
            await anyio.sleep(60)
        if mode == "slow":
            await _until_cancelled(request, settings, trace_id)
        if mode == "fails":
            raise OSError("the disk \x1b[31mis full")
        if mode == "refuses" or (mode == "by_question" and "refuse" in request.question):
            with TraceWriter(settings.traces, trace_id) as writer:
                writer.record(started(request.question))
            raise MarchwardenError("the key is refused", hint="Set another one.")
        result = (an_empty_result if "nothing" in (mode, *request.question.strip("?").split()) else a_result)()
        if "without a model" in request.question:
            given = GapsGiven(Ledger(question=request.question), [], frozenset(), model_trouble="it is down")
            result = result.model_copy(update={"gaps": find_decided_gaps(given)})
        return result

    return research


async def _until_cancelled(request: ResearchRequest, settings: Settings, trace_id: str) -> None:
    with TraceWriter(settings.traces, trace_id) as writer:
        writer.record(started(request.question))
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            writer.record(WasCancelled(decision="the caller took it back"))
            raise


@contextlib.contextmanager
def served(settings: Settings, mode: str) -> Iterator[str]:
    """Serve calls of a mode on loopback, and yield the address; mode `other` gives what is no result of research."""
    server = _other() if mode == "other" else build(settings, research=tiny_research(mode))
    app = http_app(server, Service(settings), "127.0.0.1")
    running = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            running.should_exit = True
            thread.join()


def _other() -> Server[Any]:
    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        tool = types.Tool(name="research", description="research", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[tool])

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="hello")])

    return Server("other", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
