"""The researcher as a DSPy program: in a call, the predictors of this module ask the model.

So optimizers, saved states, callbacks and tracing all work on the program that runs. Nothing here is imported for
research without a model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import dspy

from marchwarden.agent.arguments import request_of
from marchwarden.agent.loop import ResearchCall
from marchwarden.agent.recording import CallContext, Origin, recorded_end
from marchwarden.budget import Budget
from marchwarden.contract import Constraints, Depth, ResearchRequest
from marchwarden.errors import ConfigurationError
from marchwarden.lm import Model, connect
from marchwarden.observations import FetchOutcome, SearchOutcome
from marchwarden.programs import Note, Program
from marchwarden.programs.keeping import kept_program
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import Settings, settings_of
from marchwarden.sharing.publication import publishing
from marchwarden.sources.reachability import with_reachable_sources
from marchwarden.sources.source_registry import open_tools
from marchwarden.sources.tools import Reader, SearchProvider
from marchwarden.stages.registry import STAGES, predictors_in_force, program_in_force
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.events import Recorder
from marchwarden.trace.writer import TraceWriter

# The key of a saved state that holds the fingerprint of each stage's signature.
FINGERPRINTS = "signatures"

Connect = Callable[[Settings, Budget, Recorder], "Model | None"]


@dataclass(frozen=True)
class _Shared:
    """The part of a researcher that its copies share: optimizers make many, and there is one way to a model."""

    settings: Settings
    connect: Connect
    program: Program | None
    call: CallContext | None
    words: dict[str, Any]
    """Each predictor's words and demonstrations as the program in force has them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _Shared:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a Researcher contains keys: save its state to a .json file, not the whole program")


