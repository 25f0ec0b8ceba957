"""An investigation made again from its trace gives the same result; what is missing, or went otherwise, is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.agent.rerun_call import Exchange, Rerun
from marchwarden.agent.research import research
from marchwarden.contract import Constraints, ResearchRequest
from marchwarden.errors import TraceError
from marchwarden.lm.scripted import ScriptedEngine
from marchwarden.orchestrator.investigator import Investigation
from marchwarden.orchestrator.investigator_call import run_investigation
from marchwarden.orchestrator.members import Call, Reply, Tell
from marchwarden.orchestrator.rerun_investigation import rerun_investigation
from marchwarden.orchestrator.team import Team, TeamMember, answers_of
from marchwarden.settings import Settings
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Dispatched, Event, Extracted, TraceKept
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.writer import TraceWriter
from tests.agent.test_researcher_with_a_model import good
from tests.models import connected
from tests.orchestrator.fakes import (
    BUILT,
    DIES,
    HANGS,
    NOTHING,
    QUESTION,
    TRACE_ID,
    Script,
    events_of,
    investigate,
    member,
    settings_of,
)
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio

ABOUT_BOTH = "When was the Halden Bridge built, and how much does a dog licence cost in the county of Tista?"
YEARS = {
    "https://bridges.halden.gov/built": article(
        "Halden Bridge", "The Halden Bridge was built in 1931 over the Tista."
    )
}
OTHERS = {
    "https://towns.halden-archive.org/halden": article(
        "The town of Halden", "The Halden Bridge was built in 1931, when the town of Halden had 900 houses."
    ),
    "https://closed.example/halden": {"body": "Subscribe to read who paid for the Halden Bridge.", "status": 402},
}
PAPERS = {
    "https://papers.halden-college.edu/bridge": article(
        "Dogs of the county", "A dog licence costs 12 crowns a year in the county of Tista."
    )
}


class LocalMember:
    """A real researcher of this process over a small web of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def run(self) -> None:
        await anyio.sleep_forever()

    async def ask(self, call: Call, tell: Tell) -> Reply:
        constraints = Constraints(token_budget=call.tokens, **call.constraints)
        request = ResearchRequest(
            question=call.question, context=call.context, depth=call.depth, constraints=constraints
        )
        with TraceWriter(self._settings.traces, call.call_id) as writer:
            found = await research(request, settings=self._settings, recorder=writer, trace_id=call.call_id)
        return Reply(found)

    async def read(self, uri: str) -> bytes | None:
        return None


def local(name: str, folder: Path, pages: Mapping[str, Any], *, is_own: bool = True) -> TeamMember:
    answers = answers_of(name)
    settings = settings_of(folder).model_copy(update={"web": make_web(folder / f"web-{name}", pages)})
    return TeamMember(name, lambda: LocalMember(settings), identity=f"source {name}", answers=answers, is_own=is_own)


async def asked(folder: Path, *more: TeamMember, is_own: bool = True) -> Trace:
    """Investigate with local researchers: two know when it was built, and one for papers is asked afterwards."""
    pages = {"web": YEARS, "snapshot": OTHERS, "arxiv": PAPERS}
    team = [local(name, folder, known, is_own=is_own) for name, known in pages.items()]
    _, trace = await investigate([*team, *more], folder, question=ABOUT_BOTH)
    return trace


async def again(trace: Trace, **exchange: Any) -> Rerun:
    return await rerun_investigation(trace, settings_of(trace.path.parent), Exchange(**exchange))


def rewritten(trace: Trace, change: Callable[[dict[str, Any]], object]) -> Trace:
    """The trace with every line changed."""
    lines = [dict(line) for line in trace.raw]
    for line in lines:
        change(line)
    trace.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_trace(trace.path)


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_same(ran: Rerun) -> None:
    assert (ran.differences, ran.lacks, ran.notes, ran.first) == ([], [], [], None)
    assert ran.recorded is not None
    now, then = json.loads(ran.result.model_dump_json()), dict(ran.recorded)
    for each in (now, then):
        each["cost_metadata"] = {**each["cost_metadata"], "wall_time_sec": 0}
    assert now == then


@pytest.mark.parametrize("is_own", [True, False])
async def test_the_same_result_comes_and_nothing_is_written(is_own: bool, tmp_path: Path) -> None:
    trace = await asked(tmp_path, is_own=is_own)
    assert len(events_of(trace, Dispatched)) > 2, "something was followed up"
    before = files_in(tmp_path)
    assert_same(await again(trace))
    assert files_in(tmp_path) == before


async def test_the_traces_of_the_researchers_are_those_that_the_investigation_kept(tmp_path: Path) -> None:
    trace = await asked(tmp_path)
    for each in events_of(trace, TraceKept):
        (tmp_path / f"{each.trace_id}.jsonl").unlink()
    assert_same(await again(trace))


async def test_a_researcher_whose_trace_is_gone_counts_with_its_recorded_result(tmp_path: Path) -> None:
    trace = await asked(tmp_path)
    first = events_of(trace, TraceKept)[0]
    (tmp_path / f"{first.trace_id}.jsonl").unlink()
    Store(tmp_path / "store")._path(first.trace_hash).unlink()
    ran = await again(trace)
    assert ran.lacks == [f"the trace of {first.researcher} ({first.trace_id[:8]}): its recorded result is used"]


