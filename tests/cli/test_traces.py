"""The list of traces."""

from __future__ import annotations

import json
from pathlib import Path
from time import sleep

import pytest

from tests.cli.conftest import Run, a_call, record
from tests.trace.samples import started


@pytest.fixture(autouse=True)
def three_traces(tmp_path: Path) -> None:
    folder = tmp_path / "traces"  # a timestamp is in milliseconds
    record(folder, "11118c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", a_call("the first?"))
    sleep(0.002)
    record(folder, "22228c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", [started("the [i]2nd[/i]?")])
    sleep(0.002)
    record(folder, "33338c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", a_call("the third?"))


def test_they_come_newest_first_with_what_came_of_them(run: Run) -> None:
    rows = [line.split() for line in run("traces").out.splitlines() if "the " in line]
    assert [row[0] for row in rows] == ["33338c1e", "22228c1e", "11118c1e"]
    assert rows[0][-5:] == ["finished", "0.75", "moderate", "120", "0.7"]
    assert rows[1][3:] == ["the", "[i]2nd[/i]?", "unfinished", "–", "–", "–"]


@pytest.mark.parametrize("width", [60, 40])
def test_on_a_narrow_terminal_nothing_is_lost(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = run("traces").out
    assert max(map(len, out.splitlines())) <= width
    words = " ".join(out.split())
    assert "0.75 moderate · 120 tokens" in words.replace("finished ", "")
    assert "the third?" in words
    assert "finished" in words


def test_a_limit_shows_the_newest_and_says_how_many_there_are(run: Run) -> None:
    ran = run("traces", "--limit", "1")
    assert "the third?" in ran.out
    assert "the first?" not in ran.out
    assert "1 of 3 traces" in ran.err


@pytest.mark.parametrize(
    ("limit", "message"),
    [("0", "Input should be greater than or equal to 1"), ("x", "Input should be a valid integer")],
)
def test_a_limit_that_is_none_is_a_usage_error(run: Run, limit: str, message: str) -> None:
    ran = run("traces", "-n", limit)
    assert ran.code == 2
    assert f"'--limit' / '-n': {message}" in ran.said


def test_json_has_every_field(run: Run) -> None:
    listed = json.loads(run("traces", "--json", "-n", "2").out)
    assert [each["outcome"] for each in listed] == ["finished", "unfinished"]
    assert listed[0]["tokens_used"] == 120
    assert listed[0]["seconds"] == 0.7
    assert listed[0]["started"].endswith("Z")
    assert Path(listed[0]["path"]).is_file()
    assert listed[1]["confidence"] is None


def test_no_traces_at_all_is_said_on_stderr(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", "elsewhere")
    ran = run("traces")
    assert (ran.code, ran.out) == (0, "")
    assert "no traces in elsewhere yet" in ran.said
    assert json.loads(run("traces", "--json").out) == []
