"""The investigation: plan → researchers side by side → verified evidence → next steps by worth → answer.

A round asks several researchers at once. What comes next is decided when all of a round are back, so that the order
in which they come makes no difference, and an investigation that was killed, or had to end early, can go on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.lowlevel
import anyio.to_thread

from marchwarden import __version__
from marchwarden.agent.conclusion import Checkpoint, conclude, today
from marchwarden.agent.recording import Narrator
from marchwarden.budget import SYNTHESIS_SHARE, SYNTHESIS_TOKENS, VERIFY_SHARE, VERIFY_TOKENS, Budget
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.evidence.conflicts import find_conflicts
from marchwarden.judge.answering import RememberingJudge, open_judge
from marchwarden.ledger import Ledger
from marchwarden.orchestrator.agenda import LEAST_TOKENS, Valued, least_tokens
from marchwarden.orchestrator.dispatch import Dispatcher, Surroundings, TellOf
from marchwarden.orchestrator.journal import Journal
from marchwarden.orchestrator.merge import Merger, lineage_of
from marchwarden.orchestrator.next_steps import NextSteps
from marchwarden.orchestrator.rihla import Step, first_steps
from marchwarden.orchestrator.team import Team
from marchwarden.programs import Program
from marchwarden.programs.keeping import kept_program
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.settings import Settings
from marchwarden.stages.plan import PLAN, PlanGiven
from marchwarden.stages.registry import predictors_in_force, program_in_force
from marchwarden.stages.stage import StageRunner, Stages, WithoutModel
from marchwarden.stages.synthesize import SYNTHESIZE
from marchwarden.stages.verify_claims import VERIFY
from marchwarden.store.content_store import Store
from marchwarden.text.embedding import open_embedder
from marchwarden.trace import events
from marchwarden.trace.events import Recorder

if TYPE_CHECKING:
    from marchwarden.agent.program import Connect
    from marchwarden.lm import Model

# Tokens and seconds of an investigation where none are given, and researchers that are asked at once. Guesses.
TOKENS, SECONDS, AT_ONCE = 60_000, 600.0, 3
# Seconds kept for the answer, and their largest share of all. Guesses: without a model it takes milliseconds.
_FINISH_S, _FINISH_SHARE = 5.0, 0.1


@dataclass(frozen=True)
class RecordedParts:
    """Parts that a re-run uses in place of what its settings name."""

    today: date
    program: Program | None
    parameters: Parameters
    is_judged: bool
    """True where a model judged whether passages answer."""
    connect: Connect | None
    """Opens the recorded model; None where there was none."""
    late_answers: Mapping[tuple[str, int], str]
    """Answers that came too late for their stage (agent/recording.py)."""
    id_of: Callable[[Step], str]
    """Returns the id that a researcher's call had."""


@dataclass(frozen=True)
class Plan:
    """Basis of an investigation, besides the question."""

    team: Team
    settings: Settings
    at_once: int = AT_ONCE
    continues: str | None = None
    """Id of the trace that the question follows up; None where it follows none."""
    asked_by: Sequence[str] = ()
    """Hashes of the teams whose investigations ask this one, the outermost first."""
    recorded: RecordedParts | None = None
    """Parts of an earlier investigation that is repeated; None for one of its own."""