class Researcher(dspy.Module):  # type: ignore[misc]
    """Research with evidence, as a DSPy module: one predictor a stage, and search and fetch as `dspy.Tool`s.

    The model is that of the settings, behind the budget of each call; `dspy.configure(lm=…)` is not needed and not
    asked. The predictors begin as the compiled program in force (programs/), or as the stages' own words.
    """

    def __init__(
        self,
        settings: Settings | Mapping[str, object] | None = None,
        *,
        connect: Connect = connect,
        call: CallContext | None = None,
    ) -> None:
        """Make a researcher; without `settings`, they are read from the environment and `.env`.

        `connect` opens the model of one call, which the call closes. `call` has the budget and the trace of the one
        call that is to be made; without it each call has its own. Raises ConfigurationError where a program is named
        that can't be used.
        """
        super().__init__()
        settings = settings_of(settings)
        replaced = call.replacements if call else None
        program = replaced.program if replaced else program_in_force(settings)
        for name, predictor in predictors_in_force(program).items():
            setattr(self, name, predictor)
        self.shared = _Shared(settings, connect, program, call, {n: _words(p) for n, p in self.named_predictors()})

    def forward(
        self,
        question: str,
        context: str | None = None,
        depth: Depth | str = Depth.BALANCED,
        constraints: Constraints | dict[str, Any] | None = None,
    ) -> dspy.Prediction:
        """`aforward` for code without an event loop; raises RuntimeError where one is running."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.aforward(question, context, depth, constraints))
        raise RuntimeError("an event loop is running here: use `await researcher.acall(…)` instead of researcher(…)")

    async def aforward(
        self,
        question: str,
        context: str | None = None,
        depth: Depth | str = Depth.BALANCED,
        constraints: Constraints | dict[str, Any] | None = None,
    ) -> dspy.Prediction:
        """Answer a question.

        Return a Prediction with `answer`, `citations`, `gaps` and `confidence`, the whole `result` that they are part
        of, and the `ledger` of what was found and what failed. Raises the errors of `marchwarden.research`, and keeps
        to the token budget as strictly.
        """
        request = request_of(question, context, depth, constraints)
        if self.shared.call is not None:
            return await self._answer(request, self.shared.settings, self.shared.call)
        settings = await asyncio.to_thread(with_reachable_sources, self.shared.settings)
        budget = Budget(request.constraints, settings.seconds_for(request.depth))
        trace_id = str(uuid4())
        async with publishing(settings, trace_id):
            with (
                TraceWriter(
                    settings.traces,
                    trace_id,
                    secrets=secrets_of(settings),
                    signing_key=settings.signing_key,
                ) as writer,
                recorded_end(writer, trace_id, request.question),
            ):
                return await self._answer(request, settings, CallContext(budget, writer, trace_id))

    async def _answer(self, request: ResearchRequest, settings: Settings, context: CallContext) -> dspy.Prediction:
        given = context.replacements
        program = given.program if given else self._program()
        parameters = given.parameters if given else (program.parameters if program else None) or DEFAULT
        tools = given.tools if given else open_tools(settings)
        model = None
        try:
            model = self.shared.connect(settings, context.budget, context.recorder)
            call = ResearchCall(
                request,
                settings,
                context.budget,
                # Called through `dspy.Tool`s, so that callbacks see search and fetch.
                replace(tools, search=_SearchTool(tools.search), fetcher=_FetchTool(tools.fetcher)),
                model,
                context.recorder,
                context.trace_id,
                context.checkpoint,
                program,
                parameters,
                dict(self.named_predictors()),
                given.origin if given else Origin(kept_program=kept_program(program, parameters)),
            )
            result = await call.result()
        finally:
            await tools.aclose()
            if model is not None:
                await model.aclose()
        return dspy.Prediction(
            answer=result.answer,
            citations=result.citations,
            gaps=result.gaps,
            confidence=result.confidence,
            result=result,
            ledger=call.ledger,
        )

    def _program(self) -> Program | None:
        """Return the program in force without the stages whose predictors were changed in this module.

        It has no calibration then: the confidence was calibrated for other prompts.
        """
        program = self.shared.program
        changed = [name for name, each in self.named_predictors() if _words(each) != self.shared.words[name]]
        if not changed:
            return program
        said = Note(text=f"the prompts of {', '.join(changed)} were changed in the Researcher that was called")
        return replace((program or Program(Path())).without(changed, [said]), calibration=None)

    # Saving and loading

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Return every predictor's instructions and demonstrations, and the fingerprints of their signatures."""
        state: dict[str, Any] = super().dump_state(json_mode=json_mode)
        return {**state, FINGERPRINTS: {name: stage.fingerprint for name, stage in STAGES.items()}}

    def load_state(self, state: dict[str, Any], **options: Any) -> None:
        """Load a state; a stage that is newer than the state stays as it is.

        Raises ConfigurationError where a stage has other words or fields than when it was saved.
        """
        # DSPy would give the old descriptions to the new fields, by their order.
        saved = state.get(FINGERPRINTS, {})
        newer = [name for name in STAGES if saved and name not in saved]
        other = [name for name, stage in STAGES.items() if name not in newer and saved.get(name) != stage.fingerprint]
        if other:
            raise ConfigurationError(
                f"this state was saved for another version of {', '.join(other)}: words or fields have changed",
                hint="Compile the researcher again, and save that.",
            )
        now = super().dump_state()
        super().load_state({**state, **{name: now[name] for name in newer}}, **options)


def _words(predictor: dspy.Predict) -> Any:
    return predictor.signature.instructions, [dict(demo) for demo in predictor.demos]


# Search and fetch as tools


class _SearchTool:
    def __init__(self, provider: SearchProvider) -> None:
        self.name = provider.name

        async def search(query: str, max_results: int, source_filter: Any) -> Any:
            """Search the sources, and return hits."""
            return await provider.search(query, max_results=max_results, source_filter=source_filter)

        # arguments are passed on as they are: DSPy would refuse half of a surrogate pair in a query
        self._tool = dspy.Tool(search, arg_types={})
        self.aclose = provider.aclose

    async def search(self, query: str, *, max_results: int, source_filter: Any) -> SearchOutcome:
        found: SearchOutcome = await self._tool.acall(
            query=query, max_results=max_results, source_filter=source_filter
        )
        return found


class _FetchTool:
    def __init__(self, reader: Reader) -> None:
        async def fetch(url: str, timeout: Any, allows: Any) -> Any:
            """Fetch a page, and return its text as numbered passages, or what kept us from it."""
            return await reader.fetch(url, timeout=timeout, allows=allows)

        self._tool = dspy.Tool(fetch, arg_types={})
        self.aclose = reader.aclose

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        fetched: FetchOutcome = await self._tool.acall(url=url, timeout=timeout, allows=allows)
        return fetched
