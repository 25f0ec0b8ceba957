"""Pieces of text on the pages of a PDF → blocks: columns, running heads, tables, notes, paragraphs over page ends.

Pieces come in the order in which they are drawn, which is mostly the order of reading. It is kept, but for columns
that are drawn line by line. Own code beside pdfminer.six and pymupdf4llm: evals/reading/pdfs.py measures them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from statistics import median
from typing import NamedTuple

from marchwarden.judge.thesaurus import is_english_word
from marchwarden.reading.files.pdf_tables import Part, Row, columns, divide, fits, name_columns
from marchwarden.reading.text_blocks import Block, BlockKind
from marchwarden.text.stop_words import is_stop_word


class Piece(NamedTuple):
    """A run of text on one line, with its place in points from the lower left corner of the page."""

    text: str
    left: float
    right: float
    bottom: float
    height: float
    bold: bool
    turned: bool
    parts: tuple[Part, ...] = ()
    """Its words between blanks that are wider than usual; none where there are no such blanks."""


@dataclass(frozen=True)
class PdfPage:
    width: float
    height: float
    pieces: tuple[Piece, ...]

    @cached_property
    def outermost(self) -> tuple[float, float]:
        """Return the bottoms of the lowest and the highest line."""
        bottoms = [piece.bottom for piece in self.pieces if not piece.turned]
        return min(bottoms, default=0.0), max(bottoms, default=0.0)


@dataclass(frozen=True)
class _Line:
    pieces: tuple[Piece, ...]
    page: int
    at_edge: bool = False
    """True at the top or bottom of a page, where a running head may stand."""

    @cached_property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)

    @property
    def left(self) -> float:
        return self.pieces[0].left

    @property
    def right(self) -> float:
        return max(piece.right for piece in self.pieces)

    @property
    def bottom(self) -> float:
        return self._longest.bottom

    @property
    def height(self) -> float:
        return self._longest.height

    @property
    def bold(self) -> bool:
        return all(piece.bold for piece in self.pieces)

    @cached_property
    def _longest(self) -> Piece:
        return max(self.pieces, key=lambda piece: len(piece.text))


# Heights of letters in which two sizes of type differ. A guess.
_SAME_SIZE = 0.08
_END_MARKS = (".", "!", "?", ":", "。", "！", "？", "।", "؟", "…", '."', ".”", ".’", ".)", '?"', "?”", "!”")
_ITEM = re.compile(r"(?:[-*•‣·▪◦–●]|\(?(?:\d{1,3}|[a-z])[.)]|\[\d{1,3}\])(?:\s+\S|$)")
_NUMBERED = re.compile(r"(?:(?:\d{1,2}|[A-Z])(?:\.\d{1,2})*\.?|[IVX]{1,4}\.)\s+[A-Z]\w")
_CAPTION = re.compile(
    r"(?:fig(?:ure)?|tab(?:le)?|algorithm|listing|scheme|abb(?:ildung)?|tabelle|tableau)\.?\s+\w{1,4}\s*[.:]", re.I
)
_NOTE = re.compile(r"(?:\d{1,3}(?!\d)|[*†‡§¶⁰¹²³⁴⁵⁶⁷⁸⁹]+)\s*[^\W\d]")


def pdf_blocks(pages: Sequence[PdfPage]) -> Iterator[Block]:
    """Yield the blocks of all pages, in the order of reading."""
    pages = [replace(page, pieces=tuple(_justified(page.pieces))) for page in pages]
    body = _body_height(pages)
    placed = [[(line, _place(line, page)) for line in _lines(page, number)] for number, page in enumerate(pages)]
    running = _running_lines([{place for _, place in page} for page in placed])
    lines = [replace(line, at_edge=bool(place[0])) for page in placed for line, place in page if place not in running]
    paragraphs = _Paragraphs(lines, body)
    yield from _join_over_ends(paragraphs.blocks(), paragraphs.words)


def title_of(pages: Sequence[PdfPage]) -> str | None:
    """Return the text in the largest type of the first page's upper half; None where none is larger than the rest."""
    if not pages or not pages[0].pieces:
        return None
    body = _body_height(pages)
    upper = [each for each in pages[0].pieces if each.bottom > pages[0].height * 0.4 and not each.turned]
    lines = [each for each in _joined(_justified(upper), 0) if sum(map(str.isalpha, each.text)) > 2]
    largest = max((each.height for each in lines), default=0.0)
    if largest < body * (1 + 2 * _SAME_SIZE):
        return None
    found = [each.text for each in lines if each.height > largest * (1 - _SAME_SIZE / 2)]
    title = " ".join(found).replace("\uffff", "").replace("\ufffe ", "").replace("\ufffe", "")
    return title if 3 < len(title) <= 300 else None


