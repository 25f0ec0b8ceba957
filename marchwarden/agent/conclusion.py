"""From a ledger to a result: what the last stages said, assembled; and the model-free end of a call that was cut off.

A checkpoint is all that is needed to end a call outside of its process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timezone

from pydantic import BaseModel

from marchwarden.contract import (
    NON_TEXT_SOURCE,
    Citation,
    CostMetadata,
    Depth,
    DiscoveryEvent,
    DiscoveryType,
    Gap,
    OpenQuestion,
    ResearchRequest,
    ResearchResult,
    cut_excerpt,
)
from marchwarden.errors import Limit
from marchwarden.evidence.confidence import assess, source_confidence
from marchwarden.evidence.conflicts import find_conflicts
from marchwarden.ledger import Excerpt, Ledger
from marchwarden.observations import is_file, placed
from marchwarden.programs import Calibration
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.stages.discoveries import DISCOVERIES, DiscoveriesGiven, contradictions
from marchwarden.stages.extract import SNIPPET
from marchwarden.stages.gaps import GAPS, GapsGiven, settled
from marchwarden.stages.open_questions import OPEN_QUESTIONS, OpenQuestionsGiven
from marchwarden.stages.stage import Form
from marchwarden.stages.synthesize import SYNTHESIZE, SynthesizeGiven, check_grounding, evidence, render_answer
from marchwarden.trace.events import Dropped

MOST_NEW_SOURCES = 2


class Checkpoint(BaseModel):
    """Where a call stands, as JSON: enough to end it without its process."""

    request: ResearchRequest
    ledger: Ledger
    tokens_used: int
    iterations_run: int
    exhausted: list[Limit]
    model_id: str
    kind: str
    calibration: Calibration | None = None
    parameters: Parameters = DEFAULT

    def cost(self, seconds: float) -> CostMetadata:
        return CostMetadata(
            tokens_used=self.tokens_used,
            iterations_run=self.iterations_run,
            wall_time_sec=round(seconds, 3),
            budget_exhausted=bool(self.exhausted),
            model_id=self.model_id,
        )


@dataclass(frozen=True)
class Conclusion:
    answer: str
    cited: list[Excerpt]
    """Marker [n] of the answer is the n-th, from 1."""
    evidence: list[Excerpt]
    """What the claims stand on: a slice that is cited once may speak to two aspects."""
    claims: int
    form: Form
    gaps: list[Gap]
    discoveries: list[DiscoveryEvent]
    open_questions: list[OpenQuestion]
    dropped: list[Dropped] = field(default_factory=list)

    def result(
        self,
        ledger: Ledger,
        *,
        cost: CostMetadata,
        kind: str,
        trace_id: str,
        today: date,
        calibration: Calibration | None = None,
        parameters: Parameters = DEFAULT,
    ) -> ResearchResult:
        assessment = assess(
            ledger,
            self.evidence,
            budget_exhausted=cost.budget_exhausted,
            today=today,
            calibration=calibration,
            parameters=parameters,
        )
        corroborated = len(ledger.organisations(self.cited)) > 1
        return ResearchResult(
            answer=self.answer,
            citations=[_citation(ledger, excerpt, kind, corroborated, today) for excerpt in self.cited],
            gaps=self.gaps,
            discovery_events=self.discoveries,
            open_questions=self.open_questions,
            confidence=assessment.confidence,
            confidence_factors=assessment.factors,
            cost_metadata=cost,
            trace_id=trace_id,
        )


def conclude_model_free(
    ledger: Ledger,
    depth: Depth,
    exhausted: list[Limit],
    today: date,
    *,
    model_trouble: str | None = None,
    parameters: Parameters = DEFAULT,
) -> Conclusion:
    """The last stages in their model-free forms, over what was found; milliseconds, no tokens."""
    given = SynthesizeGiven(ledger, depth, parameters=parameters)
    claims, dropped = check_grounding(ledger, SYNTHESIZE.model_free(given))
    answer, cited = render_answer(ledger, claims)
    stands_on = evidence(ledger, claims)
    claimed = frozenset(excerpt.aspect for excerpt in stands_on)
    gaps_given = GapsGiven(ledger, exhausted, claimed, model_trouble, parameters)
    gaps = settled(gaps_given) + GAPS.model_free(gaps_given)
    return Conclusion(
        answer=answer,
        cited=cited,
        evidence=stands_on,
        claims=len(claims),
        form="model_free",
        gaps=gaps,
        discoveries=DISCOVERIES.model_free(DiscoveriesGiven(ledger)) + contradictions(ledger) + new_sources(ledger),
        open_questions=OPEN_QUESTIONS.model_free(OpenQuestionsGiven(ledger, cited, gaps, today)),
        dropped=dropped,
    )


def finish(checkpoint: Checkpoint, *, limit: Limit, trace_id: str, seconds: float) -> ResearchResult:
    """A valid result from what had been found, for a call whose process had to be stopped because `limit` ran out."""
    today = datetime.now(timezone.utc).date()
    ledger = checkpoint.ledger
    if not ledger.aspects:
        ledger.set_aspects([ledger.question])
    ledger.conflicts = find_conflicts(ledger, checkpoint.parameters)
    if limit not in checkpoint.exhausted:
        checkpoint.exhausted.append(limit)
    conclusion = conclude_model_free(
        ledger, checkpoint.request.depth, checkpoint.exhausted, today, parameters=checkpoint.parameters
    )
    cost = checkpoint.cost(seconds)
    return conclusion.result(
        ledger,
        cost=cost,
        kind=checkpoint.kind,
        trace_id=trace_id,
        today=today,
        calibration=checkpoint.calibration,
        parameters=checkpoint.parameters,
    )


def new_sources(ledger: Ledger) -> list[DiscoveryEvent]:
    """Pages that were read but hold no text to quote: somebody who can look at them should."""
    return [
        DiscoveryEvent(
            type=DiscoveryType.NEW_SOURCE,
            query=source.title or source.locator,
            reason=f"It was fetched but holds no text that could be quoted: {NON_TEXT_SOURCE}.",
            source_locator=source.locator,
        )
        for source in ledger.sources
        if not source.has_text
    ][:MOST_NEW_SOURCES]


def _source_of(locator: str, kind: str) -> str:
    """What a citation names as its source, where `kind` may name several: "web,file"."""
    return "file" if is_file(locator) else kind.partition(",")[0]


def _citation(ledger: Ledger, excerpt: Excerpt, kind: str, corroborated: bool, today: date) -> Citation:
    source = ledger.source(excerpt.locator)
    says = excerpt.says or ""
    return Citation(
        source=_source_of(source.locator, kind),
        locator=placed(source.locator, excerpt.place),
        title=source.title,
        snippet=says if len(says) in SNIPPET else None,
        raw_excerpt=cut_excerpt(excerpt.text),
        confidence=source_confidence(source, corroborated, today),
        content_hash=source.content_hash,
        published=source.published,
    )
