"""Blocks → one text and its numbered passages: slices of about a sentence, with exact offsets.

What kind of page the blocks come from is no matter here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from marchwarden.contract import EXCERPT_LIMIT
from marchwarden.observations import Passage

BlockKind: TypeAlias = Literal["heading", "paragraph", "item", "row", "line"]
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Block:
    """A piece of a page that stands on lines of its own. `text` holds no blank line and no blanks at its ends."""

    kind: BlockKind
    text: str
    header: str | None = None
    """Of a table row: the cells that name its columns."""
    shown: bool = True
    """Whether it may be quoted: the row that names the columns is text, but says nothing by itself."""


INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls, but for blanks and line ends
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # soft hyphen, fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # zero width, direction
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors
    "\U000e0000-\U000e007f\U0001d173-\U0001d17a\U0001bca0-\U0001bca3"  # tags
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "]"
)
"""What a reader of the page doesn't see, and what could hide words from or smuggle words past one."""

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def visible(text: str) -> str:
    """`text` as a reader sees it: without invisible characters, every line end `\\n`; all else stays as it is."""
    if text.isascii() and text.isprintable():
        return text
    return _LINE_ENDS.sub("\n", INVISIBLE.sub("", text))


def lay_out(blocks: Iterable[Block], language: str | None = None) -> tuple[str, tuple[Passage, ...]]:
    """The text of the blocks, and its passages: `text[p.start:p.end] == p.text`, at most 500 characters each, none
    beginning or ending inside a word or with a blank. Headings are text but no passages."""
    pieces: list[str] = []
    passages: list[Passage] = []
    length = 0
    heading: str | None = None
    previous: Block | None = None
    for block in blocks:
        if previous is not None:
            pieces.append(_gap(previous, block))
            length += len(pieces[-1])
        if block.kind == "heading":
            heading = " ".join(block.text.split())
        elif block.shown:
            above = _heading(heading, block)
            for start, end in _spans(block, language):
                number = len(passages) + 1
                passages.append(Passage(number, length + start, length + end, block.text[start:end], above))
        pieces.append(block.text)
        length += len(block.text)
        previous = block
    return "".join(pieces), tuple(passages)


def _gap(before: Block, after: Block) -> str:
    together = before.kind == after.kind and before.kind in ("item", "row", "line")
    return "\n" if together else "\n\n"


def _heading(heading: str | None, block: Block) -> str | None:
    return " · ".join(part for part in (heading, block.header) if part) or None


_WHOLE = 300
"""A list item or table row of up to so many characters is one passage."""


def _spans(block: Block, language: str | None) -> Iterator[Span]:
    text = block.text
    whole = block.kind in ("item", "row") and len(text) <= _WHOLE
    for sentence in [(0, len(text))] if whole else sentences(text, language):
        for start, end in _within_limit(text, *sentence):
            start, end = _trimmed(text, start, end)
            if end - start <= EXCERPT_LIMIT and any(map(str.isalpha, text[start:end])):
                yield start, end


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


# Sentences

_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"‘'])(?:approx|vol|vols|cv|cvs|var|subsp|ssp|sp|spp|ca|cf|vs|fig|figs|no|nos|p|pp|ed|eds|sec|ch|chap"
    r"|art|min|max|avg|est|incl|resp|st|mt|ft|dr|mr|mrs|ms|prof|gen|col|sgt|capt|rep|sen|gov|hon|jr|al|e\.g|i\.e|[a-z]\.-[a-z]"
    r"|bzw|ca|z\. ?b|d\. ?h|u\. ?a|nr|bd|hrsg)\.\s*$",
    re.IGNORECASE,
)
_ENUMERATOR = re.compile(r"\s*[(\[]?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)\]]\s*")
_UNIT_END = re.compile(r"(?:(?<=/[A-Za-z]\.)|(?<=\d\s[mgLlhs]\.)|(?<=°[CFK]\.))\s+(?=[A-Z“\"])")
_NOTE_MARKS = re.compile(r"(?:\[\w{1,4}\]|[¹²³⁴⁵⁶⁷⁸⁹⁰])+\s*")


def sentences(text: str, language: str | None = None) -> list[Span]:
    """Spans of the sentences of `text`, which cover it without gaps. A line end alone does not end one."""
    import sentencex

    code = (language or "en").partition("-")[0].lower()
    flat = text.replace("\n", " ")
    found: list[Span] = []
    for boundary in sentencex.get_sentence_boundaries(code, flat):
        start, end = int(boundary["start_index"]), int(boundary["end_index"])
        start, end = _marks_to_the_left(text, found, start, end)
        if found and _belongs_together(text, found[-1], start):
            found[-1] = (found[-1][0], end)
        elif end > start:
            found.append((start, end))
    return [part for span in found for part in _after_units(text, *span)] or [(0, len(text))]


def _after_units(text: str, start: int, end: int) -> Iterator[Span]:
    """Parts that a unit's letter ends ("4 dS/m. Salty …"), which is taken for an initial."""
    for boundary in _UNIT_END.finditer(text, start, end):
        yield start, boundary.end()
        start = boundary.end()
    yield start, end


def _marks_to_the_left(text: str, found: list[Span], start: int, end: int) -> Span:
    """Note marks after a full stop ("fell.[3] Rain …") belong to the sentence before."""
    marks = _NOTE_MARKS.match(text, start, end)
    if marks and found:
        found[-1] = (found[-1][0], marks.end())
        return marks.end(), end
    return start, end


def _belongs_together(text: str, before: Span, start: int) -> bool:
    earlier = text[before[0] : before[1]]
    return (
        bool(_ENUMERATOR.fullmatch(earlier))
        or bool(_ABBREVIATION.search(earlier))
        or (start < len(text) and text[start].islower() and not earlier.rstrip().endswith(("!", "?", ":")))
    )


# The limit

_CLAUSE_END = re.compile(r"[;:,–—)\]]\s+|\s+[–—]\s+|[。，；、]")


def _within_limit(text: str, start: int, end: int) -> Iterator[Span]:
    start, end = _trimmed(text, start, end)
    while end - start > EXCERPT_LIMIT:
        cut = _cut(text, start, start + EXCERPT_LIMIT, end)
        yield start, cut
        start, end = _trimmed(text, cut, end)
    yield start, end


def _cut(text: str, start: int, limit: int, end: int) -> int:
    """Where to end a passage at or before `limit`: after a clause, else between words.

    After `limit` where a single word goes beyond it (an encoded file, say): that can't be quoted.
    """
    floor = start + EXCERPT_LIMIT // 2
    clauses = [match.end() for match in _CLAUSE_END.finditer(text, floor, limit)]
    if clauses:
        return clauses[-1]
    for at in range(limit, start, -1):
        if text[at - 1].isspace() or text[at].isspace():
            return at
    return next((at for at in range(limit, start, -1) if _between_words(text, at)), None) or next(
        (at for at in range(limit, end) if _between_words(text, at)), end
    )


def _between_words(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    return not (before.isalnum() and after.isalnum()) or (_without_blanks(before) and _without_blanks(after))


def _without_blanks(letter: str) -> bool:
    """Whether it is of a script that puts no blanks between words (Thai, Lao, Burmese, Khmer, Chinese, Japanese)."""
    return "\u0e00" <= letter <= "\u0eff" or "\u1000" <= letter <= "\u109f" or letter >= "\u1780"
