"""A question taken apart by rule: its aspects, its names, a query of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.question import QUERY_LIMIT, as_query, names_in, split_question


@pytest.mark.parametrize(
    ("question", "aspects"),
    [
        ("What are ideal crops for a garden in Utah?", ["What are ideal crops for a garden in Utah"]),
        ("When was Oslo founded, and who founded it?", ["When was Oslo founded", "who founded it (Oslo)"]),
        ("What is the capital of France and how many people live there?", ["What is the capital of France", "how many people live there (France)"]),
        ("When did the AI Act enter into force, when did its bans apply, and how high are the fines?", ["When did the AI Act enter into force", "when did its bans apply (AI Act)", "how high are the fines (AI Act)"]),
        ("When did the first AI winter begin, and why?", ["When did the first AI winter begin, why"]),
        ("Compare arabica and robusta", ["Compare arabica and robusta"]),
        ("Is bread and butter healthy?", ["Is bread and butter healthy"]),
        ("Is there a paper on the bridge, and what does it report?", ["Is there a paper on the bridge, what does it report"]),
        ("Which vaccines use mRNA, and who invented them?", ["Which vaccines use mRNA", "who invented them (mRNA)"]),
        ("Under the GDPR, how long may an answer take, does the law bind firms abroad, and has a court ruled on it?", ["Under the GDPR, how long may an answer take", "does the law bind firms abroad (GDPR)", "has a court ruled on it (GDPR)"]),
        ("A talk on La Paz, Bolivia: who founded it, and in what year did the cable cars open?", ["who founded it (La Paz Bolivia)", "in what year did the cable cars open (La Paz Bolivia)"]),
        ("Who patented decaffeination, in which year did rust reach Ceylon?", ["Who patented decaffeination", "in which year did rust reach Ceylon"]),
        ("In what year was the editor published, and who paid?", ["In what year was the editor published", "who paid"]),
        ("What is the law, which was passed in 2016, about?", ["What is the law, which was passed in 2016, about"]),
        ("???", ["???"]),
    ],
)  # fmt: skip
def test_a_question_is_split_where_it_asks_something_of_its_own(question: str, aspects: list[str]) -> None:
    assert split_question(question) == aspects


@given(st.text(min_size=1, max_size=500).filter(str.strip))
def test_every_question_has_between_one_and_six_aspects(question: str) -> None:
    assert 1 <= len(split_question(question)) <= 6


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is the capital of France?", ["France"]),
        ("Did the FDA approve Casgevy in 2023?", ["FDA", "Casgevy", "2023"]),
        ("Who am I and what is Ruth Chepngetich's record?", ["Ruth", "Chepngetich's"]),
    ],
)
def test_names_are_capitalised_words_and_numbers(question: str, names: list[str]) -> None:
    assert names_in(question) == names


@given(st.text(max_size=900))
def test_a_query_has_at_most_400_characters_and_ends_between_words(text: str) -> None:
    query = as_query(text)
    assert len(query) <= QUERY_LIMIT
    words = " ".join(text.split())
    assert words.startswith(query)
    assert len(words) <= 400 or " " not in words[:401] or words[len(query)] == " "