class Investigation:
    """One question to a team, from its plan to its result."""

    def __init__(
        self,
        request: ResearchRequest,
        plan: Plan,
        budget: Budget,
        recorder: Recorder,
        trace_id: str,
        *,
        journal: Journal | None = None,
        tell: TellOf = lambda number, message: None,
    ) -> None:
        """Prepare an investigation; with a `journal`, one that was begun before."""
        self.request, self.trace_id = request, trace_id
        self._team, self._settings, self._continues = plan.team, plan.settings, plan.continues
        self._budget, self._recorder, self._tell = budget, recorder, tell
        self._journal = journal or Journal()
        self._store = Store(plan.settings.store_folder)
        teams = (*plan.asked_by, plan.team.fingerprint)
        around = Surroundings(budget, recorder, self._journal, self._store, tell, teams=teams)
        if plan.recorded:
            around = replace(around, new_id=plan.recorded.id_of)
        self._dispatcher = Dispatcher(plan.team, plan.at_once, request.constraints, around)
        self._steps = NextSteps(request, plan.team, around)
        self._recorded = recorded = plan.recorded
        self._program = recorded.program if recorded else program_in_force(plan.settings)
        in_force = (self._program.parameters if self._program else None) or DEFAULT
        is_judged = open_judge(plan.settings) is not None and (recorded is None or recorded.is_judged)
        self._merger = Merger(
            request.question,
            request.context,
            [],
            recorded.parameters if recorded else in_force,
            embedder=open_embedder(plan.settings),
            judge=RememberingJudge() if is_judged else None,
        )
        self._finish_s = min(_FINISH_S, _FINISH_SHARE * budget.max_seconds)
        self._stages: StageRunner | None = None
        self._scope: anyio.CancelScope | None = None
        """Scope of what is waited for now, and can be cut short; None where nothing is."""
        self._interrupted: Literal["interrupted", "stopped"] | None = None
        self.today = self._journal.started.today if self._journal.started else None
        if self.today is None and recorded:
            self.today = recorded.today

    def interrupt(self, limit: Literal["interrupted", "stopped"] = "interrupted") -> None:
        """End the asking now, and answer with what there is, without the model, which would have to be waited for;
        `limit` is what the result names as the cause."""
        self._interrupted, self._dispatcher.is_interrupted = limit, True
        if self._scope is not None:
            self._scope.cancel()

    def end_time(self) -> None:
        """End the asking now, as if its time were over."""
        if self._scope is not None:
            self._scope.cancel()

    @contextmanager
    def _cut_short_by_interrupt(self, deadline: float = math.inf) -> Iterator[None]:
        """Leave what is done inside at the deadline, or when the investigation is interrupted, also before it."""
        with anyio.CancelScope(deadline=deadline) as self._scope:
            if self._interrupted:
                self._scope.cancel()
            try:
                yield
            finally:
                self._scope = None
        if self._interrupted and self._stages is not None:
            self._stages.take_back()

    async def result(self) -> ResearchResult:
        """Answer the question. What researchers do ends in the result; a full disk of ours is an error."""
        self.today = self.today or today()
        model = self._connect()
        # Importing the model's libraries takes seconds, before the first line of the trace.
        self._budget.start_clock()
        try:
            await self._begin(model)
            await self._find_aspects(model)
            are_asked = False
            with self._cut_short_by_interrupt(anyio.current_time() + self._budget.seconds_left() - self._finish_s):
                await anyio.lowlevel.checkpoint()  # nobody is asked where the plan was interrupted
                async with anyio.create_task_group() as connections:
                    for each in self._team.members:
                        self._dispatcher.members[each.name] = member = each.open()
                        connections.start_soon(member.run)
                    try:
                        await self._rounds()
                        are_asked = True
                    finally:
                        connections.cancel_scope.cancel()
            if not are_asked:
                await self._cut_short()
            return await self._finish()
        finally:
            if model is not None:
                await model.aclose()

    # The beginning

    def _connect(self) -> Model | None:
        from marchwarden.settings import EXTRACTIVE

        settings, model = self._settings, None
        if settings.model_id != EXTRACTIVE:
            from marchwarden.lm import connect as usual

            connect = (self._recorded and self._recorded.connect) or usual
            model = connect(settings, self._budget, self._recorder)
        self._stages = StageRunner(
            model,
            self._budget,
            self._recorder,
            at_once=settings.model_calls,
            predictors=predictors_in_force(self._program) if model else None,
            without_model=self._program.without_model if self._program else (),
            late_answers=self._recorded.late_answers if self._recorded else {},
        )
        return model

    async def _begin(self, model: Model | None) -> None:
        request, settings, journal = self.request, self._settings, self._journal
        if journal.started is None:
            kept = kept_program(self._program, self._merger.parameters)
            program_hash = await anyio.to_thread.run_sync(self._store.put, kept)
            self._recorder.record(
                events.Started(
                    question=request.question,
                    context=request.context,
                    depth=request.depth,
                    constraints=request.constraints,
                    max_seconds=self._budget.max_seconds,
                    model_id=settings.model_id,
                    source=",".join(each.name for each in self._team.members),
                    version=__version__,
                    program=self._program.fingerprint if self._program else None,
                    today=self.today,
                    semantic=self._merger.embedder is not None,
                    judged=self._merger.judge is not None,
                    model_calls=settings.model_calls,
                    program_hash=program_hash,
                    engine=model.features if model else None,
                    continues=self._continues,
                    team=[each.name for each in self._team.members],
                    team_hash=self._team.fingerprint,
                    members=[each.record for each in self._team.members],
                    decision=f"Researchers: {', '.join(each.name for each in self._team.members)}.",
                )
            )
        else:
            finished = [number for number, past in journal.rihlas.items() if past.is_over]
            self._recorder.record(
                events.Resumed(
                    finished=finished,
                    in_flight=journal.in_flight,
                    seconds_used=journal.seconds_used,
                    token_budget=self._budget.token_budget,
                    max_seconds=self._budget.max_seconds,
                    decision="Questions without an answer yet are asked again under the same ids.",
                )
            )
            self._budget.commit(self._budget.reserve("before", journal.tokens_used), journal.tokens_used)
        if model is not None:
            tokens = self._budget.token_budget
            wording = min(SYNTHESIS_TOKENS, int(SYNTHESIS_SHARE * tokens))
            checking = min(VERIFY_TOKENS, int(VERIFY_SHARE * tokens))
            # One researcher can be asked whatever the plan costs, and before anything is kept for the answer's words.
            self._budget.set_aside("rihla", LEAST_TOKENS)
            if tokens - wording - checking >= LEAST_TOKENS:
                self._budget.set_aside(SYNTHESIZE.name, wording)
                self._budget.set_aside(VERIFY.name, checking)

    async def _find_aspects(self, model: Model | None) -> None:
        """Split the question as a researcher does; a resumed investigation keeps what it had."""
        assert self._stages is not None
        if not self._journal.aspects:
            self._tell(0, "planning")
            ledger = Ledger(question=self.request.question, context=self.request.context)
            given = PlanGiven(ledger, self.request.depth, [])
            plan, form = PLAN.model_free(given), "model_free"
            first_call = 0
            with self._cut_short_by_interrupt():
                plan, form = await self._stages.run(PLAN, given)
                first_call = await model.first_call_tokens() if model else 0
            self._journal.least_tokens = least_tokens(first_call)
            ledger.set_aspects(plan.aspects)
            self._journal.aspects = [aspect.text for aspect in ledger.aspects] or [self.request.question]
            self._recorder.record(
                events.Planned(
                    iteration=1,
                    aspects=self._journal.aspects,
                    queries=[],
                    read=[],
                    done=False,
                    stage_form=form,
                    least_tokens=self._journal.least_tokens,
                    decision="The question was split into sub-questions for the researchers.",
                )
            )
        self._merger.aspects = self._journal.aspects
        self._steps.least_tokens = self._journal.least_tokens

    # The rounds

    async def _rounds(self) -> None:
        self._budget.set_aside("rihla", 0)
        ledger = self._ledger()
        first = first_steps(
            self.request.question, ledger.aspects, self._team, self.request.context, self.request.depth
        )
        weights = [self._team.named(step.researcher).share for step in first]
        # As much as one more researcher would get is kept for what they point at.
        steps = [Valued(step, 1.0) for step in first]
        batch = self._steps.allot(steps, weights, lambda left, count: left * count // (count + 1))
        while batch and self._budget.take_iteration():
            sent, unpaid = await self._dispatcher.send([each for each in batch if each[1]])
            for valued in [*(valued for valued, tokens in batch if not tokens), *unpaid]:
                self._steps.skip(valued.step, "no tokens are left for it", valued.utility)
                self._budget.ran_out("tokens")
            # Comparing and judging what is new takes up to seconds.
            ledger = await anyio.to_thread.run_sync(self._ledger)
            self._steps.sent(sent, ledger)
            ledger.conflicts = find_conflicts(ledger, self._merger.parameters)
            batch = self._steps.choose(self._dispatcher.rihlas, ledger)
            if not batch:
                return
        if batch:
            for valued, _ in batch:
                self._steps.skip(valued.step, "the limit of rounds is reached", valued.utility)
            if self._ledger().unanswered():
                self._budget.ran_out("iterations")
            self._steps.stop("iterations", "The limit of rounds was reached.")

    def _ledger(self, *, is_last: bool = False) -> Ledger:
        return self._merger.ledger(self._dispatcher.rihlas, self._steps.unserved, is_last=is_last)

    # The end

    async def _cut_short(self) -> None:
        await self._dispatcher.take_what_is_here()
        self._budget.ran_out(self._interrupted or "seconds")
        if self._interrupted:
            who = " by the operator of its server" if self._interrupted == "stopped" else ""
            self._steps.stop("interrupted", f"It was interrupted{who}. The answer uses what was found so far.")
        else:
            self._steps.stop("seconds", "The time for asking ran out.")

    async def _finish(self) -> ResearchResult:
        assert self._stages is not None
        assert self.today is not None
        self._tell(0, "writing the answer")
        self._stages.give_back(SYNTHESIZE)
        ledger = await anyio.to_thread.run_sync(lambda: self._ledger(is_last=True))
        parameters = self._merger.parameters.of_an_investigation()
        conclusion, model_free = None, self._stages.model is None
        if not self._interrupted:
            with self._cut_short_by_interrupt(anyio.current_time() + max(0.5, self._budget.seconds_left() - 1.0)):
                conclusion = await conclude(self.request, ledger, self._stages, self.today, parameters)
        in_time = conclusion is not None or self._interrupted is not None
        if conclusion is None:
            self._budget.ran_out(self._interrupted or "seconds")
            without: Stages = WithoutModel.after(self._stages)
            conclusion = await conclude(self.request, ledger, without, self.today, parameters)
            model_free = True
        tell = Narrator(self._recorder, ledger, self._budget)
        tell.concluded(conclusion, in_time=in_time)
        state = Checkpoint(
            request=self.request,
            ledger=ledger,
            tokens_used=self._budget.tokens_used,
            iterations_run=self._budget.iterations_run,
            exhausted=list(self._budget.exhausted),
            model_id=self._settings.model_id,
            kind="web",
            parameters=parameters,
            model_trouble=self._stages.trouble,
            has_model_answered=self._stages.has_answered,
            unpaid=list(self._stages.unpaid),
            lineage=lineage_of(self._dispatcher.rihlas),
        )
        seconds = self._budget.seconds_used() + self._journal.seconds_used
        result = conclusion.result(state, seconds=seconds, trace_id=self.trace_id, today=self.today)
        tell.finished(result, conclusion.record(state, today=self.today, model_free=model_free))
        return result
