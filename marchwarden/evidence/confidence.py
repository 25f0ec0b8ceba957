"""Confidence in an answer, by a rubric over recorded facts, which a model's estimate can lower.

    base      0.69 · 0.70 · 0.71 · 0.73 for 1 · 2 · 3 · 4 and more independent sources; 0.05 without any
    authority +0.05 high · 0 medium · −0.12 low
    recency   −0.05 where everything is over three years old
    conflict  −0.10 where sources disagree and nothing settled it, −0.03 where something did; never "high"
    budget    −0.15 where a limit cut the research short, and then never over 0.69
    fit       times 1 / (1 + exp(−0.8 × (log-odds of query_specificity_match − log-odds of 0.1))), which is
              0.50 · 0.71 · 0.81 · 0.92 for 0.1 · 0.25 · 0.4 · 0.7
    aspects   times 0.4 + 0.6 × the share of aspects answered

These numbers are the defaults (programs/parameters.py); a program may have others. The fit of the evidence tells
most: its curve was chosen on answers over real pages (evals/reports/confidence.md). The other numbers are guesses.
Where the model has a calibration, an answer with a citation gets the share of right answers among those with its
score, within the same upper bounds. A model's own estimate that the answer is right (stages/score_confidence.py)
lowers the confidence to the middle of both, in log-odds. It raises it only where the calibration was fitted with such
estimates.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from marchwarden.contract import ConfidenceFactors, Recency, SourceAuthority
from marchwarden.ledger import Excerpt, Ledger, Source
from marchwarden.observations import Standing, Work
from marchwarden.programs import Calibration, log_odds
from marchwarden.programs.parameters import DEFAULT, Confidence, Parameters
from marchwarden.text.works import carries_works, is_repository

# Upper bounds of the confidence that the contract promises. No compile may change them.
_MOST, _MOST_WITH_CONFLICT, _MOST_WHEN_EXHAUSTED = 0.97, 0.89, 0.69
# Confidence in a single source, 0-1: by authority, for a retracted source, added where another source is cited, taken
# off after so many years, and the factor for a source that is superseded or that an expression of concern is about.
# Guesses.
_TRUST = {SourceAuthority.HIGH: 0.88, SourceAuthority.MEDIUM: 0.75, SourceAuthority.LOW: 0.5}
_TRUST_OF_RETRACTED = 0.1
_TRUST_BY_COMPANY = 0.07
_OLD_YEARS, _OLD_LESS_TRUST = 3, 0.05
_DOUBTED_FACTOR = 0.5
_ORDER = (SourceAuthority.LOW, SourceAuthority.MEDIUM, SourceAuthority.HIGH)
_OFFICIAL = re.compile(
    r"(^|\.)(gov|edu|mil|int)(\.[a-z]{2})?$|(^|\.)(ac|gouv|gob|govt|gc)\.[a-z]{2}$|(^|\.)europa\.eu$"
)
_SCHOLARLY = re.compile(r"(^|\.)(nature|science|pubmed|nejm|thelancet)\.|(^|[.-])(journals?|proceedings)([.-]|$)")
_PERSONAL = re.compile(
    r"(^|[.-])(blog|blogs|forum|forums|community|notes|diary|wordpress|blogspot|tumblr|medium|substack|reddit|quora|"
    r"stackexchange|stackoverflow|superuser|serverfault|askubuntu|mathoverflow|ycombinator|boards?|talk)([.-]|$)|^\w*(blog|forum)\w*\."
)


@dataclass(frozen=True)
class Assessment:
    confidence: float
    factors: ConfidenceFactors


def authority_of(url: str, work: Work | None = None, standing: Standing | None = None) -> SourceAuthority:
    """Return a page's authority by its address, and by the record of the work that it holds.

    `high` for governments, universities, journals and what was peer-reviewed, `low` for blogs, forums and what was
    retracted, else `medium`, as preprints are.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if standing == "retracted":
        return SourceAuthority.LOW
    # Elsewhere a page could call itself peer-reviewed.
    if work and work.is_peer_reviewed is not None and carries_works(host):
        return SourceAuthority.HIGH if work.is_peer_reviewed else SourceAuthority.MEDIUM
    if is_repository(host):
        return SourceAuthority.MEDIUM
    if _PERSONAL.search(host) or re.search(
        r"/(blog|forum|forums|thread|community|comments)(/|$)", parts.path.lower()
    ):
        return SourceAuthority.LOW
    if _OFFICIAL.search(host) or _SCHOLARLY.search(host):
        return SourceAuthority.HIGH
    return SourceAuthority.MEDIUM


def source_confidence(source: Source, corroborated: bool, today: date) -> float:
    """Return the confidence in one source, 0–1: by its authority, standing and age, and by other sources cited."""
    if source.standing == "retracted":
        return _TRUST_OF_RETRACTED
    score = _TRUST[source.authority]
    score += _TRUST_BY_COMPANY if corroborated else 0.0
    if source.dated and (today - source.dated).days > _OLD_YEARS * 365.25:
        score -= _OLD_LESS_TRUST
    is_doubted = source.standing == "superseded" or any(notice.kind == "concern" for notice in source.notices)
    return round(score * (_DOUBTED_FACTOR if is_doubted else 1.0), 2)


