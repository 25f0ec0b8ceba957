"""An investigation that was killed or interrupted after any line of its trace goes on, and gives the same answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from marchwarden.audit.verdict import Verdict, evidence_of_trace
from marchwarden.contract import Constraints, DiscoveryEvent, DiscoveryType, ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, TraceError
from marchwarden.lm import scripted
from marchwarden.orchestrator.investigator import Investigation
from marchwarden.orchestrator.investigator_call import run_investigation
from marchwarden.orchestrator.members import Call, Reply, Tell
from marchwarden.orchestrator.team import Team, TeamMember
from marchwarden.trace.events import Dispatched, Event, Lost, Planned, Resumed, Returned
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.standalone_verifier import check
from tests.agent.test_researcher_with_a_model import good, stage_of
from tests.models import connected
from tests.orchestrator.fakes import (
    BUILT,
    DIES,
    HANGS,
    PAID,
    QUESTION,
    TRACE_ID,
    FakeMember,
    Script,
    events_of,
    investigate,
    member,
    settings_of,
)

pytestmark = pytest.mark.anyio

PAPER = DiscoveryEvent(
    type=DiscoveryType.RELATED_RESEARCH,
    suggested_researcher="academic",
    query="Who paid for the Halden Bridge?",
    reason="The page names a paper.",
)


def a_team(folder: Path) -> tuple[list[FakeMember], list[TeamMember]]:
    def shaky(call: Call, number: int) -> Script:
        # By the question, so that it dies again where it died before.
        return Script(DIES)

    made = [
        member("web", folder, Script(pages=BUILT, discoveries=[PAPER])),
        member("shaky", folder, shaky),
        member("papers", folder, Script(pages=PAID), answers=("academic",)),
    ]
    return [fake for fake, _ in made], [one for _, one in made]


def said(result: ResearchResult) -> tuple[object, ...]:
    quoted = [(each.locator, each.raw_excerpt, each.researcher) for each in result.citations]
    return result.answer, quoted, [gap.detail for gap in result.gaps], result.confidence


@pytest.mark.parametrize("torn", [False, True])
async def test_killed_after_any_line_it_gives_the_same_answer_and_asks_nobody_again(
    torn: bool, tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    _, team = a_team(whole)
    expected, trace = await investigate(team, whole)
    lines = (whole / f"{TRACE_ID}.jsonl").read_bytes().splitlines(keepends=True)
    actions = [line["action"] for line in trace.raw]
    for kept in range(1, len(lines), 5 if torn else 3):
        folder = tmp_path / f"{kept}"
        shutil.copytree(whole, folder)
        half = lines[kept][: len(lines[kept]) // 2] if torn else b""
        (folder / f"{TRACE_ID}.jsonl").write_bytes(b"".join(lines[:kept]) + half)
        fakes, again = a_team(folder)
        result, _ = await investigate(again, folder, resumed=True)
        assert said(result) == said(expected), actions[:kept]
        over = sum(action in ("return", "lost") for action in actions[:kept])
        sent = sum(action == "dispatch" for action in actions)
        assert sum(len(fake.asked) for fake in fakes) == sent - over
        verdict = Verdict.of(check(evidence_of_trace(folder / f"{TRACE_ID}.jsonl")))
        assert verdict.state == "verified", [each for each in verdict.findings if each.state != "verified"]


async def test_what_was_in_flight_is_asked_again_under_the_same_id(tmp_path: Path) -> None:
    _, team = a_team(tmp_path)
    await investigate(team, tmp_path)
    path = tmp_path / f"{TRACE_ID}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    sent = [number for number, line in enumerate(lines) if b'"action": "dispatch"' in line]
    path.write_bytes(b"".join(lines[: sent[0] + 1]))
    fakes, again = a_team(tmp_path)
    await investigate(again, tmp_path, resumed=True)
    call = next(fake.asked[0] for fake in fakes if fake.name == "web")
    assert call.call_id.encode() in lines[sent[0]]


async def test_a_finished_investigation_is_only_told_again(tmp_path: Path) -> None:
    _, team = a_team(tmp_path)
    expected, _ = await investigate(team, tmp_path)
    fakes, again = a_team(tmp_path)
    result, _ = await investigate(again, tmp_path, resumed=True)
    assert result == expected
    assert not any(fake.asked for fake in fakes)


async def test_another_team_or_question_may_not_go_on_with_it(tmp_path: Path) -> None:
    _, team = a_team(tmp_path)
    await investigate(team, tmp_path)
    with pytest.raises(ConfigurationError, match="another team"):
        await investigate(team[:1], tmp_path, resumed=True)
    with pytest.raises(ConfigurationError, match="another question"):
        await investigate(team, tmp_path, resumed=True, question="Who?")


async def test_the_trace_of_a_single_researcher_is_no_investigation(tmp_path: Path) -> None:
    fakes, team = a_team(tmp_path)
    await investigate(team, tmp_path)
    request = ResearchRequest(question=QUESTION, constraints=Constraints(token_budget=60_000))
    with pytest.raises(TraceError, match="not the trace of an investigation"):
        await run_investigation(
            request,
            Team(tuple(team)),
            settings_of(tmp_path),
            trace_id=fakes[0].asked[0].call_id,
            seconds=10,
            resumed=True,
        )


def own(made: tuple[list[FakeMember], list[TeamMember]]) -> tuple[list[FakeMember], list[TeamMember]]:
    """The same as researchers of this process, whose traces tell what they had spent when they were cut off."""
    return made[0], [replace(each, is_own=True) for each in made[1]]


async def until(ends: int, team: list[TeamMember], folder: Path, **more: Any) -> ResearchResult:
    """Investigate, and interrupt it after so many events."""
    running: list[Investigation] = []
    left = ends

    def count(event: Event) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            running[0].interrupt()

    result, _ = await investigate(team, folder, started=running.append, watch=count, **more)
    return result


def assert_verified(folder: Path) -> None:
    verdict = Verdict.of(check(evidence_of_trace(folder / f"{TRACE_ID}.jsonl")))
    assert verdict.state == "verified", [each for each in verdict.findings if each.state != "verified"]


def paid_once(trace: Trace) -> int:
    """Tokens of every end of a rihla; no rihla that had come back may have been sent again."""
    returned = events_of(trace, Returned)
    ends = [*returned, *events_of(trace, Lost)]
    assert len({each.rihla for each in returned}) == len(returned)
    assert len(events_of(trace, Dispatched)) == len(ends)
    return sum(each.charged_tokens for each in ends)


async def test_interrupted_after_any_event_it_gives_the_same_answer_and_asks_nobody_again(tmp_path: Path) -> None:
    _, team = own(a_team(tmp_path / "whole"))
    expected, whole = await investigate(team, tmp_path / "whole")
    for ends in range(1, len(whole.events), 2):
        folder = tmp_path / f"{ends}"
        _, team = own(a_team(folder))
        await until(ends, team, folder)
        assert_verified(folder)
        await until(3, team, folder, resumed=True)  # a second time, soon after it went on
        assert_verified(folder)
        result, trace = await investigate(team, folder, resumed=True)
        assert said(result) == said(expected), ends
        assert_verified(folder)
        assert result.cost_metadata.tokens_used == paid_once(trace)
        again, _ = await investigate(team, folder, resumed=True)  # nothing is left
        assert again == result


async def test_whoever_was_out_at_ctrl_c_is_asked_again_under_the_same_id(tmp_path: Path) -> None:
    running: list[Investigation] = []
    slow, first = member("slow", tmp_path, lambda call, number: Script(pages=PAID) if number else Script(HANGS))
    quick, second = member("quick", tmp_path, Script(pages=BUILT))

    def stop_when_back(event: Event) -> None:
        if isinstance(event, Returned):
            running[0].interrupt()

    before, _ = await investigate([first, second], tmp_path, started=running.append, watch=stop_when_back)
    assert "salt company" not in before.answer
    result, trace = await investigate([first, second], tmp_path, resumed=True)
    assert "salt company" in result.answer
    assert "1931" in result.answer
    assert len(quick.asked) == 1
    assert [call.call_id for call in slow.asked] == [slow.asked[0].call_id] * 2
    (cut,) = events_of(trace, Lost)
    # Nobody knows what a server of somebody else's had spent by then.
    assert cut.charged_tokens == slow.asked[0].tokens
    assert result.cost_metadata.tokens_used == cut.charged_tokens + 200
    assert_verified(tmp_path)


@pytest.mark.parametrize("stage", ["plan", "synthesize"])
async def test_what_the_model_was_not_waited_for_is_asked_of_it_when_it_goes_on(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[Investigation] = []

    def interrupts(request: object) -> str | scripted.Reply:
        if stage_of(request) != stage:
            return good(request)
        running[0].interrupt()
        return scripted.Reply(delay=600.0)

    one, first = member("one", tmp_path, Script(pages=BUILT))
    settings = settings_of(tmp_path).model_copy(update={"model": "scripted/model"})
    request = ResearchRequest(question=QUESTION, constraints=Constraints(token_budget=60_000))

    async def run(says: Callable[[object], str | scripted.Reply], *, resumed: bool) -> ResearchResult:
        monkeypatch.setattr("marchwarden.lm.connect", connected(scripted.ScriptedEngine(says)))
        return await run_investigation(
            request,
            Team((first,)),
            settings,
            trace_id=TRACE_ID,
            seconds=60,
            resumed=resumed,
            started=running.append,
        )

    before = await run(interrupts, resumed=False)
    assert before.worded_by != "model"
    assert len(one.asked) == (stage == "synthesize")
    result = await run(good, resumed=True)
    assert result.worded_by == "model"
    assert len(one.asked) == 1
    planned = events_of(read_trace(tmp_path / f"{TRACE_ID}.jsonl"), Planned)
    assert [each.stage_form for each in planned] == (["model_free", "model"] if stage == "plan" else ["model"])
    assert_verified(tmp_path)


async def test_one_whose_time_was_up_has_more_for_the_rest(tmp_path: Path) -> None:
    slow, first = member("slow", tmp_path, lambda call, number: Script(pages=PAID) if number else Script(HANGS))
    quick, second = member("quick", tmp_path, Script(pages=BUILT))
    before, _ = await investigate([first, second], tmp_path, seconds=1.5)
    assert "salt company" not in before.answer
    result, trace = await investigate([first, second], tmp_path, seconds=30, resumed=True)
    assert "salt company" in result.answer
    assert (len(quick.asked), len(slow.asked)) == (1, 2)
    (resumed,) = events_of(trace, Resumed)
    assert (resumed.max_seconds, resumed.in_flight) == (30, [1])
    assert result.cost_metadata.wall_time_sec >= before.cost_metadata.wall_time_sec
    assert_verified(tmp_path)


async def test_one_that_ran_out_of_tokens_goes_on_with_more_and_only_with_more(tmp_path: Path) -> None:
    fakes, team = a_team(tmp_path)
    for fake in fakes:
        fake.say = lambda call, number: Script(pages={**BUILT, **PAID}, tokens=600)
    before, trace = await investigate(team, tmp_path, budget=1_300)
    assert before.cost_metadata.budget_exhausted
    assert before.cost_metadata.tokens_used == paid_once(trace) <= 1_300
    with pytest.raises(
        ConfigurationError, match=r"1,300 tokens is too small to continue: 1,\d\d\d of 1,300 are used"
    ):
        await investigate(team, tmp_path, budget=1_300, resumed=True)
    asked = sum(len(fake.asked) for fake in fakes)
    result, trace = await investigate(team, tmp_path, budget=60_000, resumed=True)
    assert not result.cost_metadata.budget_exhausted
    assert all(fake.asked for fake in fakes)
    assert result.cost_metadata.tokens_used == paid_once(trace)
    assert sum(len(fake.asked) for fake in fakes) == asked + 1
    assert_verified(tmp_path)


async def test_a_budget_that_is_raised_again_and_again_is_never_exceeded(tmp_path: Path) -> None:
    fakes, team = a_team(tmp_path)
    before = 0
    for budget in (600, 1_100, 1_700, 2_600, 4_100, 60_000):
        result, trace = await investigate(team, tmp_path, budget=budget, resumed=bool(before))
        used = result.cost_metadata.tokens_used
        assert before <= used <= budget
        assert used == paid_once(trace)
        assert_verified(tmp_path)
        before = used
    assert not result.cost_metadata.budget_exhausted
    assert all(fake.asked for fake in fakes)


async def test_a_budget_that_is_used_up_already_is_refused(tmp_path: Path) -> None:
    _, team = a_team(tmp_path)
    await until(8, team, tmp_path)
    with pytest.raises(ConfigurationError, match="a budget of 500 tokens is too small to continue"):
        await investigate(team, tmp_path, budget=500, resumed=True)


async def test_one_that_is_running_is_not_continued_beside_itself(tmp_path: Path) -> None:
    fakes, team = a_team(tmp_path)
    refused: list[str] = []
    ask = fakes[0].ask

    async def ask_meanwhile(call: Call, tell: Tell) -> Reply:
        with pytest.raises(ConfigurationError, match="is still running") as error:
            await investigate(team, tmp_path, resumed=True)
        refused.append(str(error.value))
        return await ask(call, tell)

    fakes[0].ask = ask_meanwhile  # type: ignore[method-assign]
    await investigate(team, tmp_path)
    assert len(refused) == len(fakes[0].asked)
