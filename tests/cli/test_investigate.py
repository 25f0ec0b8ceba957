"""`marchwarden investigate`: what is refused before anybody is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

QUESTION = "Who founded the moon bakery?"


@pytest.fixture(autouse=True)
def extractive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_MODEL", "extractive")


def test_a_source_that_is_not_there_ends_it_before_it_starts(run: Run, tmp_path: Path) -> None:
    ran = run("investigate", QUESTION, "--source", "corpus:nope")
    assert (ran.code, ran.out) == (1, "")
    assert "there is no corpus nope" in ran.said
    assert not list((tmp_path / "traces").glob("*.jsonl"))


@pytest.mark.parametrize("command", [("ask", QUESTION), ("investigate", QUESTION), ("serve",)])
def test_a_misspelt_source_is_wrong_usage_in_the_same_words(command: tuple[str, ...], run: Run) -> None:
    ran = run(*command, "--source", "snaphot")
    assert ran.code == 2
    assert "--source: 'snaphot' is not a source (did you mean snapshot?)" in ran.said


@pytest.mark.parametrize("command", [("investigate", QUESTION), ("serve",)])
def test_a_team_file_that_is_not_there_is_wrong_usage(command: tuple[str, ...], run: Run) -> None:
    ran = run(*command, "--team", "nope.json")
    assert ran.code == 2
    assert "nope.json can't be read: No such file or directory" in ran.said


def test_a_researcher_that_was_never_reached_has_no_trace_to_replay(run: Run, tmp_path: Path) -> None:
    team = tmp_path / "team.json"
    team.write_text(json.dumps({"mcpServers": {"a": {"url": "http://127.0.0.1:1/mcp"}}}))
    ran = run("investigate", QUESTION, "--team", str(team))
    assert ran.code == 1
    assert "a: It gave no result: it could not be reached" in " ".join(ran.out.split())
    assert "No source could be asked, so the question is not answered." in ran.said
    (trace,) = (tmp_path / "traces").glob("*.jsonl")
    assert [line.split()[-1] for line in ran.out.splitlines() if "marchwarden replay" in line] == [trace.stem[:8]]
    assert "lost · 0 tokens" in ran.out


def test_a_resumed_investigation_needs_no_source_named_again(
    run: Run, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sources are in its trace; one that had ended says so, and shows its result."""
    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    first = run("investigate", "Which crops grow well in Utah?", "--source", "snapshot")
    assert first.code == 0, first.out
    monkeypatch.setenv("MARCHWARDEN_SOURCE", "corpus:nope")  # what is searched where nothing else is named
    begun = {each: json.loads(each.read_text().splitlines()[0]) for each in (tmp_path / "traces").glob("*.jsonl")}
    (trace,) = (each for each, start in begun.items() if start["team"])
    trace.write_text("".join(trace.read_text().splitlines(keepends=True)[:2]))  # killed after its plan
    resumed = run("investigate", "--resume", trace.stem)
    assert resumed.code == 0, resumed.err
    assert "Tomatoes, peppers and squash" in " ".join(resumed.out.split())
    again = run("investigate", "--resume", trace.stem)
    assert "It had ended, and this is its result." in again.said
    assert again.out == resumed.out
