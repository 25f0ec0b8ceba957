"""`marchwarden ask`: a question to the research server, and its answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from marchwarden.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marchwarden.cli.audit.again import Earlier
    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.errors import InvalidRequest

NOTHING_FOUND, INTERRUPTED = 3, 130

EPILOGUE = """Examples:

marchwarden ask "What are ideal crops for a garden in Utah?"
marchwarden ask "Who founded CERN?" --depth shallow --budget 5000 --output cern.md
marchwarden ask "Which herbs grow in shade?" --source-filter "*.edu, -pinterest.com"
marchwarden ask "When was the queen replaced?" --source web,corpus:notes
echo "What is a persimmon?" | marchwarden ask - --json | jq .confidence
marchwarden ask "What is a persimmon?" --server http://127.0.0.1:8111/mcp
marchwarden ask --again 3f2a
    the question of that call, with its settings: what changed since?

Exit codes: 0 an answer · 1 a failure · 2 wrong usage · 3 nothing found (no citation) · 130 interrupted."""

_OPTIONS = {
    "question": "QUESTION",
    "context": "--context",
    "depth": "--depth",
    "constraints.token_budget": "--budget",
    "constraints.max_iterations": "--max-iterations",
    "constraints.max_sources": "--max-sources",
    "constraints.source_filter": "--source-filter",
}
_STDIN_LIMIT = 100_000


def _needed(context: typer.Context, question: str | None) -> str | None:
    """Raise a usage error where there is neither a question nor an earlier call."""
    if question is None and not context.params.get("again") and not context.resilient_parsing:
        raise typer.BadParameter("it is missing: give a question, or --again TRACE")
    return question


def command(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            help="What to find out, 1–500 characters; - reads it from stdin.",
            callback=_needed,
            show_default=False,
        ),
    ] = None,
    context: Annotated[str | None, typer.Option(help="What you know already: it is not researched again.")] = None,
    depth: Annotated[
        Literal["shallow", "balanced", "deep"], typer.Option(help="How thoroughly: a target, not a limit.")
    ] = "balanced",
    budget: Annotated[
        int | None,
        typer.Option(metavar="TOKENS", help="Model tokens at most, 500–1000000. Default: 20000, deep 25000."),
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(metavar="N", help="Turns of the loop at most, 1–20. Default: 5.")
    ] = None,
    max_sources: Annotated[
        int | None, typer.Option(metavar="N", help="Pages read at most, 1–50. Default: 10.")
    ] = None,
    source_filter: Annotated[
        str | None, typer.Option(metavar="DOMAINS", help="Domains separated by commas; a leading - excludes.")
    ] = None,
    source: options.Source = None,
    web: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of another frozen web; implies --source snapshot.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="ID", help="Model id; extractive for none.")] = None,
    again: Annotated[
        str | None,
        typer.Option(
            metavar="TRACE",
            is_eager=True,  # the question is looked at later, and may be missing then
            help="Ask the question of an earlier call again, with its settings, and show what changed since.",
        ),
    ] = None,
    json: options.Json = False,
    output: options.Output = None,
    force: options.Force = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", metavar="", help="Also show the call's timeline.")
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A running server, http://127.0.0.1:8111/mcp, instead of starting one."),
    ] = None,
) -> None:
    """Research a question and show the answer with its evidence."""
    constraints = {
        "token_budget": budget,
        "max_iterations": max_iterations,
        "max_sources": max_sources,
        "source_filter": source_filter,
    }
    earlier = None
    overrides: Mapping[str, object]
    if again is not None:
        fixed: dict[str, object] = {"QUESTION": question, "--context": context, "--source": source, "--model": model}
        fixed |= {"--server": server, "--depth": None if depth == "balanced" else depth}
        fixed |= {_OPTIONS[f"constraints.{name}"]: value for name, value in constraints.items()}
        if given := [option for option, value in fixed.items() if value is not None]:
            raise typer.BadParameter(f"{' and '.join(given)} can't go with --again: the earlier call's are taken")
        from marchwarden.cli.audit.again import changes_view, earlier_call

        earlier = earlier_call(again, web)
        request, overrides = earlier.request, earlier.settings
    else:
        request = request_from(_question(question or ""), context, depth, constraints)
        overrides = {"model": model, "source": _sources(source, web), "web": web and web.absolute()}
    if server is not None:
        if not server.startswith(("http://", "https://")):
            raise typer.BadParameter("--server takes the URL of a server, such as http://127.0.0.1:8111/mcp")
        own = {"--model": model, "--source": source, "--web": web}
        if given := [option for option, value in own.items() if value is not None]:
            raise typer.BadParameter(
                f"{' and '.join(given)} can't go with --server: a running server has settings of its own; "
                "give it to `marchwarden serve`"
            )
    if output is not None and output.is_dir():
        raise typer.BadParameter(f"--output {output} is a folder; name a file")
    if output is not None and not output.absolute().parent.is_dir():
        raise typer.BadParameter(f"--output {output}: there is no folder {output.parent}")
    # Asked before the call, which costs. A pipe or a device is written into.
    if output is not None and output.is_file() and not force:
        raise typer.BadParameter(f"--output {output} is there already; choose another name, or add --force")

    from marchwarden.cli.client.conversation import Conversation, Interrupted
    from marchwarden.cli.views import console

    conversation = Conversation(request, server, overrides)
    try:
        with console.progress() as tell:
            result = conversation.hold(tell)
    except Interrupted as interruption:
        console.notice(str(interruption), interruption.hint)
        raise typer.Exit(INTERRUPTED) from None
    deliver(result, request, json=json, output=output, force=force, earlier=earlier)
    if earlier is not None and not json:
        console.show(changes_view(earlier, result))
    _show_trace(conversation.traces / f"{result.trace_id}.jsonl", timed=verbose, stderr=json)
    if server is None:
        _show_settings_files(verbose=verbose)
    if conversation.fell_back_to_frozen_web:
        console.notice(
            "Without a network, the frozen web that comes with Marchwarden was searched: its pages were written for "
            "Marchwarden, on invented hosts.",
            "Live sources need no key, only a network: `marchwarden sources` lists them.",
        )
    if not result.citations:
        raise typer.Exit(NOTHING_FOUND)


def _sources(source: str | None, web: Path | None) -> str | None:
    """In the settings' spelling. Raises a usage error for what is no source, or has none for `--web`."""
    from marchwarden.settings import sources_of

    if source is None:
        return "snapshot" if web else None
    try:
        named = sources_of(source)
    except ValueError as error:
        raise typer.BadParameter(f"--source: {error}") from None
    if web and "snapshot" not in named:
        raise typer.BadParameter(f"--web names a frozen web, --source {source} asks for none; give one of them")
    return ",".join(named)


