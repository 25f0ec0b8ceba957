"""Formulas in MathML → one line of text: "F=0.47v^2".

They are read off the elements that a browser draws. Annotations and alternative texts are left out: no reader sees
those, so that a page could say anything there.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lxml import etree
from lxml.html import HtmlElement

# Levels, and characters of a formula. Guesses that bound the time.
_MAX_DEPTH = 40
_MAX_CHARS = 1_000
_UNSEEN = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_SIMPLE = re.compile(r"[\w.]*|\(.*\)")
_WORD = re.compile(r"[^\W\d_]{4,}")
# Words in a formula that a page shows as a picture. More are a text that nobody sees. A guess.
_MAX_WORDS = 2
_TEX_SCRIPT = re.compile(r"math/tex", re.IGNORECASE)
_TEX_LOADER = re.compile(r"mathjax|katex", re.IGNORECASE)


def write_formulas(tree: HtmlElement) -> None:
    """Replace each formula by a <span> of its text. Changes `tree`."""
    for math in list(tree.iter("math", "mml:math", "m:math")):
        text = " ".join(_line(math, 0).split())[:_MAX_CHARS]
        # Encyclopedias show a picture, and keep the formula hidden for readers who hear the page.
        parent = math.getparent()
        if parent is not None and "mwe-math-mathml" in (parent.get("class") or ""):
            picture = parent.getnext()
            is_shown = picture is not None and "mwe-math-fallback" in (picture.get("class") or "")
            if is_shown and len(_WORD.findall(text)) <= _MAX_WORDS:
                parent.attrib.pop("style", None)
        math.tag = "span"
        math[:] = []
        math.text = text
    scripts = [each for each in tree.iter("script") if _TEX_SCRIPT.search(each.get("type") or "")]
    if scripts and any(_TEX_LOADER.search(each.get("src") or "") for each in tree.iter("script")):
        for script in scripts:
            drawn = script.getprevious()
            if drawn is None or not (drawn.get("class") or "").startswith("MathJax") or not "".join(drawn.itertext()):
                script.tag = "span"
                script.text = f"${' '.join((script.text or '').split())[:_MAX_CHARS]}$"


def _line(element: etree._Element, depth: int) -> str:
    if not isinstance(element.tag, str) or depth > _MAX_DEPTH:
        return ""
    name = element.tag.rpartition(":")[2]
    if name in _UNSEEN:
        return ""
    if name == "mspace":
        return " "
    children = [_line(child, depth + 1) for child in element if isinstance(child.tag, str)]
    if name == "semantics":
        return children[0] if children else ""
    least, arrange = _ARRANGED.get(name, (1, _join))
    if len(children) >= least:
        return arrange(children)
    if not children:
        return (element.text or "").strip("\t\n\r ").replace("\u2061", " ")
    return _join(children)


def _join(parts: list[str]) -> str:
    """Return the parts in a row, with a blank between two words."""
    line = ""
    for part in parts:
        if line[-1:].isalpha() and part[:1].isalpha() and (line[-2:].isalpha() or part[:2].isalpha()):
            line += " " if len(part) > 1 or (len(line) > 1 and line[-2].isalpha()) else ""
        line += part
    return line


def _group(part: str) -> str:
    return part if _SIMPLE.fullmatch(part) else f"({part})"


# How the parts of each are arranged, and how many it has at least.
_ARRANGED: dict[str, tuple[int, Callable[[list[str]], str]]] = {
    "msup": (2, lambda parts: f"{_group(parts[0])}^{_group(parts[1])}"),
    "msub": (2, lambda parts: f"{parts[0]}_{_group(parts[1])}"),
    "msubsup": (3, lambda parts: f"{parts[0]}_{_group(parts[1])}^{_group(parts[2])}"),
    "munder": (2, lambda parts: f"{parts[0]}_{_group(parts[1])}"),
    "munderover": (3, lambda parts: f"{parts[0]}_{_group(parts[1])}^{_group(parts[2])}"),
    "mover": (1, lambda parts: parts[0]),
    "mfrac": (2, lambda parts: f"{_group(parts[0])}/{_group(parts[1])}"),
    "msqrt": (1, lambda parts: f"√{_group(_join(parts))}"),
    "mroot": (2, lambda parts: f"{_group(parts[0])}^(1/{parts[1]})"),
    "mfenced": (1, lambda parts: f"({','.join(parts)})"),
    "mtr": (1, ", ".join),
    "mtable": (1, "; ".join),
}
