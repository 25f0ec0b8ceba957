"""A misspelt word finds the word of the collection that was meant; short words and what is known stay alone."""

from __future__ import annotations

import pytest

from marchwarden.text.spelling import closest_word, edit_distance, meant_words

TEXTS = ["Photosynthesis turns light into sugar.", "The weight of vegetables", "a healthy plate"]


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("weight", "wieght", 1), ("tea", "tea", 0), ("", "tea", 3), ("commit", "comit", 1), ("cat", "dogs", 4)],
)
def test_edits_are_counted_with_exchanged_neighbours_as_one(one: str, other: str, edits: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == edits


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("photosinthesis", "photosynthesis"),
        ("wieght", "weight"),
        ("vegtables", "vegetables"),
        ("helthy", "healthy"),
        ("plat", None),
        ("weigh7", None),
        ("mountain", None),
    ],
)
def test_the_closest_word_is_within_one_or_two_edits(word: str, meant: str | None) -> None:
    assert closest_word(word, TEXTS) == meant


def test_of_equally_near_words_the_more_frequent_is_meant() -> None:
    assert closest_word("marlin", ["merlin marlins", "merlin"]) == "merlin"


def test_of_equally_near_words_the_one_in_the_company_of_the_others_is_meant() -> None:
    texts = ["changing tides, changing times", "an actor called Channing Tatum"]
    assert meant_words(["chaning", "tatum"], {"tatum"}.__contains__, lambda word, edits: texts) == {
        "chaning": "channing"
    }
    assert closest_word("chaning", texts) == "changing"


def test_a_word_that_the_collection_has_is_not_replaced() -> None:
    known = {"weights"}
    assert meant_words(["weights", "helthy"], known.__contains__, lambda word, edits: TEXTS) == {"helthy": "healthy"}
