"""`marchwarden investigate`: a question to several researchers, and one answer from what they quote."""

from __future__ import annotations

import shlex
import signal
import sys
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.ask import deliver, exit_by, request_from, sources_in_force
from marchwarden.cli.configuration.completion import complete_model, complete_trace
from marchwarden.cli.library.stored_traces import tell_unpublished

if TYPE_CHECKING:
    import anyio

    from marchwarden.cli.client.event_output import EventOutput
    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.orchestrator.investigator import Investigation
    from marchwarden.orchestrator.journal import Journal
    from marchwarden.orchestrator.team import Team
    from marchwarden.settings import Settings
    from marchwarden.trace.events import Started

# Exit codes of a process that a signal ended begin here, as shells have them.
_BY_SIGNAL = 128

EPILOGUE = """Examples:

marchwarden investigate "What are ideal crops for a garden in Utah?"
    a researcher for each source in the settings
marchwarden investigate "Who funded the Halden Bridge?" --team team.json --budget 100000
    the MCP servers in team.json, in the form of any MCP client: {"mcpServers": {"web": {"command": "marchwarden",
    "args": ["serve"], "answers": ["web"]}}}
marchwarden investigate --resume 3f2a --team team.json
    one that was interrupted or killed goes on; without --team, over the sources that it had
marchwarden investigate --resume 3f2a --budget 120000
    one that ran out of tokens goes on with more

Ctrl-C ends the asking and answers with what there is; --resume asks the rest.

Exit codes: 0 an answer · 1 a failure · 2 wrong usage · 3 nothing found (no citation) · 130 interrupted (143 by
SIGTERM)."""


def _needed(context: typer.Context, question: str | None) -> str | None:
    if question is None and not context.params.get("resume") and not context.resilient_parsing:
        raise typer.BadParameter("it is missing: give a question, or --resume ID")
    return question


