"""A ResearchResult as a file whose ending says what it is: for people, for programs, or for a citation manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marchwarden.audit.bibliography import ENDINGS as BIBLIOGRAPHIES
from marchwarden.audit.bibliography import bibliography
from marchwarden.errors import StorageError
from marchwarden.files import write_output
from marchwarden.server.markdown import document
from marchwarden.text.escaping import json_text
from marchwarden.trace.reader import read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from marchwarden.contract import ResearchResult


ENDINGS = (".md", ".html", ".json", *BIBLIOGRAPHIES)
"""Endings that a result can be written with."""


def ending_of(path: Path) -> str:
    """Return the ending that decides what is written; `.md` where a name has none of them, as that of a pipe."""
    name = path.name.lower()
    # `.csl.json` ends in `.json`, too.
    return next((ending for ending in sorted(ENDINGS, key=len, reverse=True) if name.endswith(ending)), ".md")


def write_report(
    result: ResearchResult, question: str, path: Path, *, trace: Path | None = None, force: bool = False
) -> bool:
    """Write `result` to `path`, whole or not at all, as its ending says; `.html` needs the call's `trace`.

    Return False where it was left out: a list of works of a result that cites none.

    Raises StorageError where the folder can't be written, or where there is such a file and `force` is not set;
    TraceError where the trace is not at hand.
    """
    if path.is_file() and not force:
        raise StorageError(
            f"{path} was made by someone else during the call, and is left as it is",
            hint=f"The answer is in the trace: marchwarden show {result.trace_id[:8]}",
        )
    ending = ending_of(path)
    if ending == ".html" and trace is not None:
        from marchwarden.audit.evidence_page import evidence_page
        from marchwarden.audit.verdict import evidence_of_trace

        body = evidence_page(evidence_of_trace(trace))
    elif ending == ".json":
        body = f"{json_text(result.model_dump_json(indent=2))}\n".encode("utf-8", "replace")
    elif ending in BIBLIOGRAPHIES:
        if not result.citations:
            return False
        read = read_trace(trace).started if trace is not None and trace.is_file() else None
        listed = bibliography(result.citations, BIBLIOGRAPHIES[ending], read.date() if read else None)
        body = listed.encode("utf-8", "replace")
    else:
        body = document(result, question).encode("utf-8", "replace")
    try:
        write_output(path, body)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(
            f"{path} can't be written: {reason}",
            hint=f"The answer is stored: marchwarden show {result.trace_id[:8]} -o FILE",
        ) from error
    return True
