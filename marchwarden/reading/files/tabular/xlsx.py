"""XLSX → a block for each row of the visible sheets, as its cells are shown (ECMA-376).

Own code beside openpyxl: its streaming mode knows neither hidden rows and columns nor merged cells, and a cell that
says that it stands in column ZZZZZZ makes it take all memory. The test compares both.
"""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.files.archive import RELATION, Archive, Unpackable, number_in
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.office.core_properties import core_properties
from marchwarden.reading.files.tabular.rows import MAX_COLUMNS, table_blocks
from marchwarden.reading.text_blocks import Block, first_blocks
from marchwarden.text.invisible import visible_line

if TYPE_CHECKING:
    from lxml.etree import _Element

# Rows, or columns, over which a merged cell's text is repeated. A guess.
_MAX_MERGED = 1_000
# Strings and formats that a file may hold. A guess: each takes a hundred bytes.
_MAX_STRINGS = 2_000_000

_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")
_PLACE = re.compile(r"([A-Z]{1,3})\d{1,7}")
# Formats of numbers that every program knows by number (ECMA-376, 18.8.30), those of dates and shares.
_BUILT_IN = {
    9: "0%",
    10: "0.00%",
    18: "h:mm",
    19: "h:mm",
    20: "h:mm",
    21: "h:mm:ss",
    22: "d h:mm",
    45: "mm:ss",
} | dict.fromkeys([*range(14, 18), *range(27, 37), *range(50, 59)], "d")
# Parts of a format that are shown as they are, or say nothing of the kind of value: quoted text, [Red], \x, _x, *x.
_LITERAL = re.compile(r'"[^"]*"|\[(?![hms]+\])[^\]]*\]|\\.|_.|\*.|General', re.IGNORECASE)


def read_xlsx(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a workbook. Hidden sheets, rows and columns are left out, and so are formulas: their last values count."""
    try:
        archive = Archive(body)
        blocks = tuple(first_blocks(_blocks(archive)))
        facts = core_properties(archive)
    except Unpackable as error:
        return Failure(FailureKind.NO_TEXT, f"the workbook can't be read: {error}")
    return replace(facts.of(blocks), is_prose=False)


@dataclass(frozen=True)
class _Workbook:
    strings: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    """Format of numbers, by the number of a cell's style."""
    epoch: datetime = datetime(1899, 12, 30)


def _blocks(archive: Archive) -> Iterator[Block]:
    root = archive.xml("xl/workbook.xml")
    parts = {each.get("Id"): each.get("Target", "") for each in archive.xml("xl/_rels/workbook.xml.rels")}
    is_from_1904 = any(each.get("date1904") in ("1", "true") for each in root.iterfind("{*}workbookPr"))
    book = _Workbook(
        list(_strings(archive)), _formats(archive), datetime(1904, 1, 1) if is_from_1904 else _Workbook.epoch
    )
    sheets = [each for each in root.iterfind("{*}sheets/{*}sheet") if each.get("state", "visible") == "visible"]
    for sheet in sheets:
        target = parts.get(sheet.get(RELATION) or sheet.get(_STRICT_RELATION), "")
        name = posixpath.normpath(target.lstrip("/") if target[:1] == "/" else f"xl/{target}")
        if name not in archive or "worksheets" not in name:  # a sheet that is only a chart
            continue
        heading = visible_line(sheet.get("name", ""))
        if heading and len(sheets) > 1:
            yield Block("heading", heading)
        yield from table_blocks(_rows(archive.read(name), book))


def _strings(archive: Archive) -> Iterator[str]:
    if "xl/sharedStrings.xml" not in archive:
        return
    for number, element in enumerate(_elements(archive.read("xl/sharedStrings.xml"), "si")):
        if number >= _MAX_STRINGS:
            raise Unpackable(f"it holds more than {_MAX_STRINGS:,} strings")
        yield _rich_text(element)


def _rich_text(element: _Element) -> str:
    """Return the text of a string, without the readings that stand above characters (phonetic runs)."""
    return "".join(each.text or "" for each in (*element.iterfind("{*}t"), *element.iterfind("{*}r/{*}t")))


def _formats(archive: Archive) -> list[str]:
    if "xl/styles.xml" not in archive:
        return []
    root = archive.xml("xl/styles.xml")
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in root.iterfind("{*}numFmts/{*}numFmt")}
    numbers = (each.get("numFmtId", "0") for each in root.iterfind("{*}cellXfs/{*}xf"))
    return [
        _LITERAL.sub("", codes.get(number) or _BUILT_IN.get(number_in(number, 1_000) or 0, "")) for number in numbers
    ]


