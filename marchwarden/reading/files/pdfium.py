"""The text layer of a PDF, read by PDFium in a process of its own: `main` takes a file on stdin and writes JSON.

PDFium is written in C++, and files are hostile: one that crashes the library ends this process and nothing else.
Almost nothing of the package is imported here, so that the process starts in a tenth of a second.
"""

from __future__ import annotations

import ctypes
import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from marchwarden.reading.files.leftward import RAISED_DIGITS, Letter, is_leftward, lines_of, text_of

# Seconds of processor time, as many as the parent waits.
SECONDS = 60
# Bytes of address space. A guess.
_MEMORY_BYTES = 2_000_000_000
# Blank between two words that divides a line into pieces, such as columns or cells, in heights of a letter. Wider
# than the blanks of justified lines in the sources of evals/reading/pdfs.py, narrower than the gutters of columns.
_PIECE_GAP = 0.9
# The same where no blank is written, as between columns.
_NARROW_GAP = 0.5
# Blank that is wider than usual, in heights: such blanks are told, as cells of a table may be no further apart.
_WIDE_GAP = 0.35
# A letter is raised that is lower than its neighbour by this share, and stands higher. A guess.
_RAISED_SHARE = 0.85
# Distance of its foot from the line, in heights. A guess.
_RAISED_FOOT = 0.15
# Radians from which on a letter counts as turned. A guess.
_TURNED = 0.2

# A word that is surely divided, with a hyphen that is not its own; of the characters that are no characters.
_DIVIDED = 0xFFFF
# PDFium's marks of a word that is divided at a line's end; it leaves out the line end.
_HYPHENS = frozenset({0xFFFE, 0x2, _DIVIDED})
# Hyphens that it does not know as such: the one for a line's end only, and the one that is no minus.
_OTHER_HYPHENS = frozenset({0xAD, 0x2010})

Part = tuple[str, float, float]
# Text, left, right, bottom, height of its letters, bold, turned, and its parts between wider blanks.
Piece = tuple[str, float, float, float, float, bool, bool, list[Part]]


def main(most_characters: int, most_pages: int) -> None:
    """Write `pages`, `facts` (the information dictionary), or `error`, in words, as JSON.

    A page has `width`, `height` and `pieces`: runs of text on one line, in the order in which they are drawn, in
    points from the lower left corner, or from the lower right one where most of its letters are written leftward.
    """
    _set_limits()
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(sys.stdin.buffer.read())
        pages: list[dict[str, Any]] = []
        left = most_characters
        for number in range(min(len(document), most_pages)):
            told: dict[str, Any] = {"width": 0.0, "height": 0.0, "pieces": []}
            try:
                page = document[number]
                told["width"], told["height"] = page.get_size()
                text_page = page.get_textpage()
                told["pieces"] = _pieces(text_page, min(left, text_page.count_chars()), told["width"])
                text_page.close()
                page.close()
            except PdfiumError:
                pass  # the page is broken; the others can still be read
            pages.append(told)
            left -= sum(len(piece[0]) for piece in told["pieces"])
            if left <= 0:
                break
        result: dict[str, object] = {"pages": pages, "facts": document.get_metadata_dict(skip_empty=True)}
    except PdfiumError as error:
        result = {"error": str(error)}
    json.dump(result, sys.stdout)


class _Boxes:
    """The boxes of a page's letters, as high as their font, whatever the letter."""

    def __init__(self, text_page: Any) -> None:
        from pypdfium2 import raw

        self._page, self._box, self._call = text_page, raw.FS_RECTF(), raw.FPDFText_GetLooseCharBox
        self._reference = ctypes.byref(self._box)

    def of(self, at: int) -> tuple[float, float, float, float]:
        """Return left, right, bottom and height."""
        self._call(self._page, at, self._reference)
        box = self._box
        place = box.left, box.right, box.bottom, box.top - box.bottom
        return place if all(map(math.isfinite, place)) else (0.0, 0.0, 0.0, 0.0)

    def is_raised(self, at: int) -> bool:
        """True for a digit of a font's own raised ones, which are small letters of full height to the others."""
        from pypdfium2 import raw

        left, right, bottom, top, x, y = (ctypes.c_double() for _ in range(6))
        raw.FPDFText_GetCharBox(self._page, at, left, right, bottom, top)
        raw.FPDFText_GetCharOrigin(self._page, at, x, y)
        return bottom.value - y.value > _RAISED_FOOT * self.of(at)[3]

    def is_turned(self, at: int) -> bool:
        from pypdfium2 import raw

        return bool(abs(raw.FPDFText_GetCharAngle(self._page, at)) > _TURNED)


