"""Jupyter notebooks (nbformat 2 to 4) → blocks: the texts, the code, and what the code printed.

Own code beside nbformat: it needs jsonschema and traitlets to check what is read leniently here. The test compares
both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.markup.markdown_text import markdown_markup
from marchwarden.reading.files.markup.rendered import rendered_blocks
from marchwarden.reading.text_blocks import Block, first_blocks
from marchwarden.reading.works.author_names import named_in
from marchwarden.text.invisible import visible, visible_line

# Characters of one output that are read: logs and arrays can be endless. A guess.
_MAX_OUTPUT_CHARS = 20_000
# Escape sequences of a terminal, as tracebacks and progress bars have them.
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def read_notebook(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a notebook; pictures and other data in outputs are left out."""
    try:
        notebook = json.loads(decode(body, content_type))
    except (ValueError, RecursionError):
        return Failure(FailureKind.NO_TEXT, "the notebook is damaged: it is no JSON")
    notebook = notebook if isinstance(notebook, dict) else {}
    # Before version 4, cells stood in worksheets.
    sheets = [each for each in _list(notebook.get("worksheets")) if isinstance(each, dict)]
    cells = _list(notebook.get("cells")) or list(chain.from_iterable(_list(each.get("cells")) for each in sheets))
    if not cells:
        return Failure(FailureKind.NO_TEXT, "the notebook has no cells")
    facts = _dict(notebook.get("metadata"))
    title = facts.get("title")
    links: list[str] = []
    blocks = tuple(first_blocks(_blocks(cells, links)))
    return FileContent(
        blocks,
        title=(visible_line(title) or None) if isinstance(title, str) else None,
        authors=tuple(named_in(facts.get("authors"))),
        links=tuple(links),
    )


def _blocks(cells: list[Any], links: list[str]) -> Iterator[Block]:
    for cell in filter(None, map(_dict, cells)):
        kind, source = cell.get("cell_type"), _text(cell.get("source", cell.get("input")))
        if kind == "markdown":
            blocks, found = rendered_blocks(markdown_markup(source)[0])
            links += found
            yield from blocks
        elif kind == "heading":
            yield from _lines("heading", " ".join(source.split()))
        elif kind == "code":
            yield from _lines("code", source)
            for output in filter(None, map(_dict, _list(cell.get("outputs")))):
                data = _dict(output.get("data")) or output
                markup = _text(data.get("text/html", data.get("html")))
                if "<table" in markup:
                    yield from rendered_blocks(markup[: 10 * _MAX_OUTPUT_CHARS])[0]
                elif text := _text(data.get("text/markdown")):
                    yield from rendered_blocks(markdown_markup(text[:_MAX_OUTPUT_CHARS])[0])[0]
                elif output.get("ename"):
                    yield from _lines("code", f"{_text(output['ename'])}: {_text(output.get('evalue'))}")
                else:
                    yield from _lines("code", _text(data.get("text/plain", data.get("text"))))
        else:
            yield from _lines("code", source)


def _lines(kind: Any, text: str) -> Iterator[Block]:
    lines = _ESCAPE.sub("", text[:_MAX_OUTPUT_CHARS] if kind == "code" else text).split("\n")
    # A progress bar writes its line again and again.
    shown = [visible(line.rstrip("\r").rpartition("\r")[2]).rstrip() for line in lines]
    if joined := "\n".join(line for line in shown if line).strip():
        yield Block(kind, joined)


def _text(value: Any) -> str:
    """Return a multi-line string, which nbformat writes as one or as a list of lines."""
    if isinstance(value, list):
        return "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