def command(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            help="The question, 1–500 characters.",
            callback=_needed,
            show_default=False,
        ),
    ] = None,
    team: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of the researchers, in the form of an MCP client's configuration. Its commands are started. "
            "Default: one researcher for each source in the settings.",
        ),
    ] = None,
    context: options.Context = None,
    depth: options.Depth = "balanced",
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS",
            help="Most model tokens for all researchers together, 500–1000000. Default: 60000, or with --resume what "
            "it had. Tokens that were used before it are counted.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            min=5,
            max=86400,
            help="Most seconds for the whole investigation, or with --resume for the rest of it. Default: 600, or "
            "what it had.",
        ),
    ] = None,
    at_once: Annotated[
        int, typer.Option("--at-once", metavar="N", min=1, max=200, help="Most researchers asked at the same time.")
    ] = 3,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="ID", autocompletion=complete_model, help="Model id for plan and answer, or extractive for none."
        ),
    ] = None,
    source: options.Source = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            autocompletion=complete_trace,
            is_eager=True,  # the question is looked at later, and may be missing then
            help="Continue an investigation that was interrupted or killed, or that ran out of time or tokens, with "
            "the same team file, if it had one. Finished researchers are not asked again.",
        ),
    ] = None,
    json: options.Json = False,
    events: Annotated[
        bool,
        typer.Option(
            "--events",
            metavar="",
            help="Print each step as a line of JSON on stdout while it happens, as in the trace; the last one has "
            "the result.",
        ),
    ] = False,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Ask several researchers, follow up what they point to, and answer from their quotes."""
    if output is not None:
        from marchwarden.cli.views.result_file import ENDINGS

        options.check_output(output, "--output", ENDINGS, force=force)
    if events and json:
        raise typer.BadParameter("--events can't go with --json: its last line has the result")
    if team is not None and source is not None:
        raise typer.BadParameter("--source can't go with --team: its servers have their own sources")
    if team is not None:
        options.check_input(team, "--team")
    if resume is not None:
        fixed = {
            "QUESTION": question,
            "--context": context,
            "--depth": None if depth == "balanced" else depth,
        }
        if named := [option for option, value in fixed.items() if value is not None]:
            raise typer.BadParameter(f"{' and '.join(named)} can't go with --resume: the earlier one's are used")
    from uuid import uuid4

    import anyio

    from marchwarden.cli.client.event_output import EventOutput
    from marchwarden.cli.client.frozen_web_note import frozen_web_note
    from marchwarden.cli.views import console
    from marchwarden.errors import MarchwardenError
    from marchwarden.orchestrator.team import checked_own_team, read_team
    from marchwarden.settings import load_settings
    from marchwarden.sources.reachability import with_reachable_sources

    begun = _begun(resume) if resume is not None else None
    if begun is not None and team is None and source is None:
        source = begun.sources
    if begun is not None and begun.journal.is_complete:
        console.notice(
            "It had finished, and this is its result: nothing is left to continue.",
            "To begin a new one, ask its question without --resume.",
        )
    if begun is not None and model is None:
        model = begun.started.model_id
    settings, note = load_settings(model=model, source=sources_in_force(source, None)), None
    if team is None:
        given, settings = settings, with_reachable_sources(settings)
        note = frozen_web_note(given, settings)
    settings.require_model()
    chosen = read_team(team) if team else anyio.run(checked_own_team, settings)
    from marchwarden.orchestrator.investigator import SECONDS, TOKENS

    trace_id = begun.trace_id if begun else str(uuid4())
    trace = settings.traces / f"{trace_id}.jsonl"
    if begun is not None:
        request = begun.request_with(budget)
        seconds = seconds or begun.journal.max_seconds
    else:
        request = request_from(question or "", context, depth, {"token_budget": TOKENS if budget is None else budget})
    order = _Order(
        request,
        chosen,
        settings,
        trace_id,
        seconds or SECONDS,
        at_once,
        is_resumed=begun is not None,
        lines=EventOutput(trace) if events else None,
    )
    try:
        result, signals = _run(order)
    except MarchwardenError:
        if order.lines:
            with suppress(OSError):
                order.lines.finish()
        raise
    if result is None and not trace.exists():
        raise KeyboardInterrupt
    if events and begun is not None and begun.journal.is_complete:
        console.data(trace.read_bytes().splitlines(keepends=True)[-1])
    if result is not None and deliver(
        result, request, json=json, output=output, force=force, trace=trace, is_shown=not events
    ):
        console.done(f"Written to {output}")
    tell_unpublished(trace)
    if note:
        console.notice(*note)
    _tell_how_to_continue(trace, team)
    if order.lines and len(signals) < 2:
        order.lines.finish()
    if signals:
        raise typer.Exit(_BY_SIGNAL + signals[-1])
    if result is not None:
        exit_by(result)


@dataclass(frozen=True)
class _Begun:
    """An investigation that was begun, as its trace tells it."""

    trace_id: str
    started: Started
    journal: Journal
    sources: str | None
    """Sources of which each was a researcher; None where the researchers were those of a team file."""

    def request_with(self, budget: int | None) -> ResearchRequest:
        """Return what was asked, with another token budget where one is given. Raises a usage error."""
        limits = {
            **self.started.constraints.model_dump(),
            "token_budget": self.journal.token_budget if budget is None else budget,
        }
        return request_from(self.started.question, self.started.context, self.started.depth.value, limits)


def _begun(prefix: str) -> _Begun:
    """Return the investigation whose trace begins with `prefix`. Raises TraceError where there is none."""
    from marchwarden.cli.client.follow_up import searched_sources
    from marchwarden.cli.library.stored_traces import stored_trace
    from marchwarden.orchestrator.journal import fold
    from marchwarden.store.content_store import Store
    from marchwarden.trace.reader import read_trace

    trace = read_trace(stored_trace(prefix))
    journal = fold(trace, Store(trace.path.parent / "store"))
    assert journal.started is not None, "fold has looked"
    return _Begun(trace.trace_id, journal.started, journal, searched_sources(trace))


def _tell_how_to_continue(path: Path, team: Path | None) -> None:
    """Tell why an investigation ended before everything was asked, and how it goes on; nothing where it didn't."""
    from marchwarden.cli.views import console
    from marchwarden.errors import TraceError
    from marchwarden.orchestrator.journal import fold
    from marchwarden.orchestrator.rihla import MOST_TOKENS
    from marchwarden.store.content_store import Store
    from marchwarden.trace.reader import read_trace

    try:
        journal = fold(read_trace(path), Store(path.parent / "store"))
    except TraceError:  # it never began
        return
    more = []
    match journal.cut_short_by:
        case None if journal.is_complete:
            return
        case "seconds":
            why = "The time was up before everything was asked."
        case "tokens":
            if journal.token_budget >= MOST_TOKENS:
                return
            why = f"The budget of {journal.token_budget:,} tokens was too small to go on."
            more = ["--budget", str(min(MOST_TOKENS, 2 * journal.token_budget))]
        case _:
            why = "The investigation was interrupted."
    same = ["--team", str(team)] if team else []
    command = shlex.join(["marchwarden", "investigate", "--resume", path.stem[:8], *same, *more])
    console.notice(why, f"To continue, without asking again whoever has finished: {command}")


