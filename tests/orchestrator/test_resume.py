"""An investigation that was killed after any line of its trace goes on, and gives the same answer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from marchwarden.audit.verdict import Verdict, evidence_of_trace
from marchwarden.contract import Constraints, DiscoveryEvent, DiscoveryType, ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, TraceError
from marchwarden.orchestrator.investigator_call import run_investigation
from marchwarden.orchestrator.members import Call
from marchwarden.orchestrator.team import Team, TeamMember
from marchwarden.trace.standalone_verifier import check
from tests.orchestrator.fakes import (
    BUILT,
    DIES,
    PAID,
    QUESTION,
    TRACE_ID,
    FakeMember,
    Script,
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
