from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from marchwarden.errors import TraceError
from marchwarden.trace.events import Event, Failed, Finished, WasCancelled
from marchwarden.trace.reader import Outcome, find_trace, list_traces, read_trace
from marchwarden.trace.writer import TraceWriter
from tests.trace.samples import TRACE_ID, a_result, a_whole_call, started


def written(folder: Path, *events: Event, trace_id: str = TRACE_ID) -> Path:
    with TraceWriter(folder, trace_id) as writer:
        for event in events:
            writer.record(event)
    return writer.path


def at(path: Path, time: str) -> Path:
    """The trace as if it had begun at `time`."""
    first, *rest = path.read_text().splitlines(keepends=True)
    path.write_text(json.dumps(json.loads(first) | {"timestamp": time}) + "\n" + "".join(rest))
    return path


def test_a_trace_reads_back_as_it_was_recorded(tmp_path: Path) -> None:
    events = a_whole_call()
    trace = read_trace(written(tmp_path, *events))
    assert [event for _, _, event in trace.events] == events
    assert [step for step, _, _ in trace.events] == list(range(1, len(events) + 1))
    assert trace.result == events[-1].result  # type: ignore[union-attr]
    assert trace.trace_id == TRACE_ID


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, *a_whole_call())
    whole = path.read_bytes()
    for cut in (1, 2, 40, 300):
        path.write_bytes(whole[:-cut])
        trace = read_trace(path)
        lost = 0 if cut == 1 else 1  # the line's end alone carries nothing
        assert len(trace.events) == len(a_whole_call()) - lost
        assert trace.outcome == ("unfinished" if lost else "finished")


def test_a_step_of_a_later_version_stays_in_raw_and_is_no_event(tmp_path: Path) -> None:
    path = written(tmp_path, started())
    with path.open("a") as file:
        file.write(
            '{"step": 2, "action": "teleport", "timestamp": "2026-01-01T00:00:00.000Z", "decision": "why not"}\n'
        )
        file.write('{"step": 3, "action": "cancelled", "timestamp": "yesterday", "decision": "odd time"}\n')
        file.write("[1, 2]\n")
    trace = read_trace(path)
    assert [line["action"] for line in trace.raw] == ["start", "teleport", "cancelled"]
    assert [event.action for _, _, event in trace.events] == ["start"]


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ([Finished(decision="done", result=a_result())], "finished"),
        ([WasCancelled(decision="the caller left")], "cancelled"),
        ([Failed(decision="a bug", error="KeyError")], "failed"),
        ([], "unfinished"),
        ([Finished(decision="done", result=a_result()), WasCancelled(decision="too late")], "finished"),
    ],
)
def test_the_outcome_is_read_off_the_end(tmp_path: Path, ending: list[Event], outcome: Outcome) -> None:
    path = written(tmp_path, started(), *ending)
    assert read_trace(path).outcome == outcome
    assert list_traces(tmp_path)[0].outcome == outcome


def test_a_result_of_another_contract_is_no_result(tmp_path: Path) -> None:
    path = written(tmp_path, started())
    with path.open("a") as file:
        file.write('{"step": 2, "action": "result", "timestamp": "2026-01-01T00:00:00Z", "result": {"answer": 1}}\n')
    assert read_trace(path).result is None
    assert read_trace(written(tmp_path, started(), trace_id=str(uuid4()))).result is None


def test_traces_are_listed_newest_first_with_question_and_confidence(tmp_path: Path) -> None:
    old, new = str(uuid4()), str(uuid4())
    at(
        written(tmp_path, started("new?"), Finished(decision="", result=a_result()), trace_id=new),
        "2026-02-01T00:00:00Z",
    )
    at(written(tmp_path, started("old?"), trace_id=old), "2026-01-01T00:00:00Z")
    (tmp_path / "notes.jsonl").write_text("{}")
    (tmp_path / "store").mkdir()
    first, second = list_traces(tmp_path)
    assert (first.trace_id, first.question, first.confidence, first.model_id) == (new, "new?", 0.75, "extractive")
    assert (second.trace_id, second.confidence, second.outcome) == (old, None, "unfinished")
    assert first.size == first.path.stat().st_size


def test_a_result_longer_than_a_block_is_still_found_by_the_list(tmp_path: Path) -> None:
    written(tmp_path, started(), Finished(decision="", result=a_result(answer="so [1]" * 60_000)))
    assert list_traces(tmp_path)[0].confidence == 0.75


def test_no_folder_and_empty_or_unreadable_files_do_not_stop_the_list(tmp_path: Path) -> None:
    assert list_traces(tmp_path / "none") == []
    (tmp_path / f"{uuid4()}.jsonl").write_text("")
    (tmp_path / f"{uuid4()}.jsonl").mkdir()
    assert [(each.started, each.outcome) for each in list_traces(tmp_path)] == [(None, "unfinished")] * 2


def test_a_unique_prefix_finds_a_trace_and_none_finds_the_latest(tmp_path: Path) -> None:
    a = at(written(tmp_path, started(), trace_id="aaaa0000-0000-4000-8000-000000000001"), "2026-01-01T00:00:00Z")
    b = at(written(tmp_path, started(), trace_id="aaaa1111-0000-4000-8000-000000000002"), "2026-01-02T00:00:00Z")
    assert find_trace(tmp_path, "aaaa0") == a
    assert find_trace(tmp_path, "AAAA1111-0000-4000-8000-000000000002 ") == b
    assert find_trace(tmp_path, None) == b


def test_the_latest_answer_is_the_one_that_ended_last(tmp_path: Path) -> None:
    """An investigation that was killed on Monday, and gone on with on Wednesday, is newer than Tuesday's answer."""
    for name, first, last in (("aaaa", "01", "03"), ("bbbb", "02", "02")):
        lines = [
            {"step": 0, "action": "start", "timestamp": f"2026-06-{first}T10:00:00.000Z", "question": "q"},
            {"step": 1, "action": "result", "timestamp": f"2026-06-{last}T10:00:09.000Z", "result": {}},
        ]
        path = tmp_path / f"{name}0000-0000-4000-8000-000000000001.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert find_trace(tmp_path).stem[:4] == "aaaa"


@pytest.mark.parametrize(
    ("prefix", "message"),
    [("aaaa", "2 traces begin with"), ("bbbb", "no trace begins"), ("", "no trace"), ("../aaaa", "no trace begins")],
)
def test_an_ambiguous_or_unknown_prefix_is_an_error_with_a_hint(tmp_path: Path, prefix: str, message: str) -> None:
    for number in (1, 2):
        written(tmp_path, started(), trace_id=f"aaaa0000-0000-4000-8000-00000000000{number}")
    with pytest.raises(TraceError, match=message) as caught:
        find_trace(tmp_path, prefix)
    assert caught.value.hint


def test_without_any_trace_the_latest_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="there are no traces") as caught:
        find_trace(tmp_path, None)
    assert "marchwarden ask" in str(caught.value.hint)


def test_a_missing_or_an_empty_file_is_a_trace_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="can't be read"):
        read_trace(tmp_path / "gone.jsonl")
    (tmp_path / "empty.jsonl").write_text('{"step": 1, "acti')
    with pytest.raises(TraceError, match="holds no trace"):
        read_trace(tmp_path / "empty.jsonl")
