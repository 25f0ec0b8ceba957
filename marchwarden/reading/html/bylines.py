"""Author of a page by its visible byline: a name that `rel`, `itemprop` or a class marks as the author's."""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.text.invisible import visible

_CLASS = re.compile(
    r"(?:[a-z]+[-_]+)*(?:author|byline|by-line|writer|username|user-name|displayname)"
    r"(?:[-_]+(?:name|names|link|inline|text|title))*",
    re.IGNORECASE,
)
# Every such name has one of these in lower case.
_NAMES_WRITER = re.compile(r"author|by-?line|writer|user-?name|displayname")
# A particle of a name is no "by": "John von Neumann". What stands before "von" in a byline is said of the text.
_BY = re.compile(
    r"^(?:(?:\w+\s+){0,2}by\b|(?:(?:ein\s+)?(?:beitrag|artikel|bericht|kommentar|text|geschrieben|verfasst|(?:é|e)crit|"
    r"publi(?:é|cado)|propos[ée]|escrito|geschreven)\s+)?(?-i:[Vv]on(?!\s+(?:der|dem|den)\b)|[Pp]ar|[Pp]or|[Dd]oor)\b"
    r"|authors?\b)[\s:]*",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\s*(?:[|•·»\n]|\s[-–—]\s|,?\s+(?:on|updated|published|posted|last)\b).*$", re.IGNORECASE | re.DOTALL
)
_NO_NAME = re.compile(
    r"(?:about|the|our|all|more|view|see|read|by)?\s*(?:authors?|bylines?|writers?|posts?|profile|admin)?", re.I
)
_ASIDE = re.compile(r"comment|related|sidebar|footer", re.IGNORECASE)
_ASIDE_TAGS = frozenset({"form", "label", "footer", "nav"})
# Elements above a byline that are asked whether they are a comment or a sidebar. A guess.
_MAX_LEVELS = 8
# Size of a name, in characters and words: "Ana María de la Cruz". Guesses.
_MAX_NAME_CHARS = 50
_MAX_NAME_WORDS = 6
# Size of the element around a name, in characters and elements: larger ones are whole author boxes. Guesses.
_MAX_TEXT_CHARS = 200
_MAX_ELEMENTS = 20


def byline_of(tree: HtmlElement) -> str | None:
    """Return the first name that `rel` or `itemprop` marks as the author's, else the first that a class marks.

    None where there is none.
    """
    named: str | None = None
    for element in tree.iter(etree.Element):
        relation, names = element.get("rel"), element.get("class")
        declared = bool(relation) and "author" in relation.lower().split()
        declared = declared or element.get("itemprop") == "author"
        if not declared and (
            named is not None
            or not names
            or not _NAMES_WRITER.search(names.lower())
            or not any(map(_CLASS.fullmatch, names.split()[:10]))
        ):
            continue
        around = list(islice(element.iterancestors(), _MAX_LEVELS))
        around_names = (f"{above.get('class') or ''} {above.get('id') or ''}" for above in around)
        if any(above.tag in _ASIDE_TAGS for above in (element, *around)) or any(map(_ASIDE.search, around_names)):
            continue
        name = _parse_name(element)
        if name and declared:
            return name
        named = named or name
    return named


def _parse_name(element: etree._Element) -> str | None:
    """Return the name in a byline, without "by" and whatever follows it; None where its text is no name."""
    inner = list(islice(element.iter(etree.Element), _MAX_ELEMENTS + 1))
    if len(inner) > _MAX_ELEMENTS:
        return None
    said = next((each for each in inner[1:] if each.get("itemprop") == "name"), element)
    text = said.get("content") or "\n".join(piece.strip() for piece in said.itertext() if piece.strip())
    text = _BEHIND.sub("", _BY.sub("", visible(text[:_MAX_TEXT_CHARS]).strip()))
    name = " ".join(text.split()).strip(" ,;:.@")
    words = name.split()
    is_name = (
        1 < len(name) <= _MAX_NAME_CHARS
        and len(words) <= _MAX_NAME_WORDS
        and any(map(str.isalpha, name))
        and (len(words) == 1 or not any(map(str.isdigit, name)))
        and not name.startswith("http")
        and not _NO_NAME.fullmatch(name)
    )
    return name if is_name else None
