"""The trace of a running call: each step of the loop as an event with its reason, and an end without a result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Literal

from marchwarden.budget import Budget
from marchwarden.contract import ResearchResult
from marchwarden.errors import MarchwardenError, ResearchFailed, StorageError
from marchwarden.ledger import Excerpt, Lead, Ledger
from marchwarden.observations import ContentHash, Failure, FetchOutcome, Page, SearchOutcome, content_hash
from marchwarden.programs import Program
from marchwarden.stages.plan import Plan
from marchwarden.stages.stage import Form
from marchwarden.trace import events
from marchwarden.trace.events import Recorder
from marchwarden.trace.writer import TraceWriter

if TYPE_CHECKING:
    from marchwarden.agent.conclusion import Checkpoint, Conclusion
    from marchwarden.programs.parameters import Parameters
    from marchwarden.sources.tools import Tools


@dataclass(frozen=True)
class Origin:
    """The day of a call and its program's place in the store; and, for a re-run, the call that it repeats."""

    today: date | None = None
    """Day that the age of sources is counted to; None for the present one."""
    kept_program: bytes | None = None
    """The program and the parameters as the store keeps them; None where they are not kept."""
    rerun_of: str | None = None
    """Id of the call that is repeated; None for any other call."""
    ends_without_model: bool = False
    """True where the call that is repeated had no time for the model when it came to its answer."""
    ends_asking: bool = False
    """True where the model was being asked as that time was over, before an attempt had begun."""
    ends_late: bool = False
    """True where the time of that call was over before its answer was whole, whatever the model had said by then."""
    unpicked_turn: int | None = None
    """Turn in which the time of the call that is repeated was over after its pages were read, and before anything was
    picked from them; None where it was not."""

    late_answers: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Answers of the call that is repeated which came too late for their stage: its name and the number of its run,
    from 1, and the reason that was recorded."""

    @property
    def program_hash(self) -> ContentHash | None:
        """Hash under which the store holds the program and the parameters."""
        return None if self.kept_program is None else content_hash(self.kept_program)


@dataclass(frozen=True)
class Replacements:
    """Everything that a re-run uses in place of what its settings name."""

    tools: Tools
    program: Program | None
    parameters: Parameters
    origin: Origin


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class CallContext:
    """The budget of one call, whose clock runs, and where the call is recorded."""

    budget: Budget
    recorder: Recorder
    trace_id: str
    checkpoint: Callable[[Checkpoint], None] | None = None
    """Callback for every state that the call could be ended from; None where nobody needs them."""
    replacements: Replacements | None = None


def _by_the_caller(question: str) -> events.WasCancelled:
    return events.WasCancelled(decision="the caller cancelled the call", question=question)


@contextmanager
def recorded_end(
    writer: TraceWriter,
    trace_id: str,
    question: str,
    cancellation: Callable[[str], events.WasCancelled] = _by_the_caller,
) -> Iterator[None]:
    """Write into the trace that the call inside was cancelled or failed; `cancellation` says by whom.

    Errors of this package and cancellation pass through. Raises ResearchFailed, with the trace id, for any other
    error.
    """
    try:
        yield
    except asyncio.CancelledError:
        with suppress(StorageError):
            writer.record(cancellation(question))
        raise
    except MarchwardenError as error:
        if writer.steps:
            with suppress(StorageError):
                writer.record(events.Failed(decision=str(error), error=type(error).__name__, question=question))
        raise
    except Exception as error:
        name = type(error).__name__
        with suppress(StorageError):
            reason = f"the call failed: internal error: {name}"
            writer.record(events.Failed(decision=reason, error=name, question=question))
        raise ResearchFailed(
            f"the research failed with an internal error: {name}",
            trace_id=trace_id,
            hint=f"`marchwarden replay {trace_id}` shows how far it got.",
        ) from error


class Narrator:
    """Turns what happened into events; decides nothing."""

    def __init__(self, recorder: Recorder, ledger: Ledger, budget: Budget) -> None:
        self._recorder = recorder
        self._ledger = ledger
        self._budget = budget

    def now(self, message: str) -> None:
        """Show a message to a person who waits, with the tokens that were used so far. It is not kept."""
        used = self._budget.tokens_used
        self._recorder.progress(f"{message} · {used:,} tokens" if used else message)

    def started(self, event: events.Started) -> None:
        self._recorder.record(event)

    def planned(self, plan: Plan, form: Form) -> None:
        self._recorder.record(
            events.Planned(
                iteration=self._budget.iterations_run,
                aspects=[aspect.text for aspect in self._ledger.aspects],
                queries=plan.queries,
                read=plan.read,
                done=plan.done,
                stage_form=form,
                decision=plan.thought or "The plan gives no reason.",
            )
        )

    def searched(self, outcome: SearchOutcome, new: int, reason: str = "") -> None:
        """Record a search; `reason` says why it was made where no plan did."""
        meant = "".join(
            f" Also searched for {close}, because no page contains {word}." for word, close in outcome.meant.items()
        )
        skipped = f" Malformed results skipped: {outcome.malformed}." if outcome.malformed else ""
        incomplete = "".join(f" {each}" for each in outcome.incomplete)
        self._recorder.record(
            events.Searched(
                query=outcome.query,
                provider=outcome.provider,
                hits=[
                    events.HitRecord(
                        url=hit.url, title=hit.title, snippet=hit.snippet, score=hit.score, published=hit.published
                    )
                    for hit in outcome.hits
                ],
                failure=_failure(outcome.failure),
                duration_sec=round(outcome.seconds, 4),
                meant=dict(outcome.meant),
                malformed=outcome.malformed,
                failed=list(outcome.failed),
                incomplete=list(outcome.incomplete),
                decision=f"{reason}New pages: {new} of {len(outcome.hits)} hits.{skipped}{incomplete}{meant}",
            )
        )

    def fetched(self, lead: Lead, outcome: FetchOutcome) -> None:
        page = outcome.page
        self._recorder.record(
            events.Fetched(
                url=lead.url,
                final_url=outcome.final_url,
                status=outcome.status,
                content_type=outcome.content_type,
                content_hash=outcome.content_hash,
                # As they were asked for and stored, whatever a source of the user's own says of them.
                content_length=len(outcome.body) if outcome.body else outcome.content_length,
                text_hash=page.text_hash if page else None,
                title=page.title if page else lead.title,
                published=page.published if page else None,
                modified=page.modified if page else None,
                redirects=list(outcome.redirects),
                source=page.source if page else None,
                collection=page.collection if page else None,
                notices=[events.NoticeRecord(**vars(notice)) for notice in outcome.notices],
                failure=_failure(outcome.failure),
                duration_sec=round(outcome.seconds, 4),
                kept_sec=outcome.kept_for,
                decision=lead.reason or f"“{lead.title}” may answer: {self._ledger.aspect(lead.aspect).text}",
            )
        )

    def skipped(self, page: Page, numbers: frozenset[int]) -> None:
        """Record the passages, by their numbers, that were skipped as prompt injection; nothing for none."""
        if numbers:
            text = " ".join(passage.text for passage in page.passages if passage.number in numbers)
            self._recorder.record(
                events.Dropped(what="instruction", text=text, decision="it looks like prompt injection")
            )

    def extracted(self, page: Page, excerpts: list[Excerpt], form: Form) -> None:
        self._recorder.record(
            events.Extracted(
                url=page.url,
                passages=len(page.passages),
                picks=[
                    events.PickRecord(
                        start=excerpt.start,
                        end=excerpt.end,
                        excerpt=excerpt.text,
                        aspect=self._ledger.aspect(excerpt.aspect).text,
                        stance=excerpt.stance,
                        relevance=excerpt.relevance,
                    )
                    for excerpt in excerpts
                ],
                stage_form=form,
                decision=f"Relevant to an open sub-question: {len(excerpts)} of {len(page.passages)} passages.",
            )
        )

    def stopped(
        self,
        reason: Literal["covered", "no_new_leads", "iterations", "sources", "seconds"],
        why: str,
        *,
        asking: Sequence[str] = (),
    ) -> None:
        self._recorder.record(
            events.Stopped(
                reason=reason, iterations_run=self._budget.iterations_run, asking=list(asking), decision=why
            )
        )

    def concluded(self, conclusion: Conclusion, *, in_time: bool, asking: Sequence[str] = ()) -> None:
        for drop in conclusion.dropped:
            self._recorder.record(drop)
        self._recorder.record(
            events.Synthesized(
                claims=len(conclusion.claims),
                dropped=len(conclusion.dropped),
                stage_form=conclusion.form,
                in_time=in_time,
                asking=list(asking),
                decision=f"Claims: {len(conclusion.claims)}. Excerpts that support them: {len(conclusion.cited)}.",
            )
        )

    def finished(self, result: ResearchResult, record: events.Concluded) -> None:
        assessed = events.Assessed(
            gaps=result.gaps,
            discovery_events=result.discovery_events,
            open_questions=result.open_questions,
            confidence=result.confidence,
            uncalibrated=result.confidence_factors.uncalibrated,
            decision="Based on what was found, what failed, and which limits were reached.",
        )
        # The answer is there, and may have been paid for: a full disk costs it the end of its trace only.
        try:
            self._recorder.record(record)
            self._recorder.record(assessed)
            self._recorder.record(events.Finished(result=result, decision="The research is finished."))
        except StorageError as error:
            logger.warning("the trace has no end: %s", error)


def _failure(failure: Failure | None) -> events.FailureRecord | None:
    return events.FailureRecord(kind=failure.kind.value, detail=failure.detail) if failure else None
