"""Org files → blocks: headings, paragraphs, lists, tables and source blocks, without the marks.

Own code beside orgparse: it tells headings, drawers and planning apart, and leaves all that stands below a heading as
one text, with its marks. The test compares the headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from marchwarden.observations import Failure
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.tabular.rows import table_blocks
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.text_blocks import MOST_CHARACTERS, Block, BlockKind, first_blocks
from marchwarden.text.invisible import visible

_KEYWORD = re.compile(r"\s*#\+(\w+):[ \t]*(.*)", re.ASCII)
_HEADING = re.compile(r"(\*+)[ \t]+(.*)")
_STATE = re.compile(r"(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED|COMMENT)\s+)?(?:\[#[A-Z0-9]\]\s+)?")
_TAGS = re.compile(r"[ \t]+:(?:[\w@#%]+:)+[ \t]*$")
_PLANNING = re.compile(r"\s*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):")
_DRAWER = re.compile(r"\s*:(?!END:)[\w-]+:\s*$")
_ITEM = re.compile(r"(\s*)(?:[-+]|\d+[.)]|[a-zA-Z][.)](?=\s))(?:\s+(.*))?$")
_STARRED_ITEM = re.compile(r"(\s+)\*\s+(.*)$")
_CHECKBOX = re.compile(r"(?:\[@\d+\]\s*)?\[([ X-])\]\s+")
_BEGIN = re.compile(r"\s*#\+BEGIN_?(\w*)", re.IGNORECASE)
_CODE_KINDS = frozenset({"src", "example", "verse"})
# Notes for the author, and text in another language: HTML, LaTeX.
_SKIPPED_KINDS = frozenset({"comment", "export", "html", "latex"})

_LINK = re.compile(r"\[\[([^\[\]]{1,2000})\](?:\[([^\[\]]{1,2000})\])?\]")
_PICTURE = re.compile(r"(?:file:|\./|attachment:)?[^\s]+\.(?:png|jpe?g|gif|svg|webp)", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<![\w*/_+=~])([*/_=~+])(?=\S)((?:(?!\1)[^\n]){1,300})(?<=\S)\1(?![\w*/_+=~])")
_NOTE_MARK = re.compile(r"\[fn:[\w-]+\]")
_STAMP = re.compile(r"[<\[](\d{4}-\d\d-\d\d)[^<>\[\]]{0,40}[>\]]")
_TARGET = re.compile(r"<<<?[^<>\n]{1,200}>>>?|#\+ATTR_\w+.*")


def read_org(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a text; trees that are marked COMMENT or `:noexport:` are left out, and no file that it names is read."""
    lines = visible(decode(body, content_type))[:MOST_CHARACTERS].split("\n")
    facts: dict[str, str] = {}
    for line in lines:
        if (found := _KEYWORD.fullmatch(line)) and found[2].strip():
            facts.setdefault(found[1].lower(), _plain(found[2].strip()))
    links = [found[1] for line in lines for found in _LINK.finditer(line) if found[1].startswith(("http:", "https:"))]
    return FileContent(
        tuple(first_blocks(_blocks(lines))),
        title=facts.get("title"),
        authors=(facts.get("author", ""),),
        language=facts.get("language"),
        published=as_date(_STAMP.sub(r"\1", facts.get("date", ""))),
        links=tuple(links),
    )


def _blocks(lines: list[str]) -> Iterator[Block]:
    held: list[str] = []
    kind: BlockKind = "paragraph"
    rows: list[list[str]] = []
    has_rule = False
    until = ""  # beginning of the line that ends what is skipped or is code
    is_code = False
    hidden_level = 0

    def ended() -> Iterator[Block]:
        nonlocal kind, has_rule
        if text := _plain("\n".join(held)):
            yield Block(kind, text)
        if rows:
            yield from table_blocks(rows, has_names=has_rule)
        held.clear()
        rows.clear()
        kind, has_rule = "paragraph", False

    for line in lines:
        text = line.strip()
        if until:
            if text.lower().startswith(until):
                until = ""
                code = _dedented(held) if is_code else ""
                held.clear()
                if code:
                    yield Block("code", code)
            elif is_code:
                held.append(line)
            continue
        if heading := _HEADING.fullmatch(line):
            yield from ended()
            level, title = len(heading[1]), heading[2]
            if hidden_level and level > hidden_level:
                continue
            tags = _TAGS.search(title)
            is_hidden = title.startswith("COMMENT") or (tags is not None and ":noexport:" in tags[0])
            hidden_level = level if is_hidden else 0
            shown = _plain(_STATE.sub("", _TAGS.sub("", title), count=1))
            if shown and not is_hidden:
                yield Block("heading", " ".join(shown.split()))
        elif hidden_level:
            continue
        elif begun := _BEGIN.match(line):
            yield from ended()
            name = begun[1].lower()
            if name in _CODE_KINDS or name in _SKIPPED_KINDS:
                until, is_code = f"#+end_{name}", name in _CODE_KINDS
        elif _DRAWER.match(line):
            yield from ended()
            until, is_code = ":end:", False
        elif text.startswith("#+") or text == "#" or text.startswith("# ") or _PLANNING.match(line) or not text:
            yield from ended()
        elif text.startswith("|"):
            if held:
                yield from ended()
            if text.startswith("|-"):
                has_rule |= len(rows) == 1
            else:
                rows.append([_plain(cell) for cell in text.strip("|").split("|")])
        elif text.startswith(": ") or text == ":":
            if kind != "code":
                yield from ended()
                kind = "code"
            held.append(text[2:])
        elif item := _ITEM.match(line) or _STARRED_ITEM.match(line):
            yield from ended()
            kind = "item"
            shown = _CHECKBOX.sub(lambda box: "☐ " if box[1] == " " else "☑ ", item[2] or "", count=1)
            held.append(shown.replace(" :: ", ": ", 1))
        else:
            if rows or kind == "code" or (kind == "item" and not line[:1].isspace()):
                yield from ended()
            held.append(text)
    yield from ended()


def _dedented(lines: list[str]) -> str:
    shown = [line.rstrip() for line in lines if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in shown), default=0)
    # A comma protects lines that look like headings.
    return "\n".join(
        line[indent:].removeprefix(",") if line[indent:][:2] in (",*", ",#") else line[indent:] for line in shown
    )


def _plain(text: str) -> str:
    """Return a text without marks of links, emphasis, footnotes and targets."""

    def linked(found: re.Match[str]) -> str:
        if found[2]:
            return "" if _PICTURE.fullmatch(found[2]) else found[2]
        return "" if _PICTURE.fullmatch(found[1]) else found[1].removeprefix("file:")

    text = _TARGET.sub("", _NOTE_MARK.sub("", _LINK.sub(linked, text)))
    text = _STAMP.sub(r"\1", _EMPHASIS.sub(r"\2", text))
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
