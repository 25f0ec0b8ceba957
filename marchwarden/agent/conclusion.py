"""The end of a call, from a ledger to a result: the same with a model and without, in the call's process and outside.

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
    DiscoveryEvent,
    DiscoveryType,
    Gap,
    Lineage,
    OpenQuestion,
    ResearchRequest,
    ResearchResult,
    SubQuestion,
    WorkNotice,
    cut_excerpt,
)
from marchwarden.errors import Limit
from marchwarden.evidence.confidence import assess, source_confidence
from marchwarden.evidence.conflicts import find_conflicts
from marchwarden.ledger import Excerpt, Ledger
from marchwarden.observations import Work, is_file, placed
from marchwarden.programs import Calibration
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.stages.discoveries import DISCOVERIES, DiscoveriesGiven, report_contradictions
from marchwarden.stages.extract import SNIPPET
from marchwarden.stages.gaps import GAPS, GapsGiven, find_decided_gaps, undecided
from marchwarden.stages.open_questions import OPEN_QUESTIONS, OpenQuestionsGiven
from marchwarden.stages.score_confidence import CONFIDENCE, WORDS, ConfidenceGiven, Estimate
from marchwarden.stages.stage import Form, Stages, WithoutModel
from marchwarden.stages.synthesize import (
    SYNTHESIZE,
    Claim,
    SynthesizeGiven,
    check_grounding,
    evidence,
    excerpts_for,
    render_answer,
    usable_excerpts,
    with_quotes,
)
from marchwarden.stages.verify_claims import VERIFY, VerifyGiven, apply_verdicts, needs_verdict
from marchwarden.trace.events import ClaimRecord, Concluded, Dropped, EstimateRecord

# Pages without text that one result names, at most. A guess.
MOST_NEW_SOURCES = 2


class Checkpoint(BaseModel):
    """State of a running call, as JSON, from which it can be ended without its process."""

    request: ResearchRequest
    ledger: Ledger
    tokens_used: int
    iterations_run: int
    exhausted: list[Limit]
    model_id: str
    kind: str
    calibration: Calibration | None = None
    parameters: Parameters = DEFAULT
    model_trouble: str | None = None
    """Last failure of the model's service, or that no answer could be read; None where neither was."""
    has_model_answered: bool = True
    """True where an answer of the model could be read, and in older traces."""
    unpaid: list[str] = []
    """Names of essential stages that had too few tokens for the model."""
    lineage: list[Lineage] | None = None
    """Rihlas of an investigation; None for the call of a single researcher."""

    def without_model(self) -> WithoutModel:
        """Return what runs the last stages from this state."""
        return WithoutModel(
            self.exhausted, self.model_trouble, self.unpaid, self.has_model_answered, self.tokens_used
        )

    def cost(self, seconds: float) -> CostMetadata:
        """Return the cost of the call if it ends in this state, after this time."""
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
    """Excerpts that the answer cites; its marker [n] is the n-th, from 1."""
    evidence: list[Excerpt]
    """Excerpts that support the claims. They may be more than are cited: a slice cited once may be on two aspects."""
    claims: list[Claim]
    """Claims of the answer, in their order."""
    form: Form
    gaps: list[Gap]
    discoveries: list[DiscoveryEvent]
    open_questions: list[OpenQuestion]
    dropped: list[Dropped] = field(default_factory=list)
    estimate: Estimate | None = None
    """The model's own estimate that the answer is right; None where none was asked, or it gave nothing usable."""

    def result(self, state: Checkpoint, *, seconds: float, trace_id: str, today: date) -> ResearchResult:
        """Return the result of a call that ended in this state, after this time."""
        ledger, cost = state.ledger, state.cost(seconds)
        assessment = assess(
            ledger,
            self.evidence,
            budget_exhausted=cost.budget_exhausted,
            today=today,
            calibration=state.calibration,
            parameters=state.parameters,
            estimated=self.estimate.probability if self.estimate else None,
        )
        factors = assessment.factors
        if self.estimate and self.estimate.would_change:
            factors = factors.model_copy(update={"would_change": WORDS[self.estimate.would_change]})
        corroborated = len(ledger.organisations(self.cited)) > 1
        return ResearchResult(
            answer=self.answer,
            citations=[_citation(ledger, excerpt, state.kind, corroborated, today) for excerpt in self.cited],
            gaps=self.gaps,
            discovery_events=self.discoveries,
            open_questions=self.open_questions,
            confidence=assessment.confidence,
            confidence_factors=factors,
            cost_metadata=cost,
            trace_id=trace_id,
            worded_by="none" if not self.claims else "model" if self.form == "model" else "program",
            sub_questions=[
                SubQuestion(text=aspect.text, answered=any(each.aspect == aspect.number for each in self.evidence))
                for aspect in ledger.aspects
            ],
            lineage=state.lineage,
            # Null rather than false, so that a result is as it was before there was this field.
            sources_failed=(not self.cited and ledger.have_sources_failed()) or None,
        )

    def record(self, state: Checkpoint, *, today: date, model_free: bool) -> Concluded:
        """Return the record that `result` can be made from again."""
        estimate = self.estimate and EstimateRecord(
            of_claims=list(self.estimate.of_claims),
            of_whole=self.estimate.of_whole,
            would_change=self.estimate.would_change,
        )
        return Concluded(
            claims=[ClaimRecord(text=claim.text, excerpts=claim.excerpts) for claim in self.claims],
            state=state.model_dump(mode="json"),
            estimate=estimate,
            day=today,
            model_free=model_free,
            decision="The result follows from this state and these claims.",
        )


