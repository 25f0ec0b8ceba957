"""Raised and lowered text: exponents are told from note marks, and neither sticks to the number before it.

`10<sup>6</sup>` becomes "10^6", `m<sup>2</sup>` "m²", and the mark of a note goes. Ordinals and names of substances
stay as they are ("21st", "CO2").
"""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

# Elements in a raised text, and characters of one that is a number or a mark. Guesses.
_MAX_ELEMENTS = 16
_MAX_CHARS = 24
# Characters of a mark in brackets, such as "[citation needed]". A guess.
_MAX_BRACKETED_CHARS = 40
# Characters of a note's mark that is a link: "123", "note". A guess.
_MAX_MARK_CHARS = 6
# Elements before a raised text in which its base is looked for. A guess that bounds the time.
_MAX_STEPS = 8

_RAISED_STYLE = re.compile(r"vertical-align\s*:\s*super", re.IGNORECASE)
_NOTE_NAME = re.compile(r"foot-?note|note-?ref|fn-?ref|\breference\b|\bcite", re.IGNORECASE)
_NOTE_ADDRESS = re.compile(r"#_?(?:fn|ftn|foot|end|note|cite)", re.IGNORECASE)
_SYMBOLS = re.compile(r"[*∗†‡§¶#]+")
_BRACKETED = re.compile(r"\[[^\[\]]*\](?:\s*\[[^\[\]]*\])*")
_NUMBERS = re.compile(r"\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*")
# Letters that stand for a number: those of ordinals ("1a", "2e", "3o") are none of them.
_EXPONENT = re.compile(r"[+\-−–]?(?:\d+(?:[.,/]\d+)?|[b-df-gi-npqu-zA-Zα-ω])[+\-−–]?|[+\-−]")
_ISOTOPE = re.compile(r"[A-Z][a-z]?(?![^\W\d_])")
_TRAILING_WORD = re.compile(r"[^\W\d_]+$")
_TRAILING_NUMBER = re.compile(r"[\d.,\u00a0\u202f’]*\d$")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\u00a0\u202f’]\d{3})+$")
_YEAR = re.compile(r"(?:1\d|20)\d\d$")
_PRICE = re.compile(r"[$€£¥]\s?\d+$")
_SCALES = re.compile(r"^\s?[CFK]\b")
_UNITS = frozenset(
    {"m", "cm", "mm", "km", "dm", "nm", "µm", "μm", "ft", "in", "yd", "mi"}
    | {"s", "ms", "h", "g", "kg", "t", "l", "ha", "px", "pc", "ly", "au"}
    | {"mol", "sec", "min", "inch", "foot", "feet", "metre", "metres", "meter", "meters", "mile", "miles"}
    | {"sin", "cos", "tan", "cot", "log", "exp", "rad", "deg", "м", "см", "мм", "км"}
    | {"дм"}
)
_SQUARES = {"2": "²", "3": "³"}
_INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "ins"}
    | {"kbd", "label", "mark", "nobr", "q", "small", "span", "strong", "tt", "u", "var"}
)


def write_scripts(tree: HtmlElement) -> list[etree._Element]:
    """Write out exponents and indices, and return the elements that are note marks, in the page's order."""
    notes: list[etree._Element] = []
    # A list, since what it is about is changed; XPath takes five times as long.
    for element in list(tree.iter("sup", "sub", "span", "a")):
        if element.tag == "a":
            # A link to a note may be raised by the style sheet alone: "4,200<a href='#fn3'>3</a>".
            address, before = element.get("href") or "", ""
            if "#" in address and _NOTE_ADDRESS.search(address) and not len(element):
                before = _text_before(element)
            is_after_word = bool(before.strip()) and not before[-1].isspace()
            is_note = is_after_word and bool(_NUMBERS.fullmatch((element.text or "").strip()))
        elif element.tag == "span" and not ((style := element.get("style")) and _RAISED_STYLE.search(style)):
            continue
        else:
            is_note = _write_script(element)
        if is_note and not (notes and any(above is notes[-1] for above in element.iterancestors())):
            notes.append(element)
    return notes


