"""`marchwarden traces`: what is kept of earlier calls, and the removal of what is old."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.early import trace_folder
from marchwarden.cli.library import history
from marchwarden.cli.library.history import age_of, plain, utc
from marchwarden.cli.quick import QuickCommand, QuickGroup

if TYPE_CHECKING:
    from pathlib import Path

    from marchwarden.trace.pruning import Kept

EPILOGUE = """Examples:

marchwarden traces
    how many traces, pages and bytes are kept
marchwarden traces --json | jq .object_bytes
marchwarden traces --search "tea harbour"
    calls with both words, as `marchwarden history tea harbour` lists them
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


@app.callback(epilog=EPILOGUE)
def command(
    context: typer.Context,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="List the calls with these words in the question, the answer, or the sites that were read, as "
            "`marchwarden history` does.",
        ),
    ] = None,
    json: options.PlainJson = False,
) -> None:
    """Show how much disk space traces and stored pages take; `traces prune` removes old ones."""
    if context.invoked_subcommand is not None:
        if search is not None:
            raise typer.BadParameter(f"--search can't go with {context.invoked_subcommand}")
    elif search is not None:
        history.command([search], json=json)
    else:
        show_figures(trace_folder(), json=json)


@app.command("prune", epilog=_PRUNE_EPILOGUE, cls=QuickCommand)
def prune_command(
    older_than: Annotated[
        str,
        typer.Option("--older-than", metavar="AGE", help="Remove calls that are older than this: 90d, 12w or 36h."),
    ],
    keep_cited: Annotated[
        bool, typer.Option("--keep-cited", metavar="", help="Keep calls whose answer has a citation.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Only show what would be removed.")] = False,
    json: options.PlainJson = False,
) -> None:
    """Remove old traces, with the stored pages that no other trace names.

    The pages of a trace that is kept stay, so that it can still be verified, exported and re-run. Calls that may
    still be running stay too.
    """
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.trace.pruning import prune

    age = age_of(older_than, "--older-than")
    pruned = prune(trace_folder(), age, keep_cited=keep_cited, dry_run=dry_run)
    if json:
        console.json(
            {
                "dry_run": dry_run,
                "traces": [plain(each) for each in pruned.traces],
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


def show_figures(folder: Path, *, json: bool) -> None:
    """Show how many traces and stored objects there are in a folder, and what they take."""
    from marchwarden.cli.views import console
    from marchwarden.trace.pruning import figures

    kept = figures(folder)
    if json:
        console.json({**asdict(kept), "oldest": utc(kept.oldest), "newest": utc(kept.newest), "folder": str(folder)})
        return
    for line in _lines(kept, folder):
        console.line(line)
    if kept.readable_by_others:
        console.notice(
            f"Other users of this machine can read {kept.readable_by_others} of these files and folders.",
            f"To keep them to yourself: chmod -R go= {folder}",
        )


def _lines(kept: Kept, folder: Path) -> list[str]:
    endings = ", ".join(f"{count} {ending}" for ending, count in sorted(kept.traces.items()))
    between = f", {kept.oldest:%Y-%m-%d} to {kept.newest:%Y-%m-%d}" if kept.oldest and kept.newest else ""
    return [
        f"Folder   {folder}",
        f"Traces   {sum(kept.traces.values()):,} ({endings or 'none'}), {kept.trace_bytes:,} bytes{between}",
        f"Store    {kept.objects:,} pages, texts and other objects, {kept.object_bytes:,} bytes, compressed",
        f"Unused   {kept.unnamed:,} objects of no trace, {kept.unnamed_bytes:,} bytes; `traces prune` removes them",
    ]
