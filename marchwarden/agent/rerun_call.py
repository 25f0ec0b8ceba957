"""A call again, from its trace: the same loop over recorded searches, pages and answers of the model.

One part can be exchanged: the model, the program, the live web. A re-run with nothing exchanged gives the same result
but for ids and times; where it doesn't, something else than then is installed, or the trace lacks what is listed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from uuid import uuid4

from marchwarden import __version__
from marchwarden.agent.conclusion import today
from marchwarden.agent.recording import CallContext, Origin, Replacements, recorded_end
from marchwarden.agent.research import research_in
from marchwarden.budget import Budget
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import TraceError
from marchwarden.judge import answering
from marchwarden.judge.answering import open_judge
from marchwarden.programs import Program
from marchwarden.programs.keeping import kept_program, read_kept_program
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.sharing.publication import publishing
from marchwarden.sources.recorded_tools import NOT_ASKED, Missing, RecordedReader, RecordedSearch
from marchwarden.sources.source_registry import open_tools
from marchwarden.sources.tools import WORKS, Tools
from marchwarden.stages.extract import EXTRACT
from marchwarden.stages.plan import PLAN
from marchwarden.stages.registry import program_in_force, without_stale
from marchwarden.stages.stage import TOO_SLOW
from marchwarden.stages.write_query import WRITE_QUERY
from marchwarden.store.content_store import Store
from marchwarden.text.embedding import is_installed, open_embedder
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.differences import Difference, FirstStep, differences, first_step
from marchwarden.trace.events import (
    Dropped,
    Event,
    FellBack,
    Fetched,
    ModelCalled,
    Planned,
    Recorder,
    Searched,
    Started,
    Stopped,
    Synthesized,
    WasKilled,
)
from marchwarden.trace.reader import Trace
from marchwarden.trace.writer import TraceWriter

if TYPE_CHECKING:
    from marchwarden.agent.program import Connect
    from marchwarden.agent.replayed_engine import Attempt

Part: TypeAlias = Literal["search", "fetch", "model"]
PARTS: tuple[Part, ...] = get_args(Part)
# Name of the program that is in force now, for `Exchange.program`.
CURRENT = "current"
# Seconds of a re-run whose parts are all recorded. Its own time decides nothing; this only ends one that hangs.
RECORDED_SECONDS = 600.0


@dataclass(frozen=True)
class Exchange:
    """The parts of a call that a re-run does not take from the trace."""

    model: str | None = None
    """Id of another model; None for the recorded one."""
    program: str | None = None
    """Folder of another program, `none` for none, `current` for the one in force now; None for the recorded one."""
    live: frozenset[Part] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.model or self.program or self.live)

    @property
    def named(self) -> list[str]:
        """Exchanged parts in words, for a person."""
        parts = [f"model {self.model}"] if self.model else []
        parts += [f"program {self.program}"] if self.program else []
        return parts + [f"live {part}" for part in PARTS if part in self.live]


@dataclass(frozen=True)
class Rerun:
    result: ResearchResult
    recorded: Mapping[str, Any] | None
    """Recorded result as it stands in the trace; None where the call has none."""
    differences: list[Difference]
    first: FirstStep | None
    """First step in which the calls went apart; None where they did not."""
    lacks: list[str]
    """Sentences on what the trace, its store or this installation lacks for the same call."""
    notes: list[str]
    """Sentences on what is otherwise than then, and may explain a difference."""
    kept: bool
    """True where the re-run left a trace of its own, named by its result's `trace_id`."""

    @property
    def is_same(self) -> bool:
        return self.recorded is not None and not self.differences


