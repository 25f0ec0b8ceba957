"""An investigation as one call: its trace is written, and one that was killed or ended early goes on from it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from marchwarden.agent.recording import recorded_end
from marchwarden.budget import Budget
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, MarchwardenError, leaves
from marchwarden.files import is_held
from marchwarden.orchestrator.dispatch import TellOf
from marchwarden.orchestrator.investigator import AT_ONCE, Investigation, Plan
from marchwarden.orchestrator.journal import Journal, fold
from marchwarden.orchestrator.team import Team
from marchwarden.server.admission import Ending
from marchwarden.server.mcp import Research
from marchwarden.settings import Settings
from marchwarden.sharing.publication import publishing
from marchwarden.sharing.retrieval import fetch_call
from marchwarden.store.content_store import Store
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.events import Dispatched, Event, Lost, Recorder, Returned
from marchwarden.trace.reader import find_trace, read_trace
from marchwarden.trace.writer import TraceWriter

# Investigations that may be inside each other. A guess.
MOST_NESTED = 5


class _Watched:
    """A recorder that also shows each event to a person."""

    def __init__(self, recorder: Recorder, watch: Callable[[Event], None]) -> None:
        self._recorder, self._watch = recorder, watch

    def record(self, event: Event) -> None:
        self._recorder.record(event)
        self._watch(event)

    def progress(self, message: str) -> None:
        self._recorder.progress(message)


async def run_investigation(
    request: ResearchRequest,
    team: Team,
    settings: Settings,
    *,
    trace_id: str,
    seconds: float,
    at_once: int = AT_ONCE,
    resumed: bool = False,
    tell: TellOf = lambda number, message: None,
    watch: Callable[[Event], None] = lambda event: None,
    on_line: Callable[[bytes], None] | None = None,
    started: Callable[[Investigation], None] = lambda investigation: None,
    ending: Ending | None = None,
    continues: str | None = None,
    asked_by: Sequence[str] = (),
) -> ResearchResult:
    """Answer a question with a team; `resumed`: go on with the trace that is there, for so many seconds more.

    `tell` hears what each rihla is doing, `watch` gets each event, `on_line` its line in the trace, `started` the
    investigation itself, which can be interrupted; `ending` says by whom a call was cancelled, `continues` which
    trace it follows up, `asked_by` the teams whose investigations ask it. An investigation that had ended with
    nothing left to do is only told again. Raises ConfigurationError, TraceError and StorageError, and ResearchFailed
    for an internal failure.
    """
    journal = Journal()
    writer = TraceWriter(
        settings.traces,
        trace_id,
        secrets=secrets_of(settings),
        on_progress=partial(tell, 0),
        on_line=on_line,
        signing_key=settings.signing_key,
    )
    if resumed:
        await asyncio.to_thread(fetch_call, settings, trace_id)
        trace = read_trace(find_trace(settings.traces, trace_id))
        # Windows knows no such locks, and would have it wait for an hour.
        if sys.platform != "win32" and is_held(trace.path):
            raise ConfigurationError(
                f"the investigation {trace_id[:8]} is still running", hint="Wait for its end, or stop it with Ctrl-C."
            )
        journal = fold(trace, Store(settings.store_folder))
        journal.check(request, team.fingerprint, settings.model_id)
        if journal.is_complete and journal.result is not None:
            return journal.result
    async with publishing(settings, trace_id, partial(tell, 0)):
        with writer:
            if resumed:
                writer.reopen()
            with recorded_end(writer, trace_id, request.question, (ending or Ending()).cancellation):
                budget = Budget(request.constraints, seconds)
                plan = Plan(team, settings, at_once, continues=continues, asked_by=asked_by)
                investigation = Investigation(
                    request, plan, budget, _Watched(writer, watch), trace_id, journal=journal, tell=tell
                )
                started(investigation)
                try:
                    return await investigation.result()
                except Exception as error:
                    # A task group puts errors into a group; a full disk is one of ours.
                    raise next(
                        (each for each in leaves(error) if isinstance(each, MarchwardenError)), error
                    ) from None


def investigator(team: Team) -> Callable[[Sequence[str]], Research]:
    """Return what gives a server the function that answers a call with a team.

    It raises ConfigurationError where the team asks itself, directly or through others, or where investigations are
    nested too deep: such calls would go on until time or tokens are over.
    """

    def answering(asked_by: Sequence[str]) -> Research:
        if team.fingerprint in asked_by:
            raise ConfigurationError(
                "this researcher is a team that contains itself, directly or through the team of another server",
                hint="Take it out of one of the team files.",
            )
        if len(asked_by) >= MOST_NESTED:
            raise ConfigurationError(
                f"this researcher is a team inside {len(asked_by)} others, and {MOST_NESTED} may be nested",
                hint="Put researchers of inner teams into the outer ones.",
            )
        return partial(investigate_call, team=team, asked_by=asked_by)

    return answering


async def investigate_call(
    request: ResearchRequest,
    *,
    settings: Settings,
    trace_id: str,
    on_progress: Callable[[str], None],
    team: Team,
    ending: Ending | None = None,
    continues: str | None = None,
    asked_by: Sequence[str] = (),
) -> ResearchResult:
    """Run an investigation as a call of the tool `research`, within the time of its depth.

    When the time of `ending.stop` is over, it answers with what it knows.
    """
    ending = ending or Ending()
    sent: dict[int, str] = {}
    over: set[int] = set()

    def watch(event: Event) -> None:
        if isinstance(event, Dispatched):
            sent[event.rihla] = event.researcher
        elif isinstance(event, (Returned, Lost)):
            over.add(event.rihla)

    def tell(number: int, message: str) -> None:
        done = f"{len(over) / len(sent):.0%} · " if sent else ""
        on_progress(f"{done}{sent[number]}: {message}" if number in sent else f"{done}{message}")

    def heed_stop(investigation: Investigation) -> None:
        def hurry() -> None:
            loop.call_later(ending.stop.seconds, investigation.interrupt, "stopped")

        stack.enter_context(ending.stop.heard_by(hurry))

    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        return await run_investigation(
            request,
            team,
            settings,
            trace_id=trace_id,
            seconds=settings.seconds_for(request.depth),
            tell=tell,
            watch=watch,
            started=heed_stop,
            ending=ending,
            continues=continues,
            asked_by=asked_by,
        )
