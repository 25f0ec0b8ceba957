"""Steps of an investigation that was killed or ended early, folded from the events of its trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, Limit, TraceError
from marchwarden.observations import ContentHash
from marchwarden.orchestrator.agenda import LEAST_TOKENS
from marchwarden.orchestrator.rihla import CUT_OFF, Step
from marchwarden.store.content_store import Store
from marchwarden.trace.events import (
    Concluded,
    Dispatched,
    Extracted,
    Fetched,
    Finished,
    Lost,
    ModelCalled,
    Planned,
    Resumed,
    Returned,
    Started,
    TraceKept,
)
from marchwarden.trace.reader import Trace

# Limits after which an investigation can go on, the one that says most first: another part has its own time, and may
# have more tokens.
_CONTINUABLE: tuple[Limit, ...] = ("interrupted", "stopped", "seconds", "tokens")


@dataclass
class Past:
    """One rihla as the trace tells it."""

    dispatched: Dispatched
    attempts: int = 1
    result: ResearchResult | None = None
    lost: str | None = None
    final: bool = False
    is_settled: bool = False
    """True where the last attempt was charged."""
    charged: int = 0
    """Tokens that were charged for the last attempt."""

    @property
    def is_over(self) -> bool:
        return self.result is not None or self.lost is not None


@dataclass
class Journal:
    """State of an investigation: empty for one that begins."""

    aspects: list[str] = field(default_factory=list)
    """Sub-questions of its plan; none where it had not planned yet."""
    rihlas: dict[int, Past] = field(default_factory=dict)
    recorded: set[tuple[str, str]] = field(default_factory=set)
    """Pages and traces that were taken over: address or id, and hash of the text or place of the quote."""
    tokens_used: int = 0
    """Tokens charged so far, for rihlas and for its own model calls."""
    least_tokens: int = LEAST_TOKENS
    """Tokens that a rihla has at least."""
    seconds_used: float = 0.0
    """Seconds of work so far, without those between its parts."""
    started: Started | None = None
    token_budget: int = 0
    max_seconds: float = 0.0
    result: ResearchResult | None = None
    """Result, where it had ended."""
    limits: list[Limit] = field(default_factory=list)
    """Limits that cut it short, where it had ended."""
    _repeated: set[int] = field(default_factory=set)
    """Numbers of the rihlas that a resumed investigation has come to again."""

    @property
    def in_flight(self) -> list[int]:
        return [number for number, past in self.rihlas.items() if not past.is_over]

    @property
    def cut_short_by(self) -> Limit | None:
        """The limit without which it could go on; None where it has not ended, or nothing is left to do."""
        return next((limit for limit in _CONTINUABLE if limit in self.limits), None)

    @property
    def is_complete(self) -> bool:
        """True where it had ended with nothing left to do."""
        return self.result is not None and self.cut_short_by is None

    def number_of(self, step: Step) -> int | None:
        """Return the number of the rihla that took a step before; None where it was not taken."""
        asked = (step.researcher, step.question, step.origin)
        return next(
            (
                number
                for number, past in self.rihlas.items()
                if asked == (past.dispatched.researcher, past.dispatched.question, past.dispatched.origin)
            ),
            None,
        )

    def repeat(self, number: int) -> None:
        """Note that a resumed investigation has come to a rihla again."""
        self._repeated.add(number)

    def goes_on_after(self, steps: Sequence[Step]) -> bool:
        """Return whether other rihlas were sent after those of `steps`, in a later round."""
        return bool(self.rihlas.keys() - self._repeated - {self.number_of(step) for step in steps})

    def check(self, request: ResearchRequest, team: str, model_id: str) -> None:
        """Raise ConfigurationError where another question, team or model is to go on with it, or where its tokens
        are used up."""
        started = self.started
        if started is None:
            return
        asked = request.constraints.model_dump(exclude={"token_budget"})
        same = {
            "question": (started.question, request.question),
            "context": (started.context, request.context),
            "depth": (started.depth, request.depth),
            "limits": (started.constraints.model_dump(exclude={"token_budget"}), asked),
            "team": (started.team_hash, team),
            "model": (started.model_id, model_id),
        }
        other = [name for name, (then, now) in same.items() if then != now]
        if other:
            raise ConfigurationError(
                f"the investigation was started with another {' and another '.join(other)}",
                hint="Resume it with the same question, options and team file, or start a new one.",
            )
        tokens = request.constraints.token_budget
        if self.is_complete:
            return
        if tokens < self.tokens_used or (self.cut_short_by == "tokens" and tokens <= self.token_budget):
            raise ConfigurationError(
                f"a budget of {tokens:,} tokens is too small to continue: {self.tokens_used:,} of "
                f"{self.token_budget:,} are used",
                hint="Give more with --budget.",
            )


def fold(trace: Trace, store: Store) -> Journal:
    """Return what a trace tells. Raises TraceError where it is of no investigation."""
    journal = Journal()
    began = last = trace.started
    before = 0.0
    plan_form = None
    for _, time, event in trace.events:
        if isinstance(event, Resumed):
            before, began = event.seconds_used, time
            journal.token_budget = event.token_budget or journal.token_budget
            journal.max_seconds = event.max_seconds or journal.max_seconds
            journal.result, journal.limits = None, []
        elif isinstance(event, Started):
            journal.started = event
            journal.token_budget, journal.max_seconds = event.constraints.token_budget, event.max_seconds
        elif isinstance(event, Planned):
            journal.aspects, plan_form = event.aspects, event.stage_form
            journal.least_tokens = event.least_tokens or LEAST_TOKENS
        elif isinstance(event, Dispatched):
            past = journal.rihlas.setdefault(event.rihla, Past(event, attempts=0))
            past.attempts, past.is_settled = past.attempts + 1, False
        elif isinstance(event, Returned):
            past = journal.rihlas[event.rihla]
            past.charged, past.is_settled = event.charged_tokens, True
            try:
                past.result = ResearchResult.model_validate_json(store.get(ContentHash(event.result_hash)))
            except (TraceError, ValueError):
                past.lost = "its result is damaged or missing in the store"
        elif isinstance(event, Lost):
            past = journal.rihlas[event.rihla]
            past.charged, past.is_settled = event.charged_tokens, True
            # The end of the investigation that cut one off is no answer of its researcher.
            past.lost = None if event.decision in CUT_OFF else event.decision
            past.final = event.final
        elif isinstance(event, Fetched):
            journal.recorded.add((event.final_url, str(event.text_hash)))
        elif isinstance(event, TraceKept):
            journal.recorded.add((event.trace_id, event.trace_hash))
        elif isinstance(event, Extracted):
            journal.recorded.update((event.url, f"{pick.start} {pick.end}") for pick in event.picks)
        elif isinstance(event, Concluded):
            journal.limits = [limit for limit in _CONTINUABLE if limit in event.state.get("exhausted", ())]
        elif isinstance(event, Finished):
            journal.result = event.result
        if isinstance(event, (Returned, Lost, ModelCalled)):
            journal.tokens_used = max(journal.tokens_used, event.tokens_used)
        last = time
    if journal.started is None or journal.started.team is None:
        raise TraceError(
            f"{trace.trace_id} is not the trace of an investigation",
            hint=f"To ask its question again: marchwarden ask --again {trace.trace_id[:8]}. "
            "`marchwarden history` marks investigations.",
        )
    if journal.cut_short_by in ("interrupted", "stopped") and not journal.rihlas and plan_form == "model_free":
        journal.aspects = []  # the model was not waited for, and nobody was asked by this plan
    if last and began:
        journal.seconds_used = before + (last - began).total_seconds()
    return journal
