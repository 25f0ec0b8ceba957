"""Plain text, Markdown and JSON → blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from marchwarden.tools.passages import Block, visible

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•‣·]|\(?\d{1,3}[.)])[ \t]+\S")
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\n", re.DOTALL)


def plain_blocks(text: str) -> Iterator[Block]:
    """Paragraphs between blank lines; a wrapped line goes on in the next one, list items stand alone."""
    for paragraph in _PARAGRAPH_END.split(visible(text).expandtabs(4)):
        lines: list[str] = []
        for line in paragraph.split("\n"):
            if lines and _goes_on(lines, line):
                lines[-1] += "\n" + line.strip()
            elif line.strip():
                lines.append(line.strip())
        for line in lines:
            yield Block("item" if _LIST_ITEM.match(line) else "paragraph", line)


_WRAPPED_AT = 50


def _goes_on(lines: list[str], line: str) -> bool:
    """Whether `line` belongs to the one above: that was filled to the margin, or this begins in the middle."""
    if _LIST_ITEM.match(line):
        return False
    above = lines[-1].rpartition("\n")[2]
    return len(above) >= _WRAPPED_AT or line.lstrip()[:1].islower()


def markdown_markup(text: str) -> tuple[str, dict[str, str]]:
    """Markdown as HTML (CommonMark with tables), and the fields of its front matter."""
    from markdown_it import MarkdownIt

    text = visible(text)
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
    """One line a value, with its name, below the path that leads to it; plain text where it isn't JSON after all."""
    try:
        value = json.loads(visible(text))
    except (ValueError, RecursionError):
        yield from plain_blocks(text)
        return
    above = ""
    for path, line in _values(value, ()):
        if path != above:
            above = path
            yield Block("heading", path)
        yield Block("line", line)


_DEEPEST = 50


def _values(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and len(path) < _DEEPEST:
        named = value.items()
    elif isinstance(value, list) and len(path) < _DEEPEST:
        named = {str(number): each for number, each in enumerate(value, 1)}.items()
    else:
        named = {"": value}.items()
    for name, each in named:
        if isinstance(each, dict | list) and each and name:
            yield from _values(each, (*path, visible(str(name))))
        elif line := _line(str(name) if isinstance(value, dict) else "", each):
            yield " › ".join(path), line


def _line(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(visible(text).split("\n")).strip()
    return f"{visible(name).strip()}: {text}" if name.strip() and text else text
