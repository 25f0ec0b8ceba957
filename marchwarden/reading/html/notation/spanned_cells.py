"""Cells that span several rows or columns, written out into each of them."""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement

_CELLS = frozenset({"td", "th"})
# Columns that one cell spans, and cells that are added to a page. Guesses that bound the work.
_MAX_SPAN = 50
_MAX_ADDED_CELLS = 5_000
# Characters: a longer text, or one below no column name, is not repeated. A guess.
_MAX_REPEATED_CHARS = 80


_has_spans = etree.XPath("boolean(.//*[@rowspan or @colspan])")


def spread_cells(tree: HtmlElement) -> None:
    """Repeat spanned cells, so that each row has a cell for each of its columns. Changes `tree`.

    Tables within tables only lay out the page, and stay as they are.
    """
    left = _MAX_ADDED_CELLS
    for table in tree.iter("table"):
        if table.find(".//table") is None and _has_spans(table):
            left -= _spread_table(table, left)


def _spread_table(table: etree._Element, most: int) -> int:
    """Return the number of cells added, `most` of them at most."""
    added = 0
    above: dict[int, tuple[int, etree._Element]] = {}  # column → rows that are still to come, cell
    for row in table.iter("tr"):
        cells = [cell for cell in row if cell.tag in _CELLS]
        # A row of one cell is a title within the table.
        is_title = len(cells) == 1 and not above
        column = 0
        for cell in cells:
            while column in above:
                added += _add_copy(row, above, column, before=cell)
                column += 1
            columns = 1 if is_title else _span(cell, "colspan")
            rows = _span(cell, "rowspan")
            for more in range(columns):
                if rows > 1 and not is_title:
                    above[column] = rows - 1, cell
                column += 1
                if more:
                    cell.addnext(_copy_of(cell))
                    added += 1
            if added >= most:
                return added
        while column in above:
            added += _add_copy(row, above, column, before=None)
            column += 1
    return added


def _span(cell: etree._Element, name: str) -> int:
    text = (cell.attrib.pop(name, None) or "").strip()
    return min(int(text), _MAX_SPAN) or 1 if re.fullmatch(r"\d{1,4}", text, re.ASCII) else 1


def _add_copy(
    row: etree._Element, above: dict[int, tuple[int, etree._Element]], column: int, before: etree._Element | None
) -> int:
    left, cell = above.pop(column)
    if left > 1:
        above[column] = left - 1, cell
    if before is None:
        row.append(_copy_of(cell))
    else:
        before.addprevious(_copy_of(cell))
    return 1


def _copy_of(cell: etree._Element) -> etree._Element:
    copy = etree.SubElement(cell, cell.tag)
    cell.remove(copy)
    text = " ".join("".join(cell.itertext()).split())
    copy.text = text if len(text) <= _MAX_REPEATED_CHARS else None
    return copy
