"""Text of a paragraph as a reader sees it, from the runs of characters that an office file holds."""

from __future__ import annotations

from marchwarden.text.invisible import visible

_SIGNS = ("-", "−", "+")


def shown_lines(text: str) -> str:
    """Return the visible characters of a paragraph, with single blanks and without blank lines."""
    lines = (" ".join(line.split()) for line in visible(text).split("\n"))
    return "\n".join(line for line in lines if line)


def raised(text: str) -> str:
    """Return superscript text; a number is marked, since it would read as further digits: 10 to the fourth as 104."""
    return f"^{text}" if text[:1].isdigit() or text.startswith(_SIGNS) else text
