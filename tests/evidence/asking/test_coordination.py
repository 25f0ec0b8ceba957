"""Clauses that ask for two things, as two clauses."""

from __future__ import annotations

import pytest

from marchwarden.evidence.asking.coordination import asked_apart
from marchwarden.evidence.question import MOST_ASPECTS, split_question


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What are the symptoms and treatment of sleep apnoea?",
            ["What are the symptoms of sleep apnoea", "What are the treatment of sleep apnoea"],
        ),
        ("sleep apnoea symptoms and treatment", ["sleep apnoea symptoms", "sleep apnoea treatment"]),
        (
            "How many branches and vehicles does the firm have worldwide?",
            ["How many branches does the firm have worldwide", "How many vehicles does the firm have worldwide"],
        ),
        (
            "What oven heat and baking time does focaccia need?",
            ["What oven heat does focaccia need", "What baking time does focaccia need"],
        ),
    ],
)
def test_two_things_are_asked_apart(question: str, parts: list[str]) -> None:
    assert split_question(question) == parts


@pytest.mark.parametrize(
    "clause",
    [
        "author of romeo and juliet",
        "best fish and chips",
        "vaccine maker johnson and Johnson",
        "What do salt and vinegar do",
        "How do the weekly and monthly jobs in the plan differ",
        "How long do truffles last in the fridge and in the freezer",
        "What share of waste and of water goes to buildings",
        "How do ads on phones and on desktops compare",
        "When did the First and the Second World War begin",
        "What is the black and white thing on the beach",
    ],
)
def test_what_belongs_together_stays(clause: str) -> None:
    assert asked_apart(clause) == [clause]


def test_a_question_of_many_parts_is_not_made_of_more() -> None:
    asked = [f"What are the size and colour of the {name}?" for name in ("Avon", "Bure", "Cam", "Dart")]
    assert len(split_question(" ".join(asked))) <= MOST_ASPECTS
