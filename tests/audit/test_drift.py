"""A quote on a page as it was and as it is: still there, elsewhere, or changed, and into what."""

from __future__ import annotations

import pytest

from marchwarden.audit.drift import Drift, find_drift

BEFORE = "The bridge over the river Tista was planned for many years by the town."
QUOTE = "The Halden Bridge was built in 1931 by forty workers."
AFTER = "It carries two lanes of traffic and a path for people on foot."
LATER = "In summer the bridge is lit by lamps that the school had paid for."
THEN = f"{BEFORE} {QUOTE} {AFTER}\n\n{LATER}"


@pytest.mark.parametrize(
    "now",
    [
        THEN,
        f"A new first line about tickets. {THEN} A last line.",
        f"{BEFORE} A sentence in between was added here. {QUOTE} And another one. {AFTER}\n\n{LATER}",
        THEN.replace(" ", "\u00a0").replace("Bridge", "Bri\u00addge"),
        f"{BEFORE} {QUOTE}",
        QUOTE + f"\n\n{AFTER} {LATER}",
    ],
    ids=["unchanged", "more around it", "more between", "other typography", "cut behind", "cut before"],
)
def test_a_quote_between_the_same_neighbours_is_still_said(now: str) -> None:
    assert find_drift(QUOTE, THEN, now) == Drift("same")


@pytest.mark.parametrize(
    "now",
    [
        f"{BEFORE} {AFTER} {LATER}\n\n{QUOTE}",
        f"{QUOTE}\n\n{BEFORE} {AFTER} {LATER}",
        f"Everything else on this page is new and was written last week. {QUOTE}",
    ],
    ids=["to the end", "to the top", "nothing else is left"],
)
def test_a_quote_that_left_its_neighbours_is_said_elsewhere(now: str) -> None:
    assert find_drift(QUOTE, THEN, now) == Drift("elsewhere")


def test_without_the_old_text_a_quote_that_is_there_is_still_said() -> None:
    assert find_drift(QUOTE, None, f"{LATER} {QUOTE}") == Drift("same")


@pytest.mark.parametrize(
    "new",
    [
        "The Halden Bridge was built in 1932 by forty workers.",
        "The Halden Bridge was built in 1931 by about fifty workers from the town.",
        "The Halden Bridge was not built in 1931 by forty workers.",
    ],
)
def test_a_changed_sentence_is_told_with_the_one_that_took_its_place(new: str) -> None:
    assert find_drift(QUOTE, THEN, THEN.replace(QUOTE, new)) == Drift("changed", QUOTE, new)


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        (QUOTE[:-1], QUOTE, f"{QUOTE[:-1]}, but only the first half of it."),
        (QUOTE[4:], QUOTE, f"Nobody believes that the {QUOTE[4:]}"),
        ("31 by forty workers.", QUOTE, QUOTE.replace("1931", "2031")),
    ],
    ids=["goes on", "begins otherwise", "inside a number"],
)
def test_a_quote_whose_sentence_is_another_one_has_changed(part: str, old: str, new: str) -> None:
    assert find_drift(part, THEN, THEN.replace(QUOTE, new)) == Drift("changed", old, new)


def test_only_the_sentence_that_changed_is_told() -> None:
    found = find_drift(f"{QUOTE} {AFTER}", THEN, THEN.replace("two lanes", "four lanes"))
    assert found == Drift("changed", AFTER, AFTER.replace("two lanes", "four lanes"))


def test_a_sentence_that_stood_there_before_took_no_place() -> None:
    like = QUOTE.replace("1931", "1871").replace("Halden", "Old")
    found = find_drift(QUOTE, f"{THEN} {like}", f"{BEFORE} {AFTER} {LATER} {like}")
    assert found == Drift("changed", QUOTE, None)


def test_sentences_that_were_torn_apart_are_said_elsewhere() -> None:
    torn = THEN.replace(AFTER, f"The king came by boat to open it. {AFTER}")
    assert find_drift(f"{QUOTE} {AFTER}", THEN, torn) == Drift("elsewhere")


ROWS = "Year | Rate\n2003 | 2.1 %\n2004 | 2.1 %\n2005 | 2.2 %"


def test_a_changed_row_of_a_table_is_told_alone() -> None:
    found = find_drift(ROWS, f"{BEFORE}\n{ROWS}", f"{BEFORE}\n{ROWS.replace('2.2', '2.9')}")
    assert found == Drift("changed", "2005 | 2.2 %", "2005 | 2.9 %")


def test_a_row_that_has_become_like_another_one_has_changed() -> None:
    found = find_drift(ROWS, f"{BEFORE}\n{ROWS}", f"{BEFORE}\n{ROWS.replace('2003', '2004')}")
    assert (found.state, found.old_sentence) == ("changed", "2003 | 2.1 %")


def test_a_line_that_stands_there_once_less_has_changed() -> None:
    signature = "by tailvane, November 2022"
    post = f"That one won me a bottle once.\n{signature}"
    found = find_drift(post, f"{post}\n{AFTER}\n{signature}", f"{post.replace('2022', '2023')}\n{AFTER}\n{signature}")
    assert (found.state, found.old_sentence) == ("changed", signature)


def test_a_quote_that_was_cut_is_looked_for_without_the_mark() -> None:
    assert find_drift(f"{QUOTE[:30]}[...]", THEN, THEN) == Drift("same")


def test_a_quote_in_another_script_is_compared_too() -> None:
    then = "这座桥建于1931年，由四十名工人建造。它横跨蒂斯塔河，连接两个城镇。夏天的时候桥上点着灯，学校付了钱。"
    quote = "这座桥建于1931年，由四十名工人建造。"
    assert find_drift(quote, then, then).state == "same"
    assert find_drift(quote, then, then.replace("1931", "1932")).state == "changed"
