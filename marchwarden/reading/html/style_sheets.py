"""The rules of a style sheet, read in one pass, since sheets are as hostile as pages.

Own code beside tinycss2: it builds a tree of every token of a sheet, of which we need selectors and declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACE = re.compile(r"[{}]")


def rules_of(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of the rules that always hold: none for some media, or within another rule."""
    sheet = _COMMENT.sub("", sheet)
    start = depth = 0
    selectors = ""
    inner: list[int] = []
    for brace in _BRACE.finditer(sheet):
        if brace[0] == "{":
            if depth == 0:
                selectors = sheet[start : brace.start()].rpartition(";")[2].strip()
                inner = [brace.end()]
            elif depth == 1:
                inner.append(brace.start())
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0:
                end = inner[1] if len(inner) > 1 else brace.start()
                if selectors and not selectors.startswith("@"):
                    yield selectors, sheet[inner[0] : end]
                start = brace.end()
        else:
            start = brace.end()
