"""Asking on the command line: what is refused at once, and whole calls over the real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from marchwarden.contract import ResearchResult
from marchwarden.programs.parameters import Parameters
from tests.cli.conftest import Run
from tests.cli.running import ROOT, Terminal, marchwarden
from tests.loopback_network import loopback_network
from tests.programs import made

QUESTION = "Which crops grow well in Utah?"


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ([""], ["QUESTION: is empty"]),
        (["x" * 501], ["QUESTION: must have at most 500 characters"]),
        (["q\udcff"], ["QUESTION: "]),
        (["q", "--context", "x" * 2001], ["--context: must have at most 2000 characters"]),
        (["q", "--budget", "499"], ["--budget: must be at least 500"]),
        (["q", "--budget", "many"], ["--budget", "must be a whole number"]),
        (["q", "--max-iterations", "21"], ["--max-iterations: must be at most 20"]),
        (
            ["q", "--max-sources", "0", "--budget", "1"],
            ["--max-sources: must be at least 1", "--budget: must be at least 500"],
        ),
        (
            ["q", "--source-filter", "no domain"],
            ["--source-filter: 'no domain' is not a domain; write domains such as"],
        ),
        (["q", "--depth", "endless"], ["--depth", "shallow"]),
        (["q", "--source", "moon"], ["--source", "snapshot"]),
        (["q", "--server", "127.0.0.1:8111"], ["--server takes the URL of a server"]),
        (["q", "--server", "http://x/", "--model", "m", "--web", "w"], ["--model and --web can't go with --server"]),
        (["q", "--output", "gone/answer.md"], ["there is no folder gone"]),
        (["q", "--web", "w", "--source", "web"], ["--web names a frozen web, but --source web does not search one"]),
        (["q", "--output", "."], ["is a folder; name a file"]),
        (["q", "--output", "answer.pdf"], ["its ending says what to write: .md, .html", ".json"]),
        (["q", "-o", "a.html", "--server", "http://x/"], ["shows the pages that were read, which --server keeps"]),
        (["Which", "crops", "grow"], ['put the question in quotes: marchwarden ask "Which crops grow"']),
        ([], ["it is missing. For example"]),
        (["q", "--resume"], ["--resume, --jobs, --cluster and --total-budget go with --file"]),
        (["q", "--again", "1234", "--continue"], ["QUESTION and --continue can't go with --again"]),
    ],
)
def test_bad_arguments_name_option_and_limit_and_start_nothing(
    run: Run, arguments: list[str], messages: list[str], tmp_path: Path
) -> None:
    ran = run("ask", *arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert all(message in ran.said for message in messages), ran.said
    assert not (tmp_path / "traces").exists()


def test_a_file_that_is_there_is_replaced_only_with_force(run: Run, web: Path, tmp_path: Path) -> None:
    file = Path("notes.md")
    file.write_text("a year of work")
    asked = ("ask", QUESTION, "--web", str(web), "-o", "notes.md")
    ran = run(*asked)
    assert (ran.code, ran.out) == (2, "")
    assert "notes.md already exists" in ran.said
    assert file.read_text() == "a year of work"
    assert not (tmp_path / "traces").exists()
    assert run(*asked, "--force").code == 0
    assert "grow well in Utah" in file.read_text()


def test_an_answer_comes_with_evidence_timeline_and_file(run: Run, web: Path, tmp_path: Path) -> None:
    ran = run("ask", QUESTION, "--web", str(web), "--verbose", "--output", "answer.json")
    assert ran.code == 0, ran.err
    assert "grow well in Utah" in ran.out
    assert "https://garden.example/crops" in ran.out
    assert "why: " in ran.out
    assert "steps, finished" in ran.out
    assert ran.err == "Written to answer.json\nSettings were read from the environment.\n"
    result = ResearchResult.model_validate_json(Path("answer.json").read_bytes())
    assert (tmp_path / "traces" / f"{result.trace_id}.jsonl").is_file()
    count = len(result.citations)
    assert f"{count} of {count} excerpt" in run("replay", result.trace_id[:8]).out


def test_the_file_is_written_where_nobody_reads_stdout(web: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        asked = [sys.executable, "-m", "marchwarden", "ask", QUESTION, "--web", str(web), "--output", "answer.json"]
        subprocess.run(
            asked, stdout=writer, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120
        )
    finally:
        os.close(writer)
    assert ResearchResult.model_validate_json(Path("answer.json").read_bytes()).citations


def test_what_of_a_program_is_not_used_is_said_once_with_what_to_do(
    web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own: those that calls are forked from here keep the home of an earlier test."""
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")
    folder = made.a_program(parameters=Parameters(), model_id="extractive")
    made.stage_file(folder, "parameters").write_text("{}")
    ran = marchwarden("ask", QUESTION, "--web", str(web))
    assert ran.returncode == 0
    assert b"parameters" not in ran.stdout
    said = " ".join(ran.stderr.decode().split())
    assert said.count("is not the file that program.json names") == 1
    assert said.endswith("To do: marchwarden compile --model extractive")


