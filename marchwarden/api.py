"""Research as a Python call, in this process, under the same budget and with the same trace as over MCP."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from marchwarden.contract import Constraints, Depth, ResearchRequest, ResearchResult
from marchwarden.errors import InvalidRequest, MarchwardenError, ResearchFailed, StorageError
from marchwarden.redaction import secrets_of
from marchwarden.settings import Settings, load_settings
from marchwarden.trace.events import Failed, WasCancelled
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
    request = request_of(question, context, depth, constraints)
    chosen = settings or load_settings()
    trace_id = str(uuid4())
    with TraceWriter(chosen.traces, trace_id, secrets=secrets_of(chosen)) as writer:
        return await _recorded(request, chosen, trace_id, writer)


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


def request_of(
    question: str, context: str | None, depth: Depth | str, constraints: Constraints | dict[str, Any] | None
) -> ResearchRequest:
    """Return the call's arguments, checked. Raises InvalidRequest."""
    given = constraints.model_dump(exclude_unset=True) if isinstance(constraints, Constraints) else constraints
    try:
        return ResearchRequest.model_validate(
            {"question": question, "context": context, "depth": depth, "constraints": given}
        )
    except ValidationError as error:
        raise InvalidRequest.of(error) from None


async def _recorded(
    request: ResearchRequest, settings: Settings, trace_id: str, writer: TraceWriter
) -> ResearchResult:
    from marchwarden.agent import loop as researcher

    try:
        return await researcher.research(request, settings=settings, recorder=writer, trace_id=trace_id)
    except asyncio.CancelledError:
        with suppress(StorageError):
            writer.record(WasCancelled(decision="the caller took the call back"))
        raise
    except MarchwardenError as error:
        if writer.steps:
            with suppress(StorageError):
                writer.record(Failed(decision=str(error), error=type(error).__name__))
        raise
    except Exception as error:
        name = type(error).__name__
        with suppress(StorageError):
            writer.record(Failed(decision="the call ended in an internal failure", error=name))
        raise ResearchFailed(
            f"the research ended in an internal failure: {name}",
            trace_id=trace_id,
            hint=f"`marchwarden replay {trace_id}` shows how far it came.",
        ) from error
