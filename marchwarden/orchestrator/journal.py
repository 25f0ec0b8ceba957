"""Steps of an investigation before it was killed, folded from the events of its trace."""

from __future__ import annotations

from dataclasses import dataclass, field

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, TraceError
from marchwarden.observations import ContentHash
from marchwarden.orchestrator.agenda import LEAST_TOKENS
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Dispatched, Extracted, Fetched, Lost, Planned, Resumed, Returned, Started
from marchwarden.trace.reader import Trace


@dataclass
class Past:
    """One rihla as the trace tells it."""

    dispatched: Dispatched
    attempts: int = 1
    result: ResearchResult | None = None
    lost: str | None = None
    sent: bool = True
    final: bool = False
    charged: int = 0

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
    """Pages that were taken over: address, and hash of the text or the quote."""
    model_tokens: int = 0
    """Tokens of its own model calls."""
    least_tokens: int = LEAST_TOKENS
    """Tokens that a rihla has at least."""
    seconds_used: float = 0.0
    started: Started | None = None
    result: ResearchResult | None = None
    """Result, where it had ended."""

    @property
    def in_flight(self) -> list[int]:
        return [number for number, past in self.rihlas.items() if not past.is_over]

    def check(self, request: ResearchRequest, team: str) -> None:
        """Raise ConfigurationError where another question, budget or team is to go on with it."""
        started = self.started
        if started is None:
            return
        same = {
            "question": (started.question, request.question),
            "context": (started.context, request.context),
            "depth": (started.depth, request.depth),
            "budget": (started.constraints, request.constraints),
            "team": (started.team_hash, team),
        }
        other = [name for name, (then, now) in same.items() if then != now]
        if other:
            raise ConfigurationError(
                f"the investigation was started with another {' and another '.join(other)}",
                hint="Resume it with the same question, options and team file, or start a new one.",
            )


def fold(trace: Trace, store: Store) -> Journal:
    """Return what a trace tells. Raises TraceError where it is of no investigation."""
    journal = Journal()
    last = trace.started
    for _, time, event in trace.events:
        last = time
        if isinstance(event, Started):
            journal.started = event
        elif isinstance(event, Planned):
            journal.aspects = event.aspects
            journal.least_tokens = event.least_tokens or LEAST_TOKENS
        elif isinstance(event, Dispatched):
            if event.rihla in journal.rihlas:
                journal.rihlas[event.rihla].attempts += 1
            else:
                journal.rihlas[event.rihla] = Past(event)
        elif isinstance(event, Returned):
            past = journal.rihlas[event.rihla]
            past.charged = event.charged_tokens
            past.result = None
            try:
                past.result = ResearchResult.model_validate_json(store.get(ContentHash(event.result_hash)))
            except (TraceError, ValueError):
                past.lost = "its result is damaged or missing in the store"
        elif isinstance(event, Lost):
            past = journal.rihlas[event.rihla]
            past.charged, past.lost = event.charged_tokens, event.decision
            past.sent, past.final = event.sent, event.final
        elif isinstance(event, Fetched):
            journal.recorded.add((event.final_url, str(event.text_hash)))
        elif isinstance(event, Extracted):
            journal.recorded.update((event.url, f"{pick.start} {pick.end}") for pick in event.picks)
        elif event.action == "model_call":
            journal.model_tokens += event.charged_tokens
        elif isinstance(event, Resumed):
            journal.seconds_used = event.seconds_used
    if journal.started is None or journal.started.team is None:
        raise TraceError(f"{trace.trace_id} is not the trace of an investigation")
    if last and trace.started:
        journal.seconds_used = (last - trace.started).total_seconds()
    journal.result = trace.result
    return journal
