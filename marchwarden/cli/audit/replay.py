"""`marchwarden replay`: one call again, from its trace, offline, with a verdict over what it says."""

from __future__ import annotations

import json as codec
from typing import TYPE_CHECKING, Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.library.stored_traces import stored_trace, tell_unpublished

if TYPE_CHECKING:
    from pathlib import Path

    from marchwarden.trace.reader import Trace

EPILOGUE = """Examples:

marchwarden replay
    the latest answer
marchwarden replay 3f2a
    the call whose id begins with 3f2a; `marchwarden history` lists ids
marchwarden replay 3f2a --json | jq -r 'select(.action == "fetch_url") | .final_url'"""


def command(
    trace_id: options.TraceId = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            metavar="",
            help="Print the trace's lines, byte for byte, then a line `check` if `marchwarden check` was run.",
        ),
    ] = False,
) -> None:
    """Show what a call did, step by step, and verify its result. The latest check of its citations is shown too."""
    from marchwarden.cli.views import console
    from marchwarden.trace.reader import read_trace

    path = stored_trace(trace_id)
    if json:
        console.data(_lines(path) + _check_line(path))
        return
    is_whole = show(read_trace(path))
    tell_unpublished(path)
    if not is_whole:
        raise typer.Exit(1)


def show(trace: Trace) -> bool:
    """Print the timeline, the result where there is one, and the verdict over both.

    Returns False where something is damaged or missing, or where the result can't be read. A call without a result,
    and a trace of an older or newer version, are no failure: the verdict says so.
    """
    from marchwarden.audit.verdict import quick_verdict
    from marchwarden.cli.audit.check_view import kept_check_view
    from marchwarden.cli.views import console
    from marchwarden.store.check_record import last_check
    from marchwarden.trace.timeline import timeline

    console.timeline(trace, timeline(trace))
    if trace.is_investigation and trace.outcome == "unfinished":
        console.notice(f"If it was killed, continue it: marchwarden investigate --resume {trace.trace_id[:8]}")
    result = trace.written_result
    readable = True
    if result is not None:
        try:
            console.result(result)
        except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError):
            console.notice(
                "The result in this trace can't be read: its file is damaged, or uses another version of the "
                "contract."
            )
            readable = False
    found = quick_verdict(trace.path)
    console.verdict(found)
    if kept := last_check(trace.path):
        console.show(kept_check_view(kept))
    unfinished = result is None and found.state == "missing"
    return readable and (unfinished or found.state not in ("damaged", "missing"))


def _lines(path: Path) -> bytes:
    from marchwarden.errors import TraceError

    try:
        return path.read_bytes()
    except OSError as error:
        raise TraceError(f"{path} can't be read: {error.strerror or error}") from error


def _check_line(path: Path) -> bytes:
    """Return the latest check of the trace's citations as a further line; empty where there is none."""
    from marchwarden.store.check_record import last_check

    kept = last_check(path)
    if kept is None:
        return b""
    return codec.dumps({"action": "check", **kept}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