@dataclass(frozen=True)
class _Order:
    """Everything that an investigation is run by."""

    request: ResearchRequest
    team: Team
    settings: Settings
    trace_id: str
    seconds: float
    at_once: int
    is_resumed: bool = field(kw_only=True)
    lines: EventOutput | None = None
    """Output of each line of the trace; None where nobody reads them."""


def _run(order: _Order) -> tuple[ResearchResult | None, list[int]]:
    """Return the result and the signals that ended the asking; without a result where there were two signals."""
    import asyncio

    import anyio

    from marchwarden.cli.client.live_tree import LiveTree, shown
    from marchwarden.cli.views import console
    from marchwarden.errors import MarchwardenError
    from marchwarden.orchestrator.investigator_call import run_investigation
    from marchwarden.server.worker import warm_up

    if any(member.is_own for member in order.team.members):
        warm_up(order.settings, quiet=not order.settings.debug)
    tree = LiveTree(order.request.question)
    running: list[Investigation] = []
    interrupts: list[int] = []
    failures: list[MarchwardenError] = []
    found: list[ResearchResult] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def end_asking() -> None:
            for each in running:
                each.interrupt()

        def end_asking_from_thread() -> None:
            with suppress(RuntimeError):  # the loop has ended, and the asking with it
                loop.call_soon_threadsafe(end_asking)

        if order.lines:
            order.lines.start(end_asking_from_thread)
        async with anyio.create_task_group() as group:
            group.start_soon(_listen_for_interrupts, running, interrupts, group.cancel_scope)
            try:
                found.append(
                    await run_investigation(
                        order.request,
                        order.team,
                        order.settings,
                        trace_id=order.trace_id,
                        seconds=order.seconds,
                        at_once=order.at_once,
                        resumed=order.is_resumed,
                        tell=tree.tell,
                        watch=tree.watch,
                        on_line=order.lines.put if order.lines else None,
                        started=running.append,
                    )
                )
            except MarchwardenError as error:
                failures.append(error)
            group.cancel_scope.cancel()

    # On one terminal the tree would be drawn over the lines.
    is_over_lines = order.lines is not None and sys.stdout.isatty()
    with nullcontext() if is_over_lines else shown(tree, console.console(stderr=True)):
        try:
            anyio.run(main)
        except KeyboardInterrupt:  # where signals can't be listened for
            interrupts.append(signal.SIGINT)
    if failures:
        raise failures[0]
    return (found[0] if found else None), interrupts


async def _listen_for_interrupts(
    running: list[Investigation], interrupts: list[int], everything: anyio.CancelScope
) -> None:
    """The first Ctrl-C or SIGTERM ends the asking, the second one leaves at once."""
    import anyio

    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                if interrupts or not running:
                    everything.cancel()
                else:
                    running[0].interrupt()
                interrupts.append(number)
    except NotImplementedError:  # no such thing on Windows: there Ctrl-C arrives as KeyboardInterrupt
        return
