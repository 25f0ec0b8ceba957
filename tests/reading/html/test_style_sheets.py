"""Style sheets hide text by rules, of which a quick look says whether any may hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.reading.html import style_sheets


@pytest.mark.parametrize(
    ("word", "pattern"),
    [*style_sheets._HIDING, ("color", style_sheets._NO_COLOR), ("height", style_sheets._NO_HEIGHT)],
)
@given(data=st.data())
def test_whatever_a_rule_finds_has_the_word_that_is_searched_for_before_it(
    word: str, pattern: re.Pattern[str], data: st.DataObject
) -> None:
    assert word in data.draw(st.from_regex(pattern))


@given(st.from_regex(style_sheets._FAR))
def test_whatever_is_far_off_is_found_by_the_quick_look_before_it(far: str) -> None:
    assert style_sheets._FAR_OFF.search(far)


@pytest.mark.parametrize(
    "declarations",
    ["OPACITY: 0", "Color:Transparent", "a:b;color:#fff0", "stop-opacity:1;opacity:0", "max-height:0;overflow:clip"],
)
def test_declarations_hide_in_capitals_and_beside_others(declarations: str) -> None:
    assert style_sheets.hides(declarations)


@pytest.mark.parametrize(
    "declarations",
    [
        "stop-opacity:0",
        "border-color:transparent",
        "opacity:0;transition:opacity 1s",
        "line-height:0;overflow:hidden",
    ],
)
def test_declarations_that_only_look_alike_do_not_hide(declarations: str) -> None:
    assert not style_sheets.hides(declarations)
