"""Letters of a PDF page with Arabic or Hebrew, as they are drawn → lines in the order in which they are read.

PDFium reverses what it takes for a run of such letters. Where marks are drawn apart, as many fonts have them, where
letters and digits mix, or where a line holds Latin words too, the order comes out wrong. Here it is that of the
places on the page, turned back by the classes of Unicode's bidirectional algorithm (UAX #9).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Letter(NamedTuple):
    """A character, and its box in points from the lower left corner of the page."""

    at: int
    """Its number among the characters of the page."""
    text: str
    left: float
    right: float
    bottom: float
    height: float

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2


# One letter for each class: a strong letter of Hebrew and of Arabic, digits of either kind, their signs, spaces. The
# rest is neutral.
_CLASSES = {"L": "L", "R": "R", "AL": "A", "EN": "E", "AN": "D", "ES": "S", "ET": "T", "CS": "C", "NSM": "M"}
# Words from left to right, with the numbers that follow them; numbers as they stand in Hebrew and in Arabic; letters
# from right to left within a line of the other direction.
_RIGHTWARD = re.compile("L(?:(?:[LESTCN]|B[LESTCN]*[LE]T*B)*(?:L|ET*|B[LESTCN]*[LE]T*B))?")
_NUMBER = re.compile("T*E(?:[SC]?E)*T*|D(?:C?D)*")
_ARABIC_NUMBER = re.compile("[ED](?:C?[ED])*")
_LEFTWARD = re.compile("[RAD](?:[RADESTCNBP]*[RAD])?")
_OPENING, _CLOSING = "([{«‹", ")]}»›"
_OPENED = dict(zip(_CLOSING, _OPENING, strict=True)) | {each: each for each in _OPENING}
_CLOSED = {opening: closing for closing, opening in _OPENED.items() if closing in _CLOSING}
# Letters of a line, at most: some are compared with each other. Longer lines are left as they are drawn. A guess.
_MOST_LETTERS = 2_000
RAISED_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def is_leftward(code: int) -> bool:
    """True for letters of Hebrew, Arabic and the scripts between them."""
    return 0x590 <= code < 0x900 or 0xFB1D <= code < 0xFE00 or 0xFE70 <= code < 0xFF00


def _class(character: str) -> str:
    return _CLASSES.get(unicodedata.bidirectional(character), "N")


@dataclass
class Line:
    """Letters that stand side by side, in the order in which they are drawn."""

    letters: list[Letter]
    left: float
    right: float
    usual: Letter
    """A letter of the size that most have."""


def lines_of(letters: Iterable[Letter | None], gap: float, narrow: float) -> list[Line]:
    """Return the lines of a page. None among the letters is a line's end.

    `gap`, in heights, divides two pieces; `narrow` those between which no blank is written.
    """
    lines: list[Line] = []
    for drawn in _stretches(letters):
        for part in _parts(drawn, gap, narrow):
            # What is drawn in several parts, such as marks, comes together again; the first part says where.
            beside = [line for line in lines[-30:] if _is_beside(line, part, narrow)]
            for other in beside[1:]:
                _add(beside[0], other)
                lines = [line for line in lines if line is not other]
            if beside:
                _add(beside[0], part)
            else:
                lines.append(part)
    return [line for line in lines if any(letter.text != " " for letter in line.letters)]


def _stretches(letters: Iterable[Letter | None]) -> Iterator[list[Letter]]:
    """Yield letters that follow each other on one line."""
    found: list[Letter] = []
    last: Letter | None = None
    for letter in letters:
        if last and (
            letter is None
            or (letter.height and abs(letter.bottom - last.bottom) > 0.4 * max(letter.height, last.height))
        ):
            yield found
            found, last = [], None
        if letter and (last or letter.height > 0):
            found.append(letter)
            last = letter if letter.height > 0 else last
    if found:
        yield found


def _parts(drawn: Sequence[Letter], gap: float, narrow: float) -> list[Line]:
    """Divide a stretch at wide blanks, and at narrower ones where no blank was written."""
    parts: list[Line] = []
    places = {letter.at: 0 for letter in drawn}
    is_spaced = False
    for letter in sorted(drawn, key=lambda each: each.left):
        if letter.text == " ":
            is_spaced = is_spaced or letter.height > 0
        elif parts and letter.left - parts[-1].right < letter.height * (gap if is_spaced else narrow):
            parts[-1].right = max(parts[-1].right, letter.right)
            is_spaced = False
        else:
            parts.append(Line([], letter.left, letter.right, letter))
            is_spaced = False
        places[letter.at] = max(0, len(parts) - 1)
    for letter in drawn if parts else ():
        parts[places[letter.at]].letters.append(letter)
    for part in parts:
        shown = [letter for letter in part.letters if letter.text != " "]
        # Latin letters within the line may be of a larger font.
        shown = [letter for letter in shown if is_leftward(ord(letter.text))] or shown
        size = Counter(round(letter.height, 1) for letter in shown).most_common(1)[0][0]
        part.usual = next(letter for letter in shown if round(letter.height, 1) == size)
    return parts[::-1]


def _is_beside(line: Line, part: Line, narrow: float) -> bool:
    one, two = line.usual, part.usual
    height = max(one.height, two.height)
    distance = max(line.left, part.left) - min(line.right, part.right)
    return abs(one.bottom - two.bottom) < 0.4 * height and distance < narrow * height


def _add(line: Line, other: Line) -> None:
    line.usual = max(line, other, key=lambda each: len(each.letters)).usual
    line.letters += other.letters
    line.left, line.right = min(line.left, other.left), max(line.right, other.right)


class _Token:
    """Letters that stay together: a run of letters from right to left in the order of reading, or one other."""

    def __init__(self, letters: list[Letter]) -> None:
        self.letters = letters
        bases = [letter for letter in letters if _class(letter.text) != "M"] or letters
        self.left = min(letter.left for letter in bases)
        self.right = max(letter.right for letter in bases)
        self.kind = next((kind for letter in letters if (kind := _class(letter.text)) != "M"), "M")
        self.text = unicodedata.normalize("NFKC", "".join(letter.text for letter in letters))


def text_of(line: Line, *, leftward: bool) -> str:
    """Return the line as it is read. `leftward`: the direction of a line that holds letters of both."""
    if len(line.letters) > _MOST_LETTERS:
        return "".join(letter.text for letter in line.letters)
    tokens = sorted(_tokens(line), key=lambda token: token.left + token.right)
    normal = line.usual
    bases = [letter for letter in line.letters if letter.text != " " and _class(letter.text) != "M"]
    spaces = sorted(
        (letter.center, letter.height > 0)
        for letter in line.letters
        # The blank at a line's end may lie on its last letter.
        if letter.text == " "
        and not (
            min(letter.center - line.left, line.right - letter.center) < letter.height
            and any(
                min(base.right, letter.right) - max(base.left, letter.left) > 0.95 * (letter.right - letter.left)
                for base in bases
            )
        )
    )
    seen: list[tuple[str, str]] = []
    at, end = 0, line.left
    for token in tokens:
        first, text = token.letters[0], token.text
        if first.height < 0.85 * normal.height and first.bottom > normal.bottom:
            text = text.translate(RAISED_DIGITS)
        blank, center = 0.25, (token.left + token.right) / 2
        while at < len(spaces) and spaces[at][0] < center:
            # A blank that has no place of its own is sometimes one of the library's, within a word.
            blank = min(blank, -1.0 if spaces[at][1] else 0.1)
            at += 1
        is_spaced = bool(seen) and token.left - end > blank * normal.height
        if is_spaced:
            seen.append(("N", " "))
        kind = token.kind
        if text in _OPENED:
            kind = "B"
        elif is_spaced and text in ".,:;!?،؛؟":
            kind = "P"  # that ends a sentence on its right
        seen.append((kind, text))
        end = max(end, token.right)
    kinds = "".join(kind for kind, _ in seen)
    has_leftward, has_rightward = bool(re.search("[RAD]", kinds)), "L" in kinds
    begins = not has_leftward and seen[0][1] in ".,:;!?،؛؟"
    if not has_leftward and not (leftward and (begins or not has_rightward)):
        return "".join(text for _, text in seen)
    if has_rightward and not leftward:
        order = list(range(len(seen)))
        for run in _LEFTWARD.finditer(kinds):
            order[run.start() : run.end()] = _read_leftward(kinds, run.start(), run.end())
    else:
        order = _read_leftward(kinds, 0, len(kinds))
    return _with_brackets([seen[each] for each in order])


def _tokens(line: Line) -> tuple[_Token, ...]:
    """Return tokens, with each mark that is drawn apart behind its letter."""
    runs: list[list[Letter]] = []
    step, last = 0.0, ""
    for letter in _once(line.letters):
        kind = "" if letter.text == " " else _class(letter.text)
        if kind and kind in "RAM" and last and last in "RAM":
            before = runs[-1][-1]
            moved = letter.center - before.center
            is_far = max(letter.left, before.left) - min(letter.right, before.right) > 0.4 * letter.height
            # Letters of many hands are set one above the other.
            if abs(moved) < 0.15 * letter.height:
                moved = 0
            if not is_far and moved * step >= 0:
                runs[-1].append(letter)
                step = step or moved
                last = kind
                continue
        if kind:
            runs.append([letter])
        step, last = 0.0, kind
    tokens = [_Token(_in_order(run)) for run in runs]
    marks = [token for token in tokens if token.kind == "M"]
    bases = [token for token in tokens if token.kind in "RA"]
    alone: list[_Token] = []
    for mark in marks:
        center, width = (mark.left + mark.right) / 2, 0.6 * mark.letters[0].height
        near = [
            (abs(letter.center - center), number, token)
            for token in bases
            if token.left - width <= center <= token.right + width
            for number, letter in enumerate(token.letters)
            if _class(letter.text) != "M"
        ]
        if near:
            _, number, token = min(near, key=lambda each: each[:2])
            token.letters[number + 1 : number + 1] = mark.letters
        else:
            alone.append(mark)
    return (*(_Token(token.letters) for token in tokens if token.kind != "M"), *alone)


def _once(letters: Sequence[Letter]) -> list[Letter]:
    """Leave out letters that are drawn twice, such as those of a mark that stands for its letter too."""
    kept: dict[str, list[Letter]] = {}
    dropped: set[int] = set()
    base = Counter(round(letter.bottom, 1) for letter in letters).most_common(1)[0][0]
    # Those that stand on the line first.
    for letter in sorted(letters, key=lambda each: abs(each.bottom - base)):
        if letter.text == " ":
            continue
        same = kept.setdefault(letter.text, [])
        if any(_is_again(letter, other) for other in same):
            dropped.add(letter.at)
        else:
            same.append(letter)
    return [letter for letter in letters if letter.at not in dropped]


def _is_again(letter: Letter, other: Letter) -> bool:
    is_mark = _class(letter.text) == "M"
    if (abs(letter.at - other.at) <= 1 and not is_mark) or letter[2:4] == other[2:4]:
        return False  # a doubled letter, or letters of one glyph
    if abs(letter.bottom - other.bottom) > 0.02 * other.height and not is_mark:
        return abs(letter.center - other.center) < 0.6 * other.height
    width = min(letter.right - letter.left, other.right - other.left)
    return min(letter.right, other.right) - max(letter.left, other.left) > 0.5 * width


def _in_order(letters: Sequence[Letter]) -> list[Letter]:
    """Return the letters of a run as they are read: from right to left, and those of one glyph in their own order."""
    if letters[0].center < letters[-1].center:
        letters = letters[::-1]
    glyphs: list[list[Letter]] = []
    for letter in letters:
        if glyphs and glyphs[-1][0][2:4] == letter[2:4]:
            glyphs[-1].append(letter)
        else:
            glyphs.append([letter])
    found: list[Letter] = []
    for glyph in glyphs:
        text = "".join(letter.text for letter in glyph)
        # Several letters of one glyph come in reverse, as the whole run was reversed.
        is_read = _class(text[-1]) == "M" or (text[0] == "ل" and text[1:2] in tuple("اأإآ"))
        found += glyph if is_read and _class(text[0]) != "M" else glyph[::-1]
    return found


def _read_leftward(kinds: str, start: int, end: int) -> list[int]:
    """Return the places of what is seen from `start` to `end`, from right to left, words and numbers as they are."""
    order: list[int] = []
    at = end
    rightward = [run.span() for run in _RIGHTWARD.finditer(kinds, start, end)]
    runs: list[tuple[int, int]] = []
    for first, after in [*rightward, (end, end)]:
        begin = runs[-1][1] if runs else start
        for number in _NUMBER.finditer(kinds, begin, first):
            # In Arabic, signs beside and between European digits do not belong to them.
            following = re.search("[RAL]", kinds[number.end() : end]) or re.search("[RA]", kinds)
            if following and following[0] == "A":
                runs += [each.span() for each in _ARABIC_NUMBER.finditer(kinds, number.start(), number.end())]
            else:
                runs.append(number.span())
        if first < after:
            runs.append((first, after))
    for first, after in reversed(runs):
        order += [*range(at - 1, after - 1, -1), *range(first, after)]
        at = first
    return [*order, *range(at - 1, start - 1, -1)]


def _with_brackets(seen: Sequence[tuple[str, str]]) -> str:
    """Join the text; a bracket is written as opening or closing by the blanks beside it, as it is drawn mirrored."""
    texts = [text for _, text in seen]
    for at, text in enumerate(texts):
        if text in _OPENED:
            before = texts[at - 1] if at else " "
            after = texts[at + 1] if at + 1 < len(texts) else " "
            opens = before in (" ", *_OPENING)
            closes = after in (" ", *_CLOSING, *".,:;!?،؛؟")
            if opens != closes:
                texts[at] = _OPENED[text] if opens else _CLOSED[_OPENED[text]]
    return "".join(texts)
