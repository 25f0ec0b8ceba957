"""How sure the answer is, by a rubric over what happened: no model is asked how it feels.

    base      0.65 · 0.74 · 0.82 · 0.88 for 1 · 2 · 3 · 4 and more independent sources; 0.05 without any
    authority +0.05 high · 0 medium · −0.12 low
    recency   −0.05 where everything is over three years old
    conflict  −0.10 where sources disagree and nothing settled it, −0.03 where something did; never "high"
    budget    −0.15 where a limit cut the research short, and then never over 0.69
    fit       the sum is scaled by 0.3 + 0.7 × query_specificity_match and 0.4 + 0.6 × the share of aspects answered

Which counts how much was weighed on the training questions, where the fit of the evidence told most; these are the
defaults (parameters.py), and a program may weigh otherwise. Where the model has a calibration (programs), an answer
that cites something gets the share of right answers that its score stood for, within the same upper bounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from marchwarden.contract import ConfidenceFactors, Recency, SourceAuthority
from marchwarden.ledger import Excerpt, Ledger, Source
from marchwarden.programs import Calibration
from marchwarden.programs.parameters import DEFAULT, Parameters

_MOST, _MOST_WITH_CONFLICT, _MOST_WHEN_EXHAUSTED = 0.97, 0.89, 0.69
"""What callers may rely on, and no compile may change."""
_ORDER = (SourceAuthority.LOW, SourceAuthority.MEDIUM, SourceAuthority.HIGH)
_OFFICIAL = re.compile(
    r"(^|\.)(gov|edu|mil|int)(\.[a-z]{2})?$|(^|\.)(ac|gouv|gob|govt|gc)\.[a-z]{2}$|(^|\.)europa\.eu$"
)
_SCHOLARLY = re.compile(
    r"(^|\.)(nature|science|pubmed|nejm|thelancet|arxiv)\.|(^|[.-])(journals?|proceedings)([.-]|$)"
)
_PERSONAL = re.compile(
    r"(^|[.-])(blog|blogs|forum|forums|community|notes|diary|wordpress|blogspot|tumblr|medium|substack|reddit|quora|"
    r"stackexchange|boards?|talk)([.-]|$)|^\w*(blog|forum)\w*\."
)


@dataclass(frozen=True)
class Assessment:
    confidence: float
    factors: ConfidenceFactors


def authority_of(url: str) -> SourceAuthority:
    """`high` for governments, universities and journals, `low` for blogs and forums, else `medium`, by address."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if _PERSONAL.search(host) or re.search(
        r"/(blog|forum|forums|thread|community|comments)(/|$)", parts.path.lower()
    ):
        return SourceAuthority.LOW
    if _OFFICIAL.search(host) or _SCHOLARLY.search(host):
        return SourceAuthority.HIGH
    return SourceAuthority.MEDIUM


def source_confidence(source: Source, corroborated: bool, today: date) -> float:
    """How far this source's accuracy is trusted, 0–1: by authority and standing, a little by company and by age."""
    if source.standing == "retracted":
        return 0.1
    score = {SourceAuthority.HIGH: 0.88, SourceAuthority.MEDIUM: 0.75, SourceAuthority.LOW: 0.5}[source.authority]
    score += 0.07 if corroborated else 0.0
    if source.dated and (today - source.dated).days > 3 * 365.25:
        score -= 0.05
    return round(score * (0.5 if source.standing == "superseded" else 1.0), 2)


def assess(
    ledger: Ledger,
    cited: list[Excerpt],
    *,
    budget_exhausted: bool,
    today: date,
    calibration: Calibration | None = None,
    parameters: Parameters = DEFAULT,
) -> Assessment:
    """Factors read off what was cited, and the score that the rubric above gives them, calibrated where it can be."""
    locators = list(dict.fromkeys(excerpt.locator for excerpt in cited))
    factors = ConfidenceFactors(
        num_corroborating_sources=len(ledger.organisations(cited)),
        source_authority=_authority(ledger, locators),
        contradiction_detected=bool(ledger.conflicts),
        query_specificity_match=_specificity(ledger, cited),
        budget_exhausted=budget_exhausted,
        recency=ledger.recency(locators, today),
    )
    score = score_of(
        factors,
        share_answered(ledger, cited),
        unresolved=has_open_conflict(ledger),
        parameters=parameters,
    )
    if calibration is None or not cited:
        return Assessment(score, factors)
    told = factors.model_copy(update={"uncalibrated": score, "calibration": calibration.described})
    return Assessment(calibrated(score, factors, calibration), told)


def share_answered(ledger: Ledger, cited: list[Excerpt]) -> float:
    """The share of aspects that what was cited speaks to."""
    return len({excerpt.aspect for excerpt in cited}) / max(1, len(ledger.aspects))


def has_open_conflict(ledger: Ledger) -> bool:
    return any(not conflict.resolved for conflict in ledger.conflicts)


def calibrated(score: float, factors: ConfidenceFactors, calibration: Calibration) -> float:
    """The confidence, 0–1, that a rubric's score stands for, within what these factors allow at most."""
    return min(calibration.apply(score), _most(factors))


def _most(factors: ConfidenceFactors) -> float:
    if factors.budget_exhausted:
        return _MOST_WHEN_EXHAUSTED
    return _MOST_WITH_CONFLICT if factors.contradiction_detected else _MOST


def score_of(
    factors: ConfidenceFactors, share_answered: float, *, unresolved: bool, parameters: Parameters = DEFAULT
) -> float:
    """The rubric's score, 0–1, two decimals: from what was cited, the share of aspects that it answers, and whether a
    conflict is open."""
    rubric, sources = parameters.confidence, factors.num_corroborating_sources
    score = rubric.base(sources)
    if sources:
        score += rubric.authority.of(factors.source_authority)
        score -= rubric.dated if factors.recency is Recency.DATED else 0.0
        score -= rubric.unresolved if unresolved else rubric.resolved if factors.contradiction_detected else 0.0
    score -= rubric.exhausted if factors.budget_exhausted else 0.0
    score = min(score, _most(factors)) * _from(rubric.fit_floor, factors.query_specificity_match)
    score *= _from(rubric.answered_floor, share_answered)
    return round(max(0.0, score), 2)  # -0.0 is no more than 0.0, which stands first


def _from(floor: float, share: float) -> float:
    """Between the floor and 1, by the share."""
    return floor + (1 - floor) * share


def _authority(ledger: Ledger, locators: list[str]) -> SourceAuthority:
    """The median of the cited sources' authority, the higher of the two middle ones; low where there is none."""
    ranked = sorted(_ORDER.index(ledger.source(locator).authority) for locator in locators)
    return _ORDER[ranked[len(ranked) // 2]] if ranked else SourceAuthority.LOW


def _specificity(ledger: Ledger, cited: list[Excerpt]) -> float:
    """How well the best excerpt of each aspect fits it, on average; an aspect without one counts 0."""
    best = [
        max((excerpt.relevance for excerpt in cited if excerpt.aspect == aspect.number), default=0.0)
        for aspect in ledger.aspects
    ]
    return round(sum(best) / len(best), 2) if best else 0.0
