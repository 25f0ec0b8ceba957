"""ODS → a block for each row of the visible sheets, as its cells are shown (OpenDocument 1.3).

Own code beside odfpy: it has no text without hidden rows and sheets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from marchwarden.observations import Failure
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.office.odt import (
    NOT_SHOWN,
    TABLE,
    TEXT,
    OpenDocument,
    count_of,
    read_open_document,
)
from marchwarden.reading.files.tabular.rows import MAX_COLUMNS, table_blocks
from marchwarden.reading.text_blocks import Block
from marchwarden.text.invisible import visible_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_CELLS = frozenset({f"{TABLE}table-cell", f"{TABLE}covered-table-cell"})
_HIDDEN = frozenset({"collapse", "filter"})


def read_ods(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a spreadsheet, without its hidden sheets, rows and columns; of formulas the last values count."""
    return read_open_document(body, "spreadsheet", _blocks)


def _blocks(reader: OpenDocument, content: _Element) -> Iterator[Block]:
    hidden = reader.styles_where("table-properties", f"{TABLE}display", "false")
    tables = content.findall(f"{TABLE}table")
    sheets = [table for table in tables if table.get(f"{TABLE}style-name") not in hidden]
    for sheet in sheets:
        heading = visible_line(sheet.get(f"{TABLE}name", ""))
        if heading and len(sheets) > 1:
            yield Block("heading", heading)
        yield from table_blocks(_rows(reader, sheet))


def _rows(reader: OpenDocument, sheet: _Element) -> Iterator[list[str]]:
    columns: list[bool] = []  # whether each is hidden
    for column in sheet.iter(f"{TABLE}table-column"):
        left = MAX_COLUMNS - len(columns)
        count = count_of(column, f"{TABLE}number-columns-repeated", left)
        columns += [column.get(f"{TABLE}visibility") in _HIDDEN] * count
    for row in sheet.iter(f"{TABLE}table-row"):
        if row.get(f"{TABLE}visibility") in _HIDDEN:
            continue
        texts: list[str] = []
        for cell in row:
            if cell.tag in _CELLS and len(texts) < MAX_COLUMNS:
                paragraphs = (
                    reader.text(each)
                    for each in cell.iter(f"{TEXT}p")
                    if not any(above.tag in NOT_SHOWN for above in each.iterancestors(*NOT_SHOWN))
                )
                text = " ".join(filter(None, paragraphs))
                texts += [text] * count_of(cell, f"{TABLE}number-columns-repeated", MAX_COLUMNS - len(texts))
        shown = [text for number, text in enumerate(texts) if not (number < len(columns) and columns[number])]
        if any(shown):
            yield from [shown] * count_of(row, f"{TABLE}number-rows-repeated")