async def conclude(
    request: ResearchRequest, ledger: Ledger, stages: Stages, today: date, parameters: Parameters = DEFAULT
) -> Conclusion:
    """Run the last stages over what was found, for every end of a call.

    `stages` decides whether a model is asked. Without a model this takes milliseconds.
    """
    # A call that ended before its first plan has the whole question as its aspect.
    if not ledger.aspects:
        ledger.set_aspects([ledger.question])
    ledger.conflicts = find_conflicts(ledger, parameters)
    given = SynthesizeGiven(ledger, request.depth, excerpts_for(request.constraints.token_budget), parameters)
    form: Form = "model_free"
    claims: list[Claim] = []
    if usable_excerpts(ledger):
        claims, form = await stages.run(SYNTHESIZE, given)
    worded = claims
    claims, dropped = check_grounding(ledger, claims)
    if form == "model":
        claims, refused = await _verify(ledger, claims, stages)
        dropped += refused
        if claims:
            claims = with_quotes(ledger, worded, claims)
    stages.give_back(VERIFY)
    if not claims and form == "model":
        form = "model_free"
        claims, _ = check_grounding(ledger, SYNTHESIZE.model_free(given))
    answer, cited = render_answer(ledger, claims, stages.exhausted)
    stands_on = evidence(ledger, claims)
    claimed = frozenset(excerpt.aspect for excerpt in stands_on)
    gaps_given = GapsGiven(
        ledger,
        list(stages.exhausted),
        claimed,
        stages.trouble,
        parameters,
        tuple(stages.unpaid),
        has_model_answered=stages.has_answered,
        token_budget=request.constraints.token_budget,
        tokens_used=stages.tokens_used,
    )
    gaps = find_decided_gaps(gaps_given)
    if undecided(gaps_given):
        gaps += (await stages.run(GAPS, gaps_given))[0]
    discoveries: list[DiscoveryEvent] = []
    if (pointed := DiscoveriesGiven(ledger)).pointers:
        discoveries = (await stages.run(DISCOVERIES, pointed))[0]
    discoveries = discoveries + report_contradictions(ledger) + report_new_sources(ledger)
    told = {each.identifier or each.query for each in discoveries}
    discoveries += [event for event in ledger.handed_on if (event.identifier or event.query) not in told]
    asked = OpenQuestionsGiven(ledger, cited, gaps, today)
    # A disagreement is a finding, and raises its question, also where nothing is left to cite. A model is asked for
    # more only where there are cited excerpts to show it.
    questions = (await stages.run(OPEN_QUESTIONS, asked))[0] if cited else OPEN_QUESTIONS.model_free(asked)
    estimate = await _estimate(ledger, claims, stages, today, parameters) if cited else None
    return Conclusion(answer, cited, stands_on, claims, form, gaps, discoveries, questions, dropped, estimate)


