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
_HIDDEN = re.compile(
    rf"""
    display\s*:\s*none | visibility\s*:\s*(?:hidden|collapse)
    | (?<![\w-])opacity\s*:\s*{_FAINT}{_END} | font-size\s*:\s*{_TINY}{_END}
    | (?:text-indent|left|top)\s*:\s*-\d{{4,}} | text-decoration(?:-line)?\s*:[^;]*line-through
    | clip\s*:\s*rect\(\s*([01])(?:px)?[\s,]+\1(?:px)?[\s,]+\1(?:px)?[\s,]+\1(?:px)?\s*\)
    | clip-path\s*:\s*(?:inset\(\s*(?:[5-9]\d|100)% | (?:circle|ellipse)\(\s*0(?![.\d])
      | polygon\([\s,0]*(?:(?:px|%)[\s,0]*)*\))
    | transform\s*:[^;]*scale(?:3d|[xy])?\(\s*(?:0+(?:\.0\d*)?|\.0\d*)\s*[,)]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NO_COLOR = re.compile(
    r"(?<![\w-])color\s*:\s*(?:transparent|rgba\([^()]*,\s*0*(?:\.0+)?%?\s*\)|#(?:[0-9a-f]{3}0|[0-9a-f]{6}00))"
    + _END,
    re.IGNORECASE,
)
# The letters are then drawn by something else.
_DRAWN = re.compile(r"background-clip|text-shadow|text-fill|text-stroke", re.IGNORECASE)
_NO_HEIGHT = re.compile(rf"(?<![\w-])(?:max-)?height\s*:\s*0(?:\.0+)?(?:[a-z%]+)?{_END}", re.IGNORECASE)
_CUT_OFF = re.compile(r"overflow(?:-y)?\s*:\s*(?:hidden|clip)", re.IGNORECASE)
# A page that fades or folds in begins so, and its scripts or transitions lift that.
_FADE = re.compile(
    rf"(?<![\w-])opacity\s*:\s*{_FAINT}{_END}|transform\s*:[^;]*scale(?:3d|[xy])?\([^;]*|(?:max-)?height\s*:[^;]*",
    re.IGNORECASE,
)
_LIFTED = re.compile(r"\b(?:transition|animation|will-change)\b", re.IGNORECASE)
_MOVED = re.compile(r"\btransform\s*:(?![^;]*scale(?:3d|[xy])?\(\s*0)", re.IGNORECASE)
_COLOR = re.compile(
    r"(?<![\w-])(color|background(?:-color)?)\s*:\s*(#[0-9a-f]{3,8}|rgb\([\d\s,]+\)|white\b|black\b)", re.IGNORECASE
)
_NAMED = {"white": "#ffffff", "black": "#000000"}


# `_HIDDEN` matches only what has one of these, or a place far off the screen: most declarations have neither.
_SIGNS = ("none", "hid", "collaps", "opac", "size", "through", "clip", "scale")
_FAR = re.compile(r"-\d\d\d")


def _may_be_hidden(lower: str) -> bool:
    return any(sign in lower for sign in _SIGNS) or ("-" in lower and _FAR.search(lower) is not None)


@lru_cache(maxsize=4096)
def hides(declarations: str, *, fades: bool = False) -> bool:
    """Return whether declarations make a text unreadable for good; `fades` where something will lift that."""
    # Searching for a word takes a tenth of the time that a pattern takes.
    lower = declarations.lower()
    if not ("color" in lower or "height" in lower or _may_be_hidden(lower)):
        return False
    can_fade = "opacity" in lower or "scale" in lower or "height" in lower
    fades = fades or (can_fade and _LIFTED.search(declarations) is not None)
    if fades or ("opacity" in declarations and _MOVED.search(declarations)):
        declarations = _FADE.sub("", declarations)
        lower = declarations.lower()
    if _may_be_hidden(lower) and _HIDDEN.search(declarations):
        return True
    if "color" in lower and _NO_COLOR.search(declarations) and not _DRAWN.search(declarations):
        return True
    if (
        "height" in lower
        and _NO_HEIGHT.search(declarations)
        and _CUT_OFF.search(declarations)
        and "padding" not in declarations
    ):
        return True
    if "color" not in lower or "background" not in lower:
        return False
    letters, ground = colors_of(declarations)
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
