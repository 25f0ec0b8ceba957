"""Sections of a paper as places: the id that an address can name, `#S3.SS2`, for the blocks below each heading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from lxml import etree

from marchwarden.reading.text_blocks import Block

_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
# Headings of a page that are looked at. A guess that bounds the time.
_MAX_HEADINGS = 2_000
# An id that stands in an address as it is.
_ID = re.compile(r"[A-Za-z][\w.:-]{0,79}$")


@dataclass(frozen=True)
class Section:
    heading: str
    """Letters and digits of the heading, in lower case."""
    id: str | None
    """Id that an address can name; None where the section has none."""


def sections_of(tree: etree._Element) -> list[Section]:
    """Return a section for each heading of a page, in its order, with the id of the innermost part that has one."""
    found = []
    for heading in islice(tree.iter(*_HEADINGS), _MAX_HEADINGS):
        # The heading, the parts of the page that begin with it, innermost first, and those around it.
        parts = [heading]
        for above in islice(heading.iterancestors("section", "div", "header"), 3):
            if any(before.tag in _HEADINGS or before.tag == "p" for before in parts[-1].itersiblings(preceding=True)):
                break
            parts.append(above)
        parts += islice(heading.iterancestors("section"), 5)
        named = next((part.get("id") for part in parts if _ID.match(part.get("id") or "")), None)
        found.append(Section(_letters("".join(heading.itertext())), named))
    return found


def with_places(blocks: Iterable[Block], sections: list[Section]) -> Iterator[Block]:
    """Yield the blocks, each with the section that it stands in as its place."""
    left = list(sections)
    place: str | None = None
    for block in blocks:
        if block.kind == "heading":
            heading = _letters(block.text)
            at = next((at for at, section in enumerate(left) if section.heading == heading), None)
            if at is not None:
                place = left[at].id
                del left[: at + 1]
        yield replace(block, places=((0, place),)) if place else block


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
