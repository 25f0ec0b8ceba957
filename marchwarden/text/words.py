"""Where words end, in any script: Unicode's default rules (UAX #29)."""

from __future__ import annotations

import regex

_WORD_EDGE = regex.compile(r"\b", regex.WORD)
_SEEN = 64
"""Characters to either side that decide; only a longer heap of combining marks would need more."""


def between_words(text: str, at: int) -> bool:
    """Whether no word, number, or character that is made of several (a letter with its marks, an emoji of a family)
    goes on over `at`. In scripts that put no blanks between words, each character counts as a word."""
    if at <= 0 or at >= len(text):
        return True
    start = max(0, at - _SEEN)
    return _WORD_EDGE.match(text[start : at + _SEEN], at - start) is not None


def next_edge(text: str, at: int, end: int) -> int:
    """The first place from `at` on that is between words, `end` at the latest."""
    found = _WORD_EDGE.search(text, at, end)
    return int(found.start()) if found else end
