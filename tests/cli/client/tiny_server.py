"""A small, real MCP server with a tool named `research` that behaves as its mode says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

from marchwarden.contract import ResearchRequest
from marchwarden.ledger import Ledger
from marchwarden.settings import Settings
from marchwarden.stages.gaps import GapsGiven, find_decided_gaps
from marchwarden.trace.events import WasCancelled
from marchwarden.trace.writer import TraceWriter
from tests.cli.results import a_result, an_empty_result
from tests.trace.samples import started


def tiny_server(mode: str) -> Callable[[Settings], Server[Any]]:
    """Mode: answers, nothing, refuses, other, fails, silent, slow, or by_question."""

    def make(settings: Settings) -> Server[Any]:
        async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
            request = ResearchRequest.model_validate(params.arguments)
            await ctx.session.report_progress(1, message="planning\x1b[2J the [bold]search[/bold]")
            if mode == "silent":
                await anyio.sleep(60)
            if mode == "slow":
                await _until_cancelled(request, settings)
            if mode == "fails":
                raise OSError("the disk \x1b[31mis full")
            if mode == "refuses" or (mode == "by_question" and "refuse" in request.question):
                return _text("question: it is too long", is_error=True)
            if mode == "other":
                return _text("hello")
            result = (an_empty_result if "nothing" in (mode, *request.question.strip("?").split()) else a_result)()
            if "without a model" in request.question:
                given = GapsGiven(Ledger(question=request.question), [], frozenset(), model_trouble="it is down")
                result = result.model_copy(update={"gaps": find_decided_gaps(given)})
            structured = result.model_dump(mode="json")
            return types.CallToolResult(content=_text(result.answer).content, structured_content=structured)

        return Server("tiny", version="1", on_list_tools=_list_tools, on_call_tool=call_tool)

    return make


async def _until_cancelled(request: ResearchRequest, settings: Settings) -> None:
    with TraceWriter(settings.traces, str(uuid4())) as writer:
        writer.record(started(request.question))
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            writer.record(WasCancelled(decision="the caller took it back"))
            raise


def _text(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


async def _list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    tool = types.Tool(name="research", description="research", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])
