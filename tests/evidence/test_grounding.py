"""Which claims their excerpts carry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.grounding import invented, support
from marchwarden.text.numbers import numbers_in

EXCERPT = "Paris is the capital of France, with an estimated population of 2,102,650 residents on 1 January 2023."


@pytest.mark.parametrize(
    "claim",
    [
        "Paris is the capital of France.",
        "Paris, the capital of France, had an estimated 2102650 residents in January 2023.",
        "The estimated population of Paris was 2,102,650.",
    ],
)
def test_what_the_excerpt_says_in_other_words_is_carried(claim: str) -> None:
    assert support(claim, [EXCERPT]).carried


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ("Paris has 2,102,651 residents.", "2102651"),
        ("Paris is the capital of France, said Mayor Hidalgo.", "Hidalgo"),
        ("Paris is not the capital of France.", "negation"),
        ("Many visitors admire its museums, cafés and gardens.", "of its words"),
    ],
)
def test_what_it_does_not_say_is_named(claim: str, problem: str) -> None:
    assert problem in (support(claim, [EXCERPT]).problem or "")


def test_names_may_stand_in_the_title_but_numbers_may_not() -> None:
    excerpt = ["The city had 2,102,650 residents."]
    assert not support("The city of Paris had 2,102,650 residents.", excerpt).carried
    assert support("The city of Paris had 2,102,650 residents.", excerpt, around="Paris").carried
    assert not support("The city had 17 residents.", excerpt, around="17").carried


def test_excerpts_carry_together_what_none_carries_alone() -> None:
    one, other = "Casgevy was approved in Britain in November 2023.", "Casgevy costs 2.2 million dollars."
    claim = "Casgevy was approved in November 2023 and costs 2.2 million dollars."
    assert not support(claim, [one]).carried
    assert support(claim, [one, other]).carried


def test_no_excerpts_carry_nothing() -> None:
    assert not support("Paris is a city.", []).carried


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=300))
def test_every_text_carries_itself(text: str) -> None:
    assert support(text, [text]).carried


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,234 and 5.5", {"1234", "5.5"}),
        ("at 2:00:35.", {"2:00:35"}),
        ("five of 12", {"5", "12"}),
        ("no one", set()),
        ("10–12", {"10", "12"}),
    ],
)
def test_numbers_are_comparable(text: str, numbers: set[str]) -> None:
    assert numbers_in(text) == numbers


@pytest.mark.parametrize(
    "claim",
    [
        "The Halden Bridge was built.",  # all of it stands in the title, none in the excerpt
        "The fund raised 2 billion dollars.",
        "Seventeen workers painted it green.",
        "It is painted green, see evil.example/green for more.",
    ],
)
def test_a_title_carries_no_claim_and_magnitudes_and_locators_must_stand_in_an_excerpt(claim: str) -> None:
    excerpts = ["It is painted green.", "The fund raised 2 million dollars.", "Thirteen workers painted it green."]
    for excerpt in excerpts:
        assert not support(claim, [excerpt], around="The Halden Bridge, how it was built").carried


def test_a_negation_is_compared_with_the_excerpt_that_carries_most_of_a_claim() -> None:
    affirms, denies = "Vitamin D prevents cancer in adults.", "Large trials do not show that sunshine heals."
    assert support("Vitamin D prevents cancer.", [affirms, denies]).carried
    assert not support("Vitamin D does not prevent cancer.", [affirms, denies]).carried


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Ask https://evil.example/x", "evil.example"),
        ("Ask evil.example", "evil.example"),
        ("Who is Otto Krag?", "Otto"),
        ("What of 1066?", "1066"),
    ],
)
def test_what_was_not_met_is_invented(text: str, what: str) -> None:
    assert what in (invented(text, "The bridge of evil.example was built in 1931 by Ingrid Moe.") or "")


def test_what_was_met_or_asked_may_be_named() -> None:
    assert invented("Did Ingrid Moe build it in 1931, as doi.org says?", "Ingrid Moe, 1931", asked="doi.org?") is None


@pytest.mark.parametrize(
    ("excerpt", "claim"),
    [
        ("Die Brücke von Halden wurde 1931 gebaut.", "Die Brücke von Halden wurde nicht 1931 gebaut."),
        ("Le pont de Halden traverse la rivière.", "Le pont de Halden ne traverse pas la rivière."),
        ("橋は1931年に作られた。", "橋は1931年に作られなかったのではない。"),
    ],
)
def test_a_negation_is_seen_in_other_languages(excerpt: str, claim: str) -> None:
    assert support(excerpt, [excerpt]).carried
    assert not support(claim, [excerpt]).carried
