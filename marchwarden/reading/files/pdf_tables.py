"""Rows of tables of a PDF → cells in columns, and the names of the columns, over the ends of pages too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from marchwarden.reading.text_blocks import CELL_GAP, Cell, join_cells


class Part(NamedTuple):
    """Words of a line between two blanks that are wider than usual, with their place in points."""

    text: str
    left: float
    right: float
    bottom: float = 0.0


@dataclass
class Row:
    parts: list[Part]
    height: float
    bold: bool
    page: int
    cells: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    is_head: bool = False

    @property
    def text(self) -> str:
        return CELL_GAP.join(self.cells).strip(" |")

    @property
    def header(self) -> str | None:
        return CELL_GAP.join(self.names).strip(" |") or None

    def slices(self) -> tuple[Cell, ...]:
        """Return the cells as slices of the row's text."""
        return join_cells(self.cells, self.names if len(self.names) == len(self.cells) else ())[1]


# Distance of the lines of one cell, in heights, at most. A guess.
_LINE_DISTANCE = 1.6
# Share of the rows that may have a word between two columns, and the blank between two, in heights. Guesses.
_CROSSING_SHARE = 0.1
_LEAST_GAP = 0.3


def columns(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return where the columns of rows on one page begin and end."""
    change: dict[float, int] = {}
    for row in rows:
        for part in row.parts:
            change[part.left] = change.get(part.left, 0) + 1
            change[part.right] = change.get(part.right, 0) - 1
    most = _CROSSING_SHARE * len(rows)
    least = _LEAST_GAP * min(row.height for row in rows)
    found: list[tuple[float, float]] = []
    inked, start = 0, None
    for x in sorted(change):
        inked += change[x]
        if inked > most and start is None:
            start = found.pop()[0] if found and x - found[-1][1] < least else x
        elif inked <= most and start is not None:
            found.append((start, x))
            start = None
    return found


def divide(rows: Sequence[Row], places: Sequence[tuple[float, float]]) -> list[Row]:
    """Return the rows with their words in the cells of these columns.

    Programs may draw cell after cell: words are put together by their height on the page. A line that goes on with
    the cells above it, as long cells do, is joined to them.
    """
    middles = [(one[1] + two[0]) / 2 for one, two in pairwise(places)]
    lines: list[Row] = []
    last = 0.0
    found: list[Row] = []
    drawn = [(part, row) for row in rows for part in row.parts]
    for part, row in sorted(drawn, key=lambda each: -each[0].bottom):
        if not lines or last - part.bottom > 0.4 * row.height:
            lines.append(Row([], row.height, row.bold, row.page))
            last = part.bottom
        lines[-1].parts.append(part)
        lines[-1].bold = lines[-1].bold and row.bold
    for line in lines:
        cells: list[list[Part]] = [[] for _ in places]
        for part in line.parts:
            cells[sum(middle < (part.left + part.right) / 2 for middle in middles)].append(part)
        line.cells = [" ".join(part.text for part in sorted(cell, key=lambda each: each.left)) for cell in cells]
        filled = sum(map(bool, line.cells))
        above = found[-1] if found else None
        is_near = above and above.parts[-1].bottom - line.parts[-1].bottom < _LINE_DISTANCE * line.height
        if above and is_near and filled < len(places) and (filled == 1 or not line.cells[0]):
            above.cells = [_joined(one, two) for one, two in zip(above.cells, line.cells, strict=True)]
            above.parts += line.parts
        else:
            found.append(line)
    for line in found:
        line.cells = [cell.replace("\uffff", "").replace("\ufffe", "-") for cell in line.cells]
    return found


def _joined(one: str, two: str) -> str:
    return one.rstrip("\uffff\ufffe") + two if one.endswith("\ufffe") else f"{one} {two}".strip()


def fits(parts: Sequence[Part], places: Sequence[tuple[float, float]], least: int) -> bool:
    """True for a line that has words in `least` columns, and none that stand in two."""
    held = [
        [at for at, (left, right) in enumerate(places) if part.left < right and left < part.right] for part in parts
    ]
    filled = {at for each in held for at in each}
    return len(filled) >= min(least, len(places)) and all(len(each) <= 1 for each in held)


# Share of the rows that hold a number where a head has none. A guess.
_NUMBERED_SHARE = 0.9


def name_columns(rows: Sequence[Row]) -> None:
    """Give the rows of a table the names of its columns, where its first row is a head; repeated heads are told."""
    if len(rows) < 3:
        return
    head, others = rows[0], rows[1:]
    repeated = [row for one, row in pairwise(rows) if one.page != row.page and row.cells == head.cells]
    same = [row for row in others if len(row.cells) == len(head.cells)]
    numbered = sum(_has_digit(row) or len(row.cells) != len(head.cells) for row in others)
    if not (
        repeated
        or (head.bold and not any(row.bold for row in others))
        or (not _has_digit(head) and same and numbered >= _NUMBERED_SHARE * len(others))
    ):
        return
    head.is_head = True
    for row in others:
        row.is_head = row in repeated
        if not row.is_head and len(row.cells) == len(head.cells):
            row.names = head.cells


def _has_digit(row: Row) -> bool:
    return any(map(str.isdigit, row.text))
