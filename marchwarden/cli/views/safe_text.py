"""Words for the terminal. Text from outside is made safe to show by text/escaping.py."""

from __future__ import annotations

from marchwarden.server.result_words import counted, in_words
from marchwarden.text.escaping import one_line, visible

__all__ = ["count", "one_line", "visible", "word"]


def word(value: object) -> str:
    """Return an enum's value, or a string read from a trace, as words: `source_not_found` → `source not found`."""
    return one_line(in_words(value))


count = counted