def _pieces(text_page: Any, count: int, width: float) -> list[Piece]:
    from pypdfium2 import raw

    boxes = _Boxes(text_page)
    codes = [raw.FPDFText_GetUnicode(text_page, at) for at in range(count)]
    ends = [at for at in range(count - 1) if codes[at] in _OTHER_HYPHENS and codes[at + 1] in (10, 13)]
    # Programs that divide words with a hyphen of another kind than the text's own.
    is_own = sum(map(codes.count, _OTHER_HYPHENS)) > len(ends)
    for at in ends:
        codes[at] = 0xFFFE if is_own else _DIVIDED
    if any(map(is_leftward, codes)):
        return _leftward_pieces(text_page, codes, boxes, width)
    pieces: list[Piece] = []
    words: list[str] = []
    parts: list[Part] = []
    left = right = bottom = height = 0.0
    first = 0
    narrow = _NARROW_GAP if _writes_blanks(text_page, codes) else _PIECE_GAP

    def close() -> None:
        if words:
            turned = boxes.is_turned(first)
            place = [round(each, 1) for each in (left, right, bottom, height)]
            bold = _is_bold(text_page, first)
            told = [(text, round(start, 1), round(end, 1)) for text, start, end in parts] if len(parts) > 1 else []
            pieces.append((" ".join(words), place[0], place[1], place[2], place[3], bold, turned, told))
            words.clear()
            parts.clear()

    at = 0
    while at < count:
        if codes[at] in (10, 13):
            close()
        if codes[at] in _HYPHENS and words:
            mark = "\uffff\ufffe" if codes[at] == _DIVIDED else "\ufffe"
            words[-1] += mark
            parts[-1] = (parts[-1][0] + mark, *parts[-1][1:])
            close()
            at += 1
            continue
        if codes[at] <= 32 or codes[at] == 0xA0:
            at += 1
            continue
        end = at
        while end < count and codes[end] > 32 and codes[end] != 0xA0 and codes[end] not in _HYPHENS:
            end += 1
        if end == at:
            at += 1  # a hyphen alone
            continue
        word_left, _, word_bottom, word_height = boxes.of(at)
        word_right = boxes.of(end - 1)[1]
        text = "".join(map(chr, codes[at:end]))
        if any(map(str.isdigit, text)):
            text, word_bottom, word_height = _with_raised(
                text, at, boxes, is_first=at == 0 or codes[at - 1] in (10, 13)
            )
        same_line = abs(word_bottom - bottom) < 0.6 * max(height, word_height)
        gap = word_left - right
        is_near = gap < narrow * height or (
            gap < _PIECE_GAP * height and not raw.FPDFText_IsGenerated(text_page, at - 1)
        )
        if words and not (same_line and -2 * height < gap and is_near):
            close()
        if not words:
            first, left, right, bottom, height = at, word_left, word_right, word_bottom, word_height
        words.append(text)
        # Blanks that are written stand in text, however wide they are.
        if parts and (gap < _WIDE_GAP * height or not raw.FPDFText_IsGenerated(text_page, at - 1)):
            parts[-1] = (f"{parts[-1][0]} {text}", parts[-1][1], word_right)
        else:
            parts.append((text, word_left, word_right))
        if word_height > height * 1.1:  # the piece began with a raised or small letter
            bottom, height = word_bottom, word_height
        left, right = min(left, word_left), max(right, word_right)
        at = end
    close()
    return pieces


