"""A researcher behind a real MCP server: what it may send, what it costs when it fails, and what can be read there."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import StdioServerParameters
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from marchwarden.contract import Depth, ResearchRequest, ResearchResult
from marchwarden.observations import content_hash
from marchwarden.orchestrator.members import Call, McpMember, Reply
from marchwarden.orchestrator.team import read_team
from marchwarden.server.call_ids import CALL_META
from marchwarden.server.mcp import build
from marchwarden.server.messages import ALLOWANCE_SPENT
from marchwarden.server.service import Service
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Finished
from marchwarden.trace.writer import TraceWriter
from tests.cli.results import a_result
from tests.orchestrator.fakes import TRACE_ID, settings_of
from tests.trace.samples import BODY, a_whole_call, started

pytestmark = pytest.mark.anyio

CALL = Call(TRACE_ID, "What grows in Utah?", None, Depth.BALANCED, 700, {"max_sources": 3, "max_dollars": 1})
SCHEMA = {"type": "object", "properties": {"question": {"type": "string"}}}


@asynccontextmanager
async def connected(target: Callable[[], Any], **more: Any) -> AsyncIterator[McpMember]:
    one = McpMember("one", target, **more)
    async with anyio.create_task_group() as group:
        group.start_soon(one.run)
        yield one
        group.cancel_scope.cancel()


def a_server(answer: Callable[[Any], Any], *, tool: str = "research", schema: dict[str, Any] = SCHEMA) -> Server[Any]:
    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name=tool, input_schema=schema)])

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        said = answer(params)
        return await said if hasattr(said, "__await__") else said  # type: ignore[no-any-return]

    return Server("tiny", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def result_of(structured: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text="said")], structured_content=structured)


async def ask(member: McpMember) -> Reply:
    return await member.ask(CALL, lambda message: None)


async def test_it_is_asked_under_the_id_with_the_limits_that_it_knows() -> None:
    asked: list[Any] = []

    def answer(params: Any) -> types.CallToolResult:
        asked.append(params)
        return result_of({**a_result().model_dump(mode="json"), "of_a_later_version": True})

    limits = {"type": "object", "properties": {"token_budget": {}, "max_sources": {}}}
    schema = {**SCHEMA, "properties": {"question": {}, "constraints": {"anyOf": [{"$ref": "#/$defs/Limits"}, {}]}}}
    async with connected(lambda: a_server(answer, schema={**schema, "$defs": {"Limits": limits}})) as one:
        reply = await ask(one)
    # A field of a later version is kept, though nothing here knows it.
    assert reply.result is not None
    assert reply.result.model_dump(mode="json") == {**a_result().model_dump(mode="json"), "of_a_later_version": True}
    (params,) = asked
    assert params.arguments["constraints"] == {"token_budget": 700, "max_sources": 3}
    assert params.meta[CALL_META] == TRACE_ID


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda params: result_of({"answer": "without the rest"}), "contract: citations is required, and"),
        (lambda params: result_of(None), "its result does not follow the contract: it is not JSON"),
        (lambda params: failed(f"it ended\nTrace: trace://{TRACE_ID}"), "the call failed: it ended."),
        (lambda params: 1 / 0, "the call failed"),
    ],
)
async def test_what_a_server_sends_can_only_cost_its_own_call(answer: Any, reason: str) -> None:
    async with connected(lambda: a_server(answer)) as one:
        reply = await ask(one)
    assert reply.result is None
    assert (reply.sent, reply.final) == (True, False)
    assert reason in reply.reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda params: failed("there is no key\nMake one: here."), "it refused: there is no key. Make one: here."),
        (lambda params: refuse(types.INVALID_PARAMS, "depth: unknown"), "it refused: depth: unknown"),
        (lambda params: refuse(ALLOWANCE_SPENT, "all calls are used"), "it refused: all calls are used"),
    ],
)
async def test_a_refusal_before_anything_ran_costs_nothing_and_is_final(answer: Any, reason: str) -> None:
    async with connected(lambda: a_server(answer)) as one:
        reply = await ask(one)
    assert (reply.result, reply.reason, reply.sent, reply.final) == (None, reason, False, True)


def failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def refuse(code: int, text: str) -> types.CallToolResult:
    raise MCPError(code, text)


async def test_one_that_is_silent_is_given_up() -> None:
    async with connected(lambda: a_server(lambda params: anyio.sleep(60)), silence_s=0.3) as one:
        reply = await ask(one)
    assert reply.sent
    assert "did not answer for" in reply.reason


async def test_one_that_can_t_be_started_or_is_no_researcher_was_never_asked() -> None:
    def broken() -> Any:
        raise OSError("no such command")

    for target in (broken, lambda: a_server(lambda params: None, tool="other")):
        async with connected(target) as one:
            replies = [await ask(one) for _ in range(4)]
        assert not any(reply.sent for reply in replies)
        assert "could not be reached" in replies[0].reason


async def test_a_program_that_is_not_there_is_named_and_not_started_again() -> None:
    async with connected(lambda: StdioServerParameters(command="no-such-program")) as one:
        reply = await ask(one)
    assert (reply.sent, reply.final) == (False, True)
    assert reply.reason == (
        "no-such-program could not be started: there is no such program; correct `command` in the team file"
    )


async def test_a_result_that_is_json_in_text_counts_as_one() -> None:
    """Servers of the protocol before 2025-06-18 have no other place for it."""
    said = types.TextContent(text=a_result().model_dump_json())
    async with connected(lambda: a_server(lambda params: types.CallToolResult(content=[said]))) as one:
        assert (await ask(one)).result == a_result()


async def refused(folder: Path, **entry: Any) -> str:
    """Return the reason for which the researcher of an entry in a team file was not asked."""
    path = folder / "team.json"
    path.write_text(json.dumps({"mcpServers": {"a": entry}}))
    async with anyio.create_task_group() as group:
        group.start_soon((one := read_team(path).members[0].open()).run)
        reply = await one.ask(CALL, lambda message: None)
        group.cancel_scope.cancel()
    assert not reply.sent
    return reply.reason


async def test_the_last_line_that_a_program_wrote_before_it_ended_is_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = "import sys; print('no key', file=sys.stderr); sys.exit('usage: give me a key')"
    reason = await refused(tmp_path, command=sys.executable, args=["-c", script])
    assert "; its program wrote: usage: give me a key" in reason
    assert capfd.readouterr().err == ""


@pytest.fixture
def refusing() -> Iterator[int]:
    """The port of an HTTP server that answers each path with the status that it names, and any other with 503."""

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(int(self.path[1:]) if self.path[1:].isdigit() else 503)
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


async def test_a_server_over_http_that_refuses_is_told_with_status_address_and_proxy(
    refusing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reason(url: str) -> str:
        return await refused(tmp_path, url=url)

    here = f"http://127.0.0.1:{refusing}"
    asked = await reason(f"http://user:secret@127.0.0.1:{refusing}/401")
    assert f"it could not be reached: {here}/401: HTTP status 401: does it need a token in `headers`" in asked
    monkeypatch.setenv("HTTP_PROXY", here)
    through = await reason("http://papers.invalid/mcp")
    assert f"http://papers.invalid/mcp: HTTP status 503 (through the proxy {here} of HTTP_PROXY; NO_PROXY" in through


async def test_a_server_that_is_busy_costs_nothing(tmp_path: Path) -> None:
    settings = settings_of(tmp_path).model_copy(update={"server_calls": 1, "server_queue": 0})
    service = Service(settings)
    async with connected(lambda: build(settings, research=answered, service=service)) as one:
        async with service.admission.place(lambda message: None):
            reply = await ask(one)
        assert (reply.sent, (await ask(one)).sent) == (False, True)
    assert "it refused: the server is busy" in reply.reason


async def answered(request: ResearchRequest, *, settings: Any, trace_id: str, **rest: Any) -> ResearchResult:
    result = a_result(trace_id=trace_id)
    with TraceWriter(settings.traces, trace_id) as writer:
        writer.record(started(request.question))
        writer.record(Finished(result=result, decision="done"))
    return result


async def test_a_server_runs_a_call_once_and_gives_its_result_again(tmp_path: Path) -> None:
    ran: list[str] = []

    async def research(request: ResearchRequest, **more: Any) -> ResearchResult:
        ran.append(more["trace_id"])
        await anyio.sleep(0.05)
        return await answered(request, **more)

    server = build(settings_of(tmp_path), research=research)
    async with connected(lambda: server) as one:
        replies: list[Reply] = []

        async def again() -> None:
            replies.append(await ask(one))

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(again)
        other = await one.ask(Call(TRACE_ID, "Another?", None, Depth.BALANCED, 700), lambda message: None)
    assert ran == [TRACE_ID]
    assert {reply.result.trace_id for reply in replies if reply.result} == {TRACE_ID}
    assert sorted(reply.repeated for reply in replies) == [False, True, True]
    assert "another question was asked under this id" in other.reason


async def test_a_call_that_was_killed_runs_again_under_its_id(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, TRACE_ID) as writer:
        writer.record(started(CALL.question))
    async with connected(lambda: build(settings_of(tmp_path), research=answered)) as one:
        reply = await ask(one)
    assert reply.result
    assert not reply.repeated
    assert len(list(tmp_path.glob("*.unfinished-1"))) == 1  # noqa: ASYNC240


async def test_stored_pages_that_a_trace_names_can_be_read_and_no_others(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    other = store.put(b"of nobody")
    with TraceWriter(tmp_path, TRACE_ID) as writer:
        for event in a_whole_call():
            writer.record(event)
    named = next(event for event in a_whole_call() if event.action == "fetch_url").content_hash
    assert named == content_hash(BODY) == store.put(BODY)
    async with connected(lambda: build(settings_of(tmp_path), research=answered)) as one:
        assert await one.read(f"content://{named}") == BODY
        assert await one.read(f"content://{other}") is None
        assert await one.read("content://../../etc/passwd") is None
        assert (await one.read(f"trace://{TRACE_ID}") or b"").startswith(b'{"step": 1')


DIES_ONCE = """
import os, sys
from pathlib import Path
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
import json

async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="research", input_schema={"type": "object"})])

async def call_tool(context, params):
    died = Path(sys.argv[1])
    if not died.exists():
        died.touch()
        os._exit(9)
    structured = json.loads(Path(sys.argv[2]).read_text())
    return types.CallToolResult(content=[types.TextContent(text="said")], structured_content=structured)

async def main():
    server = Server("dies", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""


async def test_a_process_that_dies_loses_what_it_was_asked_and_is_started_again(tmp_path: Path) -> None:
    told = tmp_path / "result.json"
    told.write_text(a_result().model_dump_json())
    arguments = ["-c", DIES_ONCE, str(tmp_path / "died"), str(told)]
    async with connected(lambda: StdioServerParameters(command=sys.executable, args=arguments)) as one:
        first, second = await ask(one), await ask(one)
    assert (first.result, first.sent) == (None, True)
    assert second.result == a_result()
