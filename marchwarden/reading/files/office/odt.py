"""ODT → blocks: headings, paragraphs, lists and tables of the main text, and its notes (OpenDocument 1.3).

Own code beside odfpy: it takes whatever a file declares, and has no text without what was deleted or hidden. The test
compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.files.archive import DC, Archive, Unpackable, number_in
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.office.shown_text import raised, shown_lines
from marchwarden.reading.files.tabular.rows import MAX_COLUMNS, table_blocks
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.text_blocks import MAX_CELL_CHARS, Block, BlockKind, first_blocks
from marchwarden.text.invisible import visible_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
OFFICE, TEXT, TABLE, STYLE, DRAW, PRESENTATION = (
    _NS % name for name in ("office", "text", "table", "style", "drawing", "presentation")
)
_META = _NS % "meta"
# Deleted text, comments, hidden text, tables of contents, forms, and names that programs give to pictures.
NOT_SHOWN = frozenset(
    {
        f"{TEXT}tracked-changes",
        f"{TEXT}hidden-text",
        f"{TEXT}hidden-paragraph",
        f"{TEXT}sequence-decls",
        f"{TEXT}variable-decls",
        f"{TEXT}table-of-content",
        f"{TEXT}alphabetical-index",
        f"{TEXT}ruby-text",
        f"{OFFICE}annotation",
        f"{OFFICE}forms",
        _NS % "svg-compatible" + "title",
        _NS % "svg-compatible" + "desc",
    }
)
# Times that a cell or row, or blanks, are repeated: a file may claim billions. A guess.
MAX_REPEATED = 50


def read_odt(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read the visible text of a document: nothing that was deleted or hidden."""
    return read_open_document(body, "text", lambda reader, text: reader.blocks(text, "paragraph"))


def read_open_document(
    body: bytes,
    kind: Literal["text", "spreadsheet", "presentation"],
    read: Callable[[OpenDocument, _Element], Iterator[Block]],
) -> FileContent | Failure:
    """Read a file of the family; `read` yields the blocks of the element that holds its content."""
    name = "document" if kind == "text" else kind
    try:
        archive = Archive(body)
        root = archive.xml("content.xml")
        content = root.find(f"{OFFICE}body/{OFFICE}{kind}")
        if content is None:
            raise Unpackable(f"it holds no {'text document' if kind == 'text' else kind}")
        reader = OpenDocument(root)
        blocks = tuple(first_blocks(read(reader, content)))
        notes = tuple(first_blocks(reader.notes()))
        meta = archive.xml("meta.xml") if "meta.xml" in archive else None
    except Unpackable as error:
        return Failure(FailureKind.NO_TEXT, f"the {name} can't be read: {error}")

    def fact(name: str) -> str:
        return "" if meta is None else visible_line(meta.findtext(f".//{name}") or "")

    return FileContent(
        (*blocks, *notes),
        title=fact(f"{DC}title") or None,
        authors=(fact(f"{_META}initial-creator") or fact(f"{DC}creator"),),
        language=fact(f"{DC}language") or None,
        created=as_date(fact(f"{_META}creation-date")),
        modified=as_date(fact(f"{DC}date")),
        is_prose=kind != "spreadsheet",
    )