async def test_a_page_that_is_gone_is_told(tmp_path: Path) -> None:
    trace = await asked(tmp_path)
    cited = trace.result.citations[0] if trace.result else None
    assert cited
    assert cited.content_hash
    Store(tmp_path / "store")._path(cited.content_hash).unlink()
    ran = await again(trace)
    assert any(f"the bytes of {cited.locator}" in each for each in ran.lacks)
    assert any("its recorded result is used" in each for each in ran.lacks)


async def test_a_result_that_was_changed_shows(tmp_path: Path) -> None:
    trace = await asked(tmp_path)
    changed = rewritten(trace, lambda line: line.get("result", {}).update(confidence=0.99))
    ran = await again(changed)
    assert [each.field for each in ran.differences] == ["confidence"]
    assert not ran.is_same


async def test_a_call_that_comes_out_otherwise_is_a_difference_of_that_call(tmp_path: Path) -> None:
    trace = await asked(tmp_path)
    store = Store(tmp_path / "store")

    def lower(line: dict[str, Any]) -> None:
        if line["action"] == "return" and line["researcher"] == "web":
            result = json.loads(store.get(line["result_hash"]))
            line["result_hash"] = store.put(json.dumps({**result, "confidence": 0.01}).encode())

    ran = await again(rewritten(trace, lower))
    assert {each.field.partition(" ")[0] for each in ran.differences} == {"calls[web"}
    assert {each.field.rpartition("].")[2] for each in ran.differences} == {"confidence"}


async def test_the_team_of_an_earlier_versions_trace_is_that_of_its_sources_or_missing(tmp_path: Path) -> None:
    trace = await asked(tmp_path)
    older = rewritten(trace, lambda line: line.pop("members", None))
    assert_same(await again(older))
    with pytest.raises(TraceError, match="lacks its team") as refused:
        await again(rewritten(older, lambda line: line.update(team_hash="0") if "team_hash" in line else None))
    assert "(web)" in str(refused.value.hint)


async def test_researchers_that_are_lost_are_lost_again(tmp_path: Path) -> None:
    _, dead = member("dead", tmp_path, Script(DIES))
    _, mute = member("mute", tmp_path, Script(NOTHING))
    trace = await asked(tmp_path, dead, mute)
    ran = await again(trace)
    # What a fake says has no trace that could be made again.
    assert ran.differences == []
    assert all("mute" in each for each in ran.lacks)


@pytest.mark.parametrize("limit", ["interrupted", "stopped", "seconds"])
async def test_one_that_was_cut_short_is_cut_short_again(limit: Any, tmp_path: Path) -> None:
    _, slow = member("slow", tmp_path, Script(HANGS))
    running: list[Investigation] = []
    one_is_back = anyio.Event()

    def watch(event: Event) -> None:
        if isinstance(event, Extracted):
            one_is_back.set()

    async def cut() -> None:
        await one_is_back.wait()
        if limit == "seconds":
            running[0].end_time()
        else:
            running[0].interrupt(limit)

    async with anyio.create_task_group() as group:
        group.start_soon(cut)
        team = [local("web", tmp_path, YEARS), slow]
        _, trace = await investigate(team, tmp_path, started=running.append, watch=watch, at_once=2)
    assert trace.result is not None
    assert trace.result.citations
    assert_same(await again(trace))


async def test_one_that_was_resumed_gives_what_came_of_it_in_the_end(tmp_path: Path) -> None:
    _, slow = member("slow", tmp_path, Script(HANGS))
    team = [local("web", tmp_path, YEARS), slow]
    await investigate(team, tmp_path, seconds=5.0)
    fake, answers = member("slow", tmp_path, Script(pages=BUILT))
    assert not fake.asked
    _, trace = await investigate([team[0], answers], tmp_path, resumed=True)
    assert fake.asked
    ran = await again(trace)
    assert ran.differences == []
    assert all("slow" in each for each in ran.lacks)


async def test_the_models_answers_come_from_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ScriptedEngine(good)
    monkeypatch.setattr("marchwarden.lm.connect", connected(engine))
    settings = settings_of(tmp_path).model_copy(update={"model": "scripted/model"})
    request = ResearchRequest(question=QUESTION, constraints=Constraints(token_budget=60_000))
    team = Team((local("web", tmp_path, YEARS), local("snapshot", tmp_path, OTHERS)))
    await run_investigation(request, team, settings, trace_id=TRACE_ID, seconds=60)
    trace = read_trace(tmp_path / f"{TRACE_ID}.jsonl")
    assert any(line["action"] == "model_call" and line["error"] is None for line in trace.raw)
    monkeypatch.undo()
    assert_same(await rerun_investigation(trace, settings_of(tmp_path), Exchange()))


async def test_what_can_t_be_repeated_is_refused_and_says_how_it_can_be_instead(tmp_path: Path) -> None:
    trace = await asked(tmp_path)
    with pytest.raises(TraceError, match="its parts can't be replaced") as refused:
        await again(trace, model="extractive")
    assert "(web)" in str(refused.value.hint)
    unfinished = Trace(trace.path, trace.raw[:-1])
    with pytest.raises(TraceError, match="no result to compare with") as refused:
        await again(unfinished)
    assert "--resume" in str(refused.value.hint)
