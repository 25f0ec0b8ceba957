"""HTML → the blocks of its main text: what a reader sees of it, in reading order, without navigation.

A thread is read post by post. Of other pages the main region is walked without its furniture; where that is an
article, trafilatura chooses more finely. Metadata and walls are read elsewhere, from the same tree.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from marchwarden.reading.html.blocks import read_blocks
from marchwarden.reading.html.boilerplate import furniture_in
from marchwarden.reading.html.forum_posts import Post, posts_in, quotes_in
from marchwarden.reading.html.page_type import PageKind, declared_kind
from marchwarden.reading.passages import MOST_CHARACTERS, Block

_log = logging.getLogger(__name__)

_ENCODING_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>", re.IGNORECASE)

MOST_ELEMENTS = 15_000
"""A larger page is not looked through for posts, and trafilatura is not asked: either would take seconds."""

# Chosen on one half of a public set of pages of seven kinds; evals/reading/extraction.py measures both halves.
_SHORT = 250
_LONG = 100
_PROSE = 0.7
_LEAST = 0.5
_MOST = 1.1


def parse(markup: str) -> HtmlElement | None:
    """The document's tree, comments and processing instructions left out; None where there is nothing in it."""
    markup = _ENCODING_DECLARATION.sub("", markup[:MOST_CHARACTERS].replace("\0", ""), count=1)
    parser = HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        return document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


# The main text


def main_blocks(tree: HtmlElement) -> list[Block]:
    """The main text of a tree from which `drop_hidden` took what isn't seen. Changes `tree`."""
    back = _put_stand_ins(tree)
    region = _region(tree)
    is_huge = sum(1 for _ in tree.iter()) > MOST_ELEMENTS
    kind = declared_kind(tree)
    if not is_huge and (posts := posts_in(region, kind)):
        return without_repeats(_thread_blocks(tree, posts, back))
    links = {" ".join("".join(anchor.itertext()).translate(back).split()) for anchor in tree.iter("a")}
    own = _own_blocks(region, kind, back)
    is_short = _quotable(own) < _SHORT
    if not is_huge and (kind == "article" or is_short or (kind != "product" and _is_prose(own))):
        chosen = _chosen_blocks(tree, back)
        if _is_better(chosen, own, declared=kind == "article"):
            return _without_buttons(with_lost_lists(chosen, own, links), links)
    if is_short and region.tag != "body":
        own = _own_blocks(_body(tree), kind, back)
    return _without_buttons(own, links)


def _without_buttons(blocks: list[Block], links: set[str]) -> list[Block]:
    return [replace(block, shown=False) if _is_button(block, links) else block for block in blocks]


def _own_blocks(region: HtmlElement, kind: PageKind | None, back: dict[int, str]) -> list[Block]:
    furniture = furniture_in(region, with_comments=kind != "forum")
    return without_repeats(read_blocks(region, left_out=furniture, translate=back))


def _is_prose(blocks: list[Block]) -> bool:
    long = sum(
        len(block.text) for block in blocks if block.kind in ("paragraph", "line") and len(block.text) >= _LONG
    )
    return long > _PROSE * _amount(blocks)


def _is_better(chosen: list[Block], own: list[Block], *, declared: bool) -> bool:
    """Whether `chosen` is not merely a part of what the page says, nor more than its main region."""
    taken, there = _amount(chosen), _amount(own)
    if _quotable(own) < _SHORT:
        return not own or (taken >= _SHORT and _is_prose(chosen))
    if taken > _MOST * there:
        return False
    return taken >= _LEAST * there or (declared and _is_prose(chosen))


def _thread_blocks(tree: HtmlElement, posts: list[Post], back: dict[int, str]) -> Iterator[Block]:
    """The thread's title, and of each post who wrote it and when, which is no passage, and what it says."""
    title = next(tree.iter("h1"), None)
    if title is not None:
        yield from read_blocks(title, translate=back)
    said = ""
    for post in posts:
        for element in post.about:
            for block in read_blocks(element, translate=back):
                yield replace(block, kind="line", shown=False)
        yield from read_blocks(post.content, left_out=quotes_in(post.content, said), translate=back)
        said += " " + " ".join("".join(post.content.itertext()).split())


def without_repeats(blocks: Iterable[Block]) -> list[Block]:
    """The blocks, without what stood there before: a quoted post, or what is there once for each layout, with the
    shorter blocks that follow it both times; and without what stands there twice running.

    A longer block that is there more often stays: it is said of each of several things, as a condition of offers.
    """
    blocks = list(blocks)
    texts = [" ".join(block.text.split()) for block in blocks]
    times = Counter(text for text in texts if len(text) >= _LONG_ENOUGH_TO_REPEAT)
    first: dict[str, int] = {}
    kept: list[Block] = []
    repeated = -1
    for at, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        goes_on = repeated >= 0 and repeated + 1 < at and texts[repeated + 1] == text
        if goes_on or (text in first and 1 < times[text] <= _MOST_COPIES):
            repeated = repeated + 1 if goes_on else first[text]
            continue
        repeated = -1
        if at == 0 or texts[at - 1] != text or block.kind not in ("heading", "paragraph"):
            kept.append(block)
        first.setdefault(text, at)
    return kept


_LONG_ENOUGH_TO_REPEAT = 50
_MOST_COPIES = 3


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
    return _body(tree)


def _body(tree: HtmlElement) -> HtmlElement:
    body = tree.find("body")
    return tree if body is None else body


def _amount(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _quotable(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks if block.kind != "heading" and block.shown)


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
    lines: list[str] = []
    length = 0
    for block in read_blocks(_body(tree), skip=frozenset({"nav", "footer", "head"})):
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
