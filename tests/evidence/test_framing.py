"""What a text asks is told from what stands around it: setting, greetings, instructions on the form of the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.framing import asked_text, unframe

PLAIN = "How many slices of bread are thrown away in British homes every day?"


@pytest.mark.parametrize(
    "framed",
    [
        f"{PLAIN} Please answer briefly.",
        f"{PLAIN} Give only the answer and cite the source. Do not guess if you are unsure.",
        f"{PLAIN} I need this by Monday. Thanks!",
        f"{PLAIN} In two sentences, please, as a table if possible.",
        f"{PLAIN} No more than 100 words. Keep it short, no fluff.",
        f"{PLAIN} Could you answer in three bullet points?",
        f"{PLAIN} Bitte kurz antworten.",
        f"Hi! {PLAIN}",
        f"Hello, please answer briefly: {PLAIN}",
        f"In one sentence, {PLAIN[0].lower()}{PLAIN[1:]}",
        f"{PLAIN[:-1]}, in two sentences?",
        f"{PLAIN[:-1]} with sources, please?",
        f"I am preparing a lesson for my class and need one solid fact with its source. {PLAIN}",
        f"We are writing a quiz for the pub, so {PLAIN[0].lower()}{PLAIN[1:]}",
        f"{PLAIN[:-1]}, because my flatmates want to know it?",
    ],
)
def test_a_frame_changes_nothing_of_what_is_asked(framed: str) -> None:
    (ask,) = unframe(framed).asks
    assert ask.rstrip("?").casefold() == PLAIN.rstrip("?").casefold()


def test_frames_are_recognised_without_capitals_too() -> None:
    framed = f"i am preparing a lesson for my class. {PLAIN} give only the answer. do not guess.".lower()
    assert unframe(framed).asks == (PLAIN.lower(),)


@pytest.mark.parametrize(
    ("framed", "asked"),
    [
        ("Ich schreibe ein Quiz. Wie hoch ist die Zugspitze? Bitte in einem Satz.", "Wie hoch ist die Zugspitze?"),
        ("Je prépare un cours. Qui a fondé Oslo ? Réponds brièvement.", "Qui a fondé Oslo ?"),
        ("Escribo un informe. ¿Quién fundó Oslo? Responde en una frase.", "¿Quién fundó Oslo?"),
        ("Я готовлю урок. Кто основал Осло? Ответь кратко.", "Кто основал Осло?"),
        (
            "私は発表を準備しています。タルニクの人口は何人ですか。簡潔に答えてください。",
            "タルニクの人口は何人ですか。",
        ),
        ("我在准备报告。塔尔尼克有多少人居住？请简短回答。", "塔尔尼克有多少人居住？"),
    ],
)
def test_frames_are_recognised_in_other_languages(framed: str, asked: str) -> None:
    assert unframe(framed).asks == (asked,)


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Can you tell me how long the Berlin Wall was?", "how long the Berlin Wall was?"),
        ("I would like to know whether Pluto is a planet.", "Pluto is a planet."),
        ("Please find the population of Oslo and cite your source.", "the population of Oslo."),
        ("I was wondering why whales sing.", "why whales sing."),
        ("Give me the number of islands in Estonia. Only the number.", "the number of islands in Estonia."),
        ("Explain photosynthesis in simple terms.", "Explain photosynthesis."),
        ("Compare arabica and robusta. As a table, please. Thanks!", "Compare arabica and robusta."),
    ],
)
def test_what_is_told_rather_than_asked_is_a_question_too(told: str, asked: str) -> None:
    assert unframe(told).asks == (asked,)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("1) When was Oslo founded? 2) Who founded it?", ("When was Oslo founded?", "Who founded it?")),
        ("a) when was Oslo founded b) who founded it", ("when was Oslo founded", "who founded it")),
        ("First: when was Oslo founded? Then: who founded it?", ("when was Oslo founded?", "who founded it?")),
        ("When was Oslo founded?\nWho founded it?", ("When was Oslo founded?", "Who founded it?")),
        ("In 1) what year was Oslo founded?", ("In 1) what year was Oslo founded?",)),
    ],
)
def test_counted_questions_are_taken_apart(text: str, asks: tuple[str, ...]) -> None:
    assert unframe(text).asks == asks


@pytest.mark.parametrize(
    "text",
    [
        "tea",
        "python gil removal",
        "git comit skip pre-commit hook which option",
        "Bose QuietComfort vs QuietComfort Ultra (2nd Gen): battery life",
        "Is Dr. Smith right that St. Helens erupted in 1980?",
        "Do millers in the UK add folic acid? If so, from when?",
        "List the sources of the Nile.",
        "When was the first table of the elements made?",
        "Can you answer to a charge in Scotland without a lawyer?",
        "???",
    ],
)
def test_a_question_without_a_frame_stays_whole(text: str) -> None:
    assert asked_text(text) == text


@given(st.text(min_size=1, max_size=300).filter(str.strip))
def test_every_text_asks_something(text: str) -> None:
    assert unframe(text).asks
