"""Rows of cells → blocks: each row is one, below the names of its columns and the title of its table.

Rows often stand far below the names of their columns, so each cell is written with its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from marchwarden.reading.text_blocks import CELL_GAP, Block, join_cells
from marchwarden.text.invisible import visible_line

# A number or date, with a sign, unit or currency: no name of a column. Years can name columns.
_VALUE = re.compile(r"[^\w]*\d[\d\s.,:/'+-]*[^\W\d_]{0,3}[^\w]*", re.ASCII)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
# Columns of a table that are read; a sheet can have 16,384. A guess that bounds the work for one row.
MAX_COLUMNS = 500
# Characters of a line above a table that is its title. A guess, the same as for HTML.
_MAX_TITLE_CHARS = 200


def table_blocks(rows: Iterable[Sequence[str]], *, has_names: bool | None = None) -> Iterator[Block]:
    """Yield a block for each row that isn't empty; a row of one cell is a title of the rows below it.

    `has_names` tells if the first row of several cells names the columns; None where the cells have to tell.
    """
    title = ""
    names: Sequence[str] = ()
    waiting: Sequence[str] | None = None
    is_first = True
    for raw in rows:
        texts = [visible_line(cell) for cell in raw[:MAX_COLUMNS]]
        while texts and not texts[-1]:
            texts.pop()
        filled = sum(map(bool, texts))
        if not filled:
            continue
        if waiting is not None:
            if filled > 1 and (has_names or _are_distinct(waiting) or any(map(_VALUE.fullmatch, texts))):
                names = waiting
                yield Block("row", _joined(names), shown=False)
            else:  # names need a row below that they name, and one with a value where two are the same
                yield _row(waiting, (), title)
            waiting = None
        if filled == 1:
            text = next(filter(None, texts))
            if not names:
                title = text if len(text) <= _MAX_TITLE_CHARS else ""
            yield _row(texts, names, title) if names else Block("line", text)
        elif is_first and (has_names if has_names is not None else _are_names(texts)):
            waiting, is_first = texts, False
        else:
            is_first = False
            yield _row(texts, names, title)
    if waiting is not None:
        yield _row(waiting, (), title)


def _are_names(texts: Sequence[str]) -> bool:
    filled = [text for text in texts if text]
    values = [text for text in filled if _VALUE.fullmatch(text)]
    is_told = all(map(_YEAR.fullmatch, values)) and len(values) < len(filled)
    return is_told and len(set(filled)) > 1


def _are_distinct(texts: Sequence[str]) -> bool:
    filled = [text for text in texts if text]
    return len(set(filled)) == len(filled)


def _row(texts: Sequence[str], names: Sequence[str], title: str) -> Block:
    text, cells = join_cells(texts, names, writes_names=any(names))
    header = " · ".join(filter(None, (title, _joined(names))))
    return Block("row", text, header=header or None, cells=cells)


def _joined(texts: Sequence[str]) -> str:
    return CELL_GAP.join(texts).strip(" |")
