"""Text from outside (pages, models, files, servers) made safe to show: what it holds is data, never markup and never
a command to the terminal."""

from __future__ import annotations

import re
from enum import Enum

# Control characters, and the invisible ones that reorder, hide or smuggle text (Unicode TR 36): bidirectional
# embeddings, overrides and isolates, line and paragraph separators, tags, lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """`text` with such characters written as escapes (`\\x1b`); line ends stay, as newlines; tabs become spaces."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return _UNSAFE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, limit: int | None = None) -> str:
    """`text` made visible on a single line, cut with `…` where it is longer than `limit` characters."""
    line = " ".join(visible(text).split())
    if limit is None or len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + "…"


def word(value: object) -> str:
    """An enum's value, or a string read from a trace, as words: `source_not_found` → `source not found`."""
    return one_line(str(value.value if isinstance(value, Enum) else value)).replace("_", " ")


def count(number: int, noun: str) -> str:
    """`1 page`, `3 pages`, `2 queries`."""
    if number == 1:
        return f"1 {noun}"
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {plural}"
