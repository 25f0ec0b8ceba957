"""Blocks → one text and its numbered passages: slices of about a sentence, with exact offsets.

The kind of page that the blocks come from makes no difference here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import regex

from marchwarden.contract import EXCERPT_LIMIT
from marchwarden.observations import Page, Passage, content_hash
from marchwarden.reading.text_blocks import CELL_GAP, Block, first_blocks
from marchwarden.text.ranking import told_language
from marchwarden.text.segmentation.sentence_marks import between_words, next_edge
from marchwarden.text.segmentation.sentences import Span, sentences

# Passages of a page: three times as many as a long book has. The rest is left out.
MOST_PASSAGES = 100_000


def with_text(page: Page, blocks: Iterable[Block]) -> Page:
    """Return the page with the text and the passages of `blocks`."""
    text, passages = lay_out(first_blocks(blocks), page.language)
    return replace(page, text=text, text_hash=content_hash(text.encode("utf-8")), passages=passages)


def lay_out(blocks: Iterable[Block], language: str | None = None) -> tuple[str, tuple[Passage, ...]]:
    """Return the text of the blocks, and its passages: `text[p.start:p.end] == p.text`, at most 500 characters each.

    No passage begins or ends inside a word or with a blank. Headings are text but no passages.

    `language` is the one that the page declares; where its words are clearly of another, that counts.
    """
    blocks = list(blocks)
    sample: list[str] = []
    missing = _SAMPLE_CHARS
    for block in blocks:
        if missing <= 0:
            break
        sample.append(block.text[:missing])
        missing -= len(block.text)
    told = told_language("\n".join(sample), language)
    pieces: list[str] = []
    passages: list[Passage] = []
    length = rows = 0
    heading: str | None = None
    previous: Block | None = None
    for block in blocks:
        if len(passages) >= MOST_PASSAGES:
            break
        if previous is not None:
            together = previous.kind == block.kind and block.kind in ("item", "row", "line")
            pieces.append("\n" if together else "\n\n")
            length += len(pieces[-1])
        if block.kind == "heading":
            heading = " ".join(block.text.split())
        elif block.shown:
            rows += bool(block.cells)
            for start, end in islice(_spans(block, told), MOST_PASSAGES - len(passages)):
                number = len(passages) + 1
                above = _heading(heading, _header(block, start, end))
                place = next((place for at, place in reversed(block.places) if at <= start), None)
                cells = tuple(
                    (each.name, each.value) for each in block.cells if start < each.end and each.start < end
                )
                text = block.text[start:end]
                row = rows if cells else 0
                is_code = block.kind == "code" and end > block.lead_in
                code = max(0, block.lead_in - start) if is_code else None
                passages.append(Passage(number, length + start, length + end, text, above, place, cells, row, code))
        pieces.append(block.text)
        length += len(block.text)
        previous = block
    return "".join(pieces), tuple(passages)


# Characters by which the language of a text is recognised. A guess.
_SAMPLE_CHARS = 4_000


def _heading(heading: str | None, header: str | None) -> str | None:
    return " · ".join(part for part in (heading, header) if part) or None


def _header(block: Block, start: int, end: int) -> str | None:
    """Return the block's header; for a part of a row, its first cell and the names of the part's columns alone."""
    if not block.cells or end - start == len(block.text):
        return block.header
    first = block.cells[0]
    named = [cell for cell in block.cells if cell.name and cell.start < end and start < cell.end]
    row_head = first.value if start >= first.end else ""
    return _heading(row_head[:_MAX_ROW_HEAD_CHARS], CELL_GAP.join(cell.name for cell in named))


# Characters up to which a list item or table row is one passage. A guess.
_MAX_WHOLE_CHARS = 300
# Characters of a row's first cell that name what the row is about. A guess.
_MAX_ROW_HEAD_CHARS = 80
_PRICE = regex.compile(r"\p{Sc} ?\d|\d ?\p{Sc}")


def _spans(block: Block, language: str) -> Iterator[Span]:
    text = block.text
    whole = block.kind in ("item", "row") and len(text) <= _MAX_WHOLE_CHARS
    parts: Iterable[Span]
    if whole:
        parts = [(0, len(text))]
    elif block.kind == "code":
        led_in = list(sentences(text[: block.lead_in], language))
        # The last sentence leads in to the code.
        begin = led_in[-1][0] if led_in else 0
        parts = [*led_in[:-1], *((begin + start, begin + end) for start, end in _code_spans(text[begin:]))]
    elif block.cells:
        parts = _cell_spans(block, language)
    else:
        parts = sentences(text, language)
    # Numbers alone say something where columns name them, and prices under the heading that names what they are for.
    is_telling = str.isalnum if block.kind == "row" and block.header else str.isalpha
    for sentence in parts:
        start, end = _trim(text, *sentence)
        # A sentence beyond the limit is cut; a single word beyond it can't be quoted.
        while start < end:
            cut = end if end - start <= EXCERPT_LIMIT else _find_cut(text, start, end)
            first, last = _trim(text, start, cut)
            piece = text[first:last]
            if last - first <= EXCERPT_LIMIT and (any(map(is_telling, piece)) or _PRICE.search(piece)):
                yield first, last
            start, end = _trim(text, cut, end)


def _code_spans(text: str) -> list[Span]:
    """Return as many whole lines of code at a time as one passage may hold."""
    spans: list[Span] = []
    start = end = 0
    for line in text.splitlines(keepends=True):
        if end > start and end + len(line) - start > EXCERPT_LIMIT:
            spans.append((start, end))
            start = end
        end += len(line)
    return [*spans, (start, end)]


def _cell_spans(row: Block, language: str) -> Iterator[Span]:
    """Yield runs of cells that are a passage each; a cell that is too long for one is cut into sentences."""
    run: Span | None = None
    for cell in row.cells:
        if run and cell.end - run[0] <= _MAX_WHOLE_CHARS:
            run = run[0], cell.end
            continue
        if run:
            yield run
        run = None
        if cell.end - cell.start <= _MAX_WHOLE_CHARS:
            run = cell.start, cell.end
        else:
            inner = sentences(row.text[cell.start : cell.end], language)
            yield from ((cell.start + start, cell.start + end) for start, end in inner)
    if run:
        yield run


def _trim(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


# The limit

_HALF = EXCERPT_LIMIT // 2
_SENTENCE_END = regex.compile(
    r"(?<=[.!?…][\"'”’“‘»«›‹)\]]{0,4})(?=\s)|(?<=[\p{STerm}--[.!?]][”’」』»)）]{0,4})(?![”’」』»)）])", regex.V1
)
_CLAUSE_END = regex.compile(r"(?<=[;:,،؛–—)\]])(?=\s)|(?=\s[–—]\s)|(?<=[，；、：])")
_BLANK = regex.compile(r"(?=\s)")


def _find_cut(text: str, start: int, end: int) -> int:
    """Return the end of a passage within the limit: after a sentence of a long quotation, a clause, or a word.

    It lies beyond the limit where a single word is longer (an encoded file, say): that can't be quoted.
    """
    limit = start + EXCERPT_LIMIT
    for breaks, floor in ((_SENTENCE_END, start + _HALF), (_CLAUSE_END, start + _HALF), (_BLANK, start + 1)):
        found: list[int] = [match.start() for match in breaks.finditer(text, floor, limit + 1)]
        whole = next((at for at in reversed(found) if between_words(text, at)), None)
        if whole:
            return whole
    within = next((at for at in range(limit, start, -1) if between_words(text, at)), None)
    return within or next_edge(text, limit, end)
