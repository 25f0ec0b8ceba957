"""An investigation again, from its trace: each researcher's call is made again, and all else is decided anew.

A call that can't be made again counts with its recorded result, which is said. Nothing is asked of anybody.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import anyio
import anyio.lowlevel

from marchwarden import __version__
from marchwarden.agent.rerun_call import RECORDED_SECONDS, CallRecord, Exchange, KeptLines, Repetition, Rerun
from marchwarden.budget import Budget
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import MarchwardenError, NotRecorded, TraceError
from marchwarden.files import make_private_folder, write_whole
from marchwarden.judge.answering import open_judge
from marchwarden.orchestrator.investigator import Investigation, Plan, RecordedParts
from marchwarden.orchestrator.journal import Journal, Past, fold
from marchwarden.orchestrator.members import Call, Reply, Tell
from marchwarden.orchestrator.rihla import Step
from marchwarden.orchestrator.team import Team, TeamMember, answers_of
from marchwarden.settings import Settings
from marchwarden.source_table import SOURCES
from marchwarden.trace.differences import Difference, differences, first_step
from marchwarden.trace.events import Lost, MemberRecord, Synthesized, TraceKept
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.writer import TraceWriter

# Questions that go out at once in a re-run: all of a round, whoever had to wait for a turn then.
_AT_ONCE = 1_000
# Steps of an investigation's trace whose order does not depend on who answers first.
_ORDERED = ("plan", "stop", "synthesize", "assess")


async def rerun_investigation(trace: Trace, settings: Settings, exchange: Exchange) -> Rerun:
    """Make an investigation again, and compare the results. Nothing is written.

    Raises TraceError where the trace lacks what no re-run can do without, or where a part is to be exchanged.
    """
    record = CallRecord(trace)
    _check(record, exchange)
    with TemporaryDirectory(prefix="marchwarden-") as folder:
        own = settings.model_copy(update={"trace_dir": Path(folder), "store": None})
        repetition = Repetition(record, own, exchange)
        researchers = _Researchers(record, own, Path(folder))
        kept = KeptLines()
        try:
            result = await _repeat(record, repetition, researchers, kept)
        except NotRecorded as error:  # the model was asked as the time of all was over
            raise TraceError(
                f"{trace.trace_id} was cut short while its model was asked, and can't be repeated",
                hint=_hint(record),
            ) from error
    assert record.result is not None, "_check has looked"
    told = json.loads(result.model_dump_json())
    found = differences(record.result, told, same_version=record.started.version == __version__)
    then, now = ([line for line in lines if line.get("action") in _ORDERED] for lines in (trace.raw, kept.lines))
    return Rerun(
        result,
        record.result,
        [*researchers.differences, *found],
        first_step(then, now) if found else None,
        [*record.lacks, *repetition.lacks(kept.lines), *dict.fromkeys(researchers.lacks)],
        [*repetition.notes(), *dict.fromkeys(researchers.notes)],
        kept=False,
    )


def _check(record: CallRecord, exchange: Exchange) -> None:
    """Raise TraceError where an investigation can't be repeated."""
    name = record.trace.trace_id
    if exchange:
        raise TraceError(f"{name} is an investigation: its parts can't be replaced in a re-run", hint=_hint(record))
    if record.result is None:
        raise TraceError(
            f"{name} is {record.trace.outcome}: it has no result to compare with",
            hint=f"To go on with it: marchwarden investigate --resume {name[:8]}",
        )
    if any(isinstance(event, Synthesized) and not event.in_time for event in record.events):
        raise TraceError(f"the time of {name} was over before its answer was whole", hint=_hint(record))


def _hint(record: CallRecord) -> str:
    """Return how the calls of an investigation's researchers are repeated."""
    kept = [event for event in record.events if isinstance(event, TraceKept)]
    calls = ", ".join(f"{event.trace_id[:8]} ({event.researcher})" for event in kept)
    return (
        f"Repeat its researchers' calls with `marchwarden rerun ID`: {calls}"
        if calls
        else f"Ask its question again: marchwarden investigate {json.dumps(record.started.question)}"
    )


