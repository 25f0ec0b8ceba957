"""What a page looks like at a glance, and how what it says to its reader is told from what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.reading.access.vocabulary import Phrases


@dataclass(frozen=True)
class Impression:
    """What a page looks like at a glance."""

    url: str
    titles: tuple[str, ...]
    """<title> and main heading."""
    shown: str
    """All text that a reader sees, a line a block."""
    main: str
    """What of it can be read as content."""
    markup: str
    """The start of the source."""
    asked: str = ""
    """The address that was asked for, where `url` is one that it was redirected to."""
    asks_password: bool = False
    is_article: bool = False
    """Whether its markup says that it is an article."""
    declared_closed: bool = False
    """Whether its markup says that it isn't free to read (schema.org `isAccessibleForFree`)."""
    paid_part: str | None = None
    """What a reader sees of the part that the markup says is not free; None where it names none."""
    gates: tuple[str, ...] = ()
    """The short texts of elements that are named as paywalls and registration walls are."""
    links: frozenset[str] = frozenset()
    """The words of its links."""

    @cached_property
    def calls(self) -> tuple[str, ...]:
        return tuple(_calls(self.shown))

    @cached_property
    def content(self) -> str:
        """The main text without offers, and without links to other pages."""
        if len(self.main) > _LONGEST_CONTENT:
            return self.main
        lines = (line for line in self.main.split("\n") if line not in self.links)
        return "\n".join(line for line in lines if not any(line in gate for gate in self.gates))

    def calls_for(self, phrases: Phrases) -> bool:
        """Whether it says one of the phrases to its reader."""
        return any(phrases.search(call) for call in self.calls)


_LONGEST_CONTENT = 20_000
"""What is longer is no teaser, with its offers or without."""

# Sentences to the reader

_QUOTED = re.compile(r"[“\"„«‘「][^“”\"„«»‘’「」]{0,200}[”\"“»’」]")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…:·|])\s+|(?<=[。！？])|\n")
BREAKS_OFF = re.compile(r"(?:…|\.\.\.)[\])]?\s*$")
_SHORTEST_TEASER = 80
_LONGEST_BLOCK = 400
_LONGEST_CALL = 200


def unquoted(text: str) -> str:
    """Without what is only quoted."""
    return _QUOTED.sub(" ", text)


def _calls(shown: str) -> Iterator[str]:
    """Sentences that may speak to the reader: unquoted, short, and in a block that is not long."""
    for line in shown.split("\n"):
        if len(line) <= _LONGEST_BLOCK and not _is_teaser(line):
            yield from (call for call in sentences_of(unquoted(line)) if len(call) <= _LONGEST_CALL)


def _is_teaser(line: str) -> bool:
    """Whether it is the beginning of some other page, as lists of articles show it."""
    return len(line) > _SHORTEST_TEASER and BREAKS_OFF.search(line) is not None


def sentences_of(text: str) -> list[str]:
    return [stripped for part in _BETWEEN_SENTENCES.split(text) if (stripped := part.strip())]


def bare(title: str) -> str:
    """A title without what follows a bar or dash (the site's name)."""
    return re.split(r"\s+[|–—·-]\s+", title.strip())[0].strip(" .!")


def is_titled(page: Impression, phrases: Phrases) -> bool:
    return any(phrases.fullmatch(bare(title)) for title in page.titles)


# Elements of the page

_GATE = re.compile(
    r"(?:^|[\s_-])(?:"
    r"pay-?wall|reg(?:istration)?-?wall|auth-?wall|(?:subscribe|subscription|premium|member|meter)-?wall"
    r"|tp-(?:modal|container-inner)|piano|tinypass|poool|zephr|pelcro|leaky_paywall_message"
    r"|mepr-unauthorized|rcp[-_]restricted|pmpro_content_message|gh-post-upgrade-cta|swg-[\w-]+"
    r"|(?:content|reader|article|meter)-?gate|gateway-overlay|meter-(?:notice|limit)"
    r"|(?:subscription|registration)-(?:required|prompt)"
    r")",
    re.IGNORECASE,
)
_LONGEST_GATE = 1000
_MOST_ELEMENTS = 50
_MOST_SELECTORS = 20
_MOST_TEXTS = 200
"""Bounds for pages that are made to take long."""
_SIMPLE_SELECTOR = re.compile(r"([\w-]*)([.#])([\w-]+)(?:\.[\w-]+)*")


def password_fields_of(tree: HtmlElement) -> list[HtmlElement]:
    """What holds the fields for passwords, for `is_seen` after `drop_hidden` took what isn't seen."""
    fields = islice(tree.iterfind(".//input[@type='password']"), _MOST_ELEMENTS)
    return [field.getparent() for field in fields]


def is_seen(element: HtmlElement, tree: HtmlElement) -> bool:
    """Whether the element still is in the tree."""
    return element is tree or any(above is tree for above in element.iterancestors())


def gates_of(tree: HtmlElement) -> tuple[str, ...]:
    """The texts of elements named as walls are, in a tree from which `drop_hidden` took what isn't seen.

    Many pages name the part that costs so, and show all of it: what is long is no gate.
    """
    named = (element for element in tree.iter(etree.Element) if _GATE.search(_names(element)))
    texts = (_text(element) for element in islice(named, _MOST_ELEMENTS))
    return tuple(text for text in texts if 0 < len(text) <= _LONGEST_GATE)


def text_of_parts(tree: HtmlElement, selectors: Iterable[str]) -> str | None:
    """What a reader sees of the parts, "" where they are missing; None where no selector is of a kind we know."""
    first = islice(selectors, _MOST_SELECTORS)
    found = [part for selector in first if (part := _text_of_part(tree, selector)) is not None]
    return " ".join(found) if found else None


def _text_of_part(tree: HtmlElement, selector: str) -> str | None:
    simple = _SIMPLE_SELECTOR.fullmatch(selector.split()[-1]) if selector.strip() else None
    if simple is None:
        return None
    tag, mark, name = simple.groups()
    attribute = "class" if mark == "." else "id"
    elements = tree.iter(tag.lower()) if tag else tree.iter(etree.Element)
    named = (element for element in elements if name in (element.get(attribute) or "").split())
    return " ".join(_text(element) for element in islice(named, _MOST_ELEMENTS))


def _names(element: HtmlElement) -> str:
    return f"{element.get('class') or ''} {element.get('id') or ''}"


def _text(element: HtmlElement) -> str:
    """The beginning of its text."""
    return " ".join("".join(islice(element.itertext(), _MOST_TEXTS)).split())
