"""One research call: with a model through the DSPy program of agent/program.py, without one by the loop alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from marchwarden.agent.conclusion import Checkpoint
from marchwarden.agent.loop import ResearchCall
from marchwarden.agent.recording import CallContext, Origin
from marchwarden.budget import Budget
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import require_package
from marchwarden.programs.keeping import kept_program
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.sources.source_registry import open_tools
from marchwarden.stages.registry import program_in_force
from marchwarden.trace.events import Recorder

if TYPE_CHECKING:
    from marchwarden.agent.program import Connect


async def research(
    request: ResearchRequest,
    *,
    settings: Settings,
    recorder: Recorder,
    trace_id: str,
    checkpoint: Callable[[Checkpoint], None] | None = None,
) -> ResearchResult:
    """Answer one question, recording each step.

    What the world does (a search that is down, pages that are closed, a model that fails) ends in the result. Raises
    ConfigurationError before anything is recorded where a key, a model or a folder is missing, or a program that is
    named can't be used; StorageError where the trace or the store can't be written. Cancellation passes through.
    """
    budget = Budget(request.constraints, settings.seconds_for(request.depth))
    context = CallContext(budget, recorder, trace_id, checkpoint)
    return await research_in(context, request, settings)


async def research_in(
    context: CallContext, request: ResearchRequest, settings: Settings, connect: Connect | None = None
) -> ResearchResult:
    """Answer one question as `research` does, within a call that is prepared; `connect` opens another model."""
    if settings.model_id == EXTRACTIVE:
        return await _without_model(request, settings, context)
    require_package("dspy", f"The model {settings.model_id}")
    from marchwarden.agent.program import Researcher
    from marchwarden.lm import connect as usual

    asked = await Researcher(settings, connect=connect or usual, call=context).acall(
        question=request.question,
        context=request.context,
        depth=request.depth,
        constraints=request.constraints.model_dump(),
    )
    result: ResearchResult = asked.result
    return result


async def _without_model(request: ResearchRequest, settings: Settings, context: CallContext) -> ResearchResult:
    given = context.replacements
    program = given.program if given else program_in_force(settings)
    parameters = given.parameters if given else (program.parameters if program else None) or DEFAULT
    tools = given.tools if given else open_tools(settings)
    try:
        return await ResearchCall(
            request,
            settings,
            context.budget,
            tools,
            None,
            context.recorder,
            context.trace_id,
            context.checkpoint,
            program,
            parameters,
            origin=given.origin if given else Origin(kept_program=kept_program(program, parameters)),
        ).result()
    finally:
        await tools.aclose()
