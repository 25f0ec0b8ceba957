"""The graded grounding score: its range, its ends, and what lowers it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evaluation.scoring.grounding_score import KEPT, grounding_score, token_overlap
from marchwarden.evidence.grounding import Support, support

PAGE = (
    "The tower of Harrow was finished in 1887.",
    "It is 84 metres high.",
    "Its bell was cast by Ida Brandt.",
    "Visitors climb 312 steps.",
)


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=6))
def test_a_score_lies_between_0_and_1_whatever_the_texts(claim: str, excerpts: list[str]) -> None:
    assert 0 <= grounding_score(claim, excerpts) <= 1
    assert 0 <= token_overlap(claim, excerpts) <= 1


@pytest.mark.parametrize("sentence", PAGE)
def test_what_a_page_says_word_by_word_scores_1(sentence: str) -> None:
    assert grounding_score(sentence, PAGE) == 1


@pytest.mark.parametrize("claim", ["Penguins swim.", ""])
def test_what_no_excerpt_says_a_word_of_scores_0(claim: str) -> None:
    assert grounding_score(claim, PAGE) == grounding_score(claim, []) == 0


@pytest.mark.parametrize(
    ("said", "worse"),
    [
        ("The tower of Harrow was finished in 1887.", "The tower of Harrow was finished in 1888."),
        ("Its bell was cast by Ida Brandt.", "Its bell was cast by Ida Keller."),
        ("Visitors climb 312 steps.", "Visitors never climb 312 steps."),
        ("Visitors climb 312 steps.", "Visitors climb 312 steps, see harrow-tower.org"),
        ("The tower of Harrow was finished.", "Harrow finished the tower."),
        ("The bell was cast by Ida Brandt.", "The bell was cast and painted by Ida Brandt."),
    ],
    ids=["number", "name", "negation", "locator", "order", "word"],
)
def test_what_a_claim_has_wrong_lowers_its_score(said: str, worse: str) -> None:
    assert grounding_score(worse, PAGE) < grounding_score(said, PAGE)


def test_each_thing_that_is_missing_leaves_the_same_share() -> None:
    held = Support(1.0, (), (), (), negation_differs=False)
    lacking = Support(1.0, ("5", "7"), ("Brandt",), ("harrow.org",), negation_differs=True)
    scores = [grounding_score("The tower of Harrow", PAGE, found=found) for found in (held, lacking)]
    assert scores[1] == pytest.approx(scores[0] * KEPT**5)


def test_words_that_are_scattered_over_a_page_say_less_than_those_that_stand_together() -> None:
    claim = "A bell, a tower and a garden"
    together = ["A tower.", "A bell.", "A garden.", *["Nothing else is here."] * 20]
    scattered = ["A tower.", *["Nothing else is here."] * 10, "A bell.", *["Nothing else is here."] * 10, "A garden."]
    assert grounding_score(claim, together) > grounding_score(claim, scattered)


def test_what_support_says_can_be_handed_over() -> None:
    claim = "The tower of Harrow was finished in 1888."
    assert grounding_score(claim, PAGE, found=support(claim, PAGE)) == grounding_score(claim, PAGE)
