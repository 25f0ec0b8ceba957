"""Many questions of a file."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path

import pytest
import typer

from marchwarden.cli.client.batch import Batch, ask_many
from marchwarden.cli.client.researchers import OverServer
from marchwarden.cli.client.server_connection import Connection
from marchwarden.errors import MarchwardenError
from tests.cli.client.tiny_research import tiny_research
from tests.cli.conftest import Run
from tests.disks import room_for

Capture = pytest.CaptureFixture[str]


def ask(
    file: str,
    output: str | None = "a.jsonl",
    *,
    jobs: int | None = None,
    resume: bool = False,
    source: str = "snapshot",
    force: bool = False,
    model: str = "extractive",
    total: int | None = None,
) -> int:
    """Ask calls that answer at once, and return the exit code."""
    given = {"context": None, "depth": "balanced", "constraints": {}}
    batch = Batch(
        Path(file), given, output and Path(output), jobs, resume=resume, force=force, quiet=False, total_budget=total
    )
    try:
        connection = Connection(None, {"source": source, "model": model}, tiny_research("by_question"))
        ask_many(batch, OverServer(connection))
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def lines(path: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_each_question_gets_a_line_and_the_end_is_summed_up(capsys: Capture) -> None:
    Path("q.txt").write_text("\ufeffWhat grows?\n\n# a comment\nrefuse this\nWhat is nothing?\n")
    assert ask("q.txt", jobs=2) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "1 answered, 1 found nothing, 1 failed; 24,690 tokens; a.jsonl\n"
    told = {line["question"]: (line["id"], line["status"]) for line in lines("a.jsonl")}
    assert told == {
        "What grows?": ("1", "answered"),
        "refuse this": ("2", "failed"),
        "What is nothing?": ("3", "nothing_found"),
    }
    with pytest.raises(typer.BadParameter, match="already exists"):
        ask("q.txt")


@pytest.mark.parametrize(
    ("torn", "stays"),
    [('{"id": "c", "sta', False), ('{"id": "c", "note": "b\u00fc'.encode()[:-1], False), ('{"id": "own"}', True)],
)
def test_a_resumed_run_asks_what_is_left_and_leaves_lines_of_json(
    torn: str | bytes, stays: bool, capsys: Capture
) -> None:
    Path("q.csv").write_text("id,question,depth\na,What grows?,deep\nb,What is nothing?,\nc,What else?,shallow\n")
    assert ask("q.csv") == 3
    kept = lines("a.jsonl")[:2]
    end = torn.encode() if isinstance(torn, str) else torn
    Path("a.jsonl").write_bytes("".join(f"{json.dumps(each)}\n" for each in kept).encode() + end)
    ask("q.csv", resume=True)
    said = capsys.readouterr().err
    named = [line["status"] for line in kept]
    found_nothing = ", 1 found nothing" if "nothing_found" in named else ""
    assert f"2 of 3 questions were asked before: {named.count('answered')} answered{found_nothing}." in said
    *before, last = lines("a.jsonl")
    assert before == kept + [{"id": "own"}] * stays
    assert last["id"] == next(each for each in "abc" if each not in [line["id"] for line in kept])
    assert ask("q.csv", resume=True) == 3, "one of them found nothing, whenever it was asked"


def test_earlier_answers_stay_where_none_can_be_asked_for() -> None:
    Path("q.txt").write_text("What grows?\n")
    Path("a.jsonl").write_text("earlier\n")
    with pytest.raises(MarchwardenError, match="no corpus"):
        ask("q.txt", source="corpus:gone", force=True)
    assert Path("a.jsonl").read_text() == "earlier\n"


@pytest.mark.parametrize("address", [("--server", "http://127.0.0.1:9"), ("--cluster", "dask://127.0.0.1:1")])
def test_a_run_that_reaches_nobody_leaves_the_file_as_it_was(
    run: Run, monkeypatch: pytest.MonkeyPatch, address: tuple[str, str]
) -> None:
    if "--cluster" in address:
        dask_cluster = pytest.importorskip("marchwarden.execution.dask_cluster")
        pytest.importorskip("distributed")
        monkeypatch.setattr(dask_cluster, "_CONNECT_S", 0.2)
    Path("q.txt").write_text("What grows?\n")
    command = ("ask", "--file", "q.txt", "--output", "a.jsonl", *address)
    ran = run(*command)
    assert ran.code == 1
    assert "0 answered, 1 not asked; 0 tokens\n" in ran.err
    assert not Path("a.jsonl").exists()
    Path("a.jsonl").write_text("earlier\n")
    assert run(*command, "--force").code == 1
    assert Path("a.jsonl").read_text() == "earlier\n"


def test_a_budget_too_small_for_any_question_leaves_no_file(capsys: Capture) -> None:
    Path("q.txt").write_text("What grows?\n")
    assert ask("q.txt", model="openai/m", total=1000) == 1
    assert "Allow more with --total-budget.\n" in capsys.readouterr().err
    assert not Path("a.jsonl").exists()
    assert ask("q.txt", model="openai/m", total=50_000) == 0
    Path("q.txt").write_text("And peas?\n")
    assert ask("q.txt", model="openai/m", total=50_000, force=True) == 0
    assert [line["question"] for line in lines("a.jsonl")] == ["And peas?"], "the earlier answers are replaced"


def test_a_model_that_failed_is_told_once_at_the_end(capsys: Capture) -> None:
    Path("q.txt").write_text("What grows without a model?\nAnd peas without a model?\nWhat grows?\n")
    assert ask("q.txt") == 0
    err = capsys.readouterr().err
    assert err.count("The model failed in 2 of 3 questions") == 1
    assert "`marchwarden doctor --online`" in err
    Path("q.txt").write_text("What grows?\n")
    assert ask("q.txt", force=True) == 0
    assert "model failed" not in capsys.readouterr().err


def test_without_a_file_the_lines_go_to_stdout(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("q.jsonl").write_text('"What grows?"\n{"question": "And peas?", "id": 7, "more": 1}\n')
    assert ask("q.jsonl", None) == 0
    assert {json.loads(line)["id"] for line in capsysbinary.readouterr().out.splitlines()} == {"1", "7"}


def test_questions_come_from_stdin_too(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"What grows?\nAnd peas?\n")))
    assert ask("-", None) == 0
    told = [json.loads(line)["question"] for line in capsysbinary.readouterr().out.splitlines()]
    assert sorted(told) == ["And peas?", "What grows?"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_is_read_as_spreadsheets_write_it(delimiter: str, capsys: Capture) -> None:
    rows = [(" Question", "ID", "note"), ("What grows?", "a", "1,5"), ("", "", "")]
    Path("q.csv").write_text("\ufeff" + "".join(delimiter.join(f'"{cell}"' for cell in row) + "\r\n" for row in rows))
    assert ask("q.csv") == 0
    assert [(line["id"], line["question"]) for line in lines("a.jsonl")] == [("a", "What grows?")]
    assert capsys.readouterr().err.startswith("1 answered")


def test_an_answer_that_can_t_be_written_any_more_is_printed(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    Path("q.txt").write_text("What grows?\n")
    earlier = json.dumps({"id": "0", "note": " " * 99_900}) + "\n"
    Path("a.jsonl").write_text(earlier)
    with room_for(100_000), pytest.raises(MarchwardenError, match="the missing answer is on stdout") as caught:
        ask("q.txt", resume=True)
    assert "--resume" in str(caught.value.hint)
    (line,) = capsysbinary.readouterr().out.splitlines()
    assert json.loads(line)["question"] == "What grows?"
    assert Path("a.jsonl").read_text() == earlier, "not a part of a line is left"


def test_a_reader_that_has_enough_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("q.txt").write_text("What grows?\nAnd peas?\n")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", closefd=False) as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        with pytest.raises(BrokenPipeError):
            ask("q.txt", None)
        monkeypatch.undo()
        with contextlib.suppress(BrokenPipeError):
            nobody.close()
    os.close(writer)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.txt", "", "holds no question"),
        ("q.txt", f"fine\n{'x' * 501}\n", "line 2, question: must have at most 500 characters"),
        ("q.csv", "a,b\n1,2\n", "one of them `question`"),
        ("q.csv", "question,depth\nx,huge\n", "line 2, depth: must be"),
        ("q.jsonl", '{"question": "x"}\n{"question"', "line 2 is not a JSON object with a question"),
        ("q.csv", "question,id\nx,7\ny,8\nz,7\n", "line 4, id: line 2 has the same, 7"),
        ("q.csv", f"question\n{'x' * 200_000}\n", "line 2: field larger than field limit"),
        ("gone", None, "can't be read: No such file"),
    ],
)
def test_what_cannot_be_asked_is_named_before_anything_is(run: Run, name: str, text: str | None, said: str) -> None:
    if text is not None:
        Path(name).write_text(text)
    ran = run("ask", "--file", name, "--output", "a.jsonl")
    assert ran.code == 2
    assert said in ran.said
    assert not Path("a.jsonl").exists()


def test_a_question_of_its_own_or_another_ending_is_wrong_usage(run: Run) -> None:
    Path("q.txt").write_text("What grows?\n")
    assert "QUESTION can't go with --file" in run("ask", "What?", "--file", "q.txt").said
    assert "says what to write: .jsonl" in run("ask", "--file", "q.txt", "-o", "a.json").said
    Path("x.html").write_text("there already")
    assert "says what to write: .jsonl" in run("ask", "--file", "q.txt", "-o", "x.html").said
    assert "--verbose can't go with --file" in run("ask", "--file", "q.txt", "-o", "a.jsonl", "-v").said
    assert "--resume needs the file of answers" in run("ask", "--file", "q.txt", "--resume").said
    on_cluster = ("ask", "--file", "q.txt", "-o", "a.jsonl", "--cluster")
    assert "--server can't go with --cluster" in run(*on_cluster, "dask://h", "--server", "http://x/").said


def test_a_budget_of_the_whole_run_is_never_exceeded_and_counts_what_came_before(capsys: Capture) -> None:
    Path("q.txt").write_text("What grows?\nWhat flies?\nWhat swims?\nWhat runs?\n")
    # Each question may use 20,000 tokens, and uses 12,345.
    assert ask("q.txt", jobs=2, model="openai/m", total=50_000) == 1
    err = capsys.readouterr().err
    assert "3 answered, 1 not asked; 37,035 tokens" in err
    assert "The other questions were not asked: the run has used 37,035 of its 50,000 tokens" in err
    assert ask("q.txt", jobs=2, model="openai/m", total=50_000, resume=True) == 1
    assert "0 answered, 1 not asked" in capsys.readouterr().err
    assert ask("q.txt", jobs=2, model="openai/m", total=60_000, resume=True) == 0
