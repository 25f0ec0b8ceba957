"""Text from outside (pages, models, files, servers) made safe to show, so that it is never markup or a command."""

from __future__ import annotations

import re

from marchwarden.observations import UNSAFE
from marchwarden.server.result_words import counted, in_words


def visible(text: str) -> str:
    """Return `text` with unsafe characters as escapes (`\\x1b`). Line ends become newlines; tabs become spaces."""

    def escape(match: re.Match[str]) -> str:
        code = ord(match[0])
        if code < 0x100:
            return f"\\x{code:02x}"
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return UNSAFE.sub(escape, text)


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` made visible on a single line, cut with `…` where it is longer than `limit` characters."""
    line = " ".join(visible(text).split())
    if limit is None or len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + "…"


def word(value: object) -> str:
    """Return an enum's value, or a string read from a trace, as words: `source_not_found` → `source not found`."""
    return one_line(in_words(value))


count = counted