def _writes_blanks(text_page: Any, codes: Sequence[int]) -> bool:
    """True where blanks are written, as by most programs; TeX leaves room instead, and PDFium adds them."""
    from pypdfium2 import raw

    blanks = [at for at, code in enumerate(codes) if code == 32][:: max(1, len(codes) // 1000)]
    added = [at for at in blanks if raw.FPDFText_IsGenerated(text_page, at)]
    return len(added) < 0.2 * len(blanks)


def _leftward_pieces(text_page: Any, codes: Sequence[int], boxes: _Boxes, width: float) -> list[Piece]:
    """Return the pieces of a page that holds letters of Arabic or Hebrew; seen in a mirror where most are."""

    letters = [
        None if code in (10, 13) else Letter(at, " " if code <= 32 or code == 0xA0 else chr(code), *boxes.of(at))
        for at, code in enumerate(codes)
    ]
    # Some fonts of Arabic are half as high again as they are large.
    shown = [letter for letter in letters if letter and letter.height > 0]
    middle = shown[len(shown) // 2] if shown else None
    share = 1.2 * _size(text_page, middle.at) / middle.height if middle else 1.0
    narrow = _NARROW_GAP * (share if 0.4 < share < 1 else 1) if _writes_blanks(text_page, codes) else _PIECE_GAP
    lines = lines_of(letters, _PIECE_GAP, narrow)
    sides = sum(1 if is_leftward(code) else -1 for code in codes if chr(code).isalpha())
    pieces: list[Piece] = []
    for number, line in enumerate(lines):
        first, usual = line.letters[0].at, line.usual
        for other in lines[max(0, number - 1) : number + 2]:
            same_line = abs(other.usual.bottom - usual.bottom) < 0.4 * usual.height
            if same_line and is_leftward(ord(other.usual.text)) and not is_leftward(ord(usual.text)):
                usual = other.usual
        turned = boxes.is_turned(first)
        left, right = (width - line.right, width - line.left) if sides > 0 else (line.left, line.right)
        place = [round(each, 1) for each in (left, right, usual.bottom, usual.height)]
        text = text_of(line, leftward=sides > 0)
        pieces.append((text, place[0], place[1], place[2], place[3], _is_bold(text_page, first), turned, []))
    return pieces


def _size(text_page: Any, at: int) -> float:
    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text_page, at, ctypes.byref(matrix))
    return float(raw.FPDFText_GetFontSize(text_page, at) * math.hypot(matrix.c, matrix.d))


def _with_raised(text: str, at: int, boxes: _Boxes, *, is_first: bool) -> tuple[str, float, float]:
    """Write small raised digits as such: the mark of a note joins neither a number nor the note's first word.

    Bottom and height of the first letter that is not raised are returned with it.
    """
    places = [boxes.of(at + number) for number in range(len(text))]
    *_, bottom, height = max(places, key=lambda place: place[3])
    raised = [
        letter.isdigit() and ((tall < _RAISED_SHARE * height and foot > bottom) or boxes.is_raised(at + number))
        for number, (letter, (_, _, foot, tall)) in enumerate(zip(text, places, strict=True))
    ]
    first = raised.index(False) if False in raised else 0
    *_, bottom, height = places[first]
    if not any(raised) or boxes.is_turned(at):
        return text, bottom, height
    told = "".join(letter.translate(RAISED_DIGITS) if up else letter for letter, up in zip(text, raised, strict=True))
    return f"{told[:first]} {told[first:]}" if first and is_first else told, bottom, height


def _is_bold(text_page: Any, at: int) -> bool:
    from pypdfium2 import raw

    name = ctypes.create_string_buffer(100)
    raw.FPDFText_GetFontInfo(text_page, at, name, 100, None)
    return any(part in name.value.lower() for part in (b"bold", b"black", b"cmbx", b"medi", b"sfbx", b"heavy"))


def _set_limits() -> None:
    try:
        import resource
    except ImportError:  # Windows: the parent's timeout is the only limit
        return
    for kind, limit in (
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (limit, limit))
        except (OSError, ValueError):  # the system allows less already, or no such limit
            continue
