"""Words of the terminal."""

from __future__ import annotations

from marchwarden.cli.views.safe_text import count, word
from marchwarden.contract import GapCategory


def test_enums_and_numbers_are_words() -> None:
    assert word(GapCategory.SOURCE_NOT_FOUND) == word("source_not_found") == "source not found"
    assert [count(number, "discovery") for number in (0, 1, 2000)] == [
        "0 discoveries",
        "1 discovery",
        "2,000 discoveries",
    ]
