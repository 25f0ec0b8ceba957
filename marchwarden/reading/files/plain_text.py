"""Plain text and JSON → blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from marchwarden.reading.text_blocks import Block, BlockKind
from marchwarden.text.invisible import visible

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•‣·]|\(?\d{1,3}[.)])[ \t]+\S")
_COLUMNS = re.compile(r"\S(?: {3,}|\t+)\S")
_UNDERLINE = re.compile(r"[=~^-]{3,}")
# Share of the margin from which on a line counts as filled: the next word didn't fit. A guess.
_FILLED_SHARE = 0.7


def plain_blocks(text: str) -> Iterator[Block]:
    """Yield the paragraphs between blank lines, with wrapped lines joined.

    List items and the rows of a table set in columns are blocks of their own. An underlined line is a heading.
    """
    text = visible(text)
    # The length in characters that three quarters of the lines stay below: where lines are wrapped, their margin.
    lengths = sorted(len(line) for line in text.split("\n") if line.strip())
    margin = lengths[len(lengths) * 3 // 4] if lengths else 0
    for paragraph in _PARAGRAPH_END.split(text):
        last: _Lines | None = None
        columns: str | None = None
        for line in filter(None, map(str.strip, paragraph.split("\n"))):
            if _UNDERLINE.fullmatch(line):
                if last is not None and last.kind == "row":
                    last.shown, columns = False, " ".join(last.lines[0].split())
                elif last is not None:
                    last.kind = "heading"
                continue
            is_item, is_row = bool(_LIST_ITEM.match(line)), bool(_COLUMNS.search(line))
            if last is not None:
                above = last.lines[-1]
                # A line is wrapped where the one above is filled to the margin, or where it begins within a sentence.
                is_wrapped = len(above) >= margin * _FILLED_SHARE or line[0].islower()
                if is_wrapped and not (is_item or is_row or _COLUMNS.search(above)):
                    last.lines.append(line)
                    continue
                yield last.block()
            kind: BlockKind = "row" if is_row else "item" if is_item else "paragraph"
            last = _Lines(kind, [line], header=columns if is_row else None)
        if last is not None:
            yield last.block()


@dataclass
class _Lines:
    """Lines of a block to which more may come."""

    kind: BlockKind
    lines: list[str]
    header: str | None = None
    shown: bool = True

    def block(self) -> Block:
        return Block(self.kind, "\n".join(self.lines), self.header, self.shown)


def json_blocks(text: str) -> Iterator[Block]:
    """Yield a line for each value with its name, or for each short record, below the path that leads to it.

    Text that isn't JSON is read as plain text.
    """
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


# Levels of a document; a deeper value is one line. A guess, well below Python's limit of recursion.
_MAX_DEPTH = 50
# Characters of a record that is one line: a longer one is no excerpt. A guess.
_MAX_RECORD_CHARS = 400
_PATH = " › "
_FIELD_GAP = " · "


def _values(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if path and isinstance(value, dict) and not any(isinstance(each, dict | list) for each in value.values()):
        record = _FIELD_GAP.join(_line(visible(str(name)).strip(), each) for name, each in value.items())
        # One that is too long to be quoted is a line for each of its values.
        if record and len(record) <= _MAX_RECORD_CHARS:
            yield _PATH.join(path[:-1] if path[-1].isdigit() else path), record
            return
    members: list[tuple[str, object]] = [("", value)]
    if isinstance(value, dict):
        members = [(visible(str(name)).strip(), each) for name, each in value.items()]
    elif isinstance(value, list):
        members = [(str(number), each) for number, each in enumerate(value, 1)]
    for name, each in members:
        if isinstance(each, dict | list) and each and len(path) < _MAX_DEPTH:
            yield from _values(each, (*path, name))
        elif line := _line(name if isinstance(value, dict) else "", each):
            yield _PATH.join(path), line


def _line(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(visible(text).split("\n")).strip()
    return f"{name}: {text}" if name and text else text
