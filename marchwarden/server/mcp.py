"""The MCP server: the tool `research`, and the traces of its calls as resources. transports.py serves it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Awaitable
from functools import partial
from typing import Any, Protocol
from uuid import UUID, uuid4

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from marchwarden import __version__
from marchwarden.contract import ResearchRequest, ResearchResult, json_schema
from marchwarden.errors import InvalidRequest, MarchwardenError, ResearchFailed
from marchwarden.server.admission import Admission
from marchwarden.server.call_ids import CONTINUES_META, REPEATED_META, Calls, call_id_of
from marchwarden.server.content_resources import TEMPLATE, is_content, read_content
from marchwarden.server.markdown import as_markdown
from marchwarden.server.worker import Tell, research_in_worker
from marchwarden.settings import Settings
from marchwarden.sources.source_registry import describe_sources
from marchwarden.text.escaping import markdown_text, one_line
from marchwarden.trace.reader import list_traces

TOOL = "research"
# Traces that are listed as resources, the newest first. A guess.
TRACES_LISTED = 50
TRACE_MEDIA_TYPE = "application/jsonl"
_TRACE_URI = re.compile(r"^trace://([0-9a-fA-F-]{36})$")

INSTRUCTIONS = """\
`research` investigates one question and answers with evidence: each [n] in the answer names a citation, and each
citation's raw_excerpt is an exact copy from the page that was read. Look at `gaps` and `confidence` before you rely
on an answer. A gap's category says what to do about it: source_not_found: ask another researcher; access_denied: a
person or another fetcher; budget_exhausted: ask again with more; contradictory_sources: compare the excerpts;
scope_exceeded: another kind of researcher. Say in `context` what you know already. A call takes up to a minute, a
deep one up to three. Every call leaves a trace, readable as the resource trace://{trace_id}."""
FROZEN_WEB = """
This server answers from a frozen web that ships with Marchwarden. Its pages were written for Marchwarden, on invented
hosts, to try it out. Do not pass its answers on as research."""

_DESCRIPTION = """\
Research a question: search, read pages, and answer with citations whose excerpts are exact copies of what was read.
Says what it could not find (gaps), what else it met (discoveries, open questions), and how sure it is."""

Context = ServerRequestContext[Any, Any]


class Research(Protocol):
    def __call__(
        self,
        request: ResearchRequest,
        *,
        settings: Settings,
        trace_id: str,
        on_progress: Tell,
        continues: str | None = None,
    ) -> Awaitable[ResearchResult]: ...


def build(settings: Settings, *, research: Research = research_in_worker) -> Server[Any]:
    """Build the server, ready to be put on a transport; `research` runs a call."""
    is_shipped_web = "snapshot" in settings.sources and settings.web is None
    searched = f"\nThis server searches {describe_sources(settings)}."
    calls = settings.server_calls or max(4, 2 * (os.cpu_count() or 1))
    return Server(
        "marchwarden",
        version=__version__,
        title="Marchwarden",
        instructions=INSTRUCTIONS + searched + (FROZEN_WEB if is_shipped_web else ""),
        on_list_tools=partial(_list_tools, _DESCRIPTION + searched),
        on_call_tool=partial(
            _call_tool, settings, research, Admission(calls, settings.server_queue), Calls(settings.traces)
        ),
        on_list_resources=partial(_list_resources, settings),
        on_list_resource_templates=_list_resource_templates,
        on_read_resource=partial(_read_resource, settings),
    )


# The tool


async def _list_tools(
    description: str, context: Context, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    tool = types.Tool(
        name=TOOL,
        title="Research a question",
        description=description,
        input_schema=json_schema("request"),
        output_schema=json_schema("result"),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=True, idempotent_hint=False),
    )
    return types.ListToolsResult(tools=[tool])


