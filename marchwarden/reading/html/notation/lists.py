"""Numbers that a browser puts before the items of an ordered list, written into the items."""

from __future__ import annotations

import re
from itertools import islice

from lxml.html import HtmlElement

from marchwarden.reading.html.boilerplate import text_length

_UNNUMBERED = re.compile(
    r"list-style(?:-type)?\s*:\s*none|unstyled|list-none|no-?bullet|bread-?crumb|nav|menu|tabs|slide|carousel|gallery"
    r"|comment|results|pag(?:er|ination)|grid",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\W{0,2}(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.):]|\W?\d")
BOILERPLATE_TAGS = frozenset({"nav", "header", "footer", "aside", "form"})
# A list with a larger share of links is a menu or a table of contents. A guess.
_MAX_LINK_SHARE = 0.5
# Texts of a list that this share is measured on, and lists of a page. Guesses that bound the time.
_MAX_TEXTS = 200
_MAX_LISTS = 1_000
_KINDS = {
    "lower-alpha": "a",
    "lower-latin": "a",
    "upper-alpha": "A",
    "upper-latin": "A",
    "lower-roman": "i",
    "upper-roman": "I",
}
_STYLE_KIND = re.compile(r"list-style(?:-type)?\s*:\s*((?:lower|upper)-(?:alpha|latin|roman))", re.IGNORECASE)
_ROMAN = [(100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")]
# Larger numbers are no step of anything. A guess.
_MAX_NUMBER = 9_999
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "span", "b", "strong", "em", "i", "a", "code", "label", "font", "u"}
)


def number_items(tree: HtmlElement) -> None:
    """Write the numbers of ordered lists into their items. Changes `tree`."""
    for listing in islice(tree.iter("ol"), _MAX_LISTS):
        style = f"{listing.get('style') or ''} {listing.get('class') or ''} {listing.get('role') or ''}"
        items = [child for child in listing if child.tag == "li"]
        if (
            _UNNUMBERED.search(style)
            or not items
            or any(above.tag in BOILERPLATE_TAGS for above in listing.iterancestors())
        ):
            continue
        length = sum(map(text_length, islice(listing.itertext(), _MAX_TEXTS)))
        links = islice(listing.iter("a"), _MAX_TEXTS)
        linked = sum(text_length(text) for link in links for text in islice(link.itertext(), _MAX_TEXTS))
        if linked > _MAX_LINK_SHARE * length:
            continue
        named = _STYLE_KIND.search(style)
        kind = _KINDS[named[1].lower()] if named else listing.get("type") or "1"
        step = -1 if "reversed" in listing.attrib else 1
        number = _integer(listing.get("start"), len(items) if step < 0 else 1)
        for item in items:
            number = _integer(item.get("value"), number)
            first = item
            while not (first.text or "").strip() and len(first) and first[0].tag in _BLOCKS:
                first = first[0]
            # Not where the first words begin with a number.
            if (text := (first.text or "").lstrip()) and not _NUMBERED.match(text):
                first.text = f"{_written(number, kind)}. {text}"
            number += step


def _integer(text: str | None, default: int) -> int:
    text = (text or "").strip()
    return int(text) if re.fullmatch(r"-?\d{1,6}", text, re.ASCII) else default


def _written(number: int, kind: str) -> str:
    if kind == "1" or kind not in "aAiI" or not 0 < number <= _MAX_NUMBER:
        return str(number)
    text = ""
    if kind in "aA":
        while number:
            number, letter = divmod(number - 1, 26)
            text = chr(ord("a") + letter) + text
    else:
        for value, letters in _ROMAN:
            count, number = divmod(number, value)
            text += letters * count
    return text if kind.islower() else text.upper()
