"""Rihlas on their way: asked side by side within the budget, settled by what they report, their quotes verified.

What a rihla spends is reserved before it is sent. A lost one that may have begun costs all of that, but for one of a
researcher of this process, whose trace tells what it spent. What is asked next is decided elsewhere (next_steps.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

import anyio

from marchwarden.budget import Budget, Reservation
from marchwarden.contract import Constraints, ResearchResult, SourceFilter
from marchwarden.errors import BudgetExhausted, TraceError
from marchwarden.orchestrator.agenda import Valued
from marchwarden.orchestrator.journal import Journal, Past
from marchwarden.orchestrator.members import Call, Member, Reply
from marchwarden.orchestrator.rihla import ENDED_BEFORE, INTERRUPTED, NOT_ASKED, TIME_IS_UP, Rihla, Step
from marchwarden.orchestrator.team import Team
from marchwarden.orchestrator.verified_evidence import Read, take
from marchwarden.store.content_store import Store
from marchwarden.trace import events
from marchwarden.trace.events import Recorder
from marchwarden.trace.reader import read_trace

# Limits that each researcher gets as the caller gave them.
_FOR_EACH = ("max_iterations", "max_sources", "source_filter")

# Callback for what a rihla, by its number, is doing now; 0 is the investigation itself.
TellOf = Callable[[int, str], None]


@dataclass(frozen=True)
class Surroundings:
    """Everything that the parts of one investigation share."""

    budget: Budget
    recorder: Recorder
    journal: Journal
    store: Store
    tell: TellOf
    new_id: Callable[[Step], str] = lambda step: str(uuid4())
    """Returns the id that the trace of a new rihla is to have."""
    teams: tuple[str, ...] = ()
    """Hashes of the teams whose investigations ask: those that this one is asked by, and its own."""


class Dispatcher:
    """Sends the rihlas of one investigation."""

    def __init__(self, team: Team, at_once: int, constraints: Constraints, around: Surroundings) -> None:
        self._budget, self._recorder, self._tell = around.budget, around.recorder, around.tell
        self._journal, self._store = around.journal, around.store
        self._new_id, self._teams = around.new_id, around.teams
        self._team = team
        self.members: dict[str, Member] = {}
        self.rihlas: list[Rihla] = []
        self.is_interrupted = False
        """True where a person or an operator ended the asking, not its time."""
        self._turns = anyio.Semaphore(at_once)
        self._own_turns = {each.name: anyio.Semaphore(each.at_once) for each in team.members}
        # What the caller limits holds for each researcher; the filter of domains holds whatever a researcher knows.
        given = constraints.model_dump(exclude_unset=True, exclude_none=True)
        self._limits = {name: value for name, value in given.items() if name in _FOR_EACH}
        self._filter = SourceFilter(constraints.source_filter)

    async def send(self, batch: Sequence[tuple[Valued, int]]) -> tuple[list[Rihla], list[Valued]]:
        """Ask the researchers of a round side by side, each with its tokens, and take over what they quote.

        Return the rihlas, and the steps that no tokens were left for.
        """
        sent: list[tuple[Rihla, Reservation, float]] = []
        unpaid: list[Valued] = []
        for valued, tokens in batch:
            number = self._journal.number_of(valued.step)
            past = self._journal.rihlas[number] if number else None
            try:
                # One that is over was charged when the investigation was resumed.
                held = self._budget.reserve("rihla", 0 if past and past.is_over else tokens)
            except BudgetExhausted:
                unpaid.append(valued)
                continue
            if number is None or past is None:
                number = max([*self._journal.rihlas, *(each.number for each in self.rihlas)], default=0) + 1
            self._journal.repeat(number)
            rihla = Rihla(number, past.dispatched.call_id if past else self._new_id(valued.step), valued.step, tokens)
            self.rihlas.append(rihla)
            sent.append((rihla, held, valued.utility))
        async with anyio.create_task_group() as group:
            for rihla, held, worth in sent:
                group.start_soon(self._journey, rihla, held, worth)
        return [rihla for rihla, _, _ in sent], unpaid

    async def take_what_is_here(self) -> None:
        """Take over what returned rihlas quote, as far as its pages lie here; those still out are lost."""
        for rihla in self.rihlas:
            if rihla.result is None and rihla.lost is None:
                rihla.lost = ENDED_BEFORE
            elif rihla.result is not None and not rihla.is_taken:
                await self._take(rihla, rihla.result, _read_nothing)
                rihla.unchecked = None  # its server was not asked

    async def _journey(self, rihla: Rihla, held: Reservation, worth: float) -> None:
        """Send one rihla, settle what it cost, and verify what it brought."""
        past = self._journal.rihlas.get(rihla.number)
        if past is not None and past.is_over:
            self._budget.commit(held, 0)
            rihla.result, rihla.lost, rihla.final = past.result, past.lost, past.final
            rihla.charged = past.charged
        else:
            await self._ask(rihla, held, worth, past)
        if rihla.result is not None:
            self._tell(rihla.number, "verifying what it quotes")
            await self._take(rihla, rihla.result, self.members[rihla.step.researcher].read)

    async def _take(self, rihla: Rihla, result: ResearchResult, read: Read) -> None:
        step = rihla.step
        is_own = self._team.named(step.researcher).is_own
        taken = await take(
            result, step.researcher, step.question, read, self._store, self._filter.allows, is_own=is_own
        )
        rihla.evidence, rihla.unchecked, rihla.is_taken = taken.pages, taken.unchecked, True
        # A trace that is gone on with may have an event already.
        known = self._journal.recorded
        found = taken.events
        if taken.trace_hash is not None:
            kept = events.TraceKept(
                rihla=rihla.number,
                researcher=step.researcher,
                trace_id=result.trace_id,
                trace_hash=taken.trace_hash,
                decision="It shows how the researcher found what it quotes.",
            )
            found = [kept, *found]
        for event in found:
            keys: set[tuple[str, str]] = set()
            if isinstance(event, events.Fetched):
                keys = {(event.final_url, str(event.text_hash))}
            elif isinstance(event, events.TraceKept):
                keys = {(event.trace_id, event.trace_hash)}
            elif isinstance(event, events.Extracted):
                keys = {(event.url, f"{pick.start} {pick.end}") for pick in event.picks}
            is_known = bool(keys) and keys <= known
            known |= keys
            if not is_known:
                self._recorder.record(event)

    async def _ask(self, rihla: Rihla, held: Reservation, worth: float, past: Past | None) -> None:
        step = rihla.step
        spare = None
        if past is not None:  # what the attempt before may have spent is paid, too, unless it is found by its id
            with suppress(BudgetExhausted):
                owed = min(self._owed(rihla, held, past), max(0, self._budget.tokens_left("rihla")))
                spare = self._budget.reserve("rihla", owed)
        reply = Reply(reason=NOT_ASKED, sent=False)
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
                        attempt=past.attempts + 1 if past else 1,
                        decision=step.reason,
                    )
                )
                limits = {**step.constraints, **self._limits}
                call = Call(rihla.call_id, step.question, step.context, step.depth, held.tokens, limits, self._teams)
                was_sent = True
                try:
                    reply = await self.members[step.researcher].ask(
                        call, lambda message: self._tell(rihla.number, message)
                    )
                except Exception as error:  # a client's own fault costs its rihla, too
                    reply = Reply(reason=f"the call failed: {type(error).__name__}")
        except anyio.get_cancelled_exc_class():
            why = INTERRUPTED if self.is_interrupted else TIME_IS_UP
            reply = Reply(reason=why, sent=was_sent)
            raise
        finally:
            if spare is not None:
                self._budget.commit(spare, spare.tokens if reply.sent and not reply.repeated else 0)
            paid = past.charged if past and past.is_settled and reply.repeated else 0
            self._settle(rihla, held, reply, recorded=was_sent, paid=paid)

    def _owed(self, rihla: Rihla, held: Reservation, past: Past) -> int:
        """Return the tokens that the attempt before may have spent beyond those that were charged for it."""
        spent = self._spent(rihla)
        if past.is_settled:
            return max(0, (spent or 0) - past.charged)
        return held.tokens if spent is None else min(spent, held.tokens)

    def _settle(self, rihla: Rihla, held: Reservation, reply: Reply, *, recorded: bool, paid: int) -> None:
        """Charge a rihla for what it says that it used, never more than was reserved; a lost one for what its trace
        tells, or else for all that was reserved where it may have begun. `paid` was charged for this use before."""
        result = reply.result
        used = result.cost_metadata.tokens_used if result else self._spent(rihla) if reply.sent else 0
        charge = held.tokens if used is None else min(max(0, used - paid), held.tokens)
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
            rihla.lost, rihla.final = reply.reason or "no result came", reply.final
            if recorded:
                self._recorder.record(events.Lost(sent=reply.sent, final=reply.final, decision=rihla.lost, **told))
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

    def _spent(self, rihla: Rihla) -> int | None:
        """Return the tokens that a researcher of this process had spent on a rihla, by its trace; None for others.

        The attempt of a model that is just being cancelled may not be in it yet.
        """
        if not self._team.named(rihla.step.researcher).is_own:
            return None
        try:
            trace = read_trace(self._store.folder.parent / f"{rihla.call_id}.jsonl")
        except TraceError:  # it had not begun
            return 0
        return sum(event.charged_tokens for _, _, event in trace.events if isinstance(event, events.ModelCalled))


async def _read_nothing(uri: str) -> None:
    """Read from no server."""
