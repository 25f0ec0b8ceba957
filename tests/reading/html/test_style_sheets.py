"""Style sheets hide text by rules, of which a quick look says whether any may hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.reading.html import style_sheets


@pytest.mark.parametrize("rule", ["_HIDDEN", "_NO_COLOR", "_NO_HEIGHT"])
@given(data=st.data())
def test_whatever_a_rule_finds_is_found_by_the_quick_look_before_it(rule: str, data: st.DataObject) -> None:
    pattern: re.Pattern[str] = getattr(style_sheets, rule)
    # Letters of the ground's color need the word `color` itself.
    declarations = data.draw(st.from_regex(pattern))
    assert style_sheets._MAY_HIDE.search(declarations)
