"""Parts of a line that style sheets set apart, with no blank between them: `<span>Power</span><span>2,200 W</span>`.

Without one they would be quoted as "Power2,200 W", and a name or number of the page would be another one.
"""

from __future__ import annotations

import regex
from lxml.html import HtmlElement

from marchwarden.reading.html.boilerplate import text_of

_PARTS = ("span", "a", "b", "strong", "label", "em", "i", "small", "time", "data")
_PARTS_SET = frozenset(_PARTS)
# Letters of scripts that put blanks between words: "東京" and "2020" stay together.
_LETTER = r"[\p{L}--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"
# Parts of one word are drawn apart too, as an initial or a price with small cents: these stay together.
_APART = regex.compile(
    rf"(?:{_LETTER}{{2}}|{_LETTER}[:;,)]) \d|\p{{L}}\p{{Ll}} \p{{Lu}}"
    rf"|(?:{_LETTER}{{2}}|\d|[.!?:;,)]) \p{{Lu}}\p{{Ll}}",
    regex.VERSION1,
)
_AS_TYPED = frozenset({"pre", "code", "kbd", "samp", "math", "svg"})


def set_parts_apart(tree: HtmlElement) -> None:
    """Put a blank between two inline elements that follow each other and end and begin as different words do."""
    for part in tree.iter(*_PARTS):
        if part.tail:
            continue
        following = part.getnext()
        if following is None or following.tag not in _PARTS_SET:
            continue
        before = text_of(part) if len(part) else part.text
        after = text_of(following) if len(following) else following.text
        if (
            before
            and after
            and _APART.search(f"{before[-2:]} {after[:2]}")
            and _AS_TYPED.isdisjoint(around.tag for around in part.iterancestors())
        ):
            part.tail = " "