def _write_script(element: etree._Element) -> bool:
    """Write out an exponent or index; True, and nothing is changed, where it is the mark of a note."""
    inner = list(islice(element.iter(etree.Element), _MAX_ELEMENTS + 1))
    text = "".join(element.itertext()).strip() if len(inner) <= _MAX_ELEMENTS else ""
    if not text or len(text) > max(_MAX_CHARS, _MAX_BRACKETED_CHARS):
        return False
    before, after = _text_before(element), element.tail or ""
    if element.tag == "sub":
        if text.isdigit() and (before[-1:].isdigit() or after[:1].isdigit()):
            element.text = f"_{(element.text or '').lstrip()}"
            element.tail = f" {after}" if after[:1].isdigit() else after
        return False
    if _is_note(element, inner, text, before):
        return True
    _write_exponent(element, text, before, after)
    return False


def _is_note(element: etree._Element, inner: list[etree._Element], text: str, before: str) -> bool:
    if _SYMBOLS.fullmatch(text) or (_BRACKETED.fullmatch(text) and len(text) <= _MAX_BRACKETED_CHARS):
        return True
    around = [element, *islice(element.iterancestors(), 2)]
    links = [each for each in (*inner, *around) if each.tag == "a"]
    leads_to_note = bool(links) and all("#" in (link.get("href") or "") for link in links)
    if leads_to_note and (len(text) <= _MAX_MARK_CHARS or _NUMBERS.fullmatch(text)):
        return True
    names = (f"{each.get('class') or ''} {each.get('role') or ''}" for each in inner)
    if len(text) <= _MAX_MARK_CHARS and any(map(_NOTE_NAME.search, names)):
        return True
    number = _TRAILING_NUMBER.search(before)
    is_counted = number is not None and (_GROUPED.search(number[0]) or _YEAR.fullmatch(number[0]))
    word = _TRAILING_WORD.search(before)
    is_word = word is not None and word[0] not in _UNITS and (len(word[0]) > 2 or not word[0].isascii())
    if text.isalpha() and len(text) == 1 and text in "abcdefgh":
        return bool(number and _GROUPED.search(number[0])) or (word is not None and len(word[0]) > 3)
    if not _NUMBERS.fullmatch(text):
        return False
    if is_word or is_counted or before[-1:] in tuple(".,;:!?%”’\"'»"):
        return True
    # "(see below)" is followed by a note, "(a + b)" by an exponent.
    return before.endswith(")") and re.search(r"[^\W\d_]{4}[^(]*\)$", before) is not None


def _write_exponent(element: etree._Element, text: str, before: str, after: str) -> None:
    base = before[-1:]
    own = (element.text or "").lstrip()
    word = _TRAILING_WORD.search(before)
    if text.isdigit() and after.lstrip()[:1] in tuple("/⁄∕"):
        mark = " " if base.isdigit() else ""
    elif base.isdigit() and text in ("o", "0", "O") and _SCALES.match(after):
        element.text, element[:] = "°", []
        return
    elif len(text) == 2 and text.isdigit() and _PRICE.search(before):
        mark = "."
    elif word and text in _SQUARES:
        element.text, element[:] = _SQUARES[text], []
        return
    elif not base.strip():
        is_isotope = text.isdigit() and _ISOTOPE.match(after)
        mark = "^" if is_isotope else ""
        element.tail = after if is_isotope or not after[:1].isalpha() else f" {after}"
    elif _EXPONENT.fullmatch(text):
        is_power = not text.isalpha() or base.isdigit() or base in ")]" or (word is not None and len(word[0]) == 1)
        mark = "^" if is_power else ""
    elif any(each in text for each in "+-−–·/=") and not text.startswith("("):
        element[:], own, mark = [], f"{text})", "^("
    else:
        mark = ""
    element.text = mark + own


def _text_before(element: etree._Element) -> str:
    """Return the text that stands directly before the element on its line; "" where there is none."""
    node = element
    for _ in range(_MAX_STEPS):
        previous = node.getprevious()
        if previous is None:
            parent = node.getparent()
            if parent is None or parent.text or parent.tag not in _INLINE:
                return "" if parent is None else parent.text or ""
            node = parent
            continue
        if previous.tail:
            return str(previous.tail)
        if previous.tag not in _INLINE and previous.tag not in ("sup", "sub"):
            return ""
        if text := "".join(islice(previous.itertext(), _MAX_ELEMENTS)):
            return text
        node = previous
    return ""
