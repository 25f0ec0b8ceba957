"""What two statements can't both be right about."""

from __future__ import annotations

import pytest

from marchwarden.evidence.contradictions.disagreements import DENIED, different_answers, disagreement
from marchwarden.evidence.statements import asked, statement


def differ(one: str, other: str, question: str = "") -> str | None:
    found = disagreement(statement(one), statement(other), asked(question))
    assert bool(found) is bool(disagreement(statement(other), statement(one), asked(question)))
    return found


def answer_differently(question: str, one: str, other: str) -> str | None:
    found = different_answers(statement(one), statement(other), asked(question))
    assert bool(found) is bool(different_answers(statement(other), statement(one), asked(question)))
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Halden Bridge is 410 metres long.", "The Halden Bridge is 352 metres long."),
        ("Adults should take 600 IU of vitamin D a day.", "Adults should take 1,500–2,000 IU of vitamin D a day."),
        (
            "The marathon world record is 2:00:35, set in Chicago.",
            "The marathon world record is 2:01:09, set in Berlin.",
        ),
        ("Ingenuity has made five flights on Mars.", "Ingenuity has made 72 flights on Mars."),
        ("Tomatoes ripen above 6,000 feet in Utah.", "Tomatoes do not ripen above 6,000 feet in Utah."),
        ("Coffee contains about 95 mg of caffeine a cup.", "Coffee contains 135 mg of caffeine a cup."),
        (
            "At least 140 people were killed at the Berlin Wall between 1961 and 1989.",
            "More than 200 people were killed at the Berlin Wall between 1961 and 1989.",
        ),
        (
            "29 of 30 patients (97 %) were free of severe crises for at least 12 months.",
            "29 of 31 patients, or 93.5 percent, were free of severe crises for at least 12 months.",
        ),
    ],
)
def test_the_same_thing_with_another_value_or_denied_is_a_disagreement(one: str, other: str) -> None:
    assert differ(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Halden Bridge is 410 metres long.", "The Halden Bridge is about 409 metres long."),
        ("The Halden Bridge is 410 metres long.", "The Halden Bridge is 12 metres wide."),
        ("The Halden Bridge was built in 1931.", "The Halden Bridge was repaired in 1967."),
        (
            "Adults should take 600 IU of vitamin D a day.",
            "Adults should not take more than 4,000 IU of vitamin D a day.",
        ),
        (
            "Adults may require at least 1,500 IU of vitamin D a day.",
            "Adults should not take more than 4,000 IU of vitamin D a day.",
        ),
        ("Coffee contains 90 to 100 mg of caffeine a cup.", "Coffee contains about 95 mg of caffeine a cup."),
        ("Peas grow in spring.", "The rover landed in a crater in 2021."),
        ("A marathon is 42.195 kilometres long.", "A half marathon is 21.0975 kilometres long."),
        (
            "The women’s marathon world record is 2:14:04, set in Chicago.",
            "The men’s marathon world record is 2:00:35, set in Chicago.",
        ),
        ("The 53rd game was seen by 20,000 people.", "The 47th game was seen by 17,000 people."),
        (
            "“It Won’t Be Long” is a song by the band Halden from their album.",
            "“Feelings” is a song by the band Halden from their album.",
        ),
    ],
)
def test_rounding_ranges_limits_and_other_things_are_none(one: str, other: str) -> None:
    assert not differ(one, other)


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (
            "How much caffeine does an 8-ounce cup of coffee have?",
            "An 8-ounce cup of brewed coffee contains 95 mg of caffeine.",
            "An 8-ounce cup of black tea contains 47 mg of caffeine.",
        ),
        (
            "How much caffeine does an 8-ounce cup of coffee have?",
            "An 8-ounce cup of coffee contains 95 mg of caffeine.",
            "A 12-ounce cup of coffee contains 150 mg of caffeine.",
        ),
        (
            "How many matches does the World Cup of 2026 have?",
            "The World Cup of 2026 has 104 matches.",
            "The World Cup of 2022 had 64 matches.",
        ),
    ],
)
def test_what_is_said_of_another_subject_case_or_year_than_is_asked_is_none(
    question: str, one: str, other: str
) -> None:
    assert not differ(one, other, question)


def test_stances_that_differ_are_a_disagreement_on_the_same_thing_only() -> None:
    wanted = asked("Do tomatoes ripen in Utah?")
    one, other, elsewhere = map(
        statement, ("Tomatoes ripen well in Utah.", "In Utah tomatoes ripen badly.", "Peas like cool springs.")
    )
    assert disagreement(one, other, wanted, stances_differ=True) == DENIED
    assert disagreement(one, elsewhere, wanted, stances_differ=True) is None