def _elements(content: bytes, *names: str) -> Iterator[_Element]:
    """Yield the elements of these names as they end; each is emptied before the next one comes. Raises Unpackable."""
    from lxml import etree

    tags = [f"{{*}}{name}" for name in names]
    try:
        for _, element in etree.iterparse(
            io.BytesIO(content),
            tag=tags,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
        ):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise Unpackable("one of its sheets is damaged") from error


def _rows(content: bytes, book: _Workbook) -> Iterator[list[str]]:
    merged: dict[int, list[tuple[int, int, int]]] = {}
    for left, top, right, bottom in _MERGED.findall(content):
        columns = _column(left.decode()), _column(right.decode())
        if columns[1] - columns[0] < _MAX_MERGED and columns[1] < MAX_COLUMNS:
            merged.setdefault(int(top), []).append((*columns, min(int(bottom), int(top) + _MAX_MERGED)))
    hidden: set[int] = set()
    below: dict[int, tuple[int, str]] = {}  # text of a merged cell, and its last row, by column
    number = 0
    for element in _elements(content, "col", "row"):
        if element.tag.endswith("}col"):
            first, last = (number_in(element.get(name, "0"), MAX_COLUMNS + 1) for name in ("min", "max"))
            if element.get("hidden") in ("1", "true") and first is not None and last is not None:
                hidden.update(range(first - 1, min(last, MAX_COLUMNS)))
            continue
        told = element.get("r", "")
        number = int(told) if told.isdecimal() and len(told) < 8 else number + 1
        cells = _cells(element, book)
        for column, (until, text) in below.items():
            if number <= until:
                cells.setdefault(column, text)
        is_title = len(cells) == 1
        for left, right, bottom in merged.get(number, ()):
            if text := cells.get(left, ""):
                for column in range(left, 1 + (left if is_title else right)):
                    cells[column] = text
                    if bottom > number:
                        below[column] = (bottom, text)
        if element.get("hidden") not in ("1", "true"):
            shown = {column: text for column, text in cells.items() if column not in hidden}
            yield [shown.get(column, "") for column in range(max(shown, default=-1) + 1) if column not in hidden]


def _column(letters: str) -> int:
    """Return the number of a column, from 0."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _cells(row: _Element, book: _Workbook) -> dict[int, str]:
    """Return the texts of a row's cells that say something, by column."""
    cells: dict[int, str] = {}
    column = -1
    for cell in row.iterfind("{*}c"):
        place = _PLACE.fullmatch(cell.get("r", ""))
        column = _column(place[1]) if place else column + 1
        if column < MAX_COLUMNS and (text := _shown(cell, book)):
            cells[column] = text
    return cells


def _shown(cell: _Element, book: _Workbook) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(map(_rich_text, cell.iterfind("{*}is")))
    value = cell.findtext("{*}v") or ""
    if kind == "s":
        place = number_in(value, len(book.strings))
        return book.strings[place] if place is not None and place < len(book.strings) else ""
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind != "n":  # the text of a formula, an error, a date as ISO 8601 writes it
        return value
    at = number_in(cell.get("s", "0"), len(book.formats)) or 0
    return _number(value, book.formats[at] if at < len(book.formats) else "", book.epoch)


def _number(value: str, shape: str, epoch: datetime) -> str:
    try:
        number = float(value)
        if "%" in shape:
            return f"{100 * number:.{len(shape.partition('%')[0].partition('.')[2])}f}%"
        letters = set(shape.split(";")[0].lower())
        if letters & set("ymdhs") and not letters & set("#0?e@"):
            # Excel counts a 29 February 1900, so that the days before it are one later than they count.
            moment = epoch + timedelta(days=number + (epoch == _Workbook.epoch and 0 < number < 60))
            moment += timedelta(microseconds=500_000)  # shares of a day are rounded to seconds
            day, hour = f"{moment:%Y-%m-%d}", f"{moment:%H:%M:%S}".removesuffix(":00")
            if "[" in shape:  # hours that passed, more than a day's too
                minutes = round(number * 24 * 60)
                return f"{minutes // 60}:{minutes % 60:02}"
            return " ".join([day] * bool(letters & set("yd")) + [hour] * bool(letters & set("hs"))) or day
        return f"{number:.15g}"
    except (ValueError, OverflowError):
        return value
