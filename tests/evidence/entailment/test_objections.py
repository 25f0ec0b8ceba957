"""A claim that its quotes do not entail is objected to, whatever words it shares with them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from marchwarden.evidence.entailment.objections import find_objection

PAIRS = Path(__file__).parents[3] / "evals" / "claims" / "pairs.jsonl"


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("The bridge is 3.2 miles long.", "The bridge is 3.2 km long and opened in 1931."),
        ("Rent is $900 a week.", "Rent is $900 a month, with heating included."),
        (
            "The hall seats 45 people and cost $1,200 million.",
            "The hall seats 1,200 people and cost $45 million to build.",
        ),
        ("Acme acquired Zenith in 2019.", "Zenith acquired Acme in 2019 for $3 million."),
        ("All adults need 15 micrograms of vitamin D.", "Most adults need 15 micrograms of vitamin D."),
        ("Entry is free for visitors.", "Entry is free for visitors if they book online."),
        ("The drug lowers blood pressure.", "The drug may lower blood pressure."),
        ("Sales rose by 12 percent in May.", "Sales fell by 12 percent in May."),
        ("Coffee causes lower blood pressure.", "Coffee drinking was associated with lower blood pressure."),
        ("Mara Lund is the mayor of Ostby.", "Mara Lund is the former mayor of Ostby."),
        ("The battery can be replaced by the user.", "The battery cannot be replaced by the user."),
        ("The museum closed to save money on heating.", "The museum closed in March."),
    ],
)
def test_a_claim_that_says_something_else_is_objected_to(claim: str, quote: str) -> None:
    assert find_objection(claim, [quote])


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Acme was acquired by Zenith in 2019.", "Zenith acquired Acme in 2019 for $3 million."),
        ("The film earned $3,500,000.", "The film earned $3.5 million in its first weekend."),
        ("The bridge is 1,500 metres long.", "The bridge is 1.5 kilometres long."),
        ("The treaty came before the war.", "The war came after the treaty."),
        ("The team has not been beaten this season.", "The team remains unbeaten this season."),
    ],
)
def test_a_claim_that_says_the_same_in_other_words_is_kept(claim: str, quote: str) -> None:
    assert find_objection(claim, [quote]) is None


def test_a_whole_sentence_of_an_excerpt_is_kept_and_a_part_of_one_is_looked_at() -> None:
    quote = "The permit is valid unless it was revoked. It costs £20."
    assert find_objection("The permit is valid unless it was revoked.", [quote]) is None
    assert find_objection("The permit is valid", [quote])


def test_two_excerpts_do_not_carry_what_neither_of_them_states() -> None:
    quotes = ["Ana Ruiz designed several bridges in the region.", "The Sorel Bridge opened in 1931."]
    assert find_objection("Ana Ruiz designed the Sorel Bridge, which opened in 1931.", quotes)


def test_without_excerpts_nothing_is_entailed() -> None:
    assert find_objection("Water is wet.", [])


def pairs_of(name: str) -> list[dict[str, Any]]:
    return [pair for pair in map(json.loads, PAIRS.read_text("utf-8").splitlines()) if pair["set"] == name]


def test_a_claim_that_is_its_quote_is_kept() -> None:
    for quote in {quote for name in ("second", "third") for pair in pairs_of(name) for quote in pair["quotes"]}:
        assert find_objection(quote, ["It rained all day in Lisbon.", quote]) is None


def test_two_whole_sentences_of_a_quote_are_kept() -> None:
    quote = "The permit is valid unless it was revoked. It costs £20. It is issued by the town."
    assert find_objection("The permit is valid unless it was revoked. It is issued by the town.", [quote]) is None


def test_a_claim_with_another_number_is_refused() -> None:
    number = re.compile(r"(?<![\w.,])\d{2,}(?![\w.,])")
    tried = 0
    for pair in pairs_of("third") + pairs_of("second"):
        if pair["supported"] and number.search(pair["claim"]):
            assert find_objection(number.sub("7919", pair["claim"], count=1), pair["quotes"], around=pair["title"])
            tried += 1
    assert tried >= 10


def test_claims_in_other_languages_are_judged_by_the_rules_alone() -> None:
    quote = "Die Brücke wurde von Ana Ruiz entworfen und ist seit 1931 für den Verkehr geöffnet."
    assert find_objection("Die Brücke wurde von Ana Ruiz entworfen und ist seit 1931 geöffnet.", [quote]) is None
    assert find_objection("Die Brücke ist seit 1941 für den Verkehr geöffnet.", [quote])


# Neither set was fitted on. The figures are those of `python evals/claims/measure.py`, with a little room.
@pytest.mark.parametrize(("name", "false_shown", "true_kept"), [("second", 0.20, 0.61), ("third", 0.13, 0.57)])
def test_labelled_pairs_are_judged_as_well_as_they_were(name: str, false_shown: float, true_kept: float) -> None:
    shown: dict[bool, list[bool]] = {True: [], False: []}
    for pair in pairs_of(name):
        shown[pair["supported"]].append(find_objection(pair["claim"], pair["quotes"], around=pair["title"]) is None)
    assert sum(shown[False]) / len(shown[False]) <= false_shown
    assert sum(shown[True]) / len(shown[True]) >= true_kept


def test_a_line_of_an_excerpt_is_copied_text_as_a_sentence_is() -> None:
    rows = "European Central Bank | 2 %, symmetric | July 2021\nBank of England | 2 % (CPI) | December 2003"
    assert find_objection("Bank of England | 2 % (CPI) | December 2003.", [rows]) is None
    assert find_objection("Bank of England | 3 % (CPI) | December 2003.", [rows]) is not None
