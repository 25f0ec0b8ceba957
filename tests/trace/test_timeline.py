from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from marchwarden.contract import Depth
from marchwarden.trace.events import (
    Dispatched,
    Event,
    Failed,
    FailureRecord,
    Lost,
    Planned,
    Resumed,
    Returned,
    Searched,
    Skipped,
    TraceKept,
    WasCancelled,
    WasKilled,
)
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.timeline import Entry, timeline
from marchwarden.trace.writer import TraceWriter
from tests.trace.samples import CLOSED, TRACE_ID, URL, a_whole_call, concluded, started

ENDINGS: list[Event] = [
    WasCancelled(decision="the caller left"),
    WasKilled(decision="2 s over time", reason="seconds"),
    Failed(decision="a bug", error="KeyError"),
]


RIHLA = {"rihla": 1, "call_id": TRACE_ID, "researcher": "web"}
INVESTIGATION: list[Event] = [
    Dispatched(
        **RIHLA,
        question="What grows?",
        context=None,
        depth=Depth.BALANCED,
        origin="sub_question",
        parent=None,
        tokens=500,
        utility=None,
        decision="it can be asked",
    ),
    Returned(
        **RIHLA,
        trace_id=TRACE_ID,
        result_hash="sha256:" + 64 * "0",
        citations=1,
        gaps=2,
        confidence=0.5,
        reported_tokens=700,
        charged_tokens=500,
        tokens_used=500,
        duration_sec=1.5,
        decision="it reports 700 tokens",
    ),
    TraceKept(
        rihla=1, researcher="web", trace_id=TRACE_ID, trace_hash="sha256:" + 64 * "0", decision="it is evidence"
    ),
    Lost(**RIHLA, sent=True, charged_tokens=500, tokens_used=1000, duration_sec=2.0, decision="it died"),
    Skipped(
        researcher=None, question="Who?", origin="discovery", parent=1, utility=None, decision="no member answers"
    ),
    Resumed(finished=[1], in_flight=[2], seconds_used=3.0, decision="it was killed"),
]


def entry_of(event: Event) -> Entry:
    line = {**event.model_dump(mode="json"), "step": 1, "timestamp": "2026-01-01T00:00:01.000Z"}
    return timeline(Trace(Path(f"{TRACE_ID}.jsonl"), [line]))[0]


def test_every_kind_of_event_is_described_on_one_line() -> None:
    events = [*a_whole_call(), *ENDINGS, *INVESTIGATION]
    assert {type(event) for event in events} == set(get_args(Event))
    lines = [entry_of(event).line for event in events]
    assert all(line and "\n" not in line and "does not know" not in line for line in lines)
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (0, 'asked "What grows in Utah?" (balanced, extractive, snapshot)'),
        (1, "planned turn 1: 1 search, 0 pages to read (without a model)"),
        (2, 'searched "utah crops": 2 hits from snapshot in 0.1 s'),
        (3, f"read {URL}: 200, 34 bytes in 0.2 s"),
        (4, "read https://closed.example/: no answer, timeout, no answer in 10 s"),
        (5, f"picked 1 excerpt from {URL} (without a model)"),
        (6, "extract asked extractive: 100 (50 cached) + 20 tokens in 0.7 s, 120 so far, ReadTimeout"),
        (9, "stopped after 1 iteration: every sub-question is covered"),
        (11, f"concluded: 1 claim from 1 excerpt, as of {concluded().day}"),
        (12, "assessed: 1 gap, 1 discovery, 1 open question, confidence 0.75"),
        (13, "answered with 1 citation, confidence 0.75, 120 tokens, 0.7 s"),
    ],
)
def test_a_line_says_what_happened(number: int, line: str) -> None:
    assert entry_of(a_whole_call()[number]).line == line


def test_an_assessment_says_what_the_confidence_was_before_it_was_calibrated() -> None:
    assessed = a_whole_call()[12].model_copy(update={"uncalibrated": 0.86})
    assert entry_of(assessed).line.endswith("confidence 0.75 (uncalibrated 0.86)")