async def _repeat(
    record: CallRecord, repetition: Repetition, researchers: _Researchers, recorder: KeptLines
) -> ResearchResult:
    started, journal = record.started, _journal_before(record)
    last = fold(record.trace, record.store)
    constraints = started.constraints.model_copy(update={"token_budget": last.token_budget})
    request = ResearchRequest(
        question=started.question, context=started.context, depth=started.depth, constraints=constraints
    )
    for past in journal.rihlas.values():
        if past.result is not None:  # it had come back before the investigation was resumed
            past.result = await researchers.repeat(past.dispatched.researcher, past.result)
    program, parameters = repetition.program()
    parts = RecordedParts(
        today=record.today,
        program=program,
        parameters=parameters,
        is_judged=open_judge(repetition.settings) is not None if started.judged is None else started.judged,
        connect=repetition.connect(),
        late_answers=repetition.late_answers,
        id_of=researchers.id_of,
    )
    investigation = Investigation(
        request,
        Plan(_team(record, researchers), repetition.settings, _AT_ONCE, recorded=parts),
        Budget(constraints, RECORDED_SECONDS * max(1, len(last.rihlas))),
        recorder,
        record.trace.trace_id,
        journal=journal,
    )
    match last.cut_short_by:
        case "interrupted" | "stopped" as limit:
            researchers.cut_short = lambda: investigation.interrupt(limit)
        case "seconds":
            researchers.cut_short = investigation.end_time
        case _:
            pass
    return await investigation.result()


def _journal_before(record: CallRecord) -> Journal:
    """Return what was done before an investigation was resumed for the last time; nothing where it never was."""
    raw = record.trace.raw
    at = max((place for place, line in enumerate(raw) if line.get("action") == "resume"), default=0)
    return fold(Trace(record.trace.path, raw[:at]), record.store) if at else Journal()


def _team(record: CallRecord, researchers: _Researchers) -> Team:
    """Return the recorded researchers, as members that answer from the record."""
    started = record.started
    recorded = started.members
    if recorded is None:
        # Traces of earlier versions have the names alone, which tell all of the sources of the settings.
        names = started.team or []
        if any(name.partition(":")[0] not in SOURCES for name in names):
            raise _team_unknown(record)
        recorded = [MemberRecord(name=name, answers=list(answers_of(name)), share=1.0, is_own=True) for name in names]
    members = tuple(
        TeamMember(
            name=each.name,
            open=partial(_Member, each.name, researchers),
            identity=f"source {each.name}",
            answers=tuple(each.answers),
            share=each.share,
            is_own=each.is_own,
        )
        for each in recorded
    )
    if started.members is None and Team(members).fingerprint != started.team_hash:
        raise _team_unknown(record)
    return Team(tuple(replace(each, at_once=_AT_ONCE) for each in members))


def _team_unknown(record: CallRecord) -> TraceError:
    return TraceError(f"{record.trace.trace_id} lacks its team: its version did not record it", hint=_hint(record))


