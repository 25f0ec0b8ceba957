"""`marchwarden investigate`: a question to several researchers, and one answer from what they quote."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from marchwarden.cli import options
from marchwarden.cli.ask import INTERRUPTED, deliver, exit_by, request_from, sources_in_force
from marchwarden.cli.configuration.completion import complete_model, complete_trace
from marchwarden.cli.library.stored_traces import tell_unpublished

if TYPE_CHECKING:
    import anyio

    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.orchestrator.investigator import Investigation
    from marchwarden.orchestrator.team import Team
    from marchwarden.settings import Settings
    from marchwarden.trace.events import Started

EPILOGUE = """Examples:

marchwarden investigate "What are ideal crops for a garden in Utah?"
    a researcher for each source in the settings
marchwarden investigate "Who funded the Halden Bridge?" --team team.json --budget 100000
    the MCP servers in team.json, in the form of any MCP client: {"mcpServers": {"web": {"command": "marchwarden",
    "args": ["serve"], "answers": ["web"]}}}
marchwarden investigate --resume 3f2a --team team.json
    one that was killed goes on; without --team, over the sources that it had

Ctrl-C ends the asking and answers with what there is.

Exit codes: 0 an answer · 1 a failure · 2 wrong usage · 3 nothing found (no citation) · 130 interrupted."""


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
    context: Annotated[
        str | None, typer.Option(help="What you already know, so that it is not researched again.")
    ] = None,
    depth: Annotated[
        Literal["shallow", "balanced", "deep"], typer.Option(help="How thorough to be: a target, not a limit.")
    ] = "balanced",
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS", help="Most model tokens for all researchers together, 500–1000000. Default: 60000."
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(metavar="N", min=5, max=86400, help="Most seconds for the whole investigation.")
    ] = 600.0,
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
            help="Continue an investigation that was killed, with the same team file, if it had one.",
        ),
    ] = None,
    json: options.Json = False,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Ask several researchers, follow up what they point to, and answer from their quotes."""
    if output is not None:
        from marchwarden.cli.views.result_file import ENDINGS

        options.check_output(output, "--output", ENDINGS, force=force)
    if team is not None and source is not None:
        raise typer.BadParameter("--source can't go with --team: its servers have their own sources")
    if team is not None:
        options.check_input(team, "--team")
    if resume is not None:
        fixed = {"QUESTION": question, "--context": context, "--budget": budget}
        if named := [option for option, value in fixed.items() if value is not None]:
            raise typer.BadParameter(f"{' and '.join(named)} can't go with --resume: the earlier one's are used")
    import anyio

    from marchwarden.cli.client.frozen_web_note import frozen_web_note
    from marchwarden.cli.views import console
    from marchwarden.orchestrator.team import checked_own_team, read_team
    from marchwarden.settings import load_settings
    from marchwarden.sources.reachability import with_reachable_sources

    begun = _begun(resume) if resume is not None else None
    if begun is not None and team is None and source is None:
        source = begun.sources
    settings, note = load_settings(model=model, source=sources_in_force(source, None)), None
    if team is None:
        given, settings = settings, with_reachable_sources(settings)
        note = frozen_web_note(given, settings)
    settings.require_model()
    chosen = read_team(team) if team else anyio.run(checked_own_team, settings)
    if begun is not None:
        request = begun.request
        if begun.has_ended:
            console.notice(
                "It had ended, and this is its result.", "To begin a new one, ask its question without --resume."
            )
    else:
        from marchwarden.orchestrator.investigator import TOKENS

        constraints = {"token_budget": budget or TOKENS}
        request = request_from(question or "", context, depth, constraints)
    result, interrupted = _run(request, chosen, settings, begun.trace_id if begun else None, seconds, at_once)
    trace = settings.traces / f"{result.trace_id}.jsonl"
    deliver(result, request, json=json, output=output, force=force, trace=trace)
    tell_unpublished(trace)
    if note:
        console.notice(*note)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    exit_by(result)


@dataclass(frozen=True)
class _Begun:
    """An investigation that was begun, as its trace tells it."""

    trace_id: str
    request: ResearchRequest
    sources: str | None
    """Sources of which each was a researcher; None where the researchers were those of a team file."""
    has_ended: bool


def _begun(prefix: str) -> _Begun:
    """Return the investigation whose trace begins with `prefix`. Raises TraceError where there is none."""
    from marchwarden.cli.client.follow_up import searched_sources
    from marchwarden.cli.library.stored_traces import stored_trace
    from marchwarden.contract import ResearchRequest
    from marchwarden.errors import TraceError
    from marchwarden.trace.reader import read_trace

    trace = read_trace(stored_trace(prefix))
    first: Started | None = next((event for _, _, event in trace.events if event.action == "start"), None)
    if first is None or first.team is None:
        raise TraceError(f"{trace.trace_id} is not the trace of an investigation")
    told = {"question": first.question, "context": first.context, "depth": first.depth}
    request = ResearchRequest.model_validate({**told, "constraints": first.constraints.model_dump()})
    return _Begun(trace.trace_id, request, searched_sources(trace), trace.result is not None)


def _run(
    request: ResearchRequest, team: Team, settings: Settings, trace_id: str | None, seconds: float, at_once: int
) -> tuple[ResearchResult, bool]:
    """Return the result, and whether Ctrl-C ended the asking."""
    from uuid import uuid4

    import anyio

    from marchwarden.cli.client.live_tree import LiveTree, shown
    from marchwarden.cli.views import console
    from marchwarden.errors import MarchwardenError
    from marchwarden.orchestrator.investigator_call import run_investigation
    from marchwarden.server.worker import warm_up

    if any(member.identity.startswith("source ") for member in team.members):
        warm_up(settings, quiet=not settings.debug)
    tree = LiveTree(request.question)
    running: list[Investigation] = []
    interrupts: list[int] = []
    failures: list[MarchwardenError] = []
    found: list[ResearchResult] = []

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_listen_for_interrupts, running, interrupts, group.cancel_scope)
            try:
                found.append(
                    await run_investigation(
                        request,
                        team,
                        settings,
                        trace_id=trace_id or str(uuid4()),
                        seconds=seconds,
                        at_once=at_once,
                        resumed=trace_id is not None,
                        tell=tree.tell,
                        watch=tree.watch,
                        started=running.append,
                    )
                )
            except MarchwardenError as error:
                failures.append(error)
            group.cancel_scope.cancel()

    with shown(tree, console.console(stderr=True)):
        anyio.run(main)
    if failures:
        raise failures[0]
    if not found:
        raise KeyboardInterrupt
    return found[0], bool(interrupts)


async def _listen_for_interrupts(
    running: list[Investigation], interrupts: list[int], everything: anyio.CancelScope
) -> None:
    """The first Ctrl-C ends the asking, the second one leaves at once."""
    import anyio

    try:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for number in signals:
                if interrupts or not running:
                    everything.cancel()
                else:
                    running[0].interrupt()
                interrupts.append(number)
    except NotImplementedError:  # no such thing on Windows: there Ctrl-C arrives as KeyboardInterrupt
        return