def assess(
    ledger: Ledger,
    cited: list[Excerpt],
    *,
    budget_exhausted: bool,
    today: date,
    calibration: Calibration | None = None,
    parameters: Parameters = DEFAULT,
    estimated: float | None = None,
) -> Assessment:
    """Return the factors of an answer that cites these excerpts, and its confidence, calibrated where it can be.

    `estimated` is a model's own probability that the answer is right, 0–1; None where none was asked.
    """
    locators = list(dict.fromkeys(excerpt.locator for excerpt in cited))
    # An aspect without a cited excerpt counts 0.
    fit = [
        max((excerpt.relevance for excerpt in cited if excerpt.aspect == aspect.number), default=0.0)
        for aspect in ledger.aspects
    ]
    # The median authority of the cited sources, the higher one of two in the middle.
    ranked = sorted(_ORDER.index(ledger.source(locator).authority) for locator in locators)
    authority = _ORDER[ranked[len(ranked) // 2]] if ranked else SourceAuthority.LOW
    factors = ConfidenceFactors(
        num_corroborating_sources=len(ledger.organisations(cited)),
        source_authority=authority,
        contradiction_detected=bool(ledger.conflicts),
        query_specificity_match=round(sum(fit) / len(fit), 2) if fit else 0.0,
        budget_exhausted=budget_exhausted,
        recency=ledger.recency(locators, today),
    )
    score = score_of(
        factors,
        share_answered(ledger, cited),
        unresolved=has_open_conflict(ledger),
        parameters=parameters,
    )
    if (calibration is None and estimated is None) or not cited:
        return Assessment(score, factors)
    described = calibration.described if calibration else None
    told = {"uncalibrated": score, "calibration": described, "estimated": estimated}
    confidence = calibrated(score, factors, calibration, estimated) if calibration else lowered_by(estimated, score)
    return Assessment(confidence, factors.model_copy(update=told))


def share_answered(ledger: Ledger, cited: list[Excerpt]) -> float:
    """Return the share of aspects that have a cited excerpt, 0–1."""
    return len({excerpt.aspect for excerpt in cited}) / max(1, len(ledger.aspects))


def has_open_conflict(ledger: Ledger) -> bool:
    """Return whether sources disagree and nothing settled it."""
    return any(not conflict.resolved for conflict in ledger.conflicts)


def calibrated(
    score: float, factors: ConfidenceFactors, calibration: Calibration, estimated: float | None = None
) -> float:
    """Return the calibrated confidence of a rubric's score, 0–1, within the upper bound of these factors.

    A model's estimate counts as the calibration was fitted to it. One that was fitted without estimates is lowered.
    """
    if estimated is not None and calibration.with_estimate:
        return min(calibration.with_estimate.apply(score, estimated), _most(factors))
    return min(lowered_by(estimated, calibration.apply(score)), _most(factors))


def lowered_by(estimated: float | None, confidence: float) -> float:
    """Return the confidence, 0–1, as a model's estimate lowers it. A higher estimate changes nothing."""
    if estimated is None or estimated >= confidence:
        return confidence
    # The middle of the log-odds is what two forecasters of equal skill make together. A guess for any one model.
    middle = (log_odds(confidence) + log_odds(estimated)) / 2
    return min(confidence, round(1 / (1 + math.exp(-middle)), 2))


def _most(factors: ConfidenceFactors) -> float:
    if factors.budget_exhausted:
        return _MOST_WHEN_EXHAUSTED
    return _MOST_WITH_CONFLICT if factors.contradiction_detected else _MOST


def score_of(
    factors: ConfidenceFactors, share_answered: float, *, unresolved: bool, parameters: Parameters = DEFAULT
) -> float:
    """Return the rubric's score, 0–1 with two decimals.

    `share_answered` is the share of aspects with a cited excerpt; `unresolved` is true where a conflict is open.
    """
    rubric, sources = parameters.confidence, factors.num_corroborating_sources
    score = rubric.base(sources)
    if sources:
        score += rubric.authority.of(factors.source_authority)
        score -= rubric.dated if factors.recency is Recency.DATED else 0.0
        score -= rubric.unresolved if unresolved else rubric.resolved if factors.contradiction_detected else 0.0
    score -= rubric.exhausted if factors.budget_exhausted else 0.0
    score = min(score, _most(factors))
    if sources:
        score *= _chance_of_fit(factors.query_specificity_match, rubric)
    # Lowered to the number between the floor and 1 at this share of the way.
    score *= rubric.answered_floor + (1 - rubric.answered_floor) * share_answered
    # max() returns its first argument for -0.0, so that no result says "-0.0".
    return round(max(0.0, score), 2)


def _chance_of_fit(fit: float, rubric: Confidence) -> float:
    """Return the factor on the score, 0–1, for evidence that fits the question so well, 0–1."""
    return 1 / (1 + math.exp(-rubric.fit_slope * (log_odds(fit) - log_odds(rubric.fit_half))))
