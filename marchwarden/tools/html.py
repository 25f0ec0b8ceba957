"""HTML → the blocks of its main text: what a reader sees of it, in reading order, without navigation.

trafilatura chooses what is main text; where it takes too little of it (lists, tables, unusual layouts), the page's
own main region is walked instead. Metadata and walls are read elsewhere, from the same tree.
"""

from __future__ import annotations

import logging
import re
from dataclasses import replace

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from marchwarden.tools.blocks import read_blocks
from marchwarden.tools.passages import Block, visible

_log = logging.getLogger(__name__)

_UNSEEN = {"script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "canvas", "svg", "math"}
_UNSEEN |= {"audio", "video", "select", "datalist", "textarea", "button", "input", "img", "picture", "map"}
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|font-size)\s*:\s*0(?:\.0+)?(?:[a-z%]+)?\s*(?:;|!|$)"
    r"|(?:text-indent|left|top)\s*:\s*-\d{4,}",
    re.IGNORECASE,
)
_AT_MEDIA = re.compile(r"@[a-z-]+[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", re.IGNORECASE)
_STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STYLE_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE_SELECTOR = re.compile(r"[a-z0-9]*([.#])([\w-]+)", re.IGNORECASE)

_ENCODING_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>", re.IGNORECASE)

MOST_ELEMENTS = 15_000
"""A larger page's main region is taken as it is: weighing each part of it would take seconds."""

MOST_MARKUP = 3_000_000
"""Characters of markup that are read; beyond it, even walking would take too long."""

_SHORT = 250
_SHARE = 0.5  # chosen on public sets: articles as good as without, listings and product pages clearly better


def parse(markup: str) -> HtmlElement | None:
    """The document's tree, comments and processing instructions left out; None where there is nothing in it."""
    markup = _ENCODING_DECLARATION.sub("", markup[:MOST_MARKUP].replace("\0", ""), count=1)
    parser = HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        return document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


# What a reader sees


def drop_hidden(tree: HtmlElement) -> None:
    """Remove what is not shown as text, note marks, and invisible characters from what is. Changes `tree`."""
    classes, ids = _hidden_by_style(tree)
    for element in list(tree.iter(etree.Element)):
        if element.tag not in ("html", "body") and (_is_hidden(element, classes, ids) or _is_note_mark(element)):
            element.drop_tree()
    for element in tree.iter(etree.Element):
        if element.text:
            element.text = visible(element.text)
        if element.tail:
            element.tail = visible(element.tail)


def _is_hidden(element: HtmlElement, classes: set[str], ids: set[str]) -> bool:
    if element.tag in _UNSEEN:
        return str(element.get("type")) != "application/ld+json"  # trafilatura knows forums by it
    attributes = element.attrib
    if not attributes:
        return str(element.tag) == "dialog"
    return bool(
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or (element.tag == "dialog" and "open" not in attributes)
        or _HIDDEN_STYLE.search(attributes.get("style", ""))
        or attributes.get("id") in ids
        or (classes and not classes.isdisjoint(attributes.get("class", "").split()))
    )


def _is_note_mark(element: HtmlElement) -> bool:
    """Whether it is a raised link to a footnote, which would stick to the word or number before it ("in 1977.1")."""
    if element.tag != "sup":
        return False
    links = element.findall(".//a")
    noted = len(links) == 1 and (links[0].get("href") or "").startswith("#")
    return noted and len("".join(element.itertext()).strip()) <= _LONGEST_NOTE_MARK


_LONGEST_NOTE_MARK = 6


def _hidden_by_style(tree: HtmlElement) -> tuple[set[str], set[str]]:
    """Classes and ids that the page's own style sheets hide, by rules for one class or id alone."""
    classes: set[str] = set()
    ids: set[str] = set()
    for sheet in tree.iter("style"):
        rules = _AT_MEDIA.sub("", _STYLE_COMMENT.sub("", sheet.text or ""))
        for selectors, declarations in _STYLE_RULE.findall(rules):
            if _HIDDEN_STYLE.search(declarations):
                for selector in selectors.split(","):
                    if simple := _SIMPLE_SELECTOR.fullmatch(selector.strip()):
                        (classes if simple[1] == "." else ids).add(simple[2])
    return classes, ids


# The main text


def main_blocks(tree: HtmlElement) -> list[Block]:
    """The main text of a tree from which `drop_hidden` took what isn't seen. Changes `tree`."""
    back = _put_stand_ins(tree)
    own = list(read_blocks(_region(tree), skip=_FURNITURE, translate=back))
    if sum(1 for _ in tree.iter()) > MOST_ELEMENTS:
        return own
    chosen = _chosen_blocks(tree, back)
    links = {" ".join("".join(anchor.itertext()).translate(back).split()) for anchor in tree.iter("a")}
    little = _takes_too_little(chosen, own, _region(tree))
    blocks = own if little else with_lost_lists(chosen, own, links)
    return [replace(block, shown=False) if _is_button(block, links) else block for block in blocks]


