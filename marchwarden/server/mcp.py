"""The MCP server: the tool `research`, resources and prompts. transports.py serves it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, Protocol, TypeAlias
from uuid import uuid4

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from opentelemetry import trace as telemetry
from pydantic import ValidationError

from marchwarden import __version__
from marchwarden.contract import ResearchRequest, ResearchResult, json_schema
from marchwarden.errors import (
    AllowanceSpent,
    ConfigurationError,
    InvalidRequest,
    MarchwardenError,
    Refused,
    ResearchFailed,
)
from marchwarden.server.admission import Ending, Presence
from marchwarden.server.call_ids import CONTINUES_META, REPEATED_META, call_id_of, teams_of
from marchwarden.server.capabilities.progress import News
from marchwarden.server.capabilities.prompts import get_prompt, list_prompts
from marchwarden.server.capabilities.resources import TEMPLATES, list_resources, read_resource
from marchwarden.server.http.allowances import tokens_in
from marchwarden.server.markdown import as_markdown
from marchwarden.server.messages import ALLOWANCE_SPENT, SERVER_BUSY
from marchwarden.server.service import CallOutcome, CallRecord, Context, Exchange, Service
from marchwarden.server.worker import Tell, research_in_worker
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.sharing.retrieval import fetch_call
from marchwarden.sources.source_registry import describe_sources
from marchwarden.text.escaping import markdown_text, one_line

TOOL = "research"

# An absolute path, as system errors name it; not the path of a URL.
_SERVER_PATH = re.compile(r"(?<![\w/:.])/(?:[\w.@+~-]+/)*[\w.@+~-]+")

INSTRUCTIONS = """\
`research` investigates one question and answers with evidence: each [n] in the answer names a citation, and each
citation's raw_excerpt is an exact copy from the page that was read. Look at `gaps` and `confidence` before you rely
on an answer. A gap's category says what to do about it: source_not_found: ask another researcher; access_denied: a
person or another fetcher; budget_exhausted: ask again with more; contradictory_sources: compare the excerpts;
scope_exceeded: another kind of researcher. Say in `context` what you know already. A call takes up to a minute, a
deep one up to three. Every call leaves a trace, readable as the resource trace://{trace_id}: its first progress
message names it. page://{content_hash} is the text of a cited page. A call that is refused because the server is busy
says nothing about its question: ask again when it says."""
FROZEN_WEB = """
This server answers from a frozen web that ships with Marchwarden. Its pages were written for Marchwarden, on invented
hosts, to try it out. Do not pass its answers on as research."""

_DESCRIPTION = """\
Research a question: search, read pages, and answer with citations whose excerpts are exact copies of what was read.
Says what it could not find (gaps), what else it met (discoveries, open questions), and how sure it is."""


class Research(Protocol):
    def __call__(
        self,
        request: ResearchRequest,
        *,
        settings: Settings,
        trace_id: str,
        on_progress: Tell,
        ending: Ending,
        continues: str | None = None,
    ) -> Awaitable[ResearchResult]: ...


# Gives what answers a call with a team, for the teams that the call comes from (call_ids.py). Raises
# ConfigurationError for a call that is not to be answered.
Investigate: TypeAlias = Callable[[Sequence[str]], Research]


def build(
    settings: Settings,
    *,
    research: Research = research_in_worker,
    investigate: Investigate | None = None,
    service: Service | None = None,
) -> Server[Any]:
    """Build the server, ready to be put on a transport; `research` runs a call, or what `investigate` gives for it.

    `service` is shared with what stands around the server; without one, the server has its own.
    """
    service = service or Service(settings)
    is_shipped_web = "snapshot" in settings.sources and settings.web is None
    return Server(
        "marchwarden",
        version=__version__,
        title="Marchwarden",
        instructions=f"{INSTRUCTIONS}\n{_searched(settings)}" + (FROZEN_WEB if is_shipped_web else ""),
        get_tool_input_schema=lambda name: _schema("request") if name == TOOL else None,
        on_list_tools=partial(_list_tools, service),
        on_call_tool=partial(_call_tool, service, research, investigate),
        on_list_resources=partial(_list_resources, service),
        on_list_resource_templates=_list_resource_templates,
        on_read_resource=partial(_read_resource, service),
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )


# The tool

# Made once: making it took a third of the server's own time of a call (evals/benchmarks/server_load.py).
_schema = cache(json_schema)


async def _list_tools(
    service: Service, context: Context, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    _require_no_cursor(params)
    tool = types.Tool(
        name=TOOL,
        title="Research a question",
        description=f"{_DESCRIPTION}\n{_searched(service.settings)}",
        input_schema=_schema("request"),
        output_schema=_schema("result"),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=True, idempotent_hint=False),
    )
    return types.ListToolsResult(tools=[tool])


def _searched(settings: Settings) -> str:
    """Return the sources that are searched, in a sentence for the model that chooses a tool."""
    return f"This server searches {describe_sources(settings)}."


async def _call_tool(
    service: Service,
    research: Research,
    investigate: Investigate | None,
    context: Context,
    params: types.CallToolRequestParams,
) -> types.CallToolResult:
    if params.name != TOOL:
        raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name!r}; there is {TOOL!r}")
    try:
        request = ResearchRequest.model_validate(_as_meant(params.arguments or {}))
        given_id = call_id_of(context.meta)
        continues = call_id_of(context.meta, CONTINUES_META)
        if investigate:
            research = investigate(teams_of(context.meta))
    except ValidationError as error:
        return _refused(str(InvalidRequest.of(error)))
    except (InvalidRequest, ConfigurationError) as error:
        return _refused("\n".join(filter(None, [str(error), error.hint])))
    if given_id is not None:
        # Another server of the same store may have answered it.
        with suppress(MarchwardenError):
            await anyio.to_thread.run_sync(fetch_call, service.settings_of(context), given_id)
    return await _Call(service, research, context, request, given_id, continues).answer()


# What workflow clients add to the arguments of every tool, and is for none: n8n sends these. Other unknown names are
# errors, since a limit that is misspelt must not be passed over.
_OF_CLIENTS = frozenset({"action", "chatInput", "sessionId", "tool", "toolCallId"})


def _as_meant(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a call's arguments without what clients add for themselves, and with `constraints` as an object where a
    client has written it as JSON text."""
    arguments = {name: value for name, value in arguments.items() if name not in _OF_CLIENTS}
    given = arguments.get("constraints")
    if not isinstance(given, str):
        return arguments
    try:
        read = json.loads(given)
    except (ValueError, RecursionError):
        return arguments
    return {**arguments, "constraints": read} if read is None or isinstance(read, dict) else arguments


