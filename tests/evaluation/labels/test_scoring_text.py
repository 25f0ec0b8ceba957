"""How texts are compared: accepted strings, quotes, topics, statements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import DISAGREEMENT, EXCERPT_CUT
from marchwarden.evaluation.labels.scoring_text import (
    address,
    addresses_in,
    normalised,
    overlaps,
    says,
    says_one_of,
    statements,
    topic_similarity,
    without_markers,
)

words = st.lists(st.sampled_from(["anvil", "basket", "candle", "dolphin", "ember", "the", "of"]), max_size=5).map(
    " ".join
)


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("Two  men,\n“ABC” – it’s", "two men, “abc” - it's"),
        ("2,102,650 and 2\u202f102\u202f650 and 2 102 650", "2102650 and 2102650 and 2102650"),
        ("ﬁve m² at 10′", "five m2 at 10′"),
        ("1998, 200 people", "1998, 200 people"),
        ("1.234,567 or 12,34", "1.234,567 or 12,34"),
        ("1'000'000 francs", "1000000 francs"),
        ("   ", ""),
    ],
)
def test_texts_are_compared_without_case_spacing_or_grouping(text: str, compared: str) -> None:
    assert normalised(text) == compared


@given(st.text(max_size=40))
def test_a_text_compared_is_compared_as_itself(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@pytest.mark.parametrize(
    ("text", "accepted", "said"),
    [
        ("It killed 23,000 people.", "23 000 people", True),
        ("It killed 23000.", "23,000", True),
        ("It is 120 metres long", "20 metres", False),
        ("It is 1,120 metres long", "120 metres", False),
        ("It is 0.120 metres long", "120 metres", False),
        ("It grew by 12", "12.5", False),
        ("It grew by 12.5 %", "12", False),
        ("It grew by 12,5 %", "12", False),
        ("In 1998, it grew by 12.", "12", True),
        ("In 1998, it grew", "1998", True),
        ("from 1990–2000", "2000", True),
        ("The Parisian air", "Paris", False),
        ("In Paris.", "paris", True),
        ("It is a non-stop flight", "non‑stop", True),
        ("cost: $5 (about)", "$5", True),
        ("C++ is older", "C++", True),
        ("人口は約1万8400人です。", "1万8400人", True),
        ("洪水で建物が損傷した", "洪水", True),
        ("面積は1214平方キロメートル", "214平方キロメートル", False),
        ("no", "", False),
        ("no", "  ", False),
    ],
)
def test_an_accepted_string_stands_alone(text: str, accepted: str, said: bool) -> None:
    assert says(text, accepted) is said


def test_one_of_several_accepted_strings_is_enough() -> None:
    assert says_one_of("It is 5 miles long", ["8 km", "5 miles"])
    assert not says_one_of("It is 5 miles long", [])


PAGE = "Intro here. The bell weighs seven tonnes and hangs in the tower. It was cast in 1700 by two brothers. End."
QUOTE = "The bell weighs seven tonnes and hangs in the tower."


@pytest.mark.parametrize(
    ("excerpt", "same"),
    [
        (QUOTE, True),
        (QUOTE.upper(), True),
        (f"Intro here. {QUOTE}", True),
        ("The bell weighs seven tonnes", True),
        ("hangs in the tower. It was", False),  # less than half of the shorter one is shared
        ("weighs seven tonnes and hangs in the tower. It was cast", True),
        ("It was cast in 1700 by two brothers.", False),
        ("The bell weighs" + EXCERPT_CUT, False),  # too little is left
        ("The bell weighs seven tonnes and" + EXCERPT_CUT, True),
        ("bell", False),
        ("\u00a0", False),
        ("The bell weighs nine tonnes and hangs in the tower.", False),  # stands nowhere
    ],
)
def test_two_runs_of_a_page_are_one_piece_of_evidence_where_they_share_half(excerpt: str, same: bool) -> None:
    assert overlaps(excerpt, QUOTE, PAGE) is same


def test_a_short_quote_may_be_met_by_a_short_excerpt_and_without_the_page_one_must_hold_the_other() -> None:
    assert overlaps("in 1700", "1700", None)
    assert overlaps("170", "1700", None)
    assert not overlaps("1", "1700", None)
    assert not overlaps("and hangs in the tower. It was cast in 1700", QUOTE, None)


@pytest.mark.parametrize(
    ("excerpt", "quote"),
    [
        ("The timing is given: Timing 32-40-40-84", "Timing | 32-40-40-84"),
        ("mask emergency.service and emergency.target.", "mask emergency.service and emergency.target ."),
        ("Professional: $589", "Professional: $ 589"),
        ("Founded: 2000\nFranchised: 2003", "- Founded: 2000\n- Franchised: 2003"),
    ],
)
def test_layout_of_a_label_does_not_count(excerpt: str, quote: str) -> None:
    assert overlaps(excerpt, quote, f"Above. {excerpt} Below.")
    assert overlaps(excerpt[3:], quote, f"Above. {excerpt} Below.")


@pytest.mark.parametrize(
    ("one", "other", "similarity"),
    [
        ("attendance in 2024", "The attendance of 2024", 1.0),
        ("attendance in 2024", "attendance in 2023", 0.0),  # one shared word makes no topic
        ("attendance", "attendance", 1.0),
        ("attendance", "attendance in 2024", 0.0),
        ("cost of a garden plot", "costs of plots and gardens in Provo", 1.0),
        ("cost of the trial drug", "cost of the drug label", 2 / 3),
        ("the of", "the of", 0.0),
        ("", "x", 0.0),
    ],
)
def test_topics_are_compared_by_their_content_words(one: str, other: str, similarity: float) -> None:
    assert topic_similarity(one, other) == pytest.approx(similarity)


@given(words, words)
def test_similarity_is_mutual_between_0_and_1_and_full_for_oneself(one: str, other: str) -> None:
    assert 0 <= topic_similarity(one, other) == topic_similarity(other, one) <= 1
    assert topic_similarity(one, one) == (1.0 if set(one.split()) - {"the", "of"} else 0.0)


def test_addresses_are_found_in_text_and_compared_normalised() -> None:
    text = "See “https://A.example/x?b=1#top”, (http://b.example). And https://c.example/y_(z); no.example too"
    assert addresses_in(text) == {
        address("https://a.example/x?b=1"),
        address("http://b.example"),
        address("https://c.example/y_(z"),
    }
    assert address("not a url") == "not a url"
    assert address("HTTPS://A.example:443") == address("https://a.example/")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            "The bell rings [1]. It is an old bell [2][3].",
            [("The bell rings.", (1,)), ("It is an old bell.", (2, 3))],
        ),
        ("- The bell rings [1].\n* It is an old bell", [("The bell rings.", (1,)), ("It is an old bell", ())]),
        ("What the bell weighs:\nIs it old?", []),
        (f"{DISAGREEMENT}: the weight of it [1][2].", []),
        ("Yes.\n\nNo.", []),
        ("42", [("42", ())]),
        ("- 7 tonnes [1]", [("7 tonnes", (1,))]),
        # code, and a line that is no sentence, have their markers at the end
        ("- pull the rope\n  ring the bell [2]", [("pull the rope", (2,)), ("ring the bell", (2,))]),
        ("Note 3. Authors: A. Bell, B. Rope [1]", [("Note 3.", (1,)), ("Authors: A. Bell, B. Rope", (1,))]),
        ("The bell is old. It rings at noon [1].", [("The bell is old.", ()), ("It rings at noon.", (1,))]),
        ("It is an old bell\nIt rings at noon [1].", [("It is an old bell", ()), ("It rings at noon.", (1,))]),
        ("", []),
    ],
)
def test_statements_are_the_sentences_that_claim_something(
    answer: str, said: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert [(statement.text, statement.markers) for statement in statements(answer)] == said


def test_markers_are_taken_out_with_the_blank_before_them() -> None:
    assert without_markers("It rings [1][12]. So [it] is [1234].") == "It rings. So [it] is [1234]."