def _is_button(block: Block, links: set[str]) -> bool:
    """Whether it is a short line that is nothing but a link, as menus set in tables have them."""
    return block.kind in ("paragraph", "line") and len(block.text) < _SHORT_LINK and block.text in links


_SHORT_LINK = 25


def with_lost_lists(chosen: list[Block], own: list[Block], links: set[str]) -> list[Block]:
    """`chosen`, with the lists and tables put back that stand between two of its blocks on the page itself."""
    places = {" ".join(block.text.split()): place for place, block in enumerate(chosen)}
    found: dict[int, list[Block]] = {}
    run: list[Block] = []
    last: int | None = None
    for block in own:
        place = places.get(" ".join(block.text.split()))
        if place is None:
            run.append(block)
            continue
        if last is not None and place == last + 1 and _is_lost_list(run, links):
            found[place] = run
        run, last = [], place
    return [block for place, each in enumerate(chosen) for block in (*found.get(place, ()), each)]


def _is_lost_list(run: list[Block], links: set[str]) -> bool:
    listed = [block for block in run if block.kind in ("item", "row")]
    others = [block for block in run if block.kind not in ("item", "row", "heading")]
    linked = [block for block in listed if block.text in links]
    return len(listed) > 1 and not others and len(linked) * 2 < len(listed)


_FURNITURE = frozenset({"nav", "header", "footer", "aside", "form"})


def region_blocks(tree: HtmlElement) -> list[Block]:
    """All blocks of the page's main region, chosen by markup alone."""
    return list(read_blocks(_region(tree), skip=_FURNITURE))


def _region(tree: HtmlElement) -> HtmlElement:
    """The element that holds the main text by its markup: a single <main> or <article>, else the body."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = tree.findall(path)
        if len(found) == 1:
            return found[0]
    body = tree.find("body")
    return tree if body is None else body


def _takes_too_little(chosen: list[Block], own: list[Block], region: HtmlElement) -> bool:
    """Whether less was chosen than half of what the page itself marks as its main text, the words of links aside."""
    taken, there = _amount(chosen), _amount(own)
    if taken < _SHORT:
        return there > 0  # of a page this short, all text in one run is what is left of it
    return region.tag != "body" and taken < _SHARE * (there - _amount_linked(region))


def _amount(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _amount_linked(region: HtmlElement) -> int:
    return sum(len("".join(anchor.itertext()).strip()) for anchor in region.iter("a") if _is_in_text(anchor, region))


def _is_in_text(element: HtmlElement, region: HtmlElement) -> bool:
    for above in element.iterancestors():
        if above is region:
            return True
        if above.tag in _FURNITURE:
            return False
    return False


def _chosen_blocks(tree: HtmlElement, back: dict[int, str]) -> list[Block]:
    from trafilatura import bare_extraction

    try:
        document = bare_extraction(tree, include_comments=False, with_metadata=False)
    except Exception:  # a tree of a shape that it has not met: our own walk reads it
        _log.debug("trafilatura failed", exc_info=True)
        return []
    body = getattr(document, "body", None)
    return [] if body is None else list(read_blocks(body, translate=back))


MOST_SHOWN = 20_000


def shown_text(tree: HtmlElement) -> str:
    """What a reader sees of the page but menus and footers, a line a block, to about MOST_SHOWN characters."""
    body = tree.find("body")
    lines: list[str] = []
    length = 0
    for block in read_blocks(tree if body is None else body, skip=frozenset({"nav", "footer", "head"})):
        lines.append(block.text)
        length += len(block.text)
        if length > MOST_SHOWN:
            break
    return "\n".join(lines)


def footer_text(tree: HtmlElement) -> str:
    """The page's footers, where many pages say when they were last changed."""
    return "\n".join(" ".join("".join(footer.itertext()).split()) for footer in tree.iter("footer"))


# trafilatura makes every kind of blank a plain one; the page's own come through as characters that it leaves alone.

_OTHER_BLANKS = "\u00a0\u202f\u2009\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u200a\u205f\u3000\u1680"
_STAND_INS = [chr(code) for code in range(0x2801, 0x2900)]


def _put_stand_ins(tree: HtmlElement) -> dict[int, str]:
    """Put a character that the page doesn't use for each kind of blank in it; returns the way back."""
    used = set("".join(tree.itertext()))
    blanks = [blank for blank in _OTHER_BLANKS if blank in used]
    free = (mark for mark in _STAND_INS if mark not in used)
    forth = dict(zip(blanks, free, strict=False))
    if forth:
        table = str.maketrans(forth)
        for element in tree.iter(etree.Element):
            if element.text and not element.text.isascii():
                element.text = element.text.translate(table)
            if element.tail and not element.tail.isascii():
                element.tail = element.tail.translate(table)
    return {ord(mark): blank for blank, mark in forth.items()}