def _body_height(pages: Iterable[PdfPage]) -> float:
    heights: Counter[float] = Counter()
    for page in pages:
        for piece in page.pieces:
            heights[round(piece.height * 2) / 2] += len(piece.text)
    return heights.most_common(1)[0][0] if heights else 10.0


# Running heads and feet, page numbers

# Share of a page's height, at the top and at the bottom, in which they stand. A guess.
_EDGE_SHARE = 0.12
# Characters of a running line from which on it may stand at another height on other pages. A guess.
_TELLING_CHARS = 20
_DIGITS = re.compile(r"\d+|(?<!\w)[ivxlc]+(?!\w)", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"[–—\s|-]*(?:page\s*)?#(?:\s*(?:of|/)\s*#)?[–—\s|-]*", re.IGNORECASE)

_Place = tuple[str, int]


def _place(line: _Line, page: PdfPage) -> _Place:
    """Return what a running line has in common on all pages: its text but for numbers, and about where it stands."""
    text = _DIGITS.sub("#", line.text)
    # A page number may stand further in, where the margins are wide.
    share = 2 * _EDGE_SHARE if line.bottom in page.outermost and _PAGE_NUMBER.fullmatch(text) else _EDGE_SHARE
    if share * page.height < line.bottom < (1 - share) * page.height:
        return "", 0
    return text, 0 if len(text) >= _TELLING_CHARS or _PAGE_NUMBER.fullmatch(text) else round(line.bottom / 8)


def _running_lines(pages: Sequence[set[_Place]]) -> set[_Place]:
    found: Counter[_Place] = Counter()
    for page in pages:
        found.update(page)
    found.pop(("", 0), None)
    # In a long document a line that opens two chapters is no running head.
    least = 2 if len(pages) < 5 else 3
    numbers = {place for place in found if place[0] and _PAGE_NUMBER.fullmatch(place[0])}
    return {place for place, times in found.items() if times >= least} | numbers


# Lines and columns

# Lines of prose that a column has, at least; characters of each, at the middle. Guesses: cells of tables are shorter.
_LEAST_LINES, _LEAST_CHARS = 5, 18
# The same of a column whose lines go on with a small letter but for so many. Guesses.
_LEAST_RUNNING_LINES, _SURELY_RUNNING_SHARE = 3, 0.6
# Points of a page's width, at most, by the format's own limit of 200 inches.
_MAX_POINTS = 14_400
# Share of the lines that may cross the gutter between two columns, such as titles and figures. A guess.
_CROSSING_SHARE = 0.35
# Columns of a page at most, and the share of lines that begin with a small letter where there are over two. Guesses.
_MOST_COLUMNS = 4
_RUNNING_SHARE = 0.4
# Times that the pieces jump from one column to the other, as a share of the lines, where they are drawn line by line.
_JUMPING_SHARE = 0.4


# Heights by which the blanks of a justified line differ, at most, and equal blanks that tell one, at least. Guesses.
_SAME_BLANK = 0.05
_LEAST_BLANKS = 3


