"""Features of a page at first sight, and its sentences to the reader, as opposed to those of its subject."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from urllib.parse import parse_qsl, urlsplit

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.reading.access.vocabulary import Phrases
from marchwarden.reading.text_lengths import latin_length


@dataclass(frozen=True)
class Impression:
    """Features of a page at first sight."""

    url: str
    titles: tuple[str, ...]
    """Texts of <title> and the main heading."""
    shown: str
    """All visible text, a line a block."""
    main: str
    """The visible text that can be read as content."""
    markup: str
    """The start of the source."""
    asked: str = ""
    """The address that was asked for, where `url` is one that it was redirected to."""
    asks_password: bool = False
    is_article: bool = False
    """True where the markup declares an article."""
    declared_closed: bool = False
    """True where the markup declares that the page isn't free to read (schema.org `isAccessibleForFree`)."""
    paid_part: str | None = None
    """Visible text of the part that the markup declares not free; None where it names none."""
    gates: tuple[str, ...] = ()
    """Short texts of elements that are named as paywalls and registration walls are."""
    links: frozenset[str] = frozenset()
    """Texts of the page's links."""

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """Sentences that may speak to the reader: unquoted, short, and in a block that is not long."""
        # A line that breaks off is the beginning of another page, as lists of articles show it.
        lines = (
            line
            for line in self.shown.split("\n")
            if len(line) <= _MAX_BLOCK_CHARS and not (len(line) > _MIN_TEASER_CHARS and BREAKS_OFF.search(line))
        )
        return tuple(call for line in lines for call in sentences_of(unquoted(line)) if len(call) <= _MAX_CALL_CHARS)

    @cached_property
    def calls_beside_prose(self) -> tuple[str, ...]:
        """The calls without those in a paragraph of the text that more paragraphs follow."""
        prose = [line for line in self.main.split("\n") if latin_length(line) >= _MIN_PROSE_CHARS]
        inside = {call for line in prose[:-1] for call in sentences_of(unquoted(line))}
        return tuple(call for call in self.calls if call not in inside)

    @cached_property
    def content(self) -> str:
        """Main text without offers, and without links to other pages."""
        if len(self.main) > _MAX_CONTENT_CHARS:
            return self.main
        lines = (line for line in self.main.split("\n") if line not in self.links)
        return "\n".join(line for line in lines if not any(line in gate for gate in self.gates))

    def calls_for(self, phrases: Phrases) -> bool:
        """Return whether a sentence to the reader has one of the phrases."""
        return any(phrases.search(call) for call in self.calls)


# Characters: a longer text is no teaser, with its offers or without. A guess.
_MAX_CONTENT_CHARS = 20_000

# Sentences to the reader

_QUOTED = re.compile(r"[“\"„«‘「][^“”\"„«»‘’「」]{0,200}[”\"“»’」]")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…:·|])\s+|(?<=[。！？])|\n")
BREAKS_OFF = re.compile(r"(?:…|\.\.\.)[\])]?\s*$")
# Characters of a teaser in a list, of a block that speaks to the reader, and of one sentence in it. Their effect is
# measured on the labelled pages of evals/reading/access.
_MIN_TEASER_CHARS = 80
_MAX_BLOCK_CHARS = 400
_MAX_CALL_CHARS = 200
# Characters from which on a line of the text is a paragraph. A guess.
_MIN_PROSE_CHARS = 80


def unquoted(text: str) -> str:
    """Return the text without its quotations."""
    return _QUOTED.sub(" ", text)


def sentences_of(text: str) -> list[str]:
    return [stripped for part in _BETWEEN_SENTENCES.split(text) if (stripped := part.strip())]


def bare(title: str) -> str:
    """Return a title without the part after a bar or dash (the site's name)."""
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
# Each such name has one of these: most pages have none.
_IN_GATES = (
    *("wall", "gate", "tp-", "piano", "tinypass", "poool", "zephr", "pelcro", "mepr-", "rcp", "pmpro_", "swg-"),
    *("meter-", "-upgrade-", "subscription-", "registration-"),
)
# Characters: a longer element with such a name is the part that costs. A guess.
_MAX_GATE_CHARS = 1000
# Bounds for pages that are made to take long. Guesses.
_MAX_ELEMENTS = 50
_MAX_SELECTORS = 20
_MAX_TEXTS = 200
_SIMPLE_SELECTOR = re.compile(r"([\w-]*)([.#])([\w-]+)(?:\.[\w-]+)*")