async def rerun(trace: Trace, settings: Settings, exchange: Exchange) -> Rerun:
    """Make the call of a trace again, and compare the results.

    A re-run that exchanges something is a call of its own and leaves a trace in the folder of the settings; any other
    writes nothing. Raises TraceError where the trace is an investigation's or lacks what no re-run can do without,
    ConfigurationError where an exchanged part can't be used, StorageError where the trace can't be written.
    """
    recorded = CallRecord(trace)
    if recorded.started.team is not None:
        raise TraceError(f"{trace.trace_id} is an investigation, which can't be repeated as one call")
    if recorded.result is None and not exchange:
        raise TraceError(
            f"{trace.trace_id} is {trace.outcome}: it has no result to compare with",
            hint="To ask the same today: --live search,fetch",
        )
    trace_id = str(uuid4())
    with TemporaryDirectory(prefix="marchwarden-") as folder:
        own = settings if exchange else settings.model_copy(update={"trace_dir": Path(folder), "store": None})
        call = Repetition(recorded, own, exchange)
        if not exchange:
            kept = KeptLines()
            result = await call.run(kept, trace_id)
            now: Sequence[Mapping[str, Any]] = kept.lines
        else:
            async with publishing(own, trace_id):
                with (
                    TraceWriter(own.traces, trace_id, secrets=secrets_of(own)) as writer,
                    recorded_end(writer, trace_id, recorded.started.question),
                ):
                    both = KeptLines(writer)
                    result = await call.run(both, trace_id)
                    now = both.lines
    told = json.loads(result.model_dump_json())
    same_version = recorded.started.version == __version__
    return Rerun(
        result,
        recorded.result,
        differences(recorded.result, told, same_version=same_version) if recorded.result else [],
        first_step(trace.raw, now),
        [*recorded.lacks, *call.lacks(now)],
        call.notes(),
        kept=bool(exchange),
    )


class KeptLines:
    """A recorder that keeps the lines, and passes the events on to another where there is one."""

    def __init__(self, inner: Recorder | None = None) -> None:
        self.lines: list[dict[str, Any]] = []
        self._inner = inner

    def record(self, event: Event) -> None:
        self.lines.append({"step": len(self.lines) + 1, **event.model_dump(mode="json")})
        if self._inner:
            self._inner.record(event)

    def progress(self, message: str) -> None:
        pass


class CallRecord:
    """Everything that a trace tells of its call, for a re-run."""

    def __init__(self, trace: Trace, store: Store | None = None) -> None:
        """Read the record of a trace; without `store`, the one beside it is used. Raises TraceError."""
        events = [event for _, _, event in trace.events]
        if not events or not isinstance(events[0], Started):
            raise TraceError(
                f"{trace.path} does not begin with the start of a call",
                hint="It is damaged, or was made by another version.",
            )
        self.trace = trace
        self.store = store or Store(trace.path.parent / "store")
        self.started = events[0]
        self.searches = [event for event in events if isinstance(event, Searched)]
        self.fetches = [event for event in events if isinstance(event, Fetched)]
        self.attempts = [event for event in events if isinstance(event, ModelCalled)]
        self.events = events
        self.was_killed = any(isinstance(event, WasKilled) for event in events)
        in_time = all(event.in_time for event in events if isinstance(event, Synthesized))
        self.ends_by_clock = (
            self.was_killed
            or not in_time
            or any(isinstance(event, Stopped) and event.reason == "seconds" for event in events)
        )
        end = next((place for place, event in enumerate(events) if isinstance(event, Stopped)), len(events))
        asked_at_end = any(isinstance(event, ModelCalled) for event in events[end:])
        self.ends_late = not in_time
        self.ends_without_model = not in_time and not asked_at_end
        asked_in_vain = any(isinstance(event, Synthesized) and event.asking for event in events)
        self.ends_asking = self.ends_without_model and asked_in_vain
        steps = [event for event in events[:end] if not isinstance(event, Dropped)]
        turns = sum(isinstance(event, Planned) for event in steps)
        stop = next((event for event in events if isinstance(event, Stopped)), None)
        # Pages are ranked before the model is asked for its picks, which leaves no line where no attempt has begun.
        is_before_picks = not stop.asking if stop and stop.asking is not None else self.started.engine is None
        is_unpicked = bool(steps) and isinstance(steps[-1], Fetched) and is_before_picks
        is_cut = self.ends_by_clock and (stop is None or stop.reason == "seconds")
        self.unpicked_turn = turns if is_unpicked and is_cut else None
        written = next((line.get("result") for line in reversed(trace.raw) if line.get("action") == "result"), None)
        self.result: Mapping[str, Any] | None = written if isinstance(written, dict) else None
        self.lacks = list(self._lacks())

    @property
    def today(self) -> date:
        day = self.started.today or (self.trace.started.date() if self.trace.started else None)
        return day or today()

    @property
    def kind(self) -> str:
        """Kind of the sources as citations name it; traces of earlier versions give it by the sources alone."""
        kinds = {"file" if name.startswith("corpus") else name for name in self.started.source.split(",")}
        return self.started.kind or ",".join(sorted(kinds, key=lambda kind: (kind == "file", kind)))

    def _lacks(self) -> list[str]:
        lacks = []
        if self.started.today is None:
            lacks.append("the day of the call: the day on which its trace begins is used")
        if any(hit.snippet is None for search in self.searches for hit in search.hits):
            lacks.append("the snippets, scores and days of search hits: its version did not record them")
        if self.started.program_hash is None:
            lacks.append("the program and its parameters: those in force now are used")
        if self.was_killed:
            lacks.append("the point at which the call's process was killed: the re-run may go further")
        return lacks


