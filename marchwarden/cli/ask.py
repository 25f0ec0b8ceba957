"""`marchwarden ask`: a question to the research server, and its answer."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_trace
from marchwarden.cli.library.stored_traces import LATEST, tell_unpublished
from marchwarden.cli.quick import QuestionCommand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marchwarden.cli.audit.again import Earlier
    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.errors import InvalidRequest

FAILURE, NOTHING_FOUND, INTERRUPTED = 1, 3, 130

EPILOGUE = """Examples:

marchwarden ask "What are ideal crops for a garden in Utah?"
marchwarden ask "Who founded CERN?" --depth shallow --budget 5000 --output cern.md
marchwarden ask "Which herbs grow in shade?" --source-filter "*.edu, -pinterest.com"
marchwarden ask "When was the queen replaced?" --source web,corpus:notes
echo "What is a persimmon?" | marchwarden ask - --json | jq .confidence
marchwarden ask "What is a persimmon?" --server http://127.0.0.1:8111/mcp
marchwarden ask --continue "And who founded it?"
    a follow-up on the latest answer; --continue 3f2a on another one
marchwarden ask --again
    the latest question, with its settings: what changed since? --again 3f2a asks that of another call
marchwarden ask --file questions.txt --output answers.jsonl --jobs 4 --resume
    many questions; what is answered already is left out
marchwarden ask --file questions.txt --output answers.jsonl --cluster dask://10.0.0.5:8786
    on the workers of a cluster

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

# Calls as options name them that may stand without one. A question follows `--continue`, and may begin with a short
# word of hexadecimal digits. None follows `--again`.
_ID = rf"{LATEST}|[0-9a-f]{{4,8}}|[0-9a-f]{{8}}-[0-9a-f-]{{0,27}}"
_NAMES = {
    option: re.compile(named, re.IGNORECASE)
    for option, named in (("--continue", _ID), ("-c", _ID), ("--again", rf"{_ID}|[0-9a-f]{{1,3}}|.+\.jsonl"))
}


class AskCommand(QuestionCommand):
    """A command whose `--continue` and `--again` have a value that may be left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_latest(args))


def with_latest(args: list[str]) -> list[str]:
    """Return arguments in which a `--continue` or `--again` without an id has the latest answer's."""
    return [
        part
        for each, following in zip(args, [*args, ""][1:], strict=True)
        for part in ([each, LATEST] if each in _NAMES and not _NAMES[each].fullmatch(following) else [each])
    ]


def _needed(context: typer.Context, question: str | None) -> str | None:
    """Raise a usage error where there is neither a question nor an earlier call nor a file of questions."""
    others = ("again", "file")
    if question is None and not any(map(context.params.get, others)) and not context.resilient_parsing:
        raise typer.BadParameter('it is missing. For example: marchwarden ask "When did the Berlin Wall fall?"')
    return question


