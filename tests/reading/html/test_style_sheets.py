"""Style sheets hide text by rules, of which a quick look says whether any may hold."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.reading.html import style_sheets


@pytest.mark.parametrize(
    ("rule", "quick_look"),
    [
        ("_HIDDEN", style_sheets._may_be_hidden),
        ("_NO_COLOR", lambda lower: "color" in lower),
        ("_NO_HEIGHT", lambda lower: "height" in lower),
    ],
)
@given(data=st.data())
def test_whatever_a_rule_finds_is_found_by_the_quick_look_before_it(
    rule: str, quick_look: Callable[[str], bool], data: st.DataObject
) -> None:
    pattern: re.Pattern[str] = getattr(style_sheets, rule)
    assert quick_look(data.draw(st.from_regex(pattern)).lower())


@given(st.from_regex(style_sheets._FADE))
def test_whatever_fades_in_has_one_of_three_words(faded: str) -> None:
    assert any(word in faded.lower() for word in ("opacity", "scale", "height"))