class _Call:
    """One call of the tool."""

    def __init__(
        self,
        service: Service,
        research: Research,
        context: Context,
        request: ResearchRequest,
        given_id: str | None,
        continues: str | None,
    ) -> None:
        self._service = service
        self._research = research
        self._context = context
        self._request = request
        self._exchange: Exchange | None = service.exchange_of(context)
        self._settings = service.settings_of(context)
        self._presence = self._exchange.presence if self._exchange else Presence()
        self._given_id = given_id
        self._trace_id = given_id or str(uuid4())
        self._continues = continues
        self._is_repeated = False

    async def answer(self) -> types.CallToolResult:
        """Return the result, or the error of a call that failed. Raises MCPError for a call that is refused."""
        telemetry.get_current_span().set_attribute("marchwarden.trace_id", self._trace_id)
        began = time.monotonic()
        outcome: CallOutcome = "failed"
        result: ResearchResult | None = None
        failure: MarchwardenError | None = None
        try:
            result = await self._run()
            outcome = result.status
        except MarchwardenError as error:
            outcome, failure = "refused" if isinstance(error, Refused) else "failed", error
        except anyio.get_cancelled_exc_class():
            outcome = "cancelled"
            raise
        finally:
            record = CallRecord(
                self._trace_id,
                self._exchange.caller.name if self._exchange and self._exchange.caller else None,
                outcome,
                time.monotonic() - began,
                result.cost_metadata.tokens_used if result else None,
                type(failure).__name__ if failure else None,
            )
            for hear in self._service.on_call_end:
                hear(record)
        if result is None:
            assert failure is not None
            if isinstance(failure, Refused):
                raise refusal(failure)
            return _refused(
                _explained(failure, self._trace_id, self._settings, hides_paths=self._exchange is not None)
            )
        return types.CallToolResult(
            content=[types.TextContent(text=as_markdown(result))],
            structured_content=result.model_dump(mode="json"),
            _meta={REPEATED_META: True} if self._is_repeated else None,
        )

    async def _run(self) -> ResearchResult:
        # It goes to the client by a task of its own, while the call runs.
        news = News(self._send_news)
        failure: MarchwardenError | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(news.relay)
            try:
                run = partial(self._admitted, news)
                if self._given_id is None:
                    return await run()
                calls = self._service.calls_of(self._settings)
                result, self._is_repeated = await calls.once(self._given_id, self._request, run)
                return result
            except MarchwardenError as error:
                # Out of the group, which would wrap it.
                failure = error
            finally:
                news.end()
        assert failure is not None
        raise failure

    async def _send_news(self, number: int, message: str) -> None:
        shown = _without_paths(message) if self._exchange else message
        await self._context.session.report_progress(number, message=one_line(shown))

    async def _admitted(self, news: News) -> ResearchResult:
        await self._reserve()
        try:
            async with self._service.admission.place(news.tell, self._presence):
                # Whoever loses the connection can read it there.
                news.tell(f"the trace of this call is trace://{self._trace_id}", keep=True)
                result = await self._research(
                    self._request,
                    settings=self._settings,
                    trace_id=self._trace_id,
                    on_progress=news.tell,
                    ending=Ending(self._presence, self._service.stop),
                    continues=self._continues,
                )
        except BaseException:
            await self._settle(None)
            raise
        await self._settle(result)
        return result

    async def _reserve(self) -> None:
        caller = self._exchange.caller if self._exchange else None
        if caller and caller.tokens_per_day:
            spends = self._service.asks_others or self._settings.model_id != EXTRACTIVE
            await self._service.allowances.read_today(caller, self._settings.traces)
            tokens = self._request.constraints.token_budget if spends else 0
            self._service.allowances.reserve(caller, self._trace_id, tokens)

    async def _settle(self, result: ResearchResult | None) -> None:
        caller = self._exchange.caller if self._exchange else None
        if caller and caller.tokens_per_day:
            # Of a call that ended otherwise, the trace tells.
            path = self._settings.traces / f"{self._trace_id}.jsonl"
            tokens = result.cost_metadata.tokens_used if result else tokens_in(path)
            self._service.allowances.settle(caller, self._trace_id, tokens)