class _Researchers:
    """The recorded calls of the researchers, each made again when it is asked for."""

    def __init__(self, record: CallRecord, settings: Settings, folder: Path) -> None:
        """Prepare them; traces of calls that are made again are written to `folder`."""
        self._store, self._settings, self._folder = record.store, settings, folder
        self._beside = record.trace.path.parent
        self._pasts: dict[int, Past] = fold(record.trace, record.store).rihlas
        self._claimed: set[str] = set()
        """Ids of calls that steps of the re-run have taken."""
        self._lineage = (record.trace.result.lineage or []) if record.trace.result else []
        self._sent = {each.rihla: each.sent for each in record.events if isinstance(each, Lost)}
        self._kept = {each.trace_id: each.trace_hash for each in record.events if isinstance(each, TraceKept)}
        self.cut_short: Callable[[], None] | None = None
        """Callback that ends the asking where the recorded investigation was cut short; None where it was not."""
        self.lacks: list[str] = []
        self.notes: list[str] = []
        self.differences: list[Difference] = []
        self._one_at_a_time = anyio.Lock()
        self._busy = 0
        self._is_idle = anyio.Event()

    async def ask(self, researcher: str, call: Call) -> Reply:
        """Return what came of a call then."""
        number, past = next(
            ((n, each) for n, each in self._pasts.items() if each.dispatched.call_id == call.call_id), (0, None)
        )
        if past is None or not past.is_over:
            return await self._unanswered(researcher, call)
        self._busy += 1
        try:
            if past.result is not None:
                return Reply(await self.repeat(past.dispatched.researcher, past.result))
            self._copy(past.dispatched.call_id)  # it tells what was spent
            return Reply(reason=past.lost or "", sent=self._sent.get(number, True), final=past.final)
        finally:
            self._busy -= 1
            if not self._busy:
                self._is_idle.set()
                self._is_idle = anyio.Event()

    async def _unanswered(self, researcher: str, call: Call) -> Reply:
        if self.cut_short is None:
            self.lacks.append(f"an answer of {researcher} to “{call.question}”: it was not asked then")
            return Reply(reason="it was not asked then", sent=False, final=True)
        # It was out as the asking ended; what came back by then comes first.
        await anyio.lowlevel.checkpoint()
        while self._busy:
            await self._is_idle.wait()
        self.cut_short()
        await anyio.sleep_forever()
        raise AssertionError("it was cancelled")

    def id_of(self, step: Step) -> str:
        """Return the id that the call of a step had; another one where there was no such call."""
        asked = (step.researcher, step.question, step.origin)
        for past in (self._pasts[number] for number in sorted(self._pasts)):
            sent = past.dispatched
            if asked == (sent.researcher, sent.question, sent.origin) and sent.call_id not in self._claimed:
                self._claimed.add(sent.call_id)
                return sent.call_id
        # The end of the investigation came before this one was sent.
        for each in self._lineage:
            if asked == (each.researcher, each.question, each.origin) and each.trace_id not in self._claimed:
                self._claimed.add(each.trace_id)
                return each.trace_id
        return str(uuid4())

    async def repeat(self, researcher: str, recorded: ResearchResult) -> ResearchResult:
        """Make a call again from its trace; return the recorded result where that is not possible, and note why."""
        name = f"{researcher} ({recorded.trace_id[:8]})"
        path = self._copy(recorded.trace_id)
        if path is None:
            self.lacks.append(f"the trace of {name}: its recorded result is used")
            return recorded
        try:
            async with self._one_at_a_time:
                result, found, lacks, notes = await self._made_again(path, recorded)
        except Exception as error:  # a trace of another server may break any rule
            why = str(error) if isinstance(error, MarchwardenError) else type(error).__name__
            self.lacks.append(f"a whole trace of {name}, so its recorded result is used: {why}")
            return recorded
        self.notes += [f"{name}: {note}" for note in notes]
        self.lacks += [f"{name}: {lack}" for lack in lacks]
        if found and lacks:
            self.lacks.append(f"what {name} needs to be repeated: its recorded result is used")
            return recorded
        self.differences += [replace(each, field=f"calls[{name}].{each.field}") for each in found]
        (self._again / path.name).replace(path)
        return result

    async def _made_again(
        self, path: Path, recorded: ResearchResult
    ) -> tuple[ResearchResult, list[Difference], list[str], list[str]]:
        record = CallRecord(read_trace(path), self._store)
        repetition = Repetition(record, self._settings, Exchange())
        with TraceWriter(self._again, recorded.trace_id) as writer:
            kept = KeptLines(writer)
            result = await repetition.run(kept, recorded.trace_id)
        then, now = (json.loads(each.model_dump_json()) for each in (recorded, result))
        found = differences(then, now, same_version=record.started.version == __version__)
        return result, found, [*record.lacks, *repetition.lacks(kept.lines)], repetition.notes()

    @property
    def _again(self) -> Path:
        return self._folder / "again"

    def _copy(self, trace_id: str) -> Path | None:
        """Copy a researcher's recorded trace to the folder of the re-run, and return its path; None for none."""
        body = self.trace_of(trace_id)
        if body is None:
            return None
        path = self._folder / f"{trace_id}.jsonl"
        make_private_folder(path.parent)
        write_whole(path, body, synced=False, private=True)
        return path

    def trace_of(self, trace_id: str) -> bytes | None:
        """Return a researcher's trace as the investigation kept it, or as it lies beside its own; None for none."""
        try:
            return self._store.get(self._kept.get(trace_id, ""))
        except TraceError:
            pass
        try:
            return (self._beside / f"{trace_id}.jsonl").read_bytes()
        except OSError:
            return None

    def content(self, key: str) -> bytes | None:
        """Return stored bytes under their hash; None where the store lacks them."""
        try:
            return self._store.get(key)
        except TraceError:
            return None


class _Member:
    """A recorded researcher, which speaks the protocol of one that is asked (orchestrator/members.py)."""

    def __init__(self, name: str, researchers: _Researchers) -> None:
        self.name = name
        self._researchers = researchers

    async def run(self) -> None:
        await anyio.sleep_forever()

    async def ask(self, call: Call, tell: Tell) -> Reply:
        return await self._researchers.ask(self.name, call)

    async def read(self, uri: str) -> bytes | None:
        kind, _, name = uri.partition("://")
        return self._researchers.trace_of(name) if kind == "trace" else self._researchers.content(name)
