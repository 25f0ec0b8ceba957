"""Words that ask and join, in their usual spelling."""

from __future__ import annotations

import pytest

from marchwarden.evidence.asking.respelling import with_small_words_spelt
from marchwarden.evidence.question import split_question


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("wich fashion designer turned her down", "which fashion designer turned her down"),
        ("Wich is older, and whats it about?", "Which is older, and what is it about?"),
        ("shoud i wait befor buying, becuase of the price?", "should i wait before buying, because of the price?"),
        ("difference betwen tea and coffee witout sugar", "difference between tea and coffee without sugar"),
    ],
)
def test_a_misspelt_small_word_is_read_as_it_is_meant(written: str, meant: str) -> None:
    assert with_small_words_spelt(written) == meant


@pytest.mark.parametrize(
    "text",
    [
        "Which witch has a wish, and whose?",  # words of their own
        "Who played Wich in the film?",  # a name
        "boeing 747 range",
        "frome river length",
        "what is the file wich.py for, and /etc/wich/conf?",
        "what does https://wich.example/thier say, and who is at@wich.example?",
        "did thom or fram write about chozo and mplayer?",
        "doesn't haven hold?",
        "Welche Stadt hat die meisten Einwohner, und wann wurde sie gegründet?",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert with_small_words_spelt(text) == text


def test_a_question_is_split_as_if_it_were_spelt_well() -> None:
    as_meant = ["when was Oslo founded", "who is its first mayor (Oslo)"]
    assert split_question("when was Oslo founded and whos its first mayor") == as_meant
