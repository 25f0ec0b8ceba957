"""CSV and TSV → a block for each row, with the names of its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Literal

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.tabular.rows import MAX_COLUMNS, table_blocks
from marchwarden.reading.text_blocks import MOST_CHARACTERS, first_blocks
from marchwarden.text.invisible import visible

_DELIMITERS = ",;\t|"
# Lines by which the delimiter is told. A guess.
_SAMPLE_LINES = 30


def read_csv(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a table; the delimiter is the character that divides its first lines into the most equal numbers of cells.

    Quotation marks that aren't closed are read as letters.
    """
    # More characters than are quoted in the end: delimiters and quotation marks go.
    text = decode(body, content_type)[: 2 * MOST_CHARACTERS].replace("\0", "")
    is_tabbed = (content_type or "").startswith("text/tab-separated-values")
    delimiter = "\t" if is_tabbed else _delimiter_of(text)
    try:
        rows = list(_rows(text, delimiter, csv.QUOTE_MINIMAL))
    except csv.Error:
        try:
            rows = list(_rows(text, delimiter, csv.QUOTE_NONE))
        except csv.Error as error:
            return Failure(FailureKind.NO_TEXT, f"the table can't be read: {error}")
    # One block for each row, with the line that it begins in.
    blocks = zip(table_blocks([cells for _, cells in rows]), rows, strict=True)
    placed = (replace(block, places=((0, f"L{line}"),)) for block, (line, _) in blocks)
    return FileContent(tuple(first_blocks(placed)), is_prose=False)


def _rows(text: str, delimiter: str, quoting: Literal[0, 3]) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty, with the number of its first line, from 1."""
    # The module refuses cells of over 131,072 characters, which a quotation mark that isn't closed makes.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, skipinitialspace=True)
    line = 1
    for cells in reader:
        if any(visible(cell).strip() for cell in cells[:MAX_COLUMNS]):
            yield line, cells
        line = reader.line_num + 1


def _delimiter_of(text: str) -> str:
    lines = [line for line in islice(io.StringIO(text[:200_000]), _SAMPLE_LINES) if line.strip()]

    def fit(delimiter: str) -> tuple[int, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        usual = max(set(counts), key=counts.count, default=1)
        return (counts.count(usual) if usual > 1 else 0), usual

    try:
        return max(_DELIMITERS, key=fit)
    except csv.Error:
        return ","
