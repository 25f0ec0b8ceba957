"""Blocks of text: what readers of all kinds of pages and files give, whatever markup it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

BlockKind: TypeAlias = Literal["heading", "paragraph", "item", "row", "line", "code"]

# What stands between the cells of a row.
CELL_GAP = " | "
# Characters: a table with a longer cell only arranges text. A guess.
MAX_CELL_CHARS = 400

# Characters of text, or of markup: about a thousand pages of a book. The rest is left out, however much a server
# sends or an archive unpacks to.
MOST_CHARACTERS = 3_000_000


@dataclass(frozen=True)
class Cell:
    """Cell of a table row: a slice of the row's text, the name of its column, and what the slice says beside it."""

    start: int
    end: int
    name: str
    value: str


@dataclass(frozen=True)
class Block:
    """A piece of a page that stands on lines of its own. `text` holds no blank line and no blanks at its ends."""

    kind: BlockKind
    text: str
    header: str | None = None
    """Title of the table and names of the columns of a row, or the term that an item defines; None for others."""
    shown: bool = True
    """False for text that can't be quoted: a row that names the columns says nothing by itself."""
    cells: tuple[Cell, ...] = ()
    """Cells of a table row, in order; none where they were not told apart."""
    places: tuple[tuple[int, str], ...] = ()
    """Offsets in `text`, each with the place of what follows: `page=3` in a file, the id of a section in a paper;
    empty on other web pages."""
    lead_in: int = 0
    """Characters of the line that leads in to code, with its line break; 0 for other blocks."""


def first_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks up to MOST_CHARACTERS, the last one cut between words; no further one is asked for."""
    left = MOST_CHARACTERS
    for block in blocks:
        text = block.text
        if len(text) <= left:
            yield block
        else:
            words = text[: left + 1].rsplit(None, 1)
            yield replace(block, text=words[0] if len(words) > 1 else text[:left], cells=())
        left -= len(text)
        if left <= 0:
            return


def join_cells(
    texts: Sequence[str], names: Sequence[str] = (), *, writes_names: bool = False
) -> tuple[str, tuple[Cell, ...]]:
    """Return the text of a table row, and its cells with the names of their columns.

    `writes_names` writes each cell with the name of its column ("Opened: 1884"), and leaves out cells without a text.
    Elsewhere the places of cells tell their columns.
    """
    text = ""
    cells: list[Cell] = []
    for number, each in enumerate(texts):
        name = names[number] if number < len(names) else ""
        if cells and (each or not writes_names):
            text += CELL_GAP
        if each:
            start = len(text)
            is_told = writes_names and name.rstrip(":") not in ("", each)
            text += f"{name.rstrip(':')}: {each}" if is_told else each
            cells.append(Cell(start, len(text), name, each))
    return text.rstrip(" |"), tuple(cells)
