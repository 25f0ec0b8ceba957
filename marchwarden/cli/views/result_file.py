"""A ResearchResult as a file: Markdown for people, JSON for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marchwarden.errors import StorageError
from marchwarden.files import write_output
from marchwarden.server.markdown import blocks
from marchwarden.text.escaping import json_text, markdown_line

if TYPE_CHECKING:
    from pathlib import Path

    from marchwarden.contract import ResearchResult


def write_report(result: ResearchResult, question: str, path: Path, *, force: bool = False) -> None:
    """Write `result` to `path`, whole or not at all; `.json` gives JSON, any other name Markdown.

    Raises StorageError where the folder can't be written, or where there is such a file and `force` is not set.
    """
    if path.is_file() and not force:
        raise StorageError(
            f"{path} was made by someone else during the call, and is left as it is",
            hint="The answer is in the trace: marchwarden replay",
        )
    as_json = path.suffix.lower() == ".json"
    text = json_text(result.model_dump_json(indent=2)) + "\n" if as_json else markdown(result, question)
    try:
        write_output(path, text.encode("utf-8", "replace"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"{path} can't be written: {reason}", hint="Choose another --output.") from error


def markdown(result: ResearchResult, question: str) -> str:
    """Return the result as a Markdown document. Text of pages and models is escaped; the markers `[n]` are kept."""
    return "\n\n".join([f"# {markdown_line(question)}", *blocks(result, hashes=True)]) + "\n"
