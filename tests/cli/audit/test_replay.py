"""A call again, from its trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.trace.events import Dropped, Event, Extracted, Failed, FellBack, Finished, WasCancelled, WasKilled
from tests.cli.conftest import Run, a_call, record
from tests.trace.samples import TEXT, TRACE_ID, a_citation, a_result, fetched, started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "traces"


def test_the_latest_call_is_shown_with_steps_reasons_result_and_verification(run: Run, a_trace: str) -> None:
    ran = run("replay")
    assert ran.code == 0
    assert ran.err == ""
    for part in (
        f"Trace {TRACE_ID}",
        'asked "Was wächst in 日本?"',
        'searched "utah crops": 2 hits from snapshot',
        "why: the best hit",
        "read https://extension.usu.edu/garden: 200, 34 bytes",
        "hash: sha256:89af261467f3\n",
        "extract asked extractive: 100 (50 cached) + 20 tokens",
        "went on without the model: unusable output",
        'dropped an open question: "Why?"',
        "steps, finished",
        "moderate confidence (0.75)",
        "“Tomatoes grow well in Utah.”",
        "1 of 1 excerpt verified",
    ):
        assert part in ran.out


def test_the_start_of_an_id_is_enough(run: Run, folder: Path) -> None:
    record(folder, "aaaa8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", a_call("the first"))
    record(folder, "aabb8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", a_call("the second"))
    assert "the first" in run("replay", "aaaa").out
    ambiguous = run("replay", "aa")
    assert ambiguous.code == 1
    assert "2 traces begin with 'aa'" in ambiguous.said
    assert "Give more of the id." in ambiguous.said
    unknown = run("replay", "ff")
    assert unknown.code == 1
    assert "`marchwarden history` lists them." in unknown.said


def test_json_is_the_file_byte_for_byte(run: Run, folder: Path, a_trace: str) -> None:
    path = folder / f"{a_trace}.jsonl"
    torn = path.read_bytes() + b'{"step": 99, "act'
    path.write_bytes(torn)
    assert run("replay", "--json").out.encode() == torn


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ([], "unfinished: the call is still running, or its process was killed"),
        ([WasCancelled(decision="the caller left")], "cancelled: there is no result"),
        ([WasCancelled(decision="stopped", by="operator")], "ended by the operator of the server"),
        ([WasKilled(decision="x", reason="tokens"), Failed(decision="x", error="RuntimeError")], "failed"),
    ],
)
def test_a_call_without_an_end_says_so(run: Run, folder: Path, ending: list[Event], words: str) -> None:
    record(folder, TRACE_ID, [started(), *ending])
    ran = run("replay")
    assert ran.code == 0
    assert words in ran.out
    assert "Citations" not in ran.out


def test_an_excerpt_that_is_not_in_its_page_is_named(run: Run, folder: Path) -> None:
    wrong = a_result(
        answer="Well [1]. Cool [2].",
        citations=[
            a_citation(),
            a_citation(raw_excerpt="Peas thrive in July."),
        ],
    )
    picked = next(event for event in a_call() if isinstance(event, Extracted))
    record(folder, TRACE_ID, [started(), fetched(), picked, Finished(decision="done", result=wrong)])
    ran = run("replay")
    assert ran.code == 1
    assert "1 of 2 excerpts verified" in ran.out
    assert "damaged   citation 2: its raw_excerpt is no passage that was picked from the page" in ran.out


def test_pages_that_are_no_longer_stored_are_named(run: Run, folder: Path, a_trace: str) -> None:
    for path in (folder / "store").rglob("*"):
        if path.is_file():
            path.unlink()
    ran = run("replay")
    assert ran.code == 1
    assert "0 of 1 excerpt verified" in ran.out
    assert "missing" in ran.out
    assert TEXT not in ran.out


def test_a_damaged_result_does_not_hide_the_steps(run: Run, folder: Path, a_trace: str) -> None:
    path = folder / f"{a_trace}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"confidence_factors"', b'"factors"'))
    ran = run("replay")
    assert ran.code == 1
    assert "steps, finished" in ran.out
    assert "The result in this trace can't be read" in ran.err


def test_texts_in_a_trace_are_neither_markup_nor_commands(run: Run, folder: Path) -> None:
    hostile = "\x1b[2J[red]x[/red]"
    record(
        folder,
        TRACE_ID,
        [
            started(hostile),
            FellBack(decision=hostile, stage="plan", reason=hostile),
            Dropped(decision=hostile, what="claim", text=hostile),
            fetched(title=hostile),
        ],
    )
    ran = run("replay")
    assert "\x1b" not in ran.out
    assert ran.out.count("\\x1b[2J[red]x[/red]") == 6


DAMAGED_ID = "dddd8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"
NOW = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        json.dumps({"action": ["start"], "timestamp": NOW}),
        json.dumps({"action": "start", "timestamp": "0001-01-01T00:00:00+00:00"}),
        json.dumps({"action": "start", "timestamp": "9999-12-31T23:59:59Z"}),
        json.dumps({"action": "start", "timestamp": "2026-01-01T00:00:00", "question": ["x"], "model_id": 5}),
        json.dumps({"action": "result", "timestamp": NOW, "result": {"cost_metadata": [1]}}),
        json.dumps({"action": "result", "timestamp": NOW, "result": {"confidence": "x"}}),
        json.dumps({"action": "result", "timestamp": NOW, "result": {"cost_metadata": {"tokens_used": "many"}}}),
    ],
    ids=lambda line: line[:60],
)
def test_a_damaged_trace_is_shown_as_far_as_it_goes_and_hides_no_other(
    run: Run, a_trace: str, tmp_path: Path, line: str
) -> None:
    whole = json.dumps({"step": 1, "action": "start", "timestamp": NOW, "decision": "why"})
    (tmp_path / "traces" / f"{DAMAGED_ID}.jsonl").write_text(f"{line}\n{whole}\n{line}\n")
    for listing in (run("history"), run("history", "--json")):
        assert listing.code == 0
        assert a_trace[:8] in listing.out
    assert run("replay").code == 0
    replayed = run("replay", DAMAGED_ID)
    assert replayed.code == 1
    assert "damaged" in replayed.out
    assert "why: why" in replayed.out