@pytest.mark.parametrize(
    ("question", "one", "other", "about"),
    [
        (
            "What was the death toll of the 1815 Tambora eruption?",
            "The eruption of Tambora caused about 71,000 deaths on Sumbawa and Lombok.",
            "Counting those who starved on other islands, Tambora cost about 92,000 lives.",
            "71,000 deaths against 92,000 lives",
        ),
        (
            "What is the surface area of Lake Geneva?",
            "Lake Geneva covers an area of 582 square kilometres.",
            "Le Léman a une superficie de 580 kilomètres carrés, dont la plus grande partie est en Suisse.",
            "582 square kilometres against 580 kilomètres carrés",
        ),
        (
            "In what year did the first AI winter start?",
            "The first AI winter began in 1974, when DARPA cut its funding.",
            "It was in 1973 that the first AI winter set in.",
            "1974 against 1973",
        ),
        (
            "From what date do the obligations apply to a high-risk system?",
            "The obligations for high-risk systems were moved from 2 August 2026 to 2 December 2027.",
            "The obligations for a high-risk system apply from 2 August 2026.",
            "2027 against 2026",
        ),
        (
            "What is the capital of Bolivia?",
            "Sucre is the capital of Bolivia, though the government sits elsewhere.",
            "La Paz, at 3,650 metres, is the capital of Bolivia.",
            "Sucre against La Paz",
        ),
        (
            "Who invented the telephone?",
            "Alexander Graham Bell invented the telephone in 1876.",
            "The telephone was invented by Antonio Meucci in Florence.",
            "Alexander Graham Bell against Antonio Meucci",
        ),
        (
            "Has any CRISPR-based medicine been approved yet?",
            "After ten years no CRISPR-based medicine has been approved anywhere.",
            "In 2023 Britain approved Casgevy, a medicine based on CRISPR.",
            DENIED,
        ),
    ],
)
def test_answers_in_any_words_differ_in_what_is_asked_for(question: str, one: str, other: str, about: str) -> None:
    assert answer_differently(question, one, other) == about


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (  # both years are told by one side
            "When was the Halden Bridge built?",
            "The Halden Bridge was built in 1931.",
            "The Halden Bridge, built from 1929 to 1931, crosses the Hald.",
        ),
        (  # the digits of an address are no year
            "When was the Halden Bridge built?",
            "The Halden Bridge was built in 1931.",
            "How the Halden Bridge was built: doi.org/10.1016/j.bridge.2013.05.001.",
        ),
        (  # another part of what is asked
            "Since when have the AI Act's prohibitions applied?",
            "The prohibitions of the AI Act have applied since 2025.",
            "The duties for high-risk systems under the AI Act apply from 2026.",
        ),
        (  # not what the question names
            "In what year did Tunisia first play at the World Cup?",
            "The Rugby League tournament was first held in 1954.",
            "He played for Sweden at the World Cup of 1990.",
        ),
        (  # the same man
            "Who invented the telephone?",
            "Alexander Graham Bell invented the telephone in 1876.",
            "The inventor of the telephone was Bell, a Scot.",
        ),
        (  # names that have no such role
            "Who directed the film Halden?",
            "The film Halden stars Edmund Lowe and Lois Moran.",
            "The film Halden was shown in Cannes, where Henry Wilcoxon saw it.",
        ),
        (  # a denial of something else
            "Has any CRISPR-based medicine been approved yet?",
            "The first CRISPR-based medicine approved does not cure every patient.",
            "In 2023 Britain approved Casgevy, a medicine based on CRISPR.",
        ),
        (  # values of what is not asked for
            "How many people died at the Berlin Wall?",
            "The Berlin Wall was 155 kilometres long, and 140 people died there.",
            "The Berlin Wall was 165.7 kilometres long.",
        ),
    ],
)
def test_answers_that_may_both_be_right_do_not(question: str, one: str, other: str) -> None:
    assert answer_differently(question, one, other) is None


@pytest.mark.parametrize(
    ("one", "other", "about"),
    [
        (
            "Halden is a town in the north west of Norway, on the Hald.",
            "On any map of Europe, Halden is found at the southernmost tip of Norway.",
            "north west of Norway against southernmost tip of Norway",
        ),
        ("Halden is a town in south-eastern Norway.", "Halden is a town in eastern Norway.", None),
        ("Halden is in western Norway.", "Trains from Halden run to Selby, which is in the east of Sweden.", None),
        ("Halden is not in western Norway.", "Halden is in eastern Norway.", None),
    ],
)
def test_opposite_parts_of_what_the_question_names_are_two_answers_to_where(
    one: str, other: str, about: str | None
) -> None:
    assert answer_differently("Where is Halden on a map of Norway?", one, other) == about


def test_the_compass_in_a_name_tells_no_part() -> None:
    question = "Where is Halden in North Dakota?"
    assert (
        answer_differently(question, "Halden is in the south of North Dakota.", "Halden is in North Dakota.") is None
    )


@pytest.mark.parametrize(
    "text",
    [
        "Textbooks tell you that the first AI winter began in 1974.",
        "The wall is often said to be visible from space.",
        "Many people believe that goldfish forget at once.",
    ],
)
def test_what_others_say_is_reported(text: str) -> None:
    assert statement(text).is_reported
