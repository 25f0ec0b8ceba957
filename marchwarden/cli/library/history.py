"""`marchwarden history`: what was asked before, newest first, and the search of it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.early import trace_folder
from marchwarden.cli.library.stored_traces import listed_traces

if TYPE_CHECKING:
    from marchwarden.contract import Status
    from marchwarden.trace.reader import TraceSummary

EPILOGUE = """Examples:

marchwarden history
    the newest 20 calls
marchwarden history tea harbour
    calls with both words in the question, the answer, or the sites that were read
marchwarden history museum.example --json | jq -r '.[].trace_id'
marchwarden history --since 7d --max-confidence 0.5
marchwarden history --source corpus --model claude --since 2026-01-01
marchwarden history --failed --nothing-found
    calls that gave no answer, of both kinds"""

_AGE = re.compile(r"(\d{1,4})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORDS",
            help="Words to find in the question, the answer, or the sites that were read. All must be there.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Number of calls to list.")] = 20,
    since: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="Calls since a day (2026-01-31), or of the last 7d, 12w or 36h."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="Calls up to and including a day (2026-01-31), or older than 7d, 12w or 36h."
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="Calls that searched this source: web, corpus, corpus:notes.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="ID", help="Calls whose model id contains this.")] = None,
    min_confidence: Annotated[
        float | None, typer.Option(metavar="C", min=0, max=1, help="Answers with at least this confidence, 0–1.")
    ] = None,
    max_confidence: Annotated[
        float | None, typer.Option(metavar="C", min=0, max=1, help="Answers with at most this confidence, 0–1.")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", metavar="", help="Calls without a result: failed, cancelled or unfinished.")
    ] = False,
    nothing_found: Annotated[
        bool, typer.Option("--nothing-found", metavar="", help="Calls whose result cites nothing.")
    ] = False,
    json: options.PlainJson = False,
) -> None:
    """List earlier calls, newest first, and search them."""
    from marchwarden.cli.views import console
    from marchwarden.trace.trace_search import Wanted

    chosen: dict[Status, bool] = {"failed": failed, "nothing_found": nothing_found}
    wanted = Wanted(
        text=" ".join(words or ()),
        since=_time(since, "--since") if since else None,
        before=_time(until, "--until", whole_day=True) if until else None,
        source=source,
        model=model,
        least_confidence=min_confidence,
        most_confidence=max_confidence,
        statuses=frozenset(status for status, is_wanted in chosen.items() if is_wanted),
    )
    folder = trace_folder()
    found = listed_traces(wanted)
    if json:
        console.json([plain(each) for each in found[:limit]])
    elif found:
        console.trace_list(found[:limit])
        if len(found) > limit:
            console.done(f"{limit} of {len(found)} calls; `marchwarden history --limit` shows more")
    elif wanted != Wanted():
        console.done(f"No call in {folder} is like that.")
    else:
        console.done(f'There are no calls in {folder} yet; ask something: marchwarden ask "…"')


def age_of(given: str, option: str) -> timedelta:
    """Return an age that is given as `90d`, `12w` or `36h`. Raises a usage error."""
    parts = _AGE.fullmatch(given.strip().lower())
    if not parts:
        raise typer.BadParameter(f"{option} takes a number with d, w or h, such as 90d; not {given!r}")
    return timedelta(hours=int(parts[1]) * _HOURS[parts[2]])


def _time(given: str, option: str, *, whole_day: bool = False) -> datetime:
    """Return a time that is given as a day or an age; the end of the day where it counts as a whole."""
    if _AGE.fullmatch(given.strip().lower()):
        return datetime.now(timezone.utc) - age_of(given, option)
    try:
        day = datetime.strptime(given.strip(), "%Y-%m-%d").astimezone()
        return day + timedelta(days=1) if whole_day else day
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{option} takes a day or an age, such as 2026-01-31 or 7d; not {given!r}") from None


def utc(time: datetime | None) -> str | None:
    """Return a time as JSON has it, in UTC."""
    return time.isoformat().replace("+00:00", "Z") if time else None


def plain(summary: TraceSummary) -> dict[str, Any]:
    """Return a call as JSON has it."""
    return {
        "trace_id": summary.trace_id,
        "started": utc(summary.started),
        "question": summary.question,
        "status": summary.status,
        "outcome": summary.outcome,
        "confidence": summary.confidence,
        "tokens_used": summary.tokens_used,
        "seconds": summary.seconds,
        "model_id": summary.model_id,
        "source": summary.source,
        "rerun_of": summary.rerun_of,
        "is_investigation": summary.is_investigation,
        "continues": summary.continues,
        "path": str(summary.path),
    }
