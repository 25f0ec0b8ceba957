"""`marchwarden traces`: what was asked before, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli.early import trace_folder

if TYPE_CHECKING:
    from marchwarden.trace.reader import TraceSummary

EPILOGUE = """Examples:

marchwarden traces --limit 5
marchwarden traces --json | jq -r '.[].trace_id'"""


def command(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to list.")] = 20,
    json: Annotated[bool, typer.Option("--json", metavar="", help="As JSON.")] = False,
) -> None:
    """List traces, newest first."""
    from marchwarden.cli.views import console
    from marchwarden.trace.reader import list_traces

    folder = trace_folder()
    found = list_traces(folder)
    if json:
        console.json([_plain(each) for each in found[:limit]])
    elif found:
        console.trace_list(found[:limit])
        if len(found) > limit:
            console.done(f"{limit} of {len(found)} traces; --limit shows more")
    else:
        console.done(f'There are no traces in {folder} yet; ask something: marchwarden ask "…"')


def _plain(summary: TraceSummary) -> dict[str, Any]:
    return {
        "trace_id": summary.trace_id,
        "started": summary.started.isoformat().replace("+00:00", "Z") if summary.started else None,
        "question": summary.question,
        "outcome": summary.outcome,
        "confidence": summary.confidence,
        "tokens_used": summary.tokens_used,
        "seconds": summary.seconds,
        "model_id": summary.model_id,
        "path": str(summary.path),
    }
