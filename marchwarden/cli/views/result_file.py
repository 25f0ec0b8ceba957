"""A ResearchResult as a file: Markdown for people, JSON for machines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from marchwarden.cli.views.safe_text import one_line, visible
from marchwarden.errors import StorageError
from marchwarden.files import write_output
from marchwarden.server.markdown import Style, blocks

if TYPE_CHECKING:
    from pathlib import Path

    from marchwarden.contract import ResearchResult

# Characters that could make markup, a link, an image or HTML in Markdown. They are escaped, so that they stay text.
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!&])")
_RULE = re.compile(r"^(\s*)(?=(-\s*){2,}$|=+\s*$)", re.MULTILINE)
_MARKER = re.compile(r"\\\[(\d{1,3})\\\]")


def write_report(result: ResearchResult, question: str, path: Path) -> None:
    """Write `result` to `path`, whole or not at all; `.json` gives JSON, any other name Markdown.

    Raises StorageError where the folder can't be written.
    """
    as_json = path.suffix.lower() == ".json"
    text = result.model_dump_json(indent=2) + "\n" if as_json else markdown(result, question)
    try:
        write_output(path, text.encode("utf-8", "replace"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"{path} can't be written: {reason}", hint="Choose another --output.") from error


def markdown(result: ResearchResult, question: str) -> str:
    """Return the result as a Markdown document. Text of pages and models is escaped; the markers `[n]` are kept."""
    return "\n\n".join([f"# {_line(question)}", *blocks(result, _ESCAPED)]) + "\n"


def _text(text: str) -> str:
    """Escape a text, but let lists stay lists. Lines of dashes are escaped too: they would make a heading above."""
    return _MARKER.sub(r"[\1]", _RULE.sub(r"\1\\", _SPECIAL.sub(r"\\\1", visible(text))))


def _line(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text))


_ESCAPED = Style(line=_line, text=_text, hashes=True)
