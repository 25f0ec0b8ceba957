"""Who wrote a page, where its markup marks a name that readers see: by `rel`, `itemprop` or the name of its class."""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.reading.passages import visible

_CLASS = re.compile(
    r"(?:[a-z]+[-_]+)*(?:author|byline|by-line|writer|username|user-name|displayname)"
    r"(?:[-_]+(?:name|names|link|inline|text|title))*",
    re.IGNORECASE,
)
_BY = re.compile(r"^(?:(?:\w+\s+){0,2}(?:by|von|par|por|door)\b|authors?\b)[\s:]*", re.IGNORECASE)
_BEHIND = re.compile(
    r"\s*(?:[|•·»\n]|\s[-–—]\s|,?\s+(?:on|updated|published|posted|last)\b).*$", re.IGNORECASE | re.DOTALL
)
_NO_NAME = re.compile(
    r"(?:about|the|our|all|more|view|see|read|by)?\s*(?:authors?|bylines?|writers?|posts?|profile|admin)?", re.I
)
_ASIDE = re.compile(r"comment|related|sidebar|footer", re.IGNORECASE)
_ASIDE_TAGS = frozenset({"form", "label", "footer", "nav"})
_LEVELS = 8
_LONGEST_NAME = 50
_MOST_WORDS = 6
_LONGEST_TEXT = 200
_MOST_ELEMENTS = 20
"""In what holds a name."""


def byline_of(tree: HtmlElement) -> str | None:
    """The first name that is marked as the author's; what is called so by a class counts where nothing else is."""
    named: str | None = None
    for element in tree.iter(etree.Element):
        declared = _is_declared(element)
        if (declared or (named is None and _is_called(element))) and not _is_aside(element):
            name = _name_in(element)
            if name and declared:
                return name
            named = named or name
    return named


def _is_declared(element: etree._Element) -> bool:
    return "author" in (element.get("rel") or "").lower().split() or element.get("itemprop") == "author"


def _is_called(element: etree._Element) -> bool:
    return any(_CLASS.fullmatch(token) for token in (element.get("class") or "").split()[:10])


def _is_aside(element: etree._Element) -> bool:
    around = list(islice(element.iterancestors(), _LEVELS))
    names = (f"{above.get('class') or ''} {above.get('id') or ''}" for above in around)
    return any(above.tag in _ASIDE_TAGS for above in (element, *around)) or any(map(_ASIDE.search, names))


def _name_in(element: etree._Element) -> str | None:
    inner = list(islice(element.iter(etree.Element), _MOST_ELEMENTS + 1))
    if len(inner) > _MOST_ELEMENTS:
        return None
    said = next((each for each in inner[1:] if each.get("itemprop") == "name"), element)
    text = said.get("content") or "\n".join(piece.strip() for piece in said.itertext() if piece.strip())
    text = _BEHIND.sub("", _BY.sub("", visible(text[:_LONGEST_TEXT]).strip()))
    name = " ".join(text.split()).strip(" ,;:.@")
    return name if _can_be_name(name) else None


def _can_be_name(name: str) -> bool:
    words = name.split()
    return (
        1 < len(name) <= _LONGEST_NAME
        and len(words) <= _MOST_WORDS
        and any(map(str.isalpha, name))
        and (len(words) == 1 or not any(map(str.isdigit, name)))
        and not name.startswith("http")
        and not _NO_NAME.fullmatch(name)
    )