def command(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            help="The question, 1–500 characters; - reads it from stdin.",
            callback=_needed,
            show_default=False,
        ),
    ] = None,
    context: options.Context = None,
    depth: options.Depth = "balanced",
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS",
            help="Most model tokens to use, 500–1000000. Default: 20000, or 25000 with --depth deep.",
        ),
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(metavar="N", help="Most turns of plan, search and read, 1–20. Default: 5.")
    ] = None,
    max_sources: Annotated[
        int | None, typer.Option(metavar="N", help="Most pages to read, 1–50. Default: 10.")
    ] = None,
    source_filter: Annotated[
        str | None,
        typer.Option(metavar="DOMAINS", help="Domains to allow, separated by commas; a leading - excludes one."),
    ] = None,
    source: options.Source = None,
    web: options.Web = None,
    model: options.Model = None,
    again: Annotated[
        str | None,
        typer.Option(
            metavar="[TRACE]",
            autocompletion=complete_trace,
            is_eager=True,  # the question is looked at later, and may be missing then
            help="Ask the question of an earlier call again, with its settings, and show what has changed. Default: "
            "the latest answer's.",
        ),
    ] = None,
    follows: Annotated[
        str | None,
        typer.Option(
            "--continue",
            "-c",
            metavar="[ID]",
            autocompletion=complete_trace,
            help="Ask a follow-up to an earlier answer, over the same sources. Default: the latest answer.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            is_eager=True,
            help="Ask many questions: one a line in .txt or from stdin (-), or a column or field `question` "
            "in .csv or "
            ".jsonl, with `id`, `context` and `depth` if you like. Answers are lines of JSON.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="With --file: questions asked at the same time. Default: one for each core, at most 4.",
        ),
    ] = None,
    cluster: options.Cluster = None,
    total_budget: options.TotalBudget = None,
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="With --file: skip questions that --output already answers.")
    ] = False,
    json: options.Json = False,
    output: options.Output = None,
    force: options.Force = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", metavar="", help="Also show the call's timeline.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Show no progress and no notes on stderr, only errors.")
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Ask a running server: http://HOST:8111/mcp."),
    ] = None,
) -> None:
    """Research a question and show the answer with its evidence."""
    constraints = {
        "token_budget": budget,
        "max_iterations": max_iterations,
        "max_sources": max_sources,
        "source_filter": source_filter,
    }
    overrides: dict[str, object] = {
        "model": model,
        "web": web and web.absolute(),
        "source": sources_in_force(source, web),
    }
    if again is not None:
        fixed: dict[str, object] = {"QUESTION": question, "--context": context, "--source": source, "--model": model}
        fixed |= {"--server": server, "--continue": follows, "--depth": None if depth == "balanced" else depth}
        fixed |= {_OPTIONS[f"constraints.{name}"]: value for name, value in constraints.items()}
        _refuse(fixed, "--again: the earlier call's are used")
    if server is not None:
        server = _server_url(server)
        _refuse(
            {"--model": model, "--source": source, "--web": web},
            "--server: a running server has its own settings; pass it to `marchwarden serve`",
        )
    if file is not None:
        _refuse({"QUESTION": question, "--again": again, "--continue": follows}, "--file: the file has the questions")
        _refuse({"--verbose": verbose or None}, "--file: use `marchwarden replay` for the timeline of each call")
        _refuse({"--server": server if cluster else None}, "--cluster: its workers are asked instead")
    elif resume or any(each is not None for each in (jobs, cluster, total_budget)):
        raise typer.BadParameter("--resume, --jobs, --cluster and --total-budget go with --file")
    elif output is not None:
        from marchwarden.cli.views.result_file import ENDINGS, ending_of

        options.check_output(output, "--output", ENDINGS, force=force)
        if server is not None and ending_of(output) == ".html":
            raise typer.BadParameter("--output FILE.html shows the pages that were read, which --server keeps")
    from marchwarden.cli.client.server_connection import Connection

    if file is not None:
        from marchwarden.cli.client.batch import Batch, ask_many
        from marchwarden.cli.client.researchers import OnCluster, OverServer

        given = {"context": context, "depth": depth, "constraints": constraints}
        batch = Batch(file, given, output, jobs, resume=resume, force=force, quiet=quiet, total_budget=total_budget)
        if scheduler := options.scheduler(cluster):
            ask_many(batch, OnCluster(scheduler, overrides))
        else:
            ask_many(batch, OverServer(Connection(server, overrides)))
        return
    from marchwarden.cli.views import console

    earlier = following = None
    if again is not None:
        from marchwarden.cli.audit.again import changes_view, earlier_call

        earlier = earlier_call(None if again == LATEST else again, web)
        request, overrides = earlier.request, dict(earlier.settings)
        if not quiet:
            console.notice(earlier.note)
    else:
        if follows is not None:
            from marchwarden.cli.client.follow_up import follow_up

            following = follow_up(follows, context)
            context = following.context
            if server is None and overrides["source"] is None:
                overrides["source"] = following.source
            if not quiet:
                console.notice(following.note)
        request = request_from(_question(question or ""), context, depth, constraints)

    from marchwarden.cli.client.conversation import Conversation, Interrupted

    connection = Connection(server, overrides)
    conversation = Conversation(request, connection, continues=following.continues if following else None)
    try:
        with connection.prepared_for_one(), console.progress(quiet=quiet) as tell:
            result = conversation.hold(tell)
    except Interrupted as interruption:
        console.notice(str(interruption), interruption.hint)
        raise typer.Exit(INTERRUPTED) from None
    trace = connection.traces / f"{result.trace_id}.jsonl"
    written = deliver(result, request, json=json, output=output, force=force, trace=trace, earlier=earlier)
    if written and not quiet:
        console.done(f"Written to {output}")
    if earlier is not None and not json:
        console.show(changes_view(earlier, result))
    _show_trace(trace, timed=verbose, stderr=json, quiet=quiet)
    tell_unpublished(trace)
    if server is None and not quiet:
        _show_settings_files(verbose=verbose)
    if connection.frozen_web_note and not quiet:
        console.notice(*connection.frozen_web_note)
    exit_by(result, quiet=quiet)