async def _call_tool(
    settings: Settings,
    research: Research,
    admission: Admission,
    calls: Calls,
    context: Context,
    params: types.CallToolRequestParams,
) -> types.CallToolResult:
    if params.name != TOOL:
        raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name!r}; there is {TOOL!r}")
    try:
        request = ResearchRequest.model_validate(params.arguments or {})
        given_id = call_id_of(context.meta)
        continues = call_id_of(context.meta, CONTINUES_META)
    except ValidationError as error:
        return _refused(str(InvalidRequest.of(error)))
    except InvalidRequest as error:
        return _refused(str(error))
    trace_id = given_id or str(uuid4())
    # Progress goes to the client in order, by a task of its own, while the call runs.
    send, receive = anyio.create_memory_object_stream[str](math.inf)

    async def relay() -> None:
        number = 0
        with receive:
            async for message in receive:
                number += 1
                await context.session.report_progress(number, message=one_line(message))

    async def run() -> ResearchResult:
        async with admission.place(send.send_nowait):
            return await research(
                request,
                settings=settings,
                trace_id=trace_id,
                on_progress=send.send_nowait,
                continues=continues,
            )

    async with anyio.create_task_group() as group:
        group.start_soon(relay)
        with send:
            try:
                result, is_repeated = await calls.once(trace_id, request, run)
            except MarchwardenError as error:
                return _refused(_explained(error, trace_id, settings))
    return types.CallToolResult(
        content=[types.TextContent(text=as_markdown(result))],
        structured_content=result.model_dump(mode="json"),
        _meta={REPEATED_META: True} if is_repeated else None,
    )


def _refused(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)


def _explained(error: MarchwardenError, trace_id: str, settings: Settings) -> str:
    traced = f"Trace: trace://{trace_id}" if (settings.traces / f"{trace_id}.jsonl").is_file() else None
    # The hint of ResearchFailed names the trace too, for a terminal.
    hint = None if isinstance(error, ResearchFailed) else error.hint
    # A client renders it as Markdown, and a service's own message may be in it.
    return "\n".join(line for line in (markdown_text(str(error)), hint, traced) if line)


# The traces


async def _list_resources(
    settings: Settings, context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    summaries = await anyio.to_thread.run_sync(list_traces, settings.traces)
    resources = [
        types.Resource(
            uri=f"trace://{summary.trace_id}",
            name=summary.trace_id,
            title=one_line(summary.question or summary.trace_id),
            description=f"Trace of a call ({summary.outcome}), one JSON object a line.",
            mime_type=TRACE_MEDIA_TYPE,
            size=summary.size,
        )
        for summary in summaries[:TRACES_LISTED]
    ]
    return types.ListResourcesResult(resources=resources)


async def _list_resource_templates(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template="trace://{trace_id}",
        name="trace",
        title="Trace of a call",
        description="Everything that one research call did, one JSON object a line; the last line is its result.",
        mime_type=TRACE_MEDIA_TYPE,
    )
    return types.ListResourceTemplatesResult(resource_templates=[template, TEMPLATE])


async def _read_resource(
    settings: Settings, context: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    if is_content(params.uri):
        return await read_content(settings, params.uri)
    found = _TRACE_URI.match(params.uri)
    try:
        # A UUID, written anew: nothing else of a URI ever reaches a path.
        trace_id = str(UUID(found[1] if found else ""))
    except ValueError:
        expected = "resources are trace://{trace_id}, with a UUID"
        raise MCPError(types.INVALID_PARAMS, expected, {"uri": params.uri}) from None
    try:
        body = await anyio.Path(settings.traces / f"{trace_id}.jsonl").read_bytes()
    except OSError:
        raise MCPError(types.INVALID_PARAMS, f"there is no trace {trace_id}", {"uri": params.uri}) from None
    text = body.decode("utf-8", "replace")
    contents = types.TextResourceContents(uri=params.uri, mime_type=TRACE_MEDIA_TYPE, text=text)
    return types.ReadResourceResult(contents=[contents])