class OpenDocument:
    """Styles of a file of the family, and the reading of what is in it."""

    def __init__(self, root: _Element) -> None:
        # Styles under which text is hidden or struck out, raised, and those of titles.
        self._hidden: set[str] = set()
        self._raised: set[str] = set()
        self._parents: dict[str, str] = {}
        self._notes: list[_Element] = []
        self._styles = root.findall(f"{OFFICE}automatic-styles/{STYLE}style")
        for style in self._styles:
            name = style.get(f"{STYLE}name", "")
            self._parents[name] = style.get(f"{STYLE}parent-style-name", "")
            for facts in style.iterfind(f"{STYLE}text-properties"):
                line = facts.get(f"{STYLE}text-line-through-style", "none")
                if facts.get(f"{TEXT}display") == "none" or line != "none":
                    self._hidden.add(name)
                if facts.get(f"{STYLE}text-position", "").startswith(("super", "3", "5")):
                    self._raised.add(name)

    def styles_where(self, properties: str, name: str, value: str) -> set[str]:
        """Return the names of the styles in whose `properties` an attribute has a value."""
        return {
            style.get(f"{STYLE}name", "")
            for style in self._styles
            for facts in style.iterfind(f"{STYLE}{properties}")
            if facts.get(name) == value
        }

    def blocks(self, parent: _Element, kind: BlockKind) -> Iterator[Block]:
        for child in parent:
            if child.tag in NOT_SHOWN or self._is_hidden(child):
                continue
            if child.tag in (f"{TEXT}p", f"{TEXT}h"):
                name = child.get(f"{TEXT}style-name", "")
                style = self._parents.get(name) or name
                is_heading = child.tag == f"{TEXT}h" or style in ("Title", "Subtitle")
                if text := self.text(child):
                    yield Block("heading", " ".join(text.split())) if is_heading else Block(kind, text)
                for box in child.iter(f"{DRAW}text-box"):
                    yield from self.blocks(box, "paragraph")
            elif child.tag == f"{TABLE}table":
                yield from self._table(child)
            elif child.tag in (f"{TEXT}list-item", f"{TEXT}list-header"):
                yield from self.blocks(child, "item")
            else:  # lists, sections, frames
                yield from self.blocks(child, kind)

    def notes(self) -> Iterator[Block]:
        """Yield the foot- and endnotes whose marks were passed."""
        for note in self._notes:
            yield from self.blocks(note, "paragraph")

    def _is_hidden(self, element: _Element) -> bool:
        is_section_hidden = element.get(f"{TEXT}display") in ("none", "condition")
        return is_section_hidden or element.get(f"{TEXT}style-name", "") in self._hidden

    def text(self, element: _Element) -> str:
        """Return the visible characters of a paragraph, without blank lines."""
        pieces: list[str] = []
        self._collect(element, pieces)
        return shown_lines("".join(pieces))

    def _collect(self, element: _Element, pieces: list[str]) -> None:
        # libxml2 refuses more than 256 levels, so that this ends.
        text = " ".join((element.text or "").split("\n"))
        is_raised = element.get(f"{TEXT}style-name", "") in self._raised
        pieces.append(raised(text) if is_raised else text)
        for child in element:
            if child.tag == f"{TEXT}s":
                pieces.append(" " * count_of(child, f"{TEXT}c"))
            elif child.tag == f"{TEXT}tab":
                pieces.append(" ")
            elif child.tag == f"{TEXT}line-break":
                pieces.append("\n")
            elif child.tag == f"{TEXT}note":
                self._notes += child.iterfind(f"{TEXT}note-body")
            elif not (child.tag in NOT_SHOWN or child.tag == f"{DRAW}text-box" or self._is_hidden(child)):
                self._collect(child, pieces)
            pieces.append(" ".join((child.tail or "").split("\n")))

    def _table(self, table: _Element) -> Iterator[Block]:
        """Yield a block for each row; a table that only arranges text is read cell by cell."""
        own = [row for row in table.iter(f"{TABLE}table-row") if next(row.iterancestors(f"{TABLE}table")) is table]
        cells = [[cell for cell in row if cell.tag.endswith("table-cell")] for row in own]
        arranges = table.find(f".//{TABLE}table") is not None or all(len(row) < 2 for row in cells)
        rows = [] if arranges else self._spread(cells)
        if arranges or any(len(text) > MAX_CELL_CHARS for row in rows for text in row):
            for row in cells:
                for cell in row:
                    yield from self.blocks(cell, "paragraph")
            return
        yield from table_blocks(rows, has_names=True if table.find(f"{TABLE}table-header-rows") is not None else None)

    def _spread(self, cells: list[list[_Element]]) -> list[list[str]]:
        """Return the texts of the cells, that of a cell which spans several rows or columns in each of them."""
        rows: list[list[str]] = []
        below: dict[int, tuple[int, str]] = {}  # rows that are left, and the text, by column
        for row in cells:
            texts: list[str] = []
            beside: dict[int, str] = {}
            for cell in row:
                if len(texts) >= MAX_COLUMNS:
                    break
                paragraphs = (self.text(each) for each in cell.iter(f"{TEXT}p", f"{TEXT}h"))
                text = " ".join(" ".join(filter(None, paragraphs)).split())
                column = len(texts)
                if cell.tag == f"{TABLE}covered-table-cell":
                    left, above = below.get(column, (0, ""))
                    text = beside.get(column, above if left else "")
                    if column not in beside:
                        below[column] = (left - 1, above)
                rows_below, columns = (
                    count_of(cell, f"{TABLE}number-{each}-spanned") for each in ("rows", "columns")
                )
                for at in range(column, column + columns):
                    if at > column:
                        beside[at] = text
                    if rows_below > 1:
                        below[at] = (rows_below - 1, text)
                texts += [text] * count_of(cell, f"{TABLE}number-columns-repeated")
            rows.append(texts)
        return rows


def count_of(element: _Element, name: str, most: int = MAX_REPEATED) -> int:
    """Return how often an attribute repeats something, at most `most` times; once where it states no number."""
    count = number_in(element.get(name, ""), most)
    return min(1, most) if count is None else count
