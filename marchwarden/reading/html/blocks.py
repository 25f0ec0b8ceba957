"""An element tree → blocks: headings, paragraphs, list items, table rows, lines.

It reads the elements of HTML and of trafilatura's output.

Own code beside inscriptis: its text doesn't say which line is a heading, an item or a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from textwrap import dedent

from lxml import etree

from marchwarden.reading.text_blocks import CELL_GAP, MAX_CELL_CHARS, Block, BlockKind, join_cells

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "head"})
_ITEMS = frozenset({"li", "item", "dd"})
_ROWS = frozenset({"tr", "row"})
_CELLS = frozenset({"td", "th", "cell"})
_BREAKS = frozenset({"br", "lb"})
_SECTIONS = frozenset({"body", "main", "article", "section", "header", "footer", "nav", "aside", "div", "center"})
_TABLE_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "caption"})
_LISTS = frozenset({"ul", "ol", "dl", "list", "dir", "menu", "dt"})
_TEXTS = frozenset({"p", "pre", "blockquote", "quote", "figure", "figcaption", "details", "summary", "address", "hr"})
_FORMS = frozenset({"form", "fieldset", "legend"})
_BLOCKS = _HEADINGS | _ITEMS | _ROWS | _CELLS | _SECTIONS | _TABLE_PARTS | _LISTS | _TEXTS | _FORMS
# All others only mark a part of a line.
_SPECIAL = _BLOCKS | _BREAKS
_NEVER = frozenset({"script", "style", "title", "noscript", "template"})

# Characters: a longer caption, or single cell of a row, does not name the rows below it. A guess.
_MAX_TITLE_CHARS = 120
# What stands in for line ends of code, until its block is whole: no text holds it.
CODE_LINE_END = "\x1d"
# Not a single blank between words, which most are.
_BLANKS = re.compile(r"(?:[\t\n\r\f]| (?=[ \t\n\r\f]))[ \t\n\r\f]*")


_CODE_NAME = re.compile(
    r"(?:^|[\s_-])(?:code|highlight|lang(?:uage)?|source|src|brush|prettyprint|syntax|hljs|prism)\b"
)
_CODE_LINE_END = re.compile(r"[;{}()\[\],:=\\]\s*$")
# Share of the lines of preformatted text that end as those of programs do. A guess.
_MIN_CODE_SHARE = 0.4
# Lines by which it is told. A guess.
_MAX_CODE_SAMPLE = 40


def is_code(listing: etree._Element) -> bool:
    """True where a <pre> is code, whose lines keep their indentation; mails and poems are set in it too."""
    if listing.find(".//code") is not None:
        return True
    above = listing.getparent()
    around = (listing,) if above is None else (listing, above)
    if any(_CODE_NAME.search(each.get("class") or "") for each in around):
        return True
    lines = "".join(listing.itertext()).split("\n", _MAX_CODE_SAMPLE)[:_MAX_CODE_SAMPLE]
    lines = [line for line in lines if line.strip()]
    return sum(bool(_CODE_LINE_END.search(line)) for line in lines) >= max(1, _MIN_CODE_SHARE * len(lines))


def read_blocks(
    root: etree._Element,
    *,
    skip: frozenset[str] = frozenset(),
    left_out: Set[etree._Element] = frozenset(),
    translate: Mapping[str, str] | None = None,
) -> Iterator[Block]:
    """Yield the blocks under `root` in reading order, without elements of a tag in `skip` and those `left_out`.

    `translate` maps the characters of each text after its blanks were collapsed.
    """
    skip |= _NEVER
    reader = _Reader(translate or {})
    blocks, add = reader.blocks, reader.add
    walk = etree.iterwalk(root, events=("start", "end"))
    is_left_out = False  # of the element that began last
    for event, element in walk:
        tag = element.tag
        if event == "start":
            is_left_out = tag in skip or not isinstance(tag, str) or (bool(left_out) and element in left_out)
            if is_left_out:
                walk.skip_subtree()  # its end comes next
                continue
            if tag in _SPECIAL:
                reader.enter(element, tag)
            if text := element.text:
                add(text)
        else:
            if is_left_out:
                is_left_out = False
            elif tag in _SPECIAL:
                reader.leave(element, tag)
            if element is not root and (tail := element.tail):
                add(tail)
        if blocks:
            yield from blocks
            blocks.clear()
    reader.flush()
    yield from reader.blocks


def replace_each(text: str, table: Mapping[str, str]) -> str:
    """Return the text with each string of the table replaced."""
    # A fraction of the time that `str.translate` takes, which looks up each character of a text beyond ASCII.
    for one, other in table.items():
        text = text.replace(one, other)
    return text


def _is_layout(table: etree._Element) -> bool:
    """True where a table only lays out a page: by its role, by cells of blocks or long texts, or in one column."""
    if table.get("role") in ("presentation", "none"):
        return True
    widest, rows, has_names = 0, 0, False
    for inner in table.iterdescendants():
        tag = inner.tag
        if tag in ("table", "h1", "h2", "h3", "article", "form"):
            return True
        if tag in _ROWS:
            rows += 1
            widest = max(widest, len(inner))
        elif tag in _CELLS:
            if len("".join(inner.itertext())) > MAX_CELL_CHARS:
                return True
            has_names |= tag == "th" or inner.get("role") == "head"
    return not has_names and (widest == 1 or rows == 1) and table.find("caption") is None


class _Reader:
    """Collects inline text until a block's edge."""

    def __init__(self, translate: Mapping[str, str]) -> None:
        self.blocks: list[Block] = []
        """Blocks that have ended since the caller cleared them."""
        self._translate = translate
        self._text: list[str] = []
        self._kinds: list[BlockKind] = ["paragraph"]
        self._tables: list[_Table | None] = []
        self._term = ""
        self._defined = ""
        self._in_pre = 0
        self._in_cell = False
        self._cell_has_items = False

    def enter(self, element: etree._Element, tag: str) -> None:
        if tag in _BREAKS:
            self._text.append("\v")
        elif tag == "table":
            self.flush()
            self._tables.append(None if _is_layout(element) else _Table())
        elif tag in _CELLS and self._table is not None:
            self._text.clear()
            self._in_cell, self._cell_has_items = True, False
        elif self._in_cell and tag in _BLOCKS:
            self._text.append("\v")
            self._cell_has_items |= tag in _ITEMS
        else:
            self.flush()
            kind: BlockKind = "paragraph"
            if tag in _HEADINGS:
                kind = "heading"
            elif tag in _ITEMS or (self._kinds[-1] == "item" and tag in ("p", "div")):
                kind = "item"
            self._kinds.append(kind)
            self._in_pre += tag == "pre"

    def leave(self, element: etree._Element, tag: str) -> None:
        if tag in _BREAKS:
            return
        table = self._table
        if tag == "table":
            self.flush()
            self._tables.pop()
        elif tag in _CELLS and table is not None:
            is_name = tag == "th" or element.get("role") == "head"
            lines = self._take_text().split("\v")
            table.cells.append(((", " if self._cell_has_items else " ").join(lines), is_name))
            self._in_cell = False
        elif self._in_cell:
            if tag in _BLOCKS:
                self._text.append("\v")
        elif tag in _ROWS and table is not None:
            self.blocks += table.row()
            self._kinds.pop()
        elif tag == "dt" or element.get("rend", "").startswith("dt"):
            self._term, self._defined = self._take_text(), ""
            self._kinds.pop()
        else:
            self.flush()
            self._kinds.pop()
            self._in_pre -= tag == "pre"
            if tag == "dl":
                self._defined = ""
            elif tag == "caption" and table is not None and self.blocks:
                table.caption = self.blocks[-1].text

    @property
    def _table(self) -> _Table | None:
        return self._tables[-1] if self._tables else None

    def add(self, text: str) -> None:
        if not self._text and not self._in_cell and text.isspace():
            return  # a line does not begin with blanks
        self._text.append(text.replace("\n", "\v") if self._in_pre else text)

    def _take_text(self) -> str:
        """Return the text since the last edge, blanks collapsed, and forget it."""
        # `\v`, which no page's text holds, marks a line's end.
        text = "".join(self._text)
        self._text.clear()
        if not text or text.isspace():
            return ""
        text = _BLANKS.sub(" ", text)
        if self._translate and not text.isascii():
            text = replace_each(text, self._translate)
        if CODE_LINE_END in text:
            return text
        if "\v" not in text:
            return text.strip()
        return "\v".join(line for line in map(str.strip, text.split("\v")) if line)

    def flush(self) -> None:
        """Add a block for each line of the text since the last edge."""
        if not self._text or not (text := self._take_text()):
            return
        if CODE_LINE_END in text:
            code = [line.rstrip() for line in text.replace("\v", CODE_LINE_END).split(CODE_LINE_END)]
            if shown := dedent("\n".join(filter(None, code))).strip():
                self.blocks.append(Block("code", shown))
            return
        # A term stands before the first of its definitions, and above all others.
        defined = self._defined or None
        if self._term:
            text = f"{self._term}{' ' if self._term.endswith(':') else ': '}{text}"
            self._term, self._defined = "", self._term
        kind = self._kinds[-1]
        # A line that continues the one before it stays with it.
        lines: list[list[str]] = []
        for line in text.split("\v"):
            if lines and (line[0].islower() or kind in ("heading", "item")):
                lines[-1].append(line)
            else:
                lines.append([line])
        if len(lines) > 1 and kind == "paragraph":
            kind = "line"
        self.blocks += [Block(kind, "\n".join(each), header=defined) for each in lines]