class Repetition:
    """One re-run: its settings, its tools, its model, and what it found missing."""

    def __init__(self, recorded: CallRecord, settings: Settings, exchange: Exchange) -> None:
        started = recorded.started
        self._recorded = recorded
        self._exchange = exchange
        self._missing = Missing(ends_by_clock=recorded.ends_by_clock and not exchange)
        self._model_id = exchange.model or started.model_id
        self._lacks: list[str] = []
        semantic = settings.semantic if started.semantic is None else started.semantic
        if started.semantic and not is_installed():
            self._lacks.append("the embedding model, by which pages were read: the extra `semantic` is not installed")
        if started.judged and not answering.is_installed():
            self._lacks.append("the runtime of the model that judged passages: onnxruntime, of the extra `semantic`")
        program = {CURRENT: None}.get(exchange.program, exchange.program) if exchange.program else settings.program
        self.settings = settings.model_copy(
            update={
                "model": self._model_id,
                "source": started.source,
                "semantic": semantic,
                "program": program,
                "max_seconds": started.max_seconds if exchange.live or self._may_ask else RECORDED_SECONDS,
                "model_calls": started.model_calls or settings.model_calls,
            }
        )
        lacks_answers = started.engine is None or any(call.request_hash is None for call in recorded.attempts)
        if self._has_model and not self._is_model_live and lacks_answers:
            raise TraceError(
                f"{recorded.trace.trace_id} lacks the answers of {self.settings.model_id}: its version did "
                "not record them",
                hint="`--live model` asks the model again, and `--model extractive` goes without.",
            )

    @property
    def _has_model(self) -> bool:
        return self._model_id != EXTRACTIVE

    @property
    def _is_model_live(self) -> bool:
        """True where no answer of the trace is given again."""
        return bool(self._exchange.model) or "model" in self._exchange.live

    @property
    def _may_ask(self) -> bool:
        """True where the model may be asked what the trace has no answer to: another program asks other things."""
        return self._is_model_live or (self._has_model and self._exchange.program is not None)

    async def run(self, recorder: Recorder, trace_id: str) -> ResearchResult:
        started = self._recorded.started
        request = ResearchRequest(
            question=started.question,
            context=started.context,
            depth=started.depth,
            constraints=started.constraints,
        )
        program, parameters = self.program()
        origin = Origin(
            today() if self._exchange.live & {"search", "fetch"} else self._recorded.today,
            kept_program(program, parameters),
            self._recorded.trace.trace_id,
            ends_without_model=self._recorded.ends_without_model and not self._exchange,
            ends_asking=self._recorded.ends_asking and not self._exchange,
            ends_late=self._recorded.ends_late and not self._exchange,
            unpicked_turn=None if self._exchange else self._recorded.unpicked_turn,
            late_answers=self.late_answers,
        )
        given = Replacements(self._tools(), program, parameters, origin)
        budget = Budget(request.constraints, self.settings.seconds_for(request.depth))
        context = CallContext(budget, recorder, trace_id, replacements=given)
        return await research_in(context, request, self.settings, self.connect())

    @property
    def late_answers(self) -> dict[tuple[str, int], str]:
        """Reasons for which recorded answers came too late, by their stage and the number of its run; none where a
        part is exchanged."""
        return {} if self._exchange else dict(_late_answers(self._recorded.events).values())

    def program(self) -> tuple[Program | None, Parameters]:
        """Return the recorded program, or the one that takes its place; and the parameters."""
        key = self._recorded.started.program_hash
        if key and not self._exchange.program and not self._exchange.model:
            try:
                program, parameters = read_kept_program(self._recorded.store, key)
            except TraceError as error:
                self._lacks.append(f"the program and its parameters ({error}): those in force now are used")
            else:
                return program and without_stale(program, self.settings.model_id), parameters
        program = program_in_force(self.settings)
        return program, (program.parameters if program else None) or DEFAULT

    def _tools(self) -> Tools:
        recorded, live = self._recorded, self._exchange.live & {"search", "fetch"}
        # What each search spent on writing statements, by its query.
        spent: dict[str, list[ModelCalled | FellBack]] = {}
        open_events: list[ModelCalled | FellBack] = []
        for event in recorded.events if self._repeats_writing else ():
            if isinstance(event, ModelCalled | FellBack) and event.stage == WRITE_QUERY.name:
                open_events.append(event)
            elif isinstance(event, Searched):
                spent.setdefault(event.query, []).extend(open_events)
                open_events = []
        search = RecordedSearch(recorded.searches, self._missing, spent=spent)
        # Of the addresses of a cited work, that is read which was read then.
        known = {fetch.url for fetch in recorded.fetches}
        known |= {hit.url for each in recorded.searches for hit in each.hits}
        tools = Tools(
            kind=recorded.kind,
            search=search,
            fetcher=RecordedReader(recorded.fetches, recorded.store, self._missing),
            embedder=open_embedder(self.settings),
            judge=open_judge(self.settings) if recorded.started.judged else None,
            address=lambda url: url if url in known else None,
            citations=search if any(each.query.startswith(WORKS) for each in recorded.searches) else None,
            web=recorded.started.web,
            begin=search.begin,
        )
        if not live:
            return tools
        today_s = open_tools(self.settings)
        return replace(
            today_s,
            search=today_s.search if "search" in live else tools.search,
            fetcher=today_s.fetcher if "fetch" in live else tools.fetcher,
        )

    @property
    def _repeats_writing(self) -> bool:
        """True where recorded searches, which ran the stage `write_query`, stand for their model calls as well."""
        return self._has_model and not self._is_model_live and "search" not in self._exchange.live

    def connect(self) -> Connect | None:
        """Return the way to the model; None where there is none, and for the usual one."""
        if not self._has_model or self._is_model_live:
            return None
        from marchwarden.agent.replayed_engine import ReplayedEngine
        from marchwarden.lm import Model
        from marchwarden.lm.resolve import resolve

        features = self._recorded.started.engine
        assert features is not None, "__init__ has looked"
        inner = resolve(self.settings) if self._may_ask else None
        events = [
            each
            for each in self._recorded.events
            if not (
                self._repeats_writing and isinstance(each, ModelCalled | FellBack) and each.stage == WRITE_QUERY.name
            )
        ]
        attempts, too_slow = _attempts_of(events)
        refused = {
            each.stage: each.reason for each in events if isinstance(each, FellBack) and each.limit == "tokens"
        }
        engine = ReplayedEngine(
            attempts, features, self._missing.check_clock, inner, too_slow=too_slow, refused=refused
        )
        secrets = secrets_of(self.settings)
        return lambda settings, budget, recorder: Model(settings.model_id, engine, budget, recorder, secrets=secrets)

    def lacks(self, now: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return what the trace lacks for this re-run, whose lines are `now`."""
        missing = self._missing
        lacks = list(self._lacks)
        lacks += [f"a search for “{query}”: it was answered from the recorded hits" for query in missing.queries]
        lacks += [f"the page {url}: the call did not read it" for url in missing.urls]
        lacks += [f"the bytes of {url}: they are gone from the store" for url in missing.bodies]
        fallen = [line for line in now if line["action"] == "fallback"]
        not_asked = [line["stage"] for line in fallen if line["reason"] == NOT_ASKED.format(line["stage"])]
        for stage in dict.fromkeys(not_asked):
            count = not_asked.count(stage)
            prompts = "a prompt" if count == 1 else f"{count} prompts"
            lacks.append(f"an answer to {prompts} of {stage}: the model was not asked for it")
        return lacks

    def notes(self) -> list[str]:
        then = self._recorded.started.version
        notes = [f"recorded by version {then}, repeated by {__version__}"] if then != __version__ else []
        return notes + [f"{url} is read differently now" for url in self._missing.read_otherwise]


def _attempts_of(events: Sequence[Event]) -> tuple[list[Attempt], dict[str, list[str]]]:
    """Return the attempts to ask the model, each with what cut it short.

    The second value has, by stage, the reasons for which it was too slow though no attempt had begun.
    """
    from marchwarden.agent.replayed_engine import Attempt

    late = _late_answers(events)
    too_slow = {
        place: event
        for place, event in enumerate(events)
        if isinstance(event, FellBack) and event.reason.startswith(TOO_SLOW) and place not in late
    }
    attempts = []
    for place, event in enumerate(events):
        if not isinstance(event, ModelCalled):
            continue
        attempt = Attempt(event)
        if event.error == "cancelled":
            # The time of its stage, where the stage then went on without the model; else that of the whole call.
            later = (number for number, each in too_slow.items() if number > place and each.stage == event.stage)
            number = next(later, None)
            reason = too_slow.pop(number).reason if number is not None else None
            at_end = any(isinstance(each, Stopped) for each in events[:place])
            attempt = Attempt(event, cut=reason, ends_call=reason is None, at_end=at_end)
        attempts.append(attempt)
    unclaimed: dict[str, list[str]] = {}
    for each in too_slow.values():
        unclaimed.setdefault(each.stage, []).append(each.reason)
    return attempts, unclaimed


def _late_answers(events: Sequence[Event]) -> dict[int, tuple[tuple[str, int], str]]:
    """Return the answers that came as the time of their stage was over, too late to be read.

    By the place of the event that says so: the stage and the number of its run, and the reason that it gave. Pages
    are extracted side by side, where nothing tells whose answer was late.
    """
    late: dict[int, tuple[tuple[str, int], str]] = {}
    plans, asked = 0, dict[str, ModelCalled]()
    for place, event in enumerate(events):
        if isinstance(event, Planned):
            plans += 1
            asked.pop(PLAN.name, None)
        elif isinstance(event, ModelCalled):
            asked[event.stage] = event
        elif isinstance(event, FellBack) and event.stage != EXTRACT.name and event.reason.startswith(TOO_SLOW):
            last = asked.pop(event.stage, None)
            if last is not None and last.error is None:
                run = plans + 1 if event.stage == PLAN.name else 1
                late[place] = (event.stage, run), event.reason
    return late
