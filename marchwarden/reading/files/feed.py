"""RSS and Atom → blocks: the title of each entry, its day, and its text (RSS 2.0, RSS 1.0, RFC 4287).

Own code beside feedparser: it depends on sgmllib3k and cleans markup by a list of its own; entries are read here as
pages are.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.html.main_text import parse, region_blocks
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.text_blocks import MOST_CHARACTERS, Block, first_blocks
from marchwarden.text.invisible import visible_line

if TYPE_CHECKING:
    from lxml.etree import _Element

# Bytes of a feed that are parsed, and entries that are read. Guesses.
_MAX_BYTES = 10_000_000
_MAX_ENTRIES = 1_000
_ENTRIES = frozenset({"item", "entry"})
_DATES = ("pubDate", "published", "date", "updated", "issued")
# The whole text comes before its summary.
_TEXTS = ("encoded", "content", "description", "summary")


def read_feed(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read the entries of a feed in its order."""
    from lxml import etree

    if len(body) > _MAX_BYTES:
        return Failure(FailureKind.NO_TEXT, f"the feed is larger than {_MAX_BYTES // 1_000_000} MB")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, recover=True
    )
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        return Failure(FailureKind.NO_TEXT, "the feed is damaged")
    entries = [each for each in root.iter(etree.Element) if _name(each) in _ENTRIES][:_MAX_ENTRIES]
    about = next((each for each in root if isinstance(each.tag, str) and _name(each) == "channel"), root)
    links: dict[str, None] = {}
    for entry in entries:
        named = (child for child in entry if isinstance(child.tag, str) and _name(child) == "link")
        ways = (
            (link.get("href") or link.text or "").strip()
            for link in named
            if link.get("rel", "alternate") == "alternate"
        )
        if address := next(filter(None, ways), None):
            links[address] = None
    days = [day for day in map(_day, entries) if day]
    return FileContent(
        tuple(first_blocks(block for entry in entries for block in _blocks(entry))),
        title=_line(_text(about, "title")) or None,
        modified=max(days, default=None),
        links=tuple(links),
        is_prose=False,
    )


def _blocks(entry: _Element) -> Iterator[Block]:
    if title := _line(_text(entry, "title")):
        yield Block("heading", title)
    if day := _day(entry):
        yield Block("line", day.isoformat(), shown=False)
    markup = next(filter(str.strip, (_text(entry, name) for name in _TEXTS)), "")
    tree = parse(f"<html><body>{markup[:MOST_CHARACTERS]}</body></html>") if markup else None
    if tree is not None:
        prepare(tree)
        yield from region_blocks(tree)


def _name(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _text(parent: _Element, name: str) -> str:
    """Return the text or markup of the first child of that name; "" where there is none."""
    from lxml import etree

    child = next((each for each in parent if isinstance(each.tag, str) and _name(each) == name), None)
    if child is None:
        return ""
    if child.get("type") == "xhtml":
        return "".join(etree.tostring(each, encoding="unicode") for each in child)
    return "".join(child.itertext(etree.Element))


def _line(markup: str) -> str:
    """Return a title without its markup, which many feeds escape."""
    tree = parse(markup) if "<" in markup or "&" in markup else None
    return visible_line(markup if tree is None else "".join(tree.itertext()))


def _day(entry: _Element) -> date | None:
    for written in filter(None, (_text(entry, name).strip() for name in _DATES)):
        try:
            return parsedate_to_datetime(written).date()
        except ValueError:
            if day := as_date(written):
                return day
    return None