class _Table:
    """Data table: each row is one block, whose cells are named by the rows of column names above it.

    A row of one cell is a title of the rows below it.
    """

    def __init__(self) -> None:
        self.cells: list[tuple[str, bool]] = []
        self.caption = ""
        self._title = ""
        self._names: list[str] = []
        self._is_below_names = False

    def row(self) -> Iterator[Block]:
        texts = [text for text, _ in self.cells]
        is_head = len(texts) > 1 and all(is_name for text, is_name in self.cells if text)
        is_title = len(texts) == 1
        self.cells = []
        if not any(texts):
            return
        if is_title:
            self._title = texts[0]
        if is_head and self._is_below_names and len(texts) == len(self._names):
            # Names of groups of columns stand above those of the columns.
            pairs = zip(self._names, texts, strict=True)
            self._names = [above if name in (above, "") else f"{above} {name}".strip() for above, name in pairs]
        elif is_head:
            self._names = texts
        self._is_below_names = is_head
        # As a reader sees it: the names of columns are context of the row, no part of its text.
        text, cells = join_cells(texts, self._names if len(self._names) == len(texts) else ())
        titles = [title for title in (self.caption, self._title) if len(title) <= _MAX_TITLE_CHARS]
        header = " · ".join(filter(None, [*titles, CELL_GAP.join(self._names).strip(" |")]))
        yield Block("row", text, None if is_head or is_title else header or None, not is_head, cells)
