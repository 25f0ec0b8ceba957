"""`marchwarden traces`: what was asked before, newest first; what is kept, and the removal of what is old."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli.early import trace_folder
from marchwarden.cli.quick import QuickCommand, QuickGroup

if TYPE_CHECKING:
    from pathlib import Path

    from marchwarden.trace.pruning import Kept
    from marchwarden.trace.reader import TraceSummary

EPILOGUE = """Examples:

marchwarden traces --limit 5
marchwarden traces --search "tea harbour"
    calls with both words in the question, the answer, or the sites that were read
marchwarden traces --search museum.example --json | jq -r '.[].trace_id'
marchwarden traces --stats
    how many traces, pages and bytes are kept
marchwarden traces prune --older-than 90d --dry-run"""

_PRUNE_EPILOGUE = """Examples:

marchwarden traces prune --older-than 90d --dry-run
    what would be removed
marchwarden traces prune --older-than 90d --keep-cited
    answers that cite something stay; failed and empty calls go
marchwarden traces prune --older-than 0d
    everything, but for calls that may still run"""

app = typer.Typer(
    cls=QuickGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)

_AGE = re.compile(r"(\d{1,4})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}


@app.callback(epilog=EPILOGUE)
def command(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to list.")] = 20,
    search: Annotated[
        str | None,
        typer.Option(
            "--search", "-s", metavar="TEXT", help="Those with all these words in question, answer or sites read."
        ),
    ] = None,
    stats: Annotated[
        bool, typer.Option("--stats", metavar="", help="Figures of what is kept, instead of a list.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", metavar="", help="As JSON.")] = False,
) -> None:
    """List traces, newest first, search them, and tell what they take on the disk."""
    if context.invoked_subcommand is not None:
        return
    if stats and search is not None:
        raise typer.BadParameter("--stats is about all that is kept; give it without --search")
    if stats:
        _show_figures(trace_folder(), json=json)
    else:
        _list(trace_folder(), search, limit, json=json)


@app.command("prune", epilog=_PRUNE_EPILOGUE, cls=QuickCommand)
def prune_command(
    older_than: Annotated[
        str,
        typer.Option("--older-than", metavar="AGE", help="Age from which calls are removed: 90d, 12w or 36h."),
    ],
    keep_cited: Annotated[
        bool, typer.Option("--keep-cited", metavar="", help="Keep calls whose answer cites something.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Remove nothing; tell what would be removed.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", metavar="", help="As JSON.")] = False,
) -> None:
    """Remove old traces, with the stored pages that no other trace names.

    What a kept trace names stays, so that it can still be verified, exported and made again. Calls that may still run
    stay, too.
    """
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.trace.pruning import prune

    age = _age(older_than)
    pruned = prune(trace_folder(), age, keep_cited=keep_cited, dry_run=dry_run)
    if json:
        console.json(
            {
                "dry_run": dry_run,
                "traces": [_plain(each) for each in pruned.traces],
                "kept": pruned.kept,
                "objects": pruned.objects,
                "bytes": pruned.bytes,
            }
        )
        return
    if pruned.traces and dry_run:
        console.trace_list(pruned.traces)
    console.line(
        f"{'Would remove' if dry_run else 'Removed'} {count(len(pruned.traces), 'trace')} and "
        f"{count(pruned.objects, 'stored object')}: {pruned.bytes:,} bytes. "
        f"{'What would stay' if dry_run else 'What stays'}: {count(pruned.kept, 'trace')}, "
        "and stored objects of the last hour, which a call may still need."
    )


def _list(folder: Path, search: str | None, limit: int, *, json: bool) -> None:
    from marchwarden.cli.views import console
    from marchwarden.trace.reader import list_traces
    from marchwarden.trace.trace_search import search_traces

    found = list_traces(folder) if search is None else search_traces(folder, search)
    if json:
        console.json([_plain(each) for each in found[:limit]])
    elif found:
        console.trace_list(found[:limit])
        if len(found) > limit:
            console.done(f"{limit} of {len(found)} traces; --limit shows more")
    elif search is not None:
        console.done(f"No trace in {folder} has {search!r} in its question, answer or sites.")
    else:
        console.done(f'There are no traces in {folder} yet; ask something: marchwarden ask "…"')


def _show_figures(folder: Path, *, json: bool) -> None:
    from marchwarden.cli.views import console
    from marchwarden.trace.pruning import figures

    kept = figures(folder)
    if json:
        console.json(
            {**asdict(kept), "oldest": _utc(kept.oldest), "newest": _utc(kept.newest), "folder": str(folder)}
        )
        return
    for line in _lines(kept, folder):
        console.line(line)
    if kept.readable_by_others:
        console.notice(
            f"Other users of this machine may read {kept.readable_by_others} of these files and folders.",
            f"To keep them to yourself: chmod -R go= {folder}",
        )


def _lines(kept: Kept, folder: Path) -> list[str]:
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(kept.traces.items()))
    between = f", {kept.oldest:%Y-%m-%d} to {kept.newest:%Y-%m-%d}" if kept.oldest and kept.newest else ""
    return [
        f"Folder   {folder}",
        f"Traces   {sum(kept.traces.values()):,} ({outcomes or 'none'}), {kept.trace_bytes:,} bytes{between}",
        f"Store    {kept.objects:,} pages, texts and other objects, {kept.object_bytes:,} bytes, compressed",
        f"Unnamed  {kept.unnamed:,} objects of no trace, {kept.unnamed_bytes:,} bytes, for `prune` after an hour",
    ]


def _age(given: str) -> timedelta:
    """Return an age that is given as `90d`, `12w` or `36h`. Raises a usage error."""
    parts = _AGE.fullmatch(given.strip().lower())
    if not parts:
        raise typer.BadParameter(f"--older-than takes a number with d, w or h, such as 90d; not {given!r}")
    return timedelta(hours=int(parts[1]) * _HOURS[parts[2]])


def _utc(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time else None


def _plain(summary: TraceSummary) -> dict[str, Any]:
    return {
        "trace_id": summary.trace_id,
        "started": _utc(summary.started),
        "question": summary.question,
        "outcome": summary.outcome,
        "confidence": summary.confidence,
        "tokens_used": summary.tokens_used,
        "seconds": summary.seconds,
        "model_id": summary.model_id,
        "rerun_of": summary.rerun_of,
        "path": str(summary.path),
    }
