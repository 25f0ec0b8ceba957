"""`marchwarden rerun`: one call made again from its trace, and the differences of the two results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_model
from marchwarden.cli.library.stored_traces import named_trace, tell_unpublished

if TYPE_CHECKING:
    from marchwarden.agent.rerun_call import Exchange, Rerun

EPILOGUE = """Examples:

marchwarden rerun
    the latest answer: is its result the same again?
marchwarden rerun 3f2a --json | jq .verdict
marchwarden rerun tests/traces/3f2b8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f.jsonl
    a trace kept elsewhere, with its store/ beside it
marchwarden rerun 3f2a --model anthropic/claude-sonnet-5-5
    what would another model have made of the same pages?
marchwarden rerun 3f2a --program none
marchwarden rerun 3f2a --live search,fetch
    what does the web say today?

Exit codes: 0 the same result, or a part was replaced · 1 another result though nothing was replaced, or a trace
that can't be made again · 2 wrong usage."""


def command(
    trace: options.Trace = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="ID", autocompletion=complete_model, help="Use this model instead, or extractive for none."
        ),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Use this program instead: a folder, none, or current for the one in use now."
        ),
    ] = None,
    live: Annotated[
        str | None,
        typer.Option(metavar="PARTS", help="Parts to do again live, separated by commas: search, fetch, model."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print verdict, differences and result as JSON.")
    ] = False,
) -> None:
    """Repeat a call from its trace, offline, and show what differs.

    Searches, pages and model answers come from the trace and its store. So a re-run costs nothing and gives the same
    result, except for ids and times. --model, --program and --live replace one part. Such a re-run is a new call: it
    may cost tokens, and it leaves a trace.

    Of an investigation, each researcher's call is repeated from its own trace, and the rest is decided again. Its
    parts can't be replaced.
    """
    import anyio

    from marchwarden.agent.rerun_call import rerun
    from marchwarden.audit.verdict import quick_verdict
    from marchwarden.cli.views import console
    from marchwarden.errors import MarchwardenError, TraceError
    from marchwarden.orchestrator.rerun_investigation import rerun_investigation
    from marchwarden.settings import load_settings
    from marchwarden.trace.reader import read_trace
    from marchwarden.trace.standalone_verifier import VERIFIED

    exchange = _exchange(model, program, live)
    found = read_trace(named_trace(trace))
    settings = load_settings()
    try:
        ran = anyio.run(rerun_investigation if found.is_investigation else rerun, found, settings, exchange)
    except MarchwardenError:
        raise
    except Exception as error:  # what a damaged trace says may break any rule of a call
        if quick_verdict(found.path).state == VERIFIED:
            raise
        raise TraceError(
            f"{found.trace_id} can't be repeated, because its trace is not complete ({type(error).__name__})",
            hint="`marchwarden verify` says where.",
        ) from error
    if json:
        console.json(_plain(found.trace_id, ran, exchange))
    else:
        console.rerun(found.trace_id, ran, exchange.named)
    if ran.kept:
        tell_unpublished(settings.traces / f"{ran.result.trace_id}.jsonl")
    if not exchange and not ran.is_same:
        raise typer.Exit(1)


def _exchange(model: str | None, program: str | None, live: str | None) -> Exchange:
    """Return what the options exchange. Raises a usage error for an unknown part."""
    from marchwarden.agent.rerun_call import CURRENT, PARTS, Exchange
    from marchwarden.programs import NONE

    wanted = [part.strip() for part in (live or "").split(",") if part.strip()]
    if live is not None and (not wanted or set(wanted) - set(PARTS)):
        raise typer.BadParameter(f"--live takes {', '.join(PARTS)}, or several with commas; not {live!r}")
    if model and "model" in wanted:
        raise typer.BadParameter(
            "--live model asks the recorded model again, --model asks another: give only one of them"
        )
    if program not in (None, NONE, CURRENT):
        program = str(Path(str(program)).absolute())
    return Exchange(model, program, frozenset(part for part in PARTS if part in wanted))


def _plain(trace_id: str, ran: Rerun, exchange: Exchange) -> dict[str, Any]:
    result = ran.result.model_dump(mode="json")
    return {
        "rerun_of": trace_id,
        "verdict": "nothing to compare" if ran.recorded is None else "same" if ran.is_same else "different",
        "exchanged": exchange.named,
        "differences": [asdict(each) for each in ran.differences],
        "first_step": asdict(ran.first) if ran.first else None,
        "lacks": ran.lacks,
        "notes": ran.notes,
        "trace": result["trace_id"] if ran.kept else None,
        "result": result,
    }
