"""`marchwarden investigate`: what is refused before anybody is asked, and how one that was stopped goes on."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.running import ROOT

QUESTION = "Who founded the moon bakery?"
OF_LINUX = pytest.mark.skipif(sys.platform == "win32", reason="/dev/full is of Linux")


@pytest.fixture(autouse=True)
def extractive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_MODEL", "extractive")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for processes
    monkeypatch.setenv("COLUMNS", "160")


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
    assert "gave no result · 0 tokens" in ran.out


def test_a_resumed_investigation_needs_no_source_named_again(
    run: Run, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sources are in its trace; one that had ended says so, and shows its result."""
    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    first = run("investigate", "Which crops grow well in Utah?", "--source", "snapshot", "-o", str(tmp_path / "a.md"))
    assert f"Written to {tmp_path / 'a.md'}" in first.err
    assert first.code == 0, first.out
    monkeypatch.setenv("MARCHWARDEN_SOURCE", "corpus:nope")  # what is searched where nothing else is named
    begun = {each: json.loads(each.read_text().splitlines()[0]) for each in (tmp_path / "traces").glob("*.jsonl")}
    (trace,) = (each for each, start in begun.items() if start["team"])
    trace.write_text("".join(trace.read_text().splitlines(keepends=True)[:2]))  # killed after its plan
    resumed = run("investigate", "--resume", trace.stem)
    assert resumed.code == 0, resumed.err
    assert "Tomatoes, peppers and squash" in " ".join(resumed.out.split())
    again = run("investigate", "--resume", trace.stem)
    assert "It had finished, and this is its result: nothing is left to continue." in again.said
    assert again.out == resumed.out


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="int"),
        pytest.param(signal.SIGTERM, 143, id="term", marks=pytest.mark.slow),  # it goes the way of SIGINT
        pytest.param(signal.SIGKILL, -9, id="kill"),
    ],
)
def test_one_that_a_signal_stopped_goes_on_and_asks_no_finished_researcher_again(
    number: signal.Signals, code: int, run: Run, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = web / "manifest.jsonl"
    page = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**page, "delay_s": 30}) + "\n")
    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/n.md").write_text("Melons are crops that grow well in the south of Utah, where it is warm.")
    assert run("index", str(tmp_path / "notes"), "--name", "notes").code == 0
    command = ["investigate", "Which crops grow well in Utah?", "--source", "snapshot,corpus:notes"]
    process = subprocess.Popen(
        [sys.executable, "-m", "marchwarden", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        deadline = time.monotonic() + 60
        while not (begun := [each for each in traces(tmp_path) if "return" in actions(each)]):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code, err
    (trace,) = begun
    told = re.search(r"To continue, without asking again whoever has finished: marchwarden (.*)", err.decode())
    if number == signal.SIGKILL:
        assert "result" not in actions(trace)
        go_on = ["investigate", "--resume", trace.stem]
    else:
        assert b"Melons" in out
        assert b"The investigation was interrupted." in err
        assert told
        go_on = shlex.split(told[1])
        assert go_on == ["investigate", "--resume", trace.stem[:8]]
    manifest.write_text(json.dumps(page) + "\n")
    ran = run(*go_on)
    assert ran.code == 0, ran.err
    assert "Melons" in ran.out
    assert "Tomatoes" in ran.out
    asked = [line["researcher"] for line in lines(trace) if line["action"] == "dispatch"]
    assert sorted(asked) == ["corpus:notes", "snapshot", "snapshot"]
    assert run("verify", trace.stem).code == 0


def traces(folder: Path) -> list[Path]:
    return list((folder / "traces").glob("*.jsonl"))


def lines(trace: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trace.read_text().splitlines(keepends=True) if line.endswith("\n")]


def actions(trace: Path) -> list[str]:
    return [line["action"] for line in lines(trace)]


def test_one_that_ran_out_of_tokens_says_with_how_many_it_goes_on(run: Run, web: Path, tmp_path: Path) -> None:
    """The limits of a trace are all that decides: with as many tokens as before there is nothing to go on with."""
    team = tmp_path / "my team.json"
    team.write_text(json.dumps({"mcpServers": {name: {"url": f"http://127.0.0.1:1/{name}"} for name in "ab"}}))
    first = run("investigate", QUESTION, "--team", str(team), "--budget", "500")
    assert "The budget of 500 tokens was too small to go on." in first.said
    (trace,) = traces(tmp_path)
    told = f"--resume {trace.stem[:8]} --team '{team}' --budget 1000"
    assert told in first.said
    same = run("investigate", "--resume", trace.stem, "--team", str(team))
    assert same.code == 1
    assert "a budget of 500 tokens is too small to continue" in same.said
    more = run("investigate", *shlex.split(told))
    assert "was too small" not in more.said
    asked = [line["researcher"] for line in lines(trace) if line["action"] == "dispatch"]
    assert set(asked) == {"a", "b"}


def test_each_step_is_a_line_of_json_while_it_happens(
    run: Run, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the lines of the trace, byte for byte; whoever asks again gets the one with the result."""
    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    ran = run("investigate", QUESTION, "--source", "snapshot", "--events")
    told = [json.loads(line) for line in ran.out.splitlines()]
    (trace,) = (each for each in traces(tmp_path) if each.stem == told[-1]["result"]["trace_id"])
    assert ran.out == trace.read_text("utf-8")
    assert [each["action"] for each in told if each["action"] in ("dispatch", "return", "stop", "result")] == [
        "dispatch", "return", "stop", "result",
    ]  # fmt: skip
    again = run("investigate", "--resume", trace.stem, "--events")
    assert again.out == ran.out.splitlines(keepends=True)[-1]
    assert run("investigate", QUESTION, "--events", "--json").code == 2


@pytest.mark.parametrize("into", ["nobody", pytest.param("/dev/full", marks=OF_LINUX)])
def test_steps_that_nobody_gets_end_the_asking_and_the_trace_keeps_what_was_found(
    web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str
) -> None:
    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    if into == "nobody":
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open(into, os.O_WRONLY)
    try:
        command = [sys.executable, "-m", "marchwarden", "investigate", QUESTION, "--source", "snapshot", "--events"]
        ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False)
    finally:
        os.close(writer)
    assert ran.returncode == 1
    assert b"To continue, without asking again whoever has finished" in ran.stderr
    assert b"unexpected" not in ran.stderr
    assert (b"the output could not be written" in ran.stderr) == (into == "/dev/full")
    (trace,) = (tmp_path / "traces").glob("*.jsonl")
    assert json.loads(trace.read_text("utf-8").splitlines()[-1])["action"] == "result"


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a pipe is set")
@pytest.mark.parametrize("reads_at_last", [True, False])
def test_a_reader_that_stalls_holds_up_no_investigation(
    web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads_at_last: bool
) -> None:
    """What it has not read waits for it at the end, when everything else is done."""
    import fcntl

    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # type: ignore[attr-defined,unused-ignore]
    output = tmp_path / "answer.md"
    command = [sys.executable, "-m", "marchwarden", "investigate", "Which crops grow well in Utah?"]
    command += ["--source", "snapshot", "--events", "--output", str(output)]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE) as process:
        try:
            os.close(writer)
            assert process.stderr is not None
            said = b""
            while b"waits until its steps are read" not in said:
                said += (line := process.stderr.readline())
                assert line, said
            trace = next(each for each in traces(tmp_path) if "dispatch" in actions(each))
            assert actions(trace)[-1] == "result"
            assert output.exists()
            if reads_at_last:
                with os.fdopen(reader, "rb") as pipe:
                    assert pipe.read() == trace.read_bytes()
                assert process.wait(60) == 0
            else:
                process.send_signal(signal.SIGINT)
                assert process.wait(60) == 130
                os.close(reader)
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_on_a_terminal_nothing_is_drawn_over_the_steps(web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    monkeypatch.setenv("TERM", "xterm")
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "marchwarden", "investigate", QUESTION, "--source", "snapshot", "--events"]
    with subprocess.Popen(command, stdout=its, stderr=its) as process:
        os.close(its)
        said = b""
        with suppress(OSError):  # Linux ends a terminal that nobody has open with an error
            while read := os.read(ours, 65_536):
                said += read
        process.wait(120)
    os.close(ours)
    steps = [json.loads(line) for line in said.splitlines() if b'"step":' in line]
    assert [each["step"] for each in steps] == list(range(1, len(steps) + 1))
    assert steps[-1]["action"] == "result"


def test_a_budget_that_is_too_small_is_refused_and_not_replaced(run: Run, tmp_path: Path) -> None:
    for budget in ("0", "499", "-1"):
        ran = run("investigate", QUESTION, "--source", "snapshot", "--budget", budget)
        assert ran.code == 2, ran.out
        assert "must be at least 500" in ran.said
    assert not traces(tmp_path)


def test_only_an_investigation_that_was_begun_can_go_on(run: Run, a_trace: str) -> None:
    unknown = run("investigate", "--resume", "ffff")
    assert unknown.code == 1
    assert "no trace begins with 'ffff'" in unknown.said
    single = run("investigate", "--resume", a_trace)
    assert single.code == 1
    assert f"{a_trace} is not the trace of an investigation" in single.said
    assert f"marchwarden ask --again {a_trace[:8]}" in single.said
    assert "`marchwarden history` marks investigations" in single.said
    deeper = run("investigate", "--resume", a_trace, "--depth", "deep", "--context", "I know it.")
    assert deeper.code == 2
    assert "--context and --depth can't go with --resume" in deeper.said