def _question(given: str) -> str:
    if given != "-":
        return given
    return sys.stdin.buffer.read(_STDIN_LIMIT).decode("utf-8-sig", "surrogateescape")


def request_from(question: str, context: str | None, depth: str, constraints: dict[str, Any]) -> ResearchRequest:
    """Return the request that the options make. Raises a usage error that names option and limit."""
    from pydantic import ValidationError

    from marchwarden.contract import ResearchRequest
    from marchwarden.errors import InvalidRequest

    given = {name: value for name, value in constraints.items() if value is not None}
    try:
        return ResearchRequest.model_validate(
            {"question": question, "context": context, "depth": depth, "constraints": given}
        )
    except ValidationError as error:
        raise typer.BadParameter("\n".join(_lines(InvalidRequest.of(error)))) from None


def _lines(invalid: InvalidRequest) -> list[str]:
    return [f"{_OPTIONS.get(field, field)}: {problem}" for field, problem in invalid.problems]


def deliver(
    result: ResearchResult,
    request: ResearchRequest,
    *,
    json: bool,
    output: Path | None,
    force: bool,
    earlier: Earlier | None = None,
) -> None:
    """Print a result, and write it to a file where one is named."""
    from marchwarden.cli.views import console

    # The file first, since a pipe whose reader has gone ends the command; and a full disk keeps nothing off stdout.
    try:
        if output is not None:
            from marchwarden.cli.views.result_file import write_report

            write_report(result, request.question, output, force=force)
    finally:
        if json:
            console.json(earlier.plain(result) if earlier else result.model_dump(mode="json"))
        else:
            console.result(result)
    if output is not None:
        console.done(f"Written to {output}")


def _show_settings_files(*, verbose: bool) -> None:
    """Say what `.env` could not set and, where `verbose`, which files were read."""
    from marchwarden.cli.views import console
    from marchwarden.environment import files_read, folder_notes

    for note in folder_notes():
        console.notice(note)
    if verbose:
        read = " and ".join(["the environment", *map(str, files_read())])
        console.notice(f"Settings were read from {read}.")


def _show_trace(path: Path, *, timed: bool, stderr: bool) -> None:
    """Show the call's timeline where `timed`, and which parts of the model's program were not used."""
    from marchwarden.cli.views import console
    from marchwarden.errors import TraceError
    from marchwarden.trace.reader import read_trace

    try:
        trace = read_trace(path)
    except TraceError:
        if timed:
            console.notice("The timeline can't be shown: the trace is where the server keeps it.")
        return
    if timed:
        from marchwarden.trace.timeline import timeline

        console.timeline(trace, timeline(trace), stderr=stderr)
    for note in trace.program_notes:
        console.notice(note)
    if trace.outcome == "unfinished":
        console.notice(f"The trace of this call has no end: {path} could not be written.", "Is the disk full?")
