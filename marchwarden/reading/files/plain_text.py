"""Plain text, Markdown and JSON → blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from marchwarden.reading.passages import Block, BlockKind, visible

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•‣·]|\(?\d{1,3}[.)])[ \t]+\S")
_COLUMNS = re.compile(r"\S(?: {3,}|\t+)\S")
_UNDERLINE = re.compile(r"[=~^-]{3,}")
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\n", re.DOTALL)
_MOST_MARKDOWN = 1_000_000
"""Characters that are read: the parser takes about 10 µs for each that is a mark."""


def plain_blocks(text: str) -> Iterator[Block]:
    """Paragraphs between blank lines; a wrapped line goes on in the next one; list items and the rows of a table set
    in columns stand alone; an underlined line is a heading."""
    text = visible(text)
    margin = _margin(text)
    for paragraph in _PARAGRAPH_END.split(text):
        yield from _blocks_of(paragraph, margin)


@dataclass
class _Lines:
    """The lines of a block that may go on."""

    kind: BlockKind
    lines: list[str]
    header: str | None = None
    shown: bool = True

    def block(self) -> Block:
        return Block(self.kind, "\n".join(self.lines), self.header, self.shown)


def _blocks_of(paragraph: str, margin: int) -> Iterator[Block]:
    last: _Lines | None = None
    columns: str | None = None
    for line in filter(None, map(str.strip, paragraph.split("\n"))):
        if _UNDERLINE.fullmatch(line):
            if last is not None and last.kind == "row":
                last.shown, columns = False, " ".join(last.lines[0].split())
            elif last is not None:
                last.kind = "heading"
        elif last is not None and _goes_on(last.lines[-1], line, margin):
            last.lines.append(line)
        else:
            if last is not None:
                yield last.block()
            last = _begun(line, columns)
    if last is not None:
        yield last.block()


def _begun(line: str, columns: str | None) -> _Lines:
    if _COLUMNS.search(line):
        return _Lines("row", [line], header=columns)
    return _Lines("item" if _LIST_ITEM.match(line) else "paragraph", [line])


def _margin(text: str) -> int:
    """The length that most lines are filled up to, in characters."""
    lengths = sorted(len(line) for line in text.split("\n") if line.strip())
    return lengths[len(lengths) * 3 // 4] if lengths else 0


def _goes_on(above: str, line: str, margin: int) -> bool:
    """Whether `line` belongs to the one above: that was filled to the margin, or this begins in the middle."""
    if _LIST_ITEM.match(line) or _COLUMNS.search(line) or _COLUMNS.search(above):
        return False
    return len(above) >= margin * 0.7 or line[0].islower()


def markdown_markup(text: str) -> tuple[str, dict[str, str]]:
    """Markdown as HTML (CommonMark with tables), and the fields of its front matter."""
    from markdown_it import MarkdownIt

    text = visible(text)[:_MOST_MARKDOWN]
    front = _FRONT_MATTER.match(text)
    fields = dict(_fields(front[1])) if front else {}
    body = MarkdownIt("commonmark").enable("table").render(text[front.end() :] if front else text)
    return f"<html><body>{body}</body></html>", fields


def _fields(front_matter: str) -> Iterator[tuple[str, str]]:
    for line in front_matter.split("\n"):
        name, colon, value = line.partition(":")
        if colon and name.strip():
            yield name.strip().lower(), value.strip().strip("\"'")


def json_blocks(text: str) -> Iterator[Block]:
    """One line a value, with its name, below the path that leads to it, and one line a record of a few plain values;
    plain text where it isn't JSON after all."""
    try:
        value = json.loads(visible(text))
    except (ValueError, RecursionError):
        yield from plain_blocks(text)
        return
    above = ""
    for path, line in _values(value, ()):
        if path and path != above:
            yield Block("heading", path)
        above = path
        yield Block("line", line)


_DEEPEST = 50
_LONGEST_RECORD = 400
_PATH = " › "
_FIELD_GAP = " · "


def _values(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if record := _record(value) if path else None:
        yield _PATH.join(path[:-1] if path[-1].isdigit() else path), record
        return
    for name, each in _members(value, path):
        if isinstance(each, dict | list) and each and len(path) < _DEEPEST:
            yield from _values(each, (*path, name))
        elif line := _line(name if isinstance(value, dict) else "", each):
            yield _PATH.join(path), line


def _members(value: object, path: tuple[str, ...]) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [(visible(str(name)).strip(), each) for name, each in value.items()]
    if isinstance(value, list):
        return [(str(number), each) for number, each in enumerate(value, 1)]
    return [("", value)]


def _record(value: object) -> str | None:
    """A dict of plain values as one line, where that is short enough to be quoted."""
    if not isinstance(value, dict) or any(isinstance(each, dict | list) for each in value.values()):
        return None
    line = _FIELD_GAP.join(_line(visible(str(name)).strip(), each) for name, each in value.items())
    return line if len(line) <= _LONGEST_RECORD else None


def _line(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(visible(text).split("\n")).strip()
    return f"{name}: {text}" if name and text else text
