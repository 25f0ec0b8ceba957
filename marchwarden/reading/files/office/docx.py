"""DOCX → blocks: paragraphs, headings, list items and table rows of the main text, and its footnotes (ECMA-376).

Own code beside python-docx: it leaves out inserted text (tracked changes), content controls and footnotes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.files.archive import Archive, Unpackable, number_in
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.office.core_properties import core_properties
from marchwarden.reading.files.office.shown_text import raised, shown_lines
from marchwarden.reading.files.tabular.rows import table_blocks
from marchwarden.reading.text_blocks import MAX_CELL_CHARS, Block, BlockKind, first_blocks

if TYPE_CHECKING:
    from lxml.etree import _Element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Deleted text, text that was moved elsewhere, and the second copy for programs that can't show the first.
_NOT_SHOWN = frozenset(
    {f"{_W}del", f"{_W}moveFrom", "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
# Columns that one cell spans. A guess that bounds the work.
_MAX_SPAN = 50


def read_docx(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read the visible text of a document: nothing that was deleted or hidden."""
    try:
        archive = Archive(body)
        # Kinds of paragraphs by the ids of their styles. Word stores the English names in every language.
        kinds: dict[str, BlockKind] = {}
        styles = archive.xml("word/styles.xml").iter(f"{_W}style") if "word/styles.xml" in archive else ()
        for style in styles:
            name = _value(style.find(f"{_W}name")).lower()
            if name.startswith("heading") or name in ("title", "subtitle"):
                kinds[style.get(f"{_W}styleId", "")] = "heading"
            elif name.startswith("list ") and name != "list paragraph":
                kinds[style.get(f"{_W}styleId", "")] = "item"
        blocks = list(first_blocks(_blocks(archive.xml("word/document.xml"), kinds)))
        if "word/footnotes.xml" in archive:
            blocks += first_blocks(_blocks(archive.xml("word/footnotes.xml"), kinds))
        return core_properties(archive).of(tuple(blocks))
    except Unpackable as error:
        return Failure(FailureKind.NO_TEXT, f"the document can't be read: {error}")


def _blocks(parent: _Element, kinds: dict[str, BlockKind]) -> Iterator[Block]:
    for child in parent:
        if child.tag in _NOT_SHOWN:
            continue
        if child.tag == f"{_W}p":
            if not (text := _text(child)):
                continue
            kind = kinds.get(_value(child.find(f"{_W}pPr/{_W}pStyle")), "paragraph")
            if kind == "paragraph" and child.find(f"{_W}pPr/{_W}numPr") is not None:
                kind = "item"
            yield Block(kind, " ".join(text.split()) if kind == "heading" else text)
        elif child.tag == f"{_W}tbl":
            yield from _table(child, kinds)
        elif child.tag not in (f"{_W}sectPr", f"{_W}sdtPr"):  # containers: body, content controls, insertions, notes
            yield from _blocks(child, kinds)


def _text(element: _Element) -> str:
    """Return the visible characters of an element, without blank lines."""
    from lxml import etree

    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start",))
    for _, each in walk:
        is_run = each.tag == f"{_W}r"
        # Hidden text, and text that is struck out.
        marks = [each.find(f"{_W}rPr/{_W}{name}") for name in ("vanish", "strike", "dstrike")] if is_run else []
        is_hidden = any(mark is not None and mark.get(f"{_W}val", "1") not in ("0", "false", "off") for mark in marks)
        if is_hidden or each.tag in _NOT_SHOWN:
            walk.skip_subtree()
        elif is_run and _value(each.find(f"{_W}rPr/{_W}vertAlign")) == "superscript":
            pieces.append(raised("".join(part.text or "" for part in each.iter(f"{_W}t"))))
            walk.skip_subtree()
        elif each.tag == f"{_W}t":
            pieces.append(each.text or "")
        elif each.tag in (f"{_W}br", f"{_W}cr", f"{_W}p"):
            pieces.append("\n")
        elif each.tag == f"{_W}tab":
            pieces.append(" ")
        elif each.tag == f"{_W}noBreakHyphen":
            pieces.append("-")
    return shown_lines("".join(pieces))


def _table(table: _Element, kinds: dict[str, BlockKind]) -> Iterator[Block]:
    """Yield a block for each row; a table that only arranges text, or holds other tables, is read cell by cell."""
    rows = [_children_of(row, "tc") for row in _children_of(table, "tr")]
    arranges = table.find(f".//{_W}tbl") is not None or all(len(row) < 2 for row in rows)
    # The text of a cell that spans several rows or columns is repeated in each of them.
    texts: list[list[str]] = []
    for row in [] if arranges else rows:
        spread: list[str] = []
        for cell in row:
            text = " ".join(_text(cell).split())
            merged = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merged is not None and _value(merged) in ("", "continue") and texts and len(spread) < len(texts[-1]):
                text = texts[-1][len(spread)]
            columns = number_in(_value(cell.find(f"{_W}tcPr/{_W}gridSpan")), _MAX_SPAN)
            spread += [text] * (columns if columns is not None and len(row) > 1 else 1)
        texts.append(spread)
    if arranges or any(len(cell) > MAX_CELL_CHARS for row in texts for cell in row):
        for row in rows:
            for cell in row:
                yield from _blocks(cell, kinds)
        return
    look = table.find(f"{_W}tblPr/{_W}tblLook")
    if table.find(f"{_W}tr/{_W}trPr/{_W}tblHeader") is not None:
        has_names: bool | None = True
    else:  # Word marks the first row of every new table as special, so that a 1 says nothing
        has_names = False if look is not None and look.get(f"{_W}firstRow") in ("0", "false") else None
    yield from table_blocks(texts, has_names=has_names)


def _children_of(parent: _Element, name: str) -> list[_Element]:
    """Return the rows of a table, or the cells of a row, wrapped or not, without those of tables inside."""
    return [each for each in parent.iter(_W + name) if next(each.iterancestors(parent.tag)) is parent]


def _value(element: _Element | None) -> str:
    return "" if element is None else element.get(f"{_W}val", "")
