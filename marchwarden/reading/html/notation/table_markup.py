"""Tables in other markup than that of tables, and rows that name columns by their place or look alone.

ARIA roles make a table of any elements; older pages write the names of columns in bold.
"""

from __future__ import annotations

from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

_TAG_OF_ROLE = {
    "table": "table",
    "grid": "table",
    "row": "tr",
    "columnheader": "th",
    "rowheader": "th",
    "cell": "td",
    "gridcell": "td",
}
# Elements of a page that become parts of tables. A guess that bounds the time.
_MAX_PARTS = 20_000
# Cells of a row that are looked at. A guess that bounds the time.
_MAX_CELLS = 100


def write_tables(tree: HtmlElement) -> None:
    """Give tables by ARIA roles the tags of tables, and cells that name columns that of names. Changes `tree`."""
    for table in [part for part in tree.iter("div", "section") if part.get("role") in ("table", "grid")]:
        for part in islice(table.iter("div", "span", "section", "ul", "li", "p"), _MAX_PARTS):
            if tag := _TAG_OF_ROLE.get(part.get("role", "")):
                part.tag = tag
    for cell in tree.iterfind(".//thead/tr/td"):
        cell.tag = "th"
    for table in tree.iter("table"):
        rows = list(islice(table.iter("tr"), 2))
        if len(rows) == 2 and _is_bold(rows[0]) and not _is_bold(rows[1]):
            for cell in rows[0]:
                cell.tag = "th"


def _is_bold(row: etree._Element) -> bool:
    """True where the row has several cells, all of them <td>, and all text in each is bold."""
    cells = list(islice(row, _MAX_CELLS))
    return (
        1 < len(cells) < _MAX_CELLS
        and all(cell.tag == "td" and len(cell) == 1 and cell[0].tag in ("b", "strong") for cell in cells)
        and not any((cell.text or "").strip() or (cell[0].tail or "").strip() for cell in cells)
    )
