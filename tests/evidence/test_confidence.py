"""The rubric: what raises the score and what lowers it."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import ConfidenceFactors, Recency, SourceAuthority, confidence_band
from marchwarden.evidence.confidence import assess, authority_of, calibrated, lowered_by, score_of
from marchwarden.ledger import Ledger
from marchwarden.observations import Work
from marchwarden.programs import Calibration, EstimateCurve
from marchwarden.programs.parameters import DEFAULT


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://extension.usu.edu/gardening", SourceAuthority.HIGH),
        ("https://www.nps.gov/", SourceAuthority.HIGH),
        ("https://history.northsea-university.ac.uk/x", SourceAuthority.HIGH),
        ("https://health.brackenshire.gov.uk/", SourceAuthority.HIGH),
        ("https://journals.northgate-clinical.org/a", SourceAuthority.HIGH),
        ("https://ec.europa.eu/", SourceAuthority.HIGH),
        ("https://www.nature.com/articles/x", SourceAuthority.HIGH),
        ("https://nature-lovers-shop.com/", SourceAuthority.MEDIUM),
        ("https://www.lakeshore-tribune.com/science", SourceAuthority.MEDIUM),
        ("https://gedenkort-mauerweg.de/", SourceAuthority.MEDIUM),
        ("https://sunwise-vitality-blog.com/posts/1", SourceAuthority.LOW),
        ("https://forum.beehive-growers.net/viewtopic.php?t=1", SourceAuthority.LOW),
        ("https://highdesert-gardener-notes.com/2022/", SourceAuthority.LOW),
        ("https://www.shop.com/blog/1", SourceAuthority.LOW),
        ("https://blog.harvard.edu/x", SourceAuthority.LOW),
        ("https://arxiv.org/abs/2301.01234v2", SourceAuthority.MEDIUM),
        ("https://www.medrxiv.org/content/10.1101/2020.01.01.20000001v1", SourceAuthority.MEDIUM),
    ],
)
def test_authority_follows_the_address(url: str, authority: SourceAuthority) -> None:
    assert authority_of(url) is authority


def test_authority_of_a_paper_follows_its_review_where_the_host_carries_works() -> None:
    reviewed, preprint = Work(is_peer_reviewed=True), Work(is_peer_reviewed=False)
    assert authority_of("https://doi.org/10.1000/a", reviewed) is SourceAuthority.HIGH
    assert authority_of("https://arxiv.org/abs/2202.12139v1", reviewed) is SourceAuthority.HIGH
    assert authority_of("https://europepmc.org/article/PPR/PPR1", preprint) is SourceAuthority.MEDIUM
    assert authority_of("https://www.garden-shop.com/", reviewed) is SourceAuthority.MEDIUM
    assert authority_of("https://doi.org/10.1000/a", reviewed, "retracted") is SourceAuthority.LOW


def test_no_confidence_at_all_is_not_negative() -> None:
    ledger = Ledger(question="What grows in Utah?")
    ledger.set_aspects([ledger.question])
    confidence = assess(ledger, [], budget_exhausted=True, today=date(2026, 1, 1)).confidence
    assert str(confidence) == "0.0"


def test_no_confidence_is_high_where_sources_contradict_each_other() -> None:
    factors = ConfidenceFactors(
        num_corroborating_sources=5, source_authority=SourceAuthority.HIGH, contradiction_detected=True,
        query_specificity_match=1.0, budget_exhausted=False, recency=Recency.CURRENT,
    )  # fmt: skip
    trusting = DEFAULT.model_copy(update={"confidence": DEFAULT.confidence.model_copy(update={"more_sources": 0.95})})
    assert confidence_band(score_of(factors, 1.0, unresolved=False, parameters=trusting)) == "moderate"
    agreeing = factors.model_copy(update={"contradiction_detected": False})
    assert confidence_band(score_of(agreeing, 1.0, unresolved=False, parameters=trusting)) == "high"
    # The shipped rubric lifts it little for more sources, which may contradict each other unnoticed.
    assert confidence_band(score_of(agreeing, 1.0, unresolved=False)) == "moderate"


def of_fit(fit: float, sources: int = 1) -> float:
    factors = ConfidenceFactors(
        num_corroborating_sources=sources, source_authority=SourceAuthority.MEDIUM, contradiction_detected=False,
        query_specificity_match=fit, budget_exhausted=False,
    )  # fmt: skip
    return score_of(factors, 1.0, unresolved=False)


def test_the_worse_the_evidence_fits_the_lower_the_confidence_and_a_single_source_has_no_high_one() -> None:
    assert [of_fit(fit) for fit in (0.0, 0.1, 0.25, 0.5, 0.7, 1.0)] == [0.09, 0.34, 0.49, 0.59, 0.63, 0.69]


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 6))
def test_better_evidence_and_more_sources_never_lower_a_confidence(one: float, other: float, sources: int) -> None:
    assert (
        of_fit(min(one, other), sources) <= of_fit(max(one, other), sources) <= of_fit(max(one, other), sources + 1)
    )


# Calibrated


def a_calibration(slope: float, intercept: float) -> Calibration:
    return Calibration(
        format=1, model_id="extractive", slope=slope, intercept=intercept, questions=70,
        fitted_on="shipped dev", labels="abc", date="2026-11-28",
    )  # fmt: skip


@given(
    st.floats(0, 1),
    st.floats(0, 9),
    st.floats(-9, 9),
    st.builds(
        ConfidenceFactors,
        num_corroborating_sources=st.integers(1, 9),
        source_authority=st.sampled_from(SourceAuthority),
        contradiction_detected=st.booleans(),
        query_specificity_match=st.floats(0, 1),
        budget_exhausted=st.booleans(),
    ),
)
def test_a_calibrated_confidence_keeps_the_rubrics_bounds(
    score: float, slope: float, intercept: float, factors: ConfidenceFactors
) -> None:
    found = calibrated(score, factors, a_calibration(slope, intercept))
    assert 0 <= found <= 0.97
    if factors.budget_exhausted:
        assert found <= 0.69
    if factors.contradiction_detected:
        assert confidence_band(found) != "high"


# With a model's own estimate


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_estimate_can_only_lower_a_confidence(confidence: float, estimated: float) -> None:
    found = lowered_by(estimated, confidence)
    assert found <= confidence
    assert found >= min(confidence, estimated) - 0.01


def test_a_low_estimate_lowers_to_the_middle_of_the_log_odds() -> None:
    assert lowered_by(0.2, 0.8) == 0.5
    assert lowered_by(None, 0.8) == lowered_by(0.8, 0.8) == lowered_by(1.0, 0.8) == 0.8


@given(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.booleans())
def test_a_calibration_that_was_fitted_without_estimates_is_never_raised_by_one(
    score: float, estimated: float, contradicted: bool, exhausted: bool
) -> None:
    factors = ConfidenceFactors(
        num_corroborating_sources=3, source_authority=SourceAuthority.HIGH, contradiction_detected=contradicted,
        query_specificity_match=1.0, budget_exhausted=exhausted,
    )  # fmt: skip
    calibration = a_calibration(1.0, 0.3)
    assert calibrated(score, factors, calibration, estimated) <= calibrated(score, factors, calibration)


def test_a_calibration_that_was_fitted_with_estimates_uses_them_within_the_bounds() -> None:
    curve = EstimateCurve(slope=1.0, of_estimate=1.0, intercept=0.0, questions=70)
    calibration = a_calibration(1.0, 0.0).model_copy(update={"with_estimate": curve})
    factors = ConfidenceFactors(
        num_corroborating_sources=3, source_authority=SourceAuthority.HIGH, contradiction_detected=False,
        query_specificity_match=1.0, budget_exhausted=False,
    )  # fmt: skip
    assert calibrated(0.6, factors, calibration, 0.8) == 0.86
    assert calibrated(0.6, factors, calibration, 0.2) == 0.27
    assert calibrated(0.6, factors, calibration) == 0.6
    exhausted = factors.model_copy(update={"budget_exhausted": True})
    assert calibrated(0.99, exhausted, calibration, 0.99) == 0.69


def test_where_nothing_is_cited_there_is_nothing_to_calibrate() -> None:
    ledger = Ledger(question="What grows in Utah?")
    ledger.set_aspects([ledger.question])
    found = assess(ledger, [], budget_exhausted=False, today=date(2026, 1, 1), calibration=a_calibration(0, 9))
    assert found == assess(ledger, [], budget_exhausted=False, today=date(2026, 1, 1))
    assert (found.factors.uncalibrated, found.factors.calibration) == (None, None)
