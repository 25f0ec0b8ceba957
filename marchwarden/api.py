"""Research as a Python call, in this process, under the same budget and with the same trace as over MCP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

from marchwarden.agent.arguments import request_of
from marchwarden.contract import Constraints, Depth, ResearchResult
from marchwarden.settings import Settings, load_settings
from marchwarden.sharing.publication import publishing
from marchwarden.sources.reachability import with_reachable_sources
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.writer import TraceWriter


async def research(
    question: str,
    context: str | None = None,
    depth: Depth | str = Depth.BALANCED,
    constraints: Constraints | dict[str, Any] | None = None,
    *,
    settings: Settings | None = None,
) -> ResearchResult:
    """Answer `question`; `settings` come from the environment and `.env` where none are given.

    Raises InvalidRequest, which names field and limit, before anything is run or written; ConfigurationError where
    a key, a model or a folder is missing; StorageError where the trace can't be written; ResearchFailed, with the
    trace id, for an internal failure. Cancelling the call ends it, and its trace says so.
    """
    from marchwarden.agent.recording import recorded_end
    from marchwarden.agent.research import research as answer

    request = request_of(question, context, depth, constraints)
    chosen = await asyncio.to_thread(with_reachable_sources, settings or load_settings())
    trace_id = str(uuid4())
    async with publishing(chosen, trace_id):
        with (
            TraceWriter(
                chosen.traces, trace_id, secrets=secrets_of(chosen), signing_key=chosen.signing_key
            ) as writer,
            recorded_end(writer, trace_id, request.question),
        ):
            return await answer(request, settings=chosen, recorder=writer, trace_id=trace_id)


async def investigate(
    question: str,
    context: str | None = None,
    depth: Depth | str = Depth.BALANCED,
    constraints: Constraints | dict[str, Any] | None = None,
    *,
    team: Path | None = None,
    seconds: float = 600.0,
    at_once: int = 3,
    resume: str | None = None,
    settings: Settings | None = None,
) -> ResearchResult:
    """Answer `question` with the researchers of a team file, or with one for each source in the settings.

    `seconds` is for the whole, `at_once` the most researchers asked at the same time; `resume`, the whole trace id of
    an investigation that was killed, goes on with it. Without constraints it may use 60,000 tokens. Raises as
    `research` does, and ConfigurationError for a team file that can't be used; what researchers do is no error.
    """
    from marchwarden.orchestrator.investigator import TOKENS
    from marchwarden.orchestrator.investigator_call import run_investigation
    from marchwarden.orchestrator.team import own_team, read_team

    chosen = settings or load_settings()
    if team is None:
        chosen = await asyncio.to_thread(with_reachable_sources, chosen)
    request = request_of(question, context, depth, constraints or {"token_budget": TOKENS})
    return await run_investigation(
        request,
        read_team(team) if team else own_team(chosen),
        chosen,
        trace_id=resume or str(uuid4()),
        seconds=seconds,
        at_once=at_once,
        resumed=resume is not None,
    )


def research_sync(
    question: str,
    context: str | None = None,
    depth: Depth | str = Depth.BALANCED,
    constraints: Constraints | dict[str, Any] | None = None,
    *,
    settings: Settings | None = None,
) -> ResearchResult:
    """Answer `question` as `research` does, for code without an event loop.

    Raises RuntimeError where an event loop is running, else the same errors.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(research(question, context, depth, constraints, settings=settings))
    raise RuntimeError("an event loop is running here: use `await research(…)` instead of research_sync")
