"""A small, real MCP server over stdio with a tool named `research` that behaves as its first argument says.

python tests/cli/tiny_server.py answers|nothing|hostile|refuses|other|dies|dies_early|silent|slow
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

MODE = sys.argv[1] if len(sys.argv) > 1 else "answers"
if MODE == "dies_early":
    sys.exit("Error: the disk \x1b[31mis full")

import anyio  # noqa: E402
import mcp_types as types  # noqa: E402
from mcp.server.lowlevel import Server  # noqa: E402
from mcp.server.stdio import stdio_server  # noqa: E402

from marchwarden.contract import ResearchRequest  # noqa: E402
from marchwarden.trace.events import WasCancelled  # noqa: E402
from marchwarden.trace.writer import TraceWriter  # noqa: E402
from tests.cli.results import a_hostile_result, a_result, an_empty_result  # noqa: E402
from tests.trace.samples import started  # noqa: E402


async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
    request = ResearchRequest.model_validate(params.arguments)
    await ctx.session.report_progress(1, message="planning\x1b[2J the [bold]search[/bold]")
    if MODE == "dies":
        os._exit(9)
    if MODE == "silent":
        await anyio.sleep(60)
    if MODE == "slow":
        await _until_cancelled(request)
    if MODE == "refuses":
        return _text("question: it is too long", is_error=True)
    if MODE == "other":
        return _text("hello")
    made = {"nothing": an_empty_result, "hostile": a_hostile_result}.get(MODE, a_result)
    result = made().model_dump(mode="json")
    return types.CallToolResult(content=_text(result["answer"]).content, structured_content=result)


async def _until_cancelled(request: ResearchRequest) -> None:
    with TraceWriter(Path(os.environ["MARCHWARDEN_TRACE_DIR"]), str(uuid4())) as writer:
        writer.record(started(request.question))
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            writer.record(WasCancelled(decision="the caller took it back"))
            raise


def _text(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    tool = types.Tool(name="research", description="research", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def main() -> None:
    server: Server[Any] = Server("tiny", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