def _server_url(given: str) -> str:
    """Return the URL of a server, with the path of its tool where only the host is given. Raises a usage error."""
    from urllib.parse import urlsplit

    if not given.startswith(("http://", "https://")):
        raise typer.BadParameter("--server takes the URL of a server, such as http://127.0.0.1:8111/mcp")
    try:
        has_path = urlsplit(given).path not in ("", "/")
    except ValueError as error:
        raise typer.BadParameter(f"--server {given}: {error}") from None
    return given if has_path else f"{given.rstrip('/')}/mcp"


def _refuse(given: Mapping[str, object], beside: str) -> None:
    """Raise a usage error where any of the options has a value."""
    if named := [option for option, value in given.items() if value is not None]:
        raise typer.BadParameter(f"{' and '.join(named)} can't go with {beside}")


def sources_in_force(source: str | None, web: Path | None) -> str | None:
    """Return the sources in the settings' spelling. Raises a usage error for what is no source, and for a frozen web
    that none of them searches."""
    from marchwarden.settings import sources_of

    if source is None:
        return "snapshot" if web else None
    try:
        named = sources_of(source)
    except ValueError as error:
        raise typer.BadParameter(f"--source: {error}") from None
    if web and "snapshot" not in named:
        raise typer.BadParameter(
            f"--web names a frozen web, but --source {source} does not search one; give only one of them"
        )
    return ",".join(named)


def _question(given: str) -> str:
    if given != "-":
        return given
    return sys.stdin.buffer.read(_STDIN_LIMIT).decode("utf-8-sig", "surrogateescape")


def request_from(question: str, context: str | None, depth: str, constraints: dict[str, Any]) -> ResearchRequest:
    """Return the request of what the options say. Raises a usage error that names option and limit."""
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
    trace: Path | None = None,
    earlier: Earlier | None = None,
    is_shown: bool = True,
) -> bool:
    """Print a result where it `is_shown`, and write it to a file where one is named; a page for the browser needs the
    trace.

    Return whether a file was written.
    """
    from marchwarden.cli.views import console
    from marchwarden.errors import StorageError
    from marchwarden.files import is_full

    written = False
    # The file first, since a pipe whose reader has gone ends the command; and a full disk keeps nothing off stdout.
    try:
        if output is not None:
            from marchwarden.cli.views.result_file import write_report

            written = write_report(result, request.question, output, trace=trace, force=force)
    finally:
        try:
            if json:
                console.json(earlier.plain(result) if earlier else result.model_dump(mode="json"))
            elif is_shown:
                console.result(result)
        except OSError as error:
            if not is_full(error):
                raise
            raise StorageError(
                f"the output could not be written: {error.strerror}",
                hint=f"Free some space. The answer is stored: marchwarden show {result.trace_id[:8]}",
            ) from error
    if output is not None and not written:
        console.notice(f"The answer cites nothing: {output} was not written.")
    return written


def exit_by(result: ResearchResult, *, quiet: bool = False) -> None:
    """Raise typer.Exit where a result has no citation: with FAILURE, and an error, where no source could be asked."""
    from marchwarden.cli.views import console

    if result.status == "failed":
        console.error(
            "No source could be asked, so the question is not answered.",
            "The gaps say what failed. To test each source: marchwarden sources --online",
        )
        raise typer.Exit(FAILURE)
    if result.status == "nothing_found":
        if not quiet:
            console.notice(
                "Nothing was found that answers the question.",
                "Ask in other words, or search elsewhere with --source: `marchwarden sources` lists what there is.",
            )
        raise typer.Exit(NOTHING_FOUND)


def _show_settings_files(*, verbose: bool) -> None:
    """Say what `.env` could not set and, where `verbose`, which files were read."""
    from marchwarden.cli.views import console
    from marchwarden.environment import files_read, folder_notes

    for note in folder_notes():
        console.notice(note)
    if verbose:
        read = " and ".join(["the environment", *map(str, files_read())])
        console.notice(f"Settings were read from {read}.")


def _show_trace(path: Path, *, timed: bool, stderr: bool, quiet: bool) -> None:
    """Show the call's timeline where `timed`, and which parts of the model's program were not used."""
    from marchwarden.cli.views import console
    from marchwarden.errors import TraceError
    from marchwarden.trace.reader import read_trace

    try:
        trace = read_trace(path)
    except TraceError:
        if timed:
            console.notice("The timeline can't be shown here, because the server keeps the trace.")
        return
    if timed:
        from marchwarden.trace.timeline import timeline

        console.timeline(trace, timeline(trace), stderr=stderr)
    for note in [] if quiet else trace.program_notes:
        console.notice(note)
    if trace.outcome == "unfinished":
        console.notice(
            f"The trace of this call has no end: {path} could not be written.", "Check whether the disk is full."
        )
