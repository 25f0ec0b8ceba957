"""The investigation: plan → researchers side by side → verified evidence → next steps by worth → answer.

A round asks several researchers at once. What comes next is decided when all of a round are back, so that the order
in which they come makes no difference, and an investigation that was killed goes on as it would have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

import anyio
import anyio.to_thread

from marchwarden import __version__
from marchwarden.agent.conclusion import Checkpoint, conclude, today
from marchwarden.agent.loop import SOURCES_WANTED, SYNTHESIS_SHARE, SYNTHESIS_TOKENS, VERIFY_SHARE, VERIFY_TOKENS
from marchwarden.agent.recording import Narrator
from marchwarden.budget import Budget, Reservation
from marchwarden.contract import GapCategory, ResearchRequest, ResearchResult, SourceFilter
from marchwarden.errors import BudgetExhausted
from marchwarden.evidence.conflicts import find_conflicts
from marchwarden.ledger import Ledger
from marchwarden.orchestrator.agenda import LEAST_TOKENS, LEAST_UTILITY, Valued, progress_of, ranked, shares
from marchwarden.orchestrator.journal import Journal
from marchwarden.orchestrator.members import Call, Member, Reply
from marchwarden.orchestrator.merge import Merger, lineage_of
from marchwarden.orchestrator.rihla import Rihla, Step, Unserved, first_steps, follow_ups, tie_breaks
from marchwarden.orchestrator.team import Team
from marchwarden.orchestrator.verified_evidence import Read, take
from marchwarden.programs import Program
from marchwarden.programs.parameters import DEFAULT
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
    from marchwarden.lm import Model

# Tokens and seconds of an investigation where none are given, and researchers that are asked at once. Guesses.
TOKENS, SECONDS, AT_ONCE = 60_000, 600.0, 3
# Share of the tokens left that a round of follow-ups may take.
_FOLLOW_UP_SHARE = 0.5
# Follow-ups of one round, at most: what one brings makes others unneeded. A guess.
_FOLLOW_UPS_A_ROUND = 4
# Seconds that are kept for the answer, at most a tenth of the whole. A guess: without a model it takes milliseconds.
_FINISH_S = 5.0

# Gain of a follow-up that brought evidence, besides that of the sub-questions. A guess.
_CLOSED_GAIN = 0.1

# Limits that each researcher gets as the caller gave them.
_FOR_EACH = ("max_iterations", "max_sources", "source_filter")

# Callback for what a rihla, by its number, is doing now; 0 is the investigation itself.
TellOf = Callable[[int, str], None]


@dataclass(frozen=True)
class Plan:
    """What an investigation has to go by, besides the question."""

    team: Team
    settings: Settings
    at_once: int = AT_ONCE
    finish_share: float = 0.1
    continues: str | None = None
    """Id of the trace that the question follows up; None where it follows none."""


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
        self._program: Program | None = program_in_force(plan.settings)
        parameters = (self._program.parameters if self._program else None) or DEFAULT
        self._merger = Merger(request.question, request.context, [], parameters, open_embedder(plan.settings))
        self._members: dict[str, Member] = {}
        self._turns = anyio.Semaphore(plan.at_once)
        self._own_turns = {each.name: anyio.Semaphore(each.at_once) for each in plan.team.members}
        self._finish_s = min(_FINISH_S, plan.finish_share * budget.max_seconds)
        self.rihlas: list[Rihla] = []
        self._asked: set[object] = set()
        self._unserved: list[Unserved] = []
        self._skipped: set[tuple[str | None, str, str]] = set()
        self._gains: list[float] = []
        self._progress = 0.0
        self._stages: StageRunner | None = None
        self._scope = anyio.CancelScope()
        self._interrupted: Literal["seconds", "stopped"] | None = None
        # What the caller limits holds for each researcher; the filter of domains holds whatever a researcher knows.
        given = request.constraints.model_dump(exclude_unset=True, exclude_none=True)
        self._limits = {name: value for name, value in given.items() if name in _FOR_EACH}
        self._filter = SourceFilter(request.constraints.source_filter)
        self.today = self._journal.started.today if self._journal.started else None

    def interrupt(self, limit: Literal["seconds", "stopped"] = "seconds") -> None:
        """End the asking now, and answer with what there is; `limit` is what the result names as the cause."""
        self._interrupted = limit
        self._scope.cancel()

    async def result(self) -> ResearchResult:
        """Answer the question. What researchers do ends in the result; a full disk of ours is an error."""
        self.today = self.today or today()
        model = self._connect()
        try:
            self._begin(model)
            await self._find_aspects()
            with self._scope:
                self._scope.deadline = anyio.current_time() + self._budget.seconds_left() - self._finish_s
                async with anyio.create_task_group() as connections:
                    for each in self._team.members:
                        self._members[each.name] = member = each.open()
                        connections.start_soon(member.run)
                    try:
                        await self._rounds()
                    finally:
                        connections.cancel_scope.cancel()
            if self._scope.cancelled_caught:
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
            from marchwarden.lm import connect

            model = connect(settings, self._budget, self._recorder)
        self._stages = StageRunner(
            model,
            self._budget,
            self._recorder,
            at_once=settings.model_calls,
            predictors=predictors_in_force(self._program) if model else None,
            without_model=self._program.without_model if self._program else (),
        )
        return model

    def _begin(self, model: Model | None) -> None:
        request, settings, journal = self.request, self._settings, self._journal
        if journal.started is None:
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
                    engine=model.features if model else None,
                    continues=self._continues,
                    team=[each.name for each in self._team.members],
                    team_hash=self._team.fingerprint,
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
                    decision="Rihlas that were out are asked again under the same ids.",
                )
            )
            if journal.model_tokens:
                self._budget.commit(self._budget.reserve("before", journal.model_tokens), journal.model_tokens)
        if model is not None:
            tokens = self._budget.token_budget
            self._budget.set_aside(SYNTHESIZE.name, min(SYNTHESIS_TOKENS, int(SYNTHESIS_SHARE * tokens)))
            self._budget.set_aside(VERIFY.name, min(VERIFY_TOKENS, int(VERIFY_SHARE * tokens)))

    async def _find_aspects(self) -> None:
        """Split the question as a researcher does; a resumed investigation keeps what it had."""
        assert self._stages is not None
        if not self._journal.aspects:
            self._tell(0, "planning")
            ledger = Ledger(question=self.request.question, context=self.request.context)
            plan, form = await self._stages.run(PLAN, PlanGiven(ledger, self.request.depth, []))
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
                    decision="Sub-questions for the researchers.",
                )
            )
        self._merger.aspects = self._journal.aspects

    # The rounds

    async def _rounds(self) -> None:
        ledger = self._ledger()
        first = first_steps(
            self.request.question, ledger.aspects, self._team, self.request.context, self.request.depth
        )
        weights = [self._team.named(step.researcher).share for step in first]
        # As much as one more researcher would get is kept for what they point at.
        left = self._budget.tokens_left("rihla")
        given = shares(weights, int(left * len(first) / (len(first) + 1))) if first else []
        batch = [(Valued(step, 1.0), tokens) for step, tokens in zip(first, given, strict=True)]
        while batch and self._budget.take_iteration():
            await self._send([each for each in batch if each[1]], [each[0] for each in batch if not each[1]])
            batch = self._next()
            if not batch:
                return
        if batch:
            for valued, _ in batch:
                self._skip(valued.step, "the limit of rounds is reached", valued.utility)
            if self._ledger().unanswered():
                self._budget.ran_out("iterations")
            self._stopped("iterations", "The limit of rounds was reached.")

    async def _send(self, batch: Sequence[tuple[Valued, int]], unpaid: Sequence[Valued]) -> None:
        """Ask the researchers of a round side by side, and take over what they quote."""
        for valued in unpaid:
            self._skip(valued.step, "no tokens are left for it", valued.utility)
            self._budget.ran_out("tokens")
        sent: list[tuple[Rihla, Reservation, float]] = []
        for valued, tokens in batch:
            try:
                held = self._budget.reserve("rihla", tokens)
            except BudgetExhausted:
                self._budget.ran_out("tokens")
                self._skip(valued.step, "no tokens are left for it", valued.utility)
                continue
            number = len(self.rihlas) + 1
            past = self._journal.rihlas.get(number)
            rihla = Rihla(number, past.dispatched.call_id if past else str(uuid4()), valued.step, tokens)
            self.rihlas.append(rihla)
            self._asked.add(valued.step.key)
            sent.append((rihla, held, valued.utility))
        async with anyio.create_task_group() as group:
            for rihla, held, worth in sent:
                group.start_soon(self._journey, rihla, held, worth)
        now = progress_of(self._ledger())
        for rihla, _, _ in sent:
            closed = rihla.step.origin not in ("sub_question", "retry") and bool(rihla.evidence)
            self._gains.append(max(0.0, now - self._progress) / len(sent) + _CLOSED_GAIN * closed)
        self._progress = max(now, self._progress)

    async def _journey(self, rihla: Rihla, held: Reservation, worth: float) -> None:
        """Send one rihla, settle what it cost, and verify what it brought."""
        past = self._journal.rihlas.get(rihla.number)
        if past is not None and past.is_over:
            rihla.result, rihla.lost = past.result, past.lost
            rihla.charged = self._budget.commit(held, past.charged)
        else:
            await self._ask(rihla, held, worth, past.attempts if past else 0)
        if rihla.result is not None:
            self._tell(rihla.number, "verifying what it quotes")
            await self._take(rihla, rihla.result, self._members[rihla.step.researcher].read)

    async def _take(self, rihla: Rihla, result: ResearchResult, read: Read) -> None:
        step = rihla.step
        taken = await take(result, step.researcher, step.question, read, self._store, self._filter.allows)
        rihla.evidence, rihla.is_taken = taken.pages, True
        for event in taken.events:
            if not self._is_recorded(event):
                self._recorder.record(event)

    async def _ask(self, rihla: Rihla, held: Reservation, worth: float, attempts: int) -> None:
        step = rihla.step
        spare = None
        if attempts:  # what the attempt before may have spent is paid, too, unless it is found by its id
            with suppress(BudgetExhausted):
                spare = self._budget.reserve("rihla", min(held.tokens, max(0, self._budget.tokens_left("rihla"))))
        reply = Reply(reason="it was not asked before the end", sent=False)
        was_sent = False
        try:
            # Its own turn first: a rihla that waits for its researcher keeps no other one from going.
            async with self._own_turns[step.researcher], self._turns:
                self._recorder.record(
                    events.Dispatched(
                        rihla=rihla.number,
                        call_id=rihla.call_id,
                        researcher=step.researcher,
                        question=step.question,
                        context=step.context,
                        depth=step.depth,
                        origin=step.origin,
                        parent=step.parent,
                        tokens=held.tokens,
                        utility=None if step.origin == "sub_question" else worth,
                        attempt=attempts + 1,
                        decision=step.reason,
                    )
                )
                limits = {**step.constraints, **self._limits}
                call = Call(rihla.call_id, step.question, step.context, step.depth, held.tokens, limits)
                was_sent = True
                try:
                    reply = await self._members[step.researcher].ask(
                        call, lambda message: self._tell(rihla.number, message)
                    )
                except Exception as error:  # a client's own fault costs its rihla, too
                    reply = Reply(reason=f"the call failed: {type(error).__name__}")
        except anyio.get_cancelled_exc_class():
            why = "the investigation was interrupted" if self._interrupted else "the time is up"
            reply = Reply(reason=why, sent=was_sent)
            raise
        finally:
            if spare is not None:
                self._budget.commit(spare, spare.tokens if reply.sent and not reply.repeated else 0)
            self._settle(rihla, held, reply, recorded=was_sent)

    def _settle(self, rihla: Rihla, held: Reservation, reply: Reply, *, recorded: bool) -> None:
        """Charge a rihla for what it says that it used, never more than was reserved; a lost one for all of that."""
        result = reply.result
        charge = min(result.cost_metadata.tokens_used, held.tokens) if result else held.tokens * reply.sent
        rihla.charged = self._budget.commit(held, charge)
        told = {
            "rihla": rihla.number,
            "call_id": rihla.call_id,
            "researcher": rihla.step.researcher,
            "charged_tokens": rihla.charged,
            "tokens_used": self._budget.tokens_used,
            "duration_sec": round(reply.seconds, 3),
        }
        if result is None:
            rihla.lost = reply.reason or "no result came"
            if recorded:
                self._recorder.record(events.Lost(sent=reply.sent, decision=rihla.lost, **told))
            self._tell(rihla.number, f"lost: {rihla.lost}")
            return
        rihla.result = result
        key = self._store.put(result.model_dump_json().encode("utf-8", "replace"))
        self._recorder.record(
            events.Returned(
                trace_id=result.trace_id,
                result_hash=key,
                citations=len(result.citations),
                gaps=len(result.gaps),
                confidence=result.confidence,
                reported_tokens=result.cost_metadata.tokens_used,
                decision=f"It reports {result.cost_metadata.tokens_used} tokens, of {held.tokens} that it had.",
                **told,
            )
        )

    def _is_recorded(self, event: events.Event) -> bool:
        """Return whether a trace that is gone on with has an event already; else remember it."""
        known = self._journal.recorded
        keys: set[tuple[str, str]] = set()
        if isinstance(event, events.Fetched):
            keys = {(event.final_url, str(event.text_hash))}
        elif isinstance(event, events.Extracted):
            keys = {(event.url, f"{pick.start} {pick.end}") for pick in event.picks}
        is_known = bool(keys) and keys <= known
        known |= keys
        return is_known

    # What comes next

    def _next(self) -> list[tuple[Valued, int]]:
        """Return the steps that are worth their cost, with their tokens; record why each other one is not taken."""
        ledger = self._ledger()
        ledger.conflicts = find_conflicts(ledger, self._merger.parameters)
        steps: list[Step] = list(tie_breaks(self._team, ledger))
        for rihla in self.rihlas:
            for found in follow_ups(rihla, self.rihlas, self._team, ledger, context=self.request.context):
                if isinstance(found, Step):
                    steps.append(found)
                else:
                    self._serve_nobody(found)
        open_ = {aspect.number for aspect in ledger.open_aspects(SOURCES_WANTED[self.request.depth])}
        worthy: list[Valued] = []
        for valued in ranked(steps, self.request.question, self._gains, ledger):
            step = valued.step
            if step.key in self._asked:
                self._skip(step, "it was asked already", valued.utility)
            elif step.origin == GapCategory.SOURCE_NOT_FOUND.value and step.aspect not in open_:
                self._skip(step, "others have answered it", valued.utility)
            elif valued.utility < LEAST_UTILITY:
                self._skip(step, f"it is worth {valued.utility:.2f}, less than {LEAST_UTILITY}", valued.utility)
            else:
                worthy.append(valued)
        if not worthy:
            covered = not open_
            self._stopped(
                "covered" if covered else "low_utility",
                "Every sub-question is covered, and no next step is worth its cost."
                if covered
                else "No next step is worth its cost.",
            )
            return []
        chosen = worthy[:_FOLLOW_UPS_A_ROUND]
        left = int(self._budget.tokens_left("rihla") * _FOLLOW_UP_SHARE)
        given = shares([2.0 if each.step.doubles else 1.0 for each in chosen], max(left, LEAST_TOKENS))
        if self._budget.tokens_left("rihla") < LEAST_TOKENS:
            for valued in worthy:
                self._skip(valued.step, "no tokens are left for it", valued.utility)
            self._budget.ran_out("tokens")
            self._stopped("tokens", "Fewer tokens are left than a researcher needs.")
            return []
        return [(valued, tokens) for valued, tokens in zip(chosen, given, strict=True) if tokens]

    def _serve_nobody(self, found: Unserved) -> None:
        step = Step("", found.question, found.origin, found.aspect, found.reason, parent=found.parent)
        if self._skip(step, found.reason, None):
            self._unserved.append(found)

    def _skip(self, step: Step, why: str, worth: float | None) -> bool:
        """Record a step that is not taken, once; return whether it was new."""
        key = (step.researcher, step.question, why.partition(",")[0])
        if key in self._skipped:
            return False
        self._skipped.add(key)
        self._recorder.record(
            events.Skipped(
                researcher=step.researcher or None,
                question=step.question,
                origin=step.origin,
                parent=step.parent,
                utility=worth,
                decision=f"{why[:1].upper()}{why[1:]}.",
            )
        )
        return True

    def _ledger(self) -> Ledger:
        return self._merger.ledger(self.rihlas, self._unserved)

    # The end

    async def _cut_short(self) -> None:
        for rihla in self.rihlas:
            if rihla.result is None and rihla.lost is None:
                rihla.lost = "the investigation ended before"
            elif rihla.result is not None and not rihla.is_taken:
                await self._take(rihla, rihla.result, _read_nothing)  # what lies here already
        self._budget.ran_out(self._interrupted or "seconds")
        if self._interrupted:
            who = " by the operator of its server" if self._interrupted == "stopped" else ""
            self._stopped("interrupted", f"It was interrupted{who}, and answers with what there is.")
        else:
            self._stopped("seconds", "The time for asking ran out.")

    def _stopped(self, reason: str, why: str) -> None:
        self._recorder.record(
            events.Stopped.model_validate(
                {"reason": reason, "iterations_run": self._budget.iterations_run, "decision": why}
            )
        )

    async def _finish(self) -> ResearchResult:
        assert self._stages is not None
        assert self.today is not None
        self._tell(0, "writing the answer")
        self._stages.give_back(SYNTHESIZE)
        ledger = await anyio.to_thread.run_sync(self._ledger)
        parameters = self._merger.parameters
        conclusion, model_free = None, self._stages.model is None
        with anyio.move_on_after(max(0.5, self._budget.seconds_left() - 1.0)):
            conclusion = await conclude(self.request, ledger, self._stages, self.today, parameters)
        in_time = conclusion is not None
        if conclusion is None:
            self._budget.ran_out("seconds")
            without: Stages = WithoutModel(self._budget.exhausted, self._stages.trouble)
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
            lineage=lineage_of(self.rihlas),
        )
        seconds = self._budget.seconds_used() + self._journal.seconds_used
        result = conclusion.result(state, seconds=seconds, trace_id=self.trace_id, today=self.today)
        tell.finished(result, conclusion.record(state, today=self.today, model_free=model_free))
        return result


async def _read_nothing(uri: str) -> None:
    """Read from no server."""
