"""Text from outside stays text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.cli.views.safe_text import count, one_line, visible, word
from marchwarden.contract import GapCategory


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x07b\x9bc\x7f", "a\\x07b\\x9bc\\x7f"),
        ("left\u202egnp.exe", "left\\u202egnp.exe"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("lone \ud800", "lone \\ud800"),
        ("line\r\nline\rline\tcell", "line\nline\nline cell"),
        ("naïve 日本語 👩\u200d🌾 שלום", "naïve 日本語 👩\u200d🌾 שלום"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_no_control_character_but_the_newline_is_left(text: str) -> None:
    assert {char for char in visible(text) if unicodedata.category(char) in ("Cc", "Cs")} <= {"\n"}


@given(st.text(), st.integers(2, 40))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_enums_and_numbers_are_words() -> None:
    assert word(GapCategory.SOURCE_NOT_FOUND) == word("source_not_found") == "source not found"
    assert [count(number, "discovery") for number in (0, 1, 2000)] == [
        "0 discoveries",
        "1 discovery",
        "2,000 discoveries",
    ]