def test_json_is_the_result_and_nothing_else_whatever_the_locale(web: Path) -> None:
    Path(".env").write_text(f"MARCHWARDEN_WEB={web}\n")
    ran = marchwarden("ask", "-", "--json", stdin=f"\ufeff {QUESTION}\n".encode(), PYTHONIOENCODING="latin-1")
    assert ran.returncode == 0, ran.stderr
    result = ResearchResult.model_validate_json(ran.stdout)
    assert result.citations[0].locator == "https://garden.example/crops"
    assert result.cost_metadata.model_id == "extractive"
    assert ran.stderr == b""


def test_nothing_found_has_an_exit_code_of_its_own(run: Run, web: Path) -> None:
    ran = run("ask", "Who won the chess olympiad of 1937?", "--web", str(web))
    assert ran.code == 3, ran.out + ran.err
    assert "source not found" in ran.out


def test_a_broken_web_is_an_error_in_a_few_lines(run: Run, tmp_path: Path) -> None:
    ran = run("ask", QUESTION, "--web", str(tmp_path / "none"))
    assert ran.code == 1
    assert ran.err.startswith("Error: ")
    assert "Traceback" not in ran.err
    assert len(ran.err.splitlines()) <= 6
    assert "marchwarden replay" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "anthropic/claude-x"), "anthropic/claude-x needs a key"),
        (("--source", "web"), "Searching the whole web needs a key of a search service, such as TAVILY_API_KEY"),
        (("--source", "corpus:nowhere"), "there is no corpus nowhere"),
    ],
)
def test_what_is_missing_is_said_before_a_server_is_started(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = run("ask", QUESTION, *arguments)
    assert ran.code == 1
    assert said in ran.err
    assert "marchwarden replay" not in ran.err
    assert not list(Path.home().rglob("*.jsonl"))


def test_a_server_that_is_not_there_is_a_line_and_a_hint(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ran = run("ask", QUESTION, "--server", "http://127.0.0.1:9")
    assert ran.code == 1
    message, hint = ran.err.strip().split("\n")
    assert message.startswith("Error: no answer from http://127.0.0.1:9/mcp")
    assert "is the address right, and does it want a token" in hint
    assert "--server http://127.0.0.1:9/mcp" in run("ask", QUESTION, "--server", "http://127.0.0.1:9/mcpp").said


def test_behind_a_proxy_that_refuses_the_frozen_web_stands_in_and_is_mentioned_with_how_to_get_the_real_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MARCHWARDEN_OFFLINE")
    with loopback_network({}) as network:
        for name, value in network.variables(tmp_path).items():
            monkeypatch.setenv(name, value)
        ran = run("ask", QUESTION, "--json", "--depth", "shallow", "--max-sources", "1")
    assert {each["source"] for each in json.loads(ran.out)["citations"]} == {"snapshot"}
    assert network.asked == []
    assert "Without a network, the frozen web" in ran.said
    assert "marchwarden sources" in ran.said


def test_an_address_to_listen_on_is_refused_where_nothing_listens(run: Run) -> None:
    ran = run("serve", "--port", "8111", "--allow-remote")
    assert ran.code == 2
    assert "--port and --allow-remote can't go with stdio; add --transport http" in ran.said


def test_a_server_that_others_could_reach_is_refused_unless_allowed(run: Run) -> None:
    ran = run("serve", "--transport", "http", "--host", "192.0.2.1")
    assert ran.code == 1
    assert "can be reached from other machines" in ran.said


@pytest.fixture
def slow_web(web: Path) -> Path:
    """The same page, but it takes its time."""
    manifest = web / "manifest.jsonl"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "delay_s": 8}) + "\n")
    return web


@pytest.fixture
def asking(slow_web: Path) -> Iterator[Terminal]:
    terminal = Terminal("ask", QUESTION, "--web", str(slow_web))
    yield terminal
    terminal.close()


def test_on_a_terminal_there_is_progress_and_ctrl_c_keeps_the_trace(asking: Terminal, tmp_path: Path) -> None:
    asking.wait_for(rb"getting ready")
    asking.wait_for(rb"0:00:\d\d\x1b\[0m reading 1 page", 60)
    asking.process.send_signal(signal.SIGINT)
    assert asking.end() == 130
    (path,) = (tmp_path / "traces").glob("*.jsonl")
    last = json.loads(path.read_text().splitlines()[-1])
    assert last["action"] == "cancelled"
    assert path.stem[:8].encode() in asking.screen
    assert b"marchwarden replay" in asking.screen
    assert b"Traceback" not in asking.screen