def password_fields_of(tree: HtmlElement) -> list[HtmlElement]:
    """Return the parents of password fields; `is_seen` tells after `prepare` which of them are visible."""
    fields = islice(tree.iterfind(".//input[@type='password']"), _MAX_ELEMENTS)
    return [field.getparent() for field in fields]


def is_seen(element: HtmlElement, tree: HtmlElement) -> bool:
    """Return whether the element still is in the tree."""
    return element is tree or any(above is tree for above in element.iterancestors())


_BESIDE_TAGS = frozenset({"header", "nav", "aside", "footer"})
_BESIDE_NAME = re.compile(
    r"(?:^|[\s_-])(?:header|top-?bar|masthead|side-?bar|user-?bar|nav(?:bar|igation)?)\b", re.IGNORECASE
)


def is_beside_text(element: HtmlElement, tree: HtmlElement) -> bool:
    """True where it stands in a header or column of the page, or outside the one main region that is marked."""
    around = [element, *element.iterancestors()]
    names = (
        f"{each.get('class') or ''} {each.get('id') or ''}" for each in around if each.tag not in ("body", "html")
    )
    if any(each.tag in _BESIDE_TAGS for each in around) or any(map(_BESIDE_NAME.search, names)):
        return True
    regions = tree.findall(".//main") or tree.findall(".//article")
    return len(regions) == 1 and regions[0] not in around


_classes = etree.XPath("//*/@class", smart_strings=False)
_ids = etree.XPath("//*/@id", smart_strings=False)


def gates_of(tree: HtmlElement) -> tuple[str, ...]:
    """Return the short texts of elements named as paywalls are, in a tree that `prepare` has changed.

    Many pages give that name to the part that costs, and show all of it, so long texts are left out.
    """
    # Not lower(): the pattern, which ignores case, takes ſ for an s.
    together = "\n".join({*_classes(tree), *_ids(tree)}).casefold()
    if not any(part in together for part in _IN_GATES):
        return ()
    named = (
        element
        for element in tree.iter(etree.Element)
        if _GATE.search(f"{element.get('class') or ''} {element.get('id') or ''}")
    )
    texts = (_text(element) for element in islice(named, _MAX_ELEMENTS))
    return tuple(text for text in texts if 0 < len(text) <= _MAX_GATE_CHARS)


def text_of_parts(tree: HtmlElement, selectors: Iterable[str]) -> str | None:
    """Return the visible text of the parts, "" where they are missing; None where no selector is one we can read."""
    found: list[str] = []
    for selector in islice(selectors, _MAX_SELECTORS):
        simple = _SIMPLE_SELECTOR.fullmatch(selector.split()[-1]) if selector.strip() else None
        if simple is None:
            continue
        tag, mark, name = simple.groups()
        attribute = "class" if mark == "." else "id"
        elements = tree.iter(tag.lower()) if tag else tree.iter(etree.Element)
        named = (element for element in elements if name in (element.get(attribute) or "").split())
        found.append(" ".join(_text(element) for element in islice(named, _MAX_ELEMENTS)))
    return " ".join(found) if found else None


def _text(element: HtmlElement) -> str:
    return " ".join("".join(islice(element.itertext(), _MAX_TEXTS)).split())


def leads_back(url: str, asked: str) -> bool:
    """True where `url` holds the address to send its reader back to, as sign-in pages do."""
    if not asked or url == asked:
        return False
    here, wanted = urlsplit(url), urlsplit(asked)
    targets = [value for _, value in parse_qsl(here.query)]
    if here.hostname == wanted.hostname:
        return len(wanted.path) > 1 and any(wanted.path in target for target in targets)
    return any(urlsplit(target).hostname == wanted.hostname for target in targets if "://" in target)
