"""ODP → blocks: title, texts, tables and notes of each visible slide (OpenDocument 1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from marchwarden.observations import Failure
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.office.odt import DRAW, PRESENTATION, OpenDocument, read_open_document
from marchwarden.reading.text_blocks import Block

if TYPE_CHECKING:
    from lxml.etree import _Element

_NOTES = "Notes"
_TITLES = frozenset({"title", "subtitle"})
# Placeholders that repeat the same on each slide, or stand empty.
_REPEATED = frozenset({"header", "footer", "date-time", "page-number"})


def read_odp(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a presentation; hidden slides are left out. Places are `slide=3`."""
    return read_open_document(body, "presentation", _blocks)


def _blocks(reader: OpenDocument, content: _Element) -> Iterator[Block]:
    hidden = reader.styles_where("drawing-page-properties", f"{PRESENTATION}visibility", "hidden")
    for number, slide in enumerate(content.iterfind(f"{DRAW}page"), 1):
        if slide.get(f"{DRAW}style-name") in hidden:
            continue
        place = ((0, f"slide={number}"),)
        title, blocks = "", list[Block]()
        for shape in slide:
            kind = shape.get(f"{PRESENTATION}class", "")
            if kind in _REPEATED or shape.get(f"{PRESENTATION}placeholder") == "true":
                continue
            if shape.tag == f"{PRESENTATION}notes":
                notes = (part for part in shape if part.get(f"{PRESENTATION}class") == "notes")
                found = (block for part in notes for block in reader.blocks(part, "paragraph"))
                blocks += [Block("paragraph", block.text, header=_NOTES) for block in found]
                continue
            told = list(reader.blocks(shape, "paragraph"))
            if kind in _TITLES and told and not title:
                title = " ".join(" ".join(block.text for block in told).split())
            else:
                blocks += told
        yield Block("heading", title if title and blocks else f"Slide {number}", places=place)
        for block in blocks or ([Block("line", title)] if title else []):
            yield replace(block, places=place)