async def _verify(ledger: Ledger, claims: list[Claim], stages: Stages) -> tuple[list[Claim], list[Dropped]]:
    """Return the claims that a verdict leaves, in their order, and what was dropped. Copied sentences need none."""
    worded = [place for place, claim in enumerate(claims) if needs_verdict(ledger, claim)]
    if not worded:
        return claims, []
    given = VerifyGiven(ledger, tuple(claims[place] for place in worded))
    verdicts, form = await stages.run(VERIFY, given)
    if form == "model_free":  # the rules have let all of them pass
        return claims, []
    left, dropped = apply_verdicts(given, verdicts)
    now = dict(zip(worded, left, strict=True))
    return [each for place, claim in enumerate(claims) if (each := now.get(place, claim))], dropped


async def _estimate(
    ledger: Ledger, claims: list[Claim], stages: Stages, today: date, parameters: Parameters
) -> Estimate | None:
    """Return the model's estimate that the answer is right; None where no model gave one."""
    exhausted = bool(stages.exhausted)
    by_rules = assess(
        ledger, evidence(ledger, claims), budget_exhausted=exhausted, today=today, parameters=parameters
    )
    estimate, form = await stages.run(CONFIDENCE, ConfidenceGiven(ledger, tuple(claims), by_rules))
    return estimate if form == "model" else None


async def finish(
    state: Checkpoint, *, limit: Limit, trace_id: str, seconds: float
) -> tuple[ResearchResult, Concluded]:
    """Return a valid result of what had been found, and its record, for a call that was stopped by this limit."""
    if limit not in state.exhausted:
        state.exhausted.append(limit)
    day = today()
    stages = state.without_model()
    conclusion = await conclude(state.request, state.ledger, stages, day, state.parameters)
    result = conclusion.result(state, seconds=seconds, trace_id=trace_id, today=day)
    return result, conclusion.record(state, today=day, model_free=True)


def today() -> date:
    """The date that the age of a source is counted to: the same everywhere, so in UTC."""
    return datetime.now(timezone.utc).date()


def report_new_sources(ledger: Ledger) -> list[DiscoveryEvent]:
    """Return events for pages that were read but hold no text to quote, so that somebody can look at them."""
    return [
        DiscoveryEvent(
            type=DiscoveryType.NEW_SOURCE,
            query=source.title or source.locator,
            reason=f"The page was fetched, but it has no text to quote: {NON_TEXT_SOURCE}.",
            source_locator=source.locator,
        )
        for source in ledger.sources
        if not source.has_text
    ][:MOST_NEW_SOURCES]


def _citation(ledger: Ledger, excerpt: Excerpt, kind: str, corroborated: bool, today: date) -> Citation:
    source = ledger.source(excerpt.locator)
    says = excerpt.says or ""
    work = source.work or Work()
    return Citation(
        # `kind` may name several sources, such as "web,file".
        source=source.source or ("file" if is_file(source.locator) else kind.partition(",")[0]),
        locator=placed(source.locator, excerpt.place),
        title=source.title,
        snippet=says if len(says) in SNIPPET else None,
        raw_excerpt=cut_excerpt(excerpt.text),
        confidence=source_confidence(source, corroborated, today),
        content_hash=source.content_hash,
        published=source.published,
        modified=source.modified,
        version=work.version,
        authors=list(source.work.authors if source.work else source.authors) or None,
        year=work.year,
        venue=work.venue,
        doi=work.doi,
        query=source.query,
        researcher=source.researcher,
        trace_id=source.trace_id,
        notices=[WorkNotice(**vars(notice)) for notice in source.notices] or None,
    )
