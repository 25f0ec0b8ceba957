"""Tables of figures for any width: a figure is never cut, and a line that goes to a file ends where its text does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len, chop_cells
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

# Blank columns before each column of figures.
GAP = 2
# A space in a head at which the head never breaks.
NO_BREAK = "\u00a0"
INTERVAL = f"95{NO_BREAK}% interval"
# Columns that a name keeps before a column of figures is given up. A guess.
NAME_COLUMNS = 12
# Columns of running text, at most, however wide the terminal; those left free behind it; and the least. Guesses.
PROSE_WIDTH, MARGIN, LEAST_WIDTH = 102, 2, 16

# Columns that a text needs beside a name, not to stand below it. A guess.
LEAST_BESIDE = 30


@dataclass(frozen=True)
class Figures:
    """A table with a name in each row and figures behind it.

    On a narrow terminal, heads and names break at their spaces; then columns of `spare` are left out; then each row
    becomes a paragraph.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    spare: Sequence[str] = ()
    """Heads of the columns that can be left out, the first to go first."""
    styles: Sequence[str] = ()
    """A rich style for each row; none where the rows have no style."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = self._columns(options.max_width)
        shown = self._table(columns, options.max_width) if columns else self._stacked(options.max_width)
        yield from trimmed(shown, console, options)
        yield Text("")

    def _columns(self, width: int) -> list[int]:
        """Return the columns that fit; none where not all that are needed do."""
        names = [self.head[0], *(row[0] for row in self.rows)]
        least_name = min(max(map(cell_len, names), default=0), max(NAME_COLUMNS, _longest_word(names)))
        columns = list(range(len(self.head)))
        for given_up in (None, *self.spare):
            columns = [each for each in columns if self.head[each] != given_up]
            if least_name + self._figures_width(columns, whole=False) <= width:
                return columns
        return []

    def _figures_width(self, columns: Sequence[int], *, whole: bool) -> int:
        """Return the width of the figures in cells, gaps included; `whole`: with each head on one line."""
        total = 0
        for each in columns[1:]:
            head = cell_len(self.head[each]) if whole else _longest_word([self.head[each]])
            total += GAP + max(head, *(cell_len(row[each]) for row in self.rows), 0)
        return total

    def _table(self, columns: Sequence[int], width: int) -> Table:
        longest_name = max((cell_len(row[0]) for row in (self.head, *self.rows)), default=0)
        # Heads stand on one line where there is room for that, else each of their words on a line of its own.
        whole = longest_name + self._figures_width(columns, whole=True) <= width
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
        table.add_column(self.head[0], overflow="fold")
        for each in columns[1:]:
            head = (self.head[each] if whole else "\n".join(self.head[each].split(" "))).replace(NO_BREAK, " ")
            table.add_column(head, justify="left" if not head else "right", no_wrap=True, overflow="fold")
        for place, row in enumerate(self.rows):
            style = self.styles[place] if self.styles else ""
            table.add_row(*(Text(row[each]) for each in columns), style=style)
        return table

    def _stacked(self, width: int) -> Text:
        lines = []
        for place, (name, *figures) in enumerate(self.rows):
            style = self.styles[place] if self.styles else ""
            said = [
                f"{head.replace(NO_BREAK, ' ')} {each}".strip()
                for head, each in zip(self.head[1:], figures, strict=True)
                if each
            ]
            lines += [Text(line, style=style) for line in (name, *_packed(said, width - 2))]
        return Text("\n").join(lines)


@dataclass(frozen=True)
class Indented:
    """A paragraph, moved two columns to the right."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return trimmed(Padding(self.text, (0, 0, 0, 2)), console, options)


@dataclass(frozen=True)
class Prose:
    """Running text with a margin, in which the first line may have a mark. Addresses and paths are never broken: a
    terminal wraps them itself, and they can be copied."""

    text: Text
    margin: int = 2
    mark: str = ""
    mark_style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, PROSE_WIDTH) - self.margin - MARGIN
        before = Segment(f"{self.mark:<{self.margin}}", console.get_style(self.mark_style or "none"))
        for line in self.text.divide(line_breaks(self.text.plain, max(width, LEAST_WIDTH))):
            line.rstrip()
            line.stylize_before(line.style)  # which rendering leaves out
            if line.plain or self.mark:
                yield before
            yield from line.render(console)
            yield Segment.line()
            before = Segment(" " * self.margin)


@dataclass(frozen=True)
class Lines:
    """Text as wide as the terminal, behind a margin; as in prose, addresses and paths are never broken."""

    text: Text
    margin: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width - self.margin, LEAST_WIDTH)
        for whole in self.text.split("\n", allow_blank=True):
            for line in whole.divide(line_breaks(whole.plain, width)):
                line.rstrip()
                line.stylize_before(line.style)
                if line.plain:
                    yield Segment(" " * self.margin)
                yield from line.render(console)
                yield Segment.line()
        yield from [Segment.line()] * (len(self.text.end) - 1)


@dataclass(frozen=True)
class Entries:
    """Names, each with a text beside it; below it on a narrow terminal."""

    rows: Sequence[tuple[Text, Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        margin = max((name.cell_len for name, _ in self.rows), default=0) + GAP
        is_narrow = options.max_width - margin < LEAST_BESIDE
        for name, text in self.rows:
            yield from name.render(console)
            if is_narrow:
                yield Segment.line()
                yield from console.render(Lines(text, 2 * GAP), options)
                continue
            first, *others = console.render(Lines(text, margin), options)
            yield Segment(" " * (margin - name.cell_len)) if first.text.isspace() else first
            yield from others


def line_breaks(text: str, width: int) -> list[int]:
    """Return the places at which lines of `width` cells end: between words, and in a word that is too long, unless it
    can be an address, a path or another name."""
    found: list[int] = []
    room = width
    for word in re.finditer(r"\S+\s*", text):
        bare = word[0].rstrip()
        if cell_len(bare) > room < width:
            found.append(word.start())
            room = width
        if cell_len(bare) > width and not bare.isascii():
            start = word.start()
            *whole, last = chop_cells(bare, width)
            for piece in whole:
                start += len(piece)
                found.append(start)
            room -= cell_len(last) + 1
        else:
            room -= cell_len(word[0])
    return found


@dataclass(frozen=True)
class Trimmed:
    """Anything, without the blanks at the end of its lines."""

    shown: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return trimmed(self.shown, console, options)


def trimmed(shown: RenderableType, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
    """Yield what is drawn, without the blanks at the end of each line."""
    for line in Segment.split_lines(console.render(shown, options)):
        while line and not line[-1].text.strip() and not line[-1].control:
            line = line[:-1]
        if line:
            *start, last = line
            yield from start
            yield Segment(last.text.rstrip(), last.style, last.control)
        yield Segment.line()


def _packed(said: Sequence[str], width: int) -> Iterator[str]:
    """Yield lines of as many figures as fit, two columns to the right."""
    line = ""
    for each in said:
        longer = f"{line} · {each}" if line else each
        if line and cell_len(longer) > width:
            yield f"  {line}"
            longer = each
        line = longer
    if line:
        yield f"  {line}"


def _longest_word(texts: Sequence[str]) -> int:
    return max((cell_len(word) for text in texts for word in text.split(" ")), default=0)
