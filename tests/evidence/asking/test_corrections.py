"""Follow-ups that correct, compare, or choose from what was listed before."""

from __future__ import annotations

import pytest

from marchwarden.evidence.asking.corrections import as_follow_up
from marchwarden.evidence.question import standalone
from marchwarden.text.turns import Turn, as_context


def searched(before: str, answer: str, question: str) -> str:
    return standalone(question, as_context([Turn(before, answer)], 2000))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("No, I meant the film.", "And the film?"),
        ("Sorry, I meant Graz", "And Graz?"),
        ("I mean the novel, not the film.", "And the novel?"),
        ("no, Lyon.", "And Lyon?"),
        ("Actually, make that 2019.", "And 2019?"),
        ("No, how long is the film?", "How long is the film?"),
        ("Nein, ich meinte den Film.", "Und den Film?"),
        ("Non, je voulais dire Lyon.", "Et Lyon?"),
        ("Perdón, quise decir Lima", "Y Lima?"),
    ],
)
def test_a_correction_asks_what_was_asked_before_of_what_was_meant(said: str, meant: str) -> None:
    assert as_follow_up(said) == meant


@pytest.mark.parametrize(
    "question",
    [
        "Who was Rather?",
        "Norway's capital?",
        "Does no mean no?",
        "Nobody believes that, and I would like to know who says so and why they do.",
        "What do bees mean by their dance?",
    ],
)
def test_what_corrects_nothing_stays(question: str) -> None:
    assert as_follow_up(question) == question


def test_what_was_not_meant_is_not_searched_for() -> None:
    found = searched(
        "How long is Solaris?", "The film Solaris is 167 minutes long.", "I mean the novel, not the film."
    )
    assert "Solaris" in found
    assert "novel" in found
    assert "film" not in found


@pytest.mark.parametrize(
    ("question", "meant", "others"),
    [
        ("What does the second one cost?", "River Path", "Old Mill"),
        ("How long is the last one?", "Ridge Way", "River"),
        ("And the first?", "Old Mill Walk", "Ridge"),
    ],
)
def test_one_of_a_list_is_the_one_that_its_place_tells(question: str, meant: str, others: str) -> None:
    answer = "Ober has three trails: the Old Mill Walk, the River Path and the Ridge Way. Ober lies in the hills."
    found = searched("Which trails does Ober have?", answer, question)
    assert meant in found
    assert others not in found


def test_there_is_where_the_answer_says_that_it_was() -> None:
    answer = "Ada Brandt is a glass maker. She was born in Lund and learnt her trade in Murano."
    assert "Murano" in searched("Where did Ada Brandt learn her trade?", answer, "How many people live there?")


def test_who_is_told_behind_a_pronoun_is_found() -> None:
    answer = "The Ober Observatory opened in 1951. It was founded by Ada Brandt, a glass maker."
    assert "Ada Brandt" in searched("Who founded the Ober Observatory?", answer, "When did she die?")


@pytest.mark.parametrize(
    ("before", "question", "word"),
    [
        ("How heavy is the Ober 3?", "Is the Ober 5 lighter?", "heavy"),
        ("When does Lundian rye bloom?", "Does winter barley bloom earlier?", "Lundian"),
        ("What is Casgevy?", "Side effects?", "Casgevy"),
        ("What is Casgevy?", "Price?", "Casgevy"),
        ("When did the Alder dam break?", "How many people died?", "Alder"),
    ],
)
def test_what_is_compared_or_only_named_goes_on_with_the_question_before(
    before: str, question: str, word: str
) -> None:
    assert word in searched(before, "It is told elsewhere.", question)


@pytest.mark.parametrize(
    "question",
    [
        "Is the Danube a river?",
        "Does Lund have a tower?",
        "How do vaccines work?",
        "Is Rigel a binary star or a giant?",
    ],
)
def test_a_question_that_compares_with_nothing_said_before_stays(question: str) -> None:
    assert searched("How heavy is the Ober 3?", "The Ober 3 weighs 4 tonnes.", question) == question.rstrip("?")
