"""The rules of a style sheet, read in one pass, since sheets are as hostile as pages; and which of them hide a text.

Own code beside tinycss2: it builds a tree of every token of a sheet, of which we need selectors and declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)


def rules_of(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of the rules that always hold: none for some media, or within another rule."""
    depth = 0
    selectors = declarations = ""
    for piece in _COMMENT.sub("", sheet).split("}")[:-1]:
        before, brace, rest = piece.partition("{")
        if depth == 0 and brace and "{" not in rest:
            # As nearly all rules are: with one brace, and not within another.
            selectors = before.rpartition(";")[2].strip()
            if selectors and selectors[0] != "@":
                yield selectors, rest
            selectors = ""
            continue
        inside = rest.split("{") if brace else []
        if depth == 0 and inside:
            selectors, declarations = before.rpartition(";")[2].strip(), inside[0]
        depth = max(0, depth + len(inside) - 1)
        if depth == 0 and selectors:
            if selectors[0] != "@":
                yield selectors, declarations
            selectors = ""


_END = r"\s*(?=;|!|$)"
# Opacity below a tenth, and letters of less than three pixels, can't be read. Guesses.
_FAINT = r"(?:0+(?:\.0\d*)?|\.0\d*|[0-9](?:\.\d+)?%)"
_TINY = r"(?:(?:0+(?:\.0*)?|\.0+)(?:[a-z%]+)?|[0-2](?:\.\d+)?p[xt]|0*\.[01]\d*r?em)"
_SAME = r"[\s,]+\1(?:px)?"
# Each with a word that it does not match without: to search for that takes a tenth of the time that a pattern takes.
# All patterns are for declarations in small letters. They begin with letters, which are searched for faster: that no
# other word ends with these is asked after them.
_HIDING = tuple(
    (word, re.compile(pattern))
    for word, pattern in (
        ("none", r"display\s*:\s*none"),
        ("visibility", r"visibility\s*:\s*(?:hidden|collapse)"),
        ("opacity", rf"opacity(?<![\w-]opacity)\s*:\s*{_FAINT}{_END}"),
        ("font-size", rf"font-size\s*:\s*{_TINY}{_END}"),
        ("through", r"text-decoration(?:-line)?\s*:[^;]*line-through"),
        ("clip", rf"clip\s*:\s*rect\(\s*([01])(?:px)?{_SAME}{_SAME}{_SAME}\s*\)"),
        ("clip-path", r"clip-path\s*:\s*(?:inset\(\s*(?:[5-9]\d|100)%|(?:circle|ellipse)\(\s*0(?![.\d]))"),
        ("clip-path", r"clip-path\s*:\s*polygon\([\s,0]*(?:(?:px|%)[\s,0]*)*\)"),
        ("scale", r"transform\s*:[^;]*scale(?:3d|[xy])?\(\s*(?:0+(?:\.0\d*)?|\.0\d*)\s*[,)]"),
    )
)
# A place far off the screen, and the part of it that is searched for first.
_FAR = re.compile(r"(?:text-indent|left|top)\s*:\s*-\d{4,}")
_FAR_OFF = re.compile(r"-\d{4}")
_NO_COLOR = re.compile(
    r"color(?<![\w-]color)\s*:\s*"
    rf"(?:transparent|rgba\([^()]*,\s*0*(?:\.0+)?%?\s*\)|#(?:[0-9a-f]{{3}}0|[0-9a-f]{{6}}00)){_END}"
)
# The letters are then drawn by something else.
_DRAWN = re.compile(r"background-clip|text-shadow|text-fill|text-stroke")
_NO_HEIGHT = re.compile(rf"(?<![\w-])(?:max-)?height\s*:\s*0(?:\.0+)?(?:[a-z%]+)?{_END}")
_CUT_OFF = re.compile(r"overflow(?:-y)?\s*:\s*(?:hidden|clip)")
# A page that fades or folds in begins so, and its scripts or transitions lift that.
_FADE = re.compile(
    rf"(?<![\w-])opacity\s*:\s*{_FAINT}{_END}|transform\s*:[^;]*scale(?:3d|[xy])?\([^;]*|(?:max-)?height\s*:[^;]*"
)
_LIFTED = re.compile(r"\b(?:transition|animation|will-change)\b")
_MOVED = re.compile(r"\btransform\s*:(?![^;]*scale(?:3d|[xy])?\(\s*0)")
_COLOR = re.compile(
    r"(?<![\w-])(color|background(?:-color)?)\s*:\s*(#[0-9a-f]{3,8}|rgb\([\d\s,]+\)|white\b|black\b)", re.IGNORECASE
)
_NAMED = {"white": "#ffffff", "black": "#000000"}


@lru_cache(maxsize=4096)
def hides(declarations: str, *, fades: bool = False) -> bool:
    """Return whether declarations make a text unreadable for good; `fades` where something will lift that."""
    lower = declarations.lower()
    if not _hides_now(lower):
        return False
    is_lifted = fades or _LIFTED.search(lower) or ("opacity" in lower and _MOVED.search(lower))
    return not is_lifted or _hides_now(_FADE.sub("", lower))


def _hides_now(lower: str) -> bool:
    if any(word in lower and pattern.search(lower) for word, pattern in _HIDING):
        return True
    if "-" in lower and _FAR_OFF.search(lower) and _FAR.search(lower):
        return True
    if "height" in lower and _NO_HEIGHT.search(lower) and _CUT_OFF.search(lower) and "padding" not in lower:
        return True
    if "color" not in lower:
        return False
    if _NO_COLOR.search(lower) and not _DRAWN.search(lower):
        return True
    letters, ground = colors_of(lower) if "background" in lower else (None, None)
    return letters is not None and letters == ground


def colors_of(declarations: str) -> tuple[str | None, str | None]:
    """Return the colors of letters and background as `#rrggbb`, or by name; None for one that is not declared."""
    found: dict[str, str] = {}
    for name, value in _COLOR.findall(declarations):
        color = value.lower()
        if color.startswith("rgb("):
            parts = [int(part) for part in re.findall(r"\d+", color)]
            color = "#" + "".join(f"{min(part, 255):02x}" for part in parts[:3])
        elif color.startswith("#"):
            color = "#" + "".join(letter * 2 for letter in color[1:4]) if len(color) in (4, 5) else color[:7]
        found[name.lower().partition("-")[0]] = _NAMED.get(color, color)
    return found.get("color"), found.get("background")