def _justified(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Join the words of justified lines, which are far apart in narrow columns: their blanks are of one width."""
    run: list[Piece] = []

    def joined() -> list[Piece]:
        if len(run) <= _LEAST_BLANKS:
            return run
        parts = tuple(part for piece in run for part in piece.parts or (Part(piece.text, piece.left, piece.right),))
        return [run[0]._replace(text=" ".join(piece.text for piece in run), right=run[-1].right, parts=parts)]

    for piece in pieces:
        if run:
            last, blank = run[-1], piece.left - run[-1].right
            usual = run[1].left - run[0].right if len(run) > 1 else blank
            is_beside = 0 < blank < 3 * piece.height and abs(last.bottom - piece.bottom) < 0.1 * piece.height
            if not is_beside or abs(blank - usual) > _SAME_BLANK * piece.height or last.text.endswith("\ufffe"):
                yield from joined()
                run = []
        run.append(piece)
    yield from joined()


def _lines(page: PdfPage, number: int) -> list[_Line]:
    straight = [piece for piece in page.pieces if not piece.turned]
    turned = [_Line((piece,), number) for piece in page.pieces if piece.turned]
    if len(turned) > len(straight):  # the whole page is turned
        return turned
    gutter = _gutter(straight, 0, page.width)
    if gutter is None:
        return _joined(straight, number) + turned
    sides = [_side(piece, gutter) for piece in straight]
    beside = [side for side in sides if side]
    jumps = sum(one != other for one, other in pairwise(beside))
    if jumps > _JUMPING_SHARE * len(beside):
        return _by_column(straight, gutter, number) + turned
    lines: list[_Line] = []
    start = 0
    for at in range(1, len(straight) + 1):
        if at == len(straight) or sides[at] != sides[start]:
            lines += _joined(straight[start:at], number)
            start = at
    return lines + turned


def _side(piece: Piece, gutter: float) -> int:
    """Return -1 left of the gutter, 1 right of it, 0 across it."""
    return -1 if piece.right <= gutter + 1 else 1 if piece.left >= gutter - 1 else 0


def _gutter(pieces: Sequence[Piece], start: float, end: float, most: int = _MOST_COLUMNS) -> float | None:
    """Return the middle of the blank between two columns of prose, from `start` to `end` on the page.

    None where there are none. Either may be several columns itself, `most` together.
    """
    width = end - start
    if most < 2 or len(pieces) < 2 * _LEAST_RUNNING_LINES or not 0 < width <= end < _MAX_POINTS:
        return None
    # Pieces that begin or end at each point, and so pieces that cross it.
    change = [0] * (int(end) + 2)
    for piece in pieces:
        change[min(len(change) - 1, max(0, int(piece.left)))] += 1
        change[min(len(change) - 1, max(0, int(piece.right) + 1))] -= 1
    crossed = list(accumulate(change))
    middle = range(int(start + width * 0.3), int(start + width * 0.7))
    fewest = min(crossed[x] for x in middle)
    if fewest > _CROSSING_SHARE * len(pieces):
        return None
    free = [x for x in middle if crossed[x] == fewest]
    # The widest run of the least crossed points.
    runs: list[list[int]] = [[free[0]]]
    for x in free[1:]:
        if x == runs[-1][-1] + 1:
            runs[-1].append(x)
        else:
            runs.append([x])
    best = max(runs, key=len)
    gutter = (best[0] + best[-1]) / 2
    for side in (-1, 1):
        column = [piece for piece in pieces if _side(piece, gutter) == side]
        if not _is_column(column, width) and _inner_gutter(column, most - 1) is None:
            return None
    return gutter


def _is_column(pieces: Sequence[Piece], width: float) -> bool:
    """True for one column of prose on a part of the page that is `width` points wide."""
    prose = [piece for piece in pieces if len(piece.text) >= _LEAST_CHARS]
    # Formulas make many short pieces, but little text.
    is_prose = 2 * sum(len(piece.text) for piece in prose) > sum(len(piece.text) for piece in pieces)
    # In columns lines go on with a small letter: cells of a short table begin with capitals.
    is_running = _share_going_on(pieces) >= _SURELY_RUNNING_SHARE
    if len(prose) < (_LEAST_RUNNING_LINES if is_running else _LEAST_LINES) or not is_prose:
        return False
    extent = max(piece.right for piece in prose) - min(piece.left for piece in prose)
    return median(piece.right - piece.left for piece in prose) >= 0.6 * extent and extent >= 0.2 * width


def _inner_gutter(pieces: Sequence[Piece], most: int) -> float | None:
    """Return the gutter within the pieces of one side, which may be several columns; None where it is one."""
    if _share_going_on(pieces) < _RUNNING_SHARE:
        return None
    start, end = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    return _gutter(pieces, max(0.0, start), end, most)


def _share_going_on(pieces: Sequence[Piece]) -> float:
    """Return the share of pieces that begin with a small letter, as lines within a sentence do."""
    return sum(piece.text[:1].islower() for piece in pieces) / max(1, len(pieces))


def _by_column(pieces: Sequence[Piece], gutter: float, number: int) -> list[_Line]:
    """Return the lines from top to bottom, left column first; a piece across the gutter ends the columns above it."""
    lines: list[_Line] = []
    columns: dict[int, list[Piece]] = {-1: [], 1: []}

    def close() -> None:
        for side in (-1, 1):
            column, columns[side] = columns[side], []
            inner = _inner_gutter(column, _MOST_COLUMNS - 1)
            lines.extend(_joined(column, number) if inner is None else _by_column(column, inner, number))

    for piece in sorted(pieces, key=lambda each: (-round(each.bottom), each.left)):
        if side := _side(piece, gutter):
            columns[side].append(piece)
        else:
            close()
            lines.extend(_joined([piece], number))
    close()
    return lines


def _joined(pieces: Iterable[Piece], number: int) -> list[_Line]:
    """Join pieces that follow each other on one line."""
    lines: list[list[Piece]] = []
    for piece in pieces:
        last = lines[-1][-1] if lines else None
        if (
            last
            and abs(piece.bottom - last.bottom) < 0.4 * max(piece.height, last.height)
            and piece.left >= last.right - 2
        ):
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [_Line(tuple(each), number) for each in lines]


# Blocks


@dataclass
class _Draft:
    """A block to which lines may be added."""

    kind: BlockKind
    lines: list[_Line]
    text: str = ""
    row: Row | None = None

    @cached_property
    def height(self) -> float:
        """Height of the letters of its longest line, once it has all its lines."""
        return max(self.lines, key=lambda line: len(line.text)).height


# Distance of two lines, in distances of the page's lines, from which on a new paragraph begins. A guess.
_PARAGRAPH_GAP = 1.25
# Indentation that begins a paragraph, in heights of a letter. A guess.
_INDENT = 0.6
# Characters of a heading, at most. A guess.
_MAX_HEADING_CHARS = 150
# Cells of a row, at most: each is compared with each. A guess.
_MAX_CELLS = 50
# Points by which cells of one column may differ. A guess.
_ALIGNED_POINTS = 3.0


@dataclass
class _Paragraphs:
    """Lines joined to blocks."""

    lines: list[_Line]
    body: float
    words: Counter[str] = field(default_factory=Counter)

    def blocks(self) -> list[_Draft]:
        for line, above in zip(self.lines, [None, *self.lines], strict=False):
            found = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", line.text.lower())
            # The parts of a divided word are no words.
            start = int(above is not None and above.text.endswith("\ufffe"))
            self.words.update(found[start : len(found) - line.text.endswith("\ufffe")])
            for word in found:
                if word.count("-") > 1:
                    self.words.update(map("-".join, pairwise(word.split("-"))))
        gaps = [
            round(above.bottom - below.bottom, 1)
            for above, below in pairwise(self.lines)
            if above.page == below.page and 0 < above.bottom - below.bottom < 3 * self.body
        ]
        pitch = Counter(gaps).most_common(1)[0][0] if gaps else self.body * 1.2
        drafts: list[_Draft] = []
        for at, line in enumerate(self.lines):
            last = drafts[-1] if drafts else None
            if self._is_row(at):
                drafts.append(_Draft("row", [line]))
            elif last and last.kind != "row" and self._goes_on(last, line, pitch):
                last.lines.append(line)
            else:
                drafts.append(_Draft("item" if _ITEM.match(line.text) else "paragraph", [line]))
        for draft in drafts:
            if draft.kind != "row":
                draft.text = join_lines([line.text for line in draft.lines], self.words)
            if draft.kind == "item" and any(line.left < draft.lines[0].left - 1 for line in draft.lines):
                draft.kind = "paragraph"  # that begins with a number
            if draft.kind != "row" and self._is_heading(draft):
                draft.kind = "heading"
        return _with_tables(drafts)

    def _is_row(self, at: int) -> bool:
        """True for cells side by side, where a line next to it has cells in the same columns."""
        line = self.lines[at]
        if len(line.pieces) < 2 or any(len(piece.text) > 60 for piece in line.pieces):
            return False
        if _ITEM.fullmatch(line.pieces[0].text) and len(line.pieces) == 2:
            return False
        beside = [self.lines[each] for each in (at - 1, at + 1) if 0 <= each < len(self.lines)]
        return any(_is_aligned(line, each) for each in beside)

    def _goes_on(self, draft: _Draft, line: _Line, pitch: float) -> bool:
        above = draft.lines[-1]
        if (
            abs(line.height - above.height) > _SAME_SIZE * max(line.height, above.height) * 1.5
            or above.page != line.page
        ):
            return False
        is_item = bool(_ITEM.match(line.text))
        if line.text[0] in "–-" and not _is_short(above, line) and abs(line.left - above.left) < 1:
            is_item = False  # a dash within a sentence
        if is_item or (above.bold != line.bold and len(draft.lines) == 1 and above.bold):
            # A paragraph may begin with bold words.
            return bool(not is_item and not _is_short(above, line))
        if line.right <= above.left or line.left >= above.right:
            return False
        drop = above.bottom - line.bottom
        if drop <= 0 or drop > max(_PARAGRAPH_GAP * pitch, 1.4 * line.height):
            return False
        first = draft.lines[0]
        if draft.kind == "item" and line.left < first.left - 1 and not line.text[:1].islower():
            return False
        # The lines of a caption are centered.
        middles = line.left + line.right - above.left - above.right
        is_centered = bool(_CAPTION.match(first.text)) and abs(middles) < 0.3 * line.height
        if (
            not is_centered
            and line.left - above.left > _INDENT * line.height
            and (len(draft.lines) > 1 or draft.kind != "item")
        ):
            return False
        is_ended = above.text.rstrip().endswith(_END_MARKS) or not line.text[:1].islower()
        return not (is_ended and _is_short(above, line) and not is_centered)

    def _is_heading(self, draft: _Draft) -> bool:
        first, text = draft.lines[0], draft.text
        if len(text) > _MAX_HEADING_CHARS or not any(map(str.isalpha, text)) or text.endswith((".", ",", ";")):
            return False
        if draft.height > self.body * (1 + _SAME_SIZE) and draft.kind == "paragraph":
            return True
        is_bold = all(line.bold for line in draft.lines) and not _CAPTION.match(text)
        return len(draft.lines) <= 2 and (is_bold or bool(_NUMBERED.match(text) and first.text[-1:].isalnum()))


def _is_aligned(line: _Line, other: _Line) -> bool:
    """True where a piece of both lines, but for the first, begins, ends or is centred at the same place.

    The blanks of a justified line may be as wide as those of a table, but do not stand one above the other.
    """
    if max(len(line.pieces), len(other.pieces)) > _MAX_CELLS:
        return False
    return any(
        min(
            abs(one.left - two.left), abs(one.right - two.right), abs(one.left + one.right - two.left - two.right) / 2
        )
        < _ALIGNED_POINTS
        for one in line.pieces[1:]
        for two in other.pieces[1:]
        if len(line.pieces) > 2 or one.right < line.right or abs(one.left - two.left) < _ALIGNED_POINTS
    )


# Characters of a word whose hyphen is judged, at most. A guess.
_MAX_WORD_CHARS = 60


def join_lines(lines: Sequence[str], words: Counter[str]) -> str:
    """Join lines, and the words that are divided at their ends.

    `words` are those of the whole text: they tell a word that has a hyphen anyway.
    """
    parts: list[str] = []
    for line in lines:
        if parts and parts[-1].endswith("\ufffe"):
            parts[-1] = parts[-1][:-1]
            if parts[-1].endswith("\uffff"):
                parts[-1] = parts[-1][:-1]
                parts.append(line)
                continue
            before = re.search(r"[^\W_]+(?:-[^\W_]+)*$", parts[-1][-_MAX_WORD_CHARS:])
            after = re.match(r"[^\W_]+", line)
            if before and after and _has_hyphen(before[0], after[0], words):
                parts.append("-")
        elif parts:
            parts.append("\n")
        parts.append(line)
    return _hyphened("".join(parts))


def _hyphened(text: str) -> str:
    return text.replace("\uffff", "").replace("\ufffe", "-")


# English words that end compounds, and no other words.
_COMPOUND_ENDS = re.compile(
    "aware|based|compatible|driven|friendly|level|needed|only|oriented|running|scale|speaking|specific"
)
# Words that are written as one although both of their parts are words, and that WordNet does not have: some name
# nothing, others have an ending or a prefix that is also a word.
_NO_COMPOUND = re.compile(
    "[a-z]+(?:est|ings)|(?:be|ex|mono|re|sub|super|un)[a-z]+|"
    "(?:some|any|every|no)(?:thing|body|one|where|how)|(?:it|your|my|her|him|our|them)sel(?:f|ves)|"
    "(?:to|in|up|down|out|for|back|after)wards?|(?:what|when|where|who|how|which)ever|"
    "although|unless|without|within|into|onto|upon"
)


def _has_hyphen(before: str, after: str, words: Counter[str]) -> bool:
    """True for a compound that has a hyphen anyway, by the other words of the text or of English: "low-level"."""
    whole, other = before.lower(), after.lower()
    *first, last = whole.split("-")
    joined, hyphened = words[last + other], words[f"{whole}-{other}"]
    if joined or hyphened:
        return hyphened > joined
    if before.isupper() or not after[0].islower():
        return not (before.isupper() and after.isupper())
    if any(map(str.isdigit, before)):
        return True  # "20th-century"
    if _COMPOUND_ENDS.fullmatch(other):
        return len(last) > 1
    if first or all(words[each] or is_stop_word(each, "en") for each in (last, other)):
        return True
    # A word is never divided after one letter: "e-mail".
    return len(last) == 1 or (before[0].islower() and _are_two_words(last, other))


def _are_two_words(one: str, other: str) -> bool:
    """Return whether English has both words, and none that they make together: "two-thirds", but "regional"."""
    joined = one + other
    if is_stop_word(joined, "en") or _NO_COMPOUND.fullmatch(joined) or is_english_word(joined):
        return False
    return all(is_stop_word(each, "en") or is_english_word(each) for each in (one, other))


def _is_short(above: _Line, line: _Line) -> bool:
    """True where the first word of `line` would have had room on the line above it."""
    word = line.text.split(" ", 1)[0]
    letter = (line.right - line.left) / max(1, len(line.text))
    margin = max(above.right, line.right)
    return above.right + (len(word) + 1.5) * letter < margin


# Tables


def _with_tables(drafts: list[_Draft]) -> list[_Draft]:
    """Divide the rows of tables into cells, and name their columns."""
    found: list[_Draft] = []
    tables: list[list[Row]] = []
    # Where the last table ends in `found`.
    last = -1
    start = 0
    while start < len(drafts):
        if drafts[start].kind != "row":
            found.append(drafts[start])
            start += 1
            continue
        end, places = _extent(drafts, start)
        lines = [line for draft in drafts[start:end] for line in draft.lines]
        rows = [_row(line) for line in lines]
        head = _head_of(found, lines[0], places) if len(rows) > 1 else None
        if head is not None:
            lines.insert(0, found.pop(head).lines[0])
            rows.insert(0, _row(lines[0]))
        if len(places) > 1 and len(places) >= median(len(row.cells) for row in rows):
            rows = divide(rows, places)
        new = [_Draft("row", [lines[min(at, len(lines) - 1)]], row=row) for at, row in enumerate(rows)]
        if tables and _goes_on_below(found, last, new[0]) and len(tables[-1][-1].cells) == len(rows[0].cells):
            tables[-1] += rows
        else:
            tables.append(rows)
        found += new
        last = len(found) - 1
        start = end
    for rows in tables:
        name_columns(rows)
    for draft in found:
        if draft.row:
            draft.text = draft.row.text
    return found


# Blocks between two rows of a table, at most, and lines of each: cells that take several lines. Guesses.
_MOST_CELL_BLOCKS = 3
_MOST_CELL_LINES = 5
# Blocks above a row by which a long cell is known, so that long tables take no long time. A guess.
_NEAR_BLOCKS = 50


def _extent(drafts: Sequence[_Draft], start: int) -> tuple[int, list[tuple[float, float]]]:
    """Return where the rows end that begin at `start`, and their columns. Long cells may stand between two rows."""
    end = at = start + 1
    page = _page(drafts[start])
    while at < len(drafts) and at - end <= _MOST_CELL_BLOCKS and _page(drafts[at]) == page:
        draft = drafts[at]
        if draft.kind == "row":
            between = [_row(line) for other in drafts[end:at] for line in other.lines]
            near = drafts[max(start, at - _NEAR_BLOCKS) : at + 1] if between else []
            places = columns([_row(other.lines[0]) for other in near if other.kind == "row"]) if between else []
            if not all(fits(row.parts, places, 1) for row in between):
                break
            end = at + 1
        elif len(draft.lines) > _MOST_CELL_LINES or draft.kind == "item":
            break
        at += 1
    return end, columns([_row(draft.lines[0]) for draft in drafts[start:end] if draft.kind == "row"])


def _row(line: _Line) -> Row:
    parts = [
        part._replace(bottom=piece.bottom)
        for piece in line.pieces
        for part in piece.parts or (Part(piece.text, piece.left, piece.right),)
    ]
    return Row(parts, line.height, line.bold, line.page, [_hyphened(piece.text) for piece in line.pieces])


def _head_of(drafts: Sequence[_Draft], row: _Line, places: Sequence[tuple[float, float]]) -> int | None:
    """Return the number of the line above a row that names its columns: right above it, or at the last page's end."""
    for at in range(len(drafts) - 1, max(-1, len(drafts) - 1 - _MOST_CELL_BLOCKS), -1):
        draft, line = drafts[at], drafts[at].lines[-1]
        if draft.kind in ("paragraph", "heading") and len(draft.lines) == 1:
            is_near = line.page == row.page and 0 < line.bottom - row.bottom < 3 * row.height
            is_last = line.page == row.page - 1
            cells = _row(line).parts
            if (is_near and fits(cells, places, max(2, len(places) - 1))) or (
                is_last and len(cells) == len(places) and fits(cells, places, len(places))
            ):
                return at
        if line.page == row.page or not _is_aside(draft, row):
            return None
    return None


def _is_aside(draft: _Draft, row: _Line) -> bool:
    """True for a note or a caption that may stand within a table."""
    is_small = draft.lines[0].page < row.page and draft.height < (1 - _SAME_SIZE) * row.height
    return is_small or bool(_NOTE.match(draft.text) or _CAPTION.match(draft.text))


def _goes_on_below(drafts: Sequence[_Draft], last: int, first: _Draft) -> bool:
    """True where a table that ends with draft `last` may go on at `first`: nothing but notes stands between them."""
    above, below = drafts[last].lines[-1], first.lines[0]
    if below.page == above.page:
        return last == len(drafts) - 1
    return below.page == above.page + 1 and all(_is_aside(between, below) for between in drafts[last + 1 :])


# Paragraphs over the ends of columns and pages

# Blocks after which the rest of a paragraph is no longer looked for. A guess: more than a table on its own page has.
_MOST_BETWEEN = 60


def _page(draft: _Draft) -> str:
    return f"page={draft.lines[0].page + 1}"


def _join_over_ends(drafts: list[_Draft], words: Counter[str]) -> Iterator[Block]:
    """Join a paragraph with its rest behind a column's or page's end; notes, tables and figures follow it."""
    taken: set[int] = set()
    for at, draft in enumerate(drafts):
        if at in taken:
            continue
        parts, places, length, last = [draft.text], [(0, _page(draft))], len(draft.text), at
        while rest := _rest_of(drafts, last, taken):
            taken.add(rest)
            before = drafts[last].lines[-1].text
            last = rest
            if before.endswith("\ufffe"):
                # The hyphen that stands there already, or none.
                joined = join_lines([before, drafts[rest].lines[0].text], words)
                if not joined.startswith(f"{before[:-1]}-"):
                    parts[-1] = parts[-1][:-1]
                    length -= 1
            else:
                parts.append("\n")
                length += 1
            places.append((length, _page(drafts[rest])))
            parts.append(drafts[rest].text)
            length += len(parts[-1])
        if draft.row:
            row = draft.row
            yield Block("row", row.text, row.header, not row.is_head, row.slices(), tuple(places))
        else:
            yield Block(draft.kind, "".join(parts), places=tuple(places))


def _rest_of(drafts: list[_Draft], at: int, taken: set[int]) -> int | None:
    draft = drafts[at]
    if (
        draft.kind not in ("paragraph", "item")
        or draft.text.rstrip().endswith(_END_MARKS)
        or _CAPTION.match(draft.text)
    ):
        return None
    last = draft.lines[-1]
    for other in range(at + 1, min(len(drafts), at + 1 + _MOST_BETWEEN)):
        rest = drafts[other]
        if rest.lines[0].page > last.page + 1:
            return None
        if other in taken or rest.kind == "row" or _CAPTION.match(rest.text):
            continue
        same_size = abs(rest.height - draft.height) <= _SAME_SIZE * draft.height
        if not same_size:
            continue
        moved = rest.lines[0].page != last.page or rest.lines[0].bottom > last.bottom
        if rest.kind == "paragraph" and moved:
            widths = [line.right - line.left for line in (*draft.lines[:-1], *rest.lines)]
            # The sentence cannot end in a last line that is as long as the others.
            is_full = len(widths) > 1 and last.right - last.left > 0.9 * max(widths)
            if is_full or rest.text[:1].islower():
                return other
        is_running = len(rest.lines) == 1 and rest.lines[0].at_edge and not rest.text.endswith(_END_MARKS)
        if rest.kind in ("heading", "paragraph", "item") and not is_running:
            return None
    return None