def refusal(error: Refused) -> MCPError:
    """Return the JSON-RPC error of a call that was not begun, with the seconds after which to ask again."""
    code = ALLOWANCE_SPENT if isinstance(error, AllowanceSpent) else SERVER_BUSY
    return MCPError(code, f"{error}. {error.hint}", {"retryAfter": error.retry_after})


def _refused(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)


def _explained(error: MarchwardenError, trace_id: str, settings: Settings, *, hides_paths: bool) -> str:
    traced = f"Trace: trace://{trace_id}" if (settings.traces / f"{trace_id}.jsonl").is_file() else None
    # The hint of ResearchFailed names the trace too, for a terminal.
    hint = None if isinstance(error, ResearchFailed) else error.hint
    # A client renders it as Markdown, and a service's own message may be in it.
    lines = [markdown_text(str(error)), hint]
    if hides_paths:
        lines = [_without_paths(line) if line else None for line in lines]
    return "\n".join(line for line in (*lines, traced) if line)


def _without_paths(text: str) -> str:
    """Return a message without the server's paths, which are no business of who calls from elsewhere."""
    return _SERVER_PATH.sub("[path]", text)


# What stands beside it


async def _list_resources(
    service: Service, context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    return await list_resources(service.settings_of(context), params.cursor if params else None)


async def _list_resource_templates(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    _require_no_cursor(params)
    return types.ListResourceTemplatesResult(resource_templates=list(TEMPLATES))


async def _read_resource(
    service: Service, context: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    return await read_resource(service.settings_of(context), params.uri)


async def _list_prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    _require_no_cursor(params)
    return types.ListPromptsResult(prompts=list_prompts())


async def _get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    return get_prompt(params.name, params.arguments or {})


def _require_no_cursor(params: types.PaginatedRequestParams | None) -> None:
    """Raise MCPError for a cursor in a list that has one page: this server gave none out."""
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "this cursor is not valid", {"cursor": params.cursor})