def test_a_failed_search_and_a_finished_plan_say_so() -> None:
    failure = FailureRecord(kind="service_down", detail="the service\nanswered 503")
    search = Searched(decision="", query="q", provider="tavily", hits=[], failure=failure, duration_sec=1)
    plan = Planned(decision="", iteration=2, aspects=[], queries=[], read=[], done=True, stage_form="model")
    assert entry_of(search).line == 'searched "q": service_down, the service answered 503'
    assert entry_of(plan).line == "planned turn 2: nothing more to do"


def test_details_name_hash_redirects_limits_and_findings() -> None:
    events = a_whole_call()
    page = dict(entry_of(events[3]).details)
    assert page["hash"].startswith("sha256:")
    assert page["redirect"] == "http://usu.edu/g"
    assert "token_budget 20000" in dict(entry_of(events[0]).details)["limits"]
    assert entry_of(events[2]).details == (("hit", f"Gardens {URL}"), ("hit", f"Closed {CLOSED}"))
    assert [label for label, _ in entry_of(events[12]).details] == ["gap", "discovery", "open question"]
    assert entry_of(WasCancelled(decision="")).details == ()


def test_a_start_says_which_program_was_in_force_and_what_of_it_was_not() -> None:
    plain = started()
    assert "program" not in dict(entry_of(plain).details)
    with_one = plain.model_copy(
        update={
            "program": "p@12",
            "compiled": ["gaps", "plan"],
            "program_of": "a/b-1",
            "program_notes": ["It is old."],
        }
    )
    assert dict(entry_of(with_one).details)["program"] == "p@12, compiled gaps, plan for a/b-1"
    assert dict(entry_of(with_one).details)["note"] == "It is old."


def test_a_start_of_an_older_version_knows_no_program(tmp_path: Path) -> None:
    written = json.loads(started().model_dump_json(exclude={"program", "compiled", "program_of", "program_notes"}))
    trace = Trace(tmp_path / f"{TRACE_ID}.jsonl", [{**written, "step": 1, "timestamp": "2026-01-01T00:00:01.000Z"}])
    assert (trace.program_notes, trace.events[0][2].action) == ([], "start")
    assert ("version", "0.1.0") in timeline(trace)[0].details


def test_a_timeline_has_every_step_with_its_time_and_reason(tmp_path: Path) -> None:
    raw = [
        {"step": 1, "action": "cancelled", "timestamp": "2026-01-01T00:00:01.000Z", "decision": "first"},
        {"step": 2, "action": "teleport", "timestamp": "2026-01-01T00:00:02.500Z", "decision": "second"},
        {"step": 3, "action": "failed", "error": "KeyError", "timestamp": "soon", "decision": "third"},
    ]
    entries = timeline(Trace(tmp_path / f"{TRACE_ID}.jsonl", raw))
    assert [(entry.step, entry.offset, entry.kind, entry.decision) for entry in entries] == [
        (1, 0.0, "cancelled", "first"),
        (2, 1.5, "teleport", "second"),
        (3, 0.0, "failed", "third"),
    ]
    assert entries[1].line == "(a step that this version does not know)"


def test_a_whole_call_reads_as_a_timeline(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, TRACE_ID) as writer:
        for event in a_whole_call():
            writer.record(event)
    entries = timeline(read_trace(writer.path))
    assert [entry.line for entry in entries] == [entry_of(event).line for event in a_whole_call()]


def test_replaying_imports_nothing_heavy() -> None:
    script = (
        "import json, sys\n"
        "import marchwarden.trace.timeline, marchwarden.trace.reader\n"
        "heavy = 'dspy mcp anthropic litellm trafilatura datasets httpx numpy asyncio zstandard pydantic'.split()\n"
        "print(json.dumps([name for name in heavy if name in sys.modules]))\n"
    )
    root = str(Path(__file__).parents[2])
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONPATH": root}
    )
    assert json.loads(run.stdout) == []
