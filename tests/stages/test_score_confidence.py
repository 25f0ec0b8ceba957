"""A model's estimate that an answer is right: what counts as one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from marchwarden.contract import ConfidenceFactors, SourceAuthority
from marchwarden.evidence.confidence import Assessment
from marchwarden.stages.score_confidence import (
    WORDS,
    ConfidenceGiven,
    Estimate,
    UpTo10Shares,
    model_free,
    read,
    show,
)
from tests.stages.test_verify_claims import BUILT, QUOTES
from tests.stages.test_verify_claims import given as claims_given


def given(*claims: str) -> ConfidenceGiven:
    of = claims_given(*claims)
    factors = ConfidenceFactors(
        num_corroborating_sources=1, source_authority=SourceAuthority.HIGH, contradiction_detected=False,
        query_specificity_match=0.9, budget_exhausted=False,
    )  # fmt: skip
    return ConfidenceGiven(of.ledger, of.claims, Assessment(0.7, factors))


def predicted(shares: list[Any], whole: float, named: str = "newer_source") -> Any:
    return SimpleNamespace(claim_probabilities=UpTo10Shares(shares), probability=whole, would_change=named)


def test_an_answer_is_no_likelier_to_be_right_than_its_least_likely_claim() -> None:
    estimate = read(given(BUILT, BUILT), predicted([0.9, 0.4], 0.8))
    assert (estimate.probability, estimate.would_change) == (0.4, "newer_source")
    assert read(given(BUILT), predicted([], 0.8)).probability == 0.8


def test_numbers_for_claims_that_were_not_shown_count_nothing() -> None:
    assert read(given(BUILT), predicted([0.9, 0.1, 0.1], 0.9)).probability == 0.9


@pytest.mark.parametrize(
    ("shares", "whole"), [([], 1.2), ([], -0.1), ([85], 0.8), ([], float("nan")), ([], float("inf"))]
)
def test_a_number_that_is_no_probability_is_refused(shares: list[float], whole: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        read(given(BUILT), predicted(shares, whole))


def test_only_our_own_words_say_what_would_change_it() -> None:
    assert read(given(BUILT), predicted([], 0.5, "its owner bribed the inspectors")).would_change is None
    assert all(words[0].islower() for words in WORDS.values())


def test_without_a_model_it_is_the_confidence_of_the_rules() -> None:
    assert model_free(given(BUILT)) == Estimate((), 0.7)


def test_a_model_is_shown_the_claims_with_quotes_and_the_facts_about_sources() -> None:
    shown = show(given(BUILT))
    assert f"> (Halden Bridge) {QUOTES[0]}" in shown["claims"]
    assert "independent sources: 1; authority: high; age: unknown" in shown["factors"]
