"""Words are related as WordNet says."""

from __future__ import annotations

import pytest

from marchwarden.judge.thesaurus import load_thesaurus
from marchwarden.text.ranking import terms


@pytest.mark.parametrize(
    ("word", "other", "relation"),
    [
        ("bought", "purchased", "same"),
        ("death", "died", "same"),
        ("physician", "doctor", "same"),
        ("fell", "rose", "opposite"),
        ("rejected", "accepted", "opposite"),
        ("goat", "sheep", "sibling"),
        ("bridge", "bridge", "same"),
        ("bridge", "quietly", "none"),
        ("bridge", "xqzv", "none"),
    ],
)
def test_words_are_related(word: str, other: str, relation: str) -> None:
    (one,), (another,) = terms(word), terms(other)
    assert load_thesaurus().relate(one, another) == relation


def test_an_opposite_counts_before_words_of_one_kind() -> None:
    assert load_thesaurus().closest("fell", ["goat", "rose"]) == "opposite"
