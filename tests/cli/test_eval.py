"""`marchwarden eval`: scores on stdout, the run on disk, and a way on after everything that can end it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marchwarden.evaluation.runs import RESULTS, RUN, open_run
from tests.cli.conftest import Ran, Run
from tests.cli.running import ROOT
from tests.webs import article, make_web

CROPS, SLOW = "https://garden.example/crops", "https://slow.example/rivers"
FACT = "Tomatoes need 120 centimetres of space between their rows in a garden."
RIVER = "The river Zambezi is 2,574 kilometres long, from source to mouth."
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "tomatoes",
        "question": "How much space do tomatoes need between their rows?",
        "split": "dev",
        "tags": ["one-fact", "numeric"],
        "nuggets": [
            {"id": "n", "text": "x", "answers": ["120 centimetres"], "evidence": [{"url": CROPS, "quote": FACT}]}
        ],
    },
    {
        "id": "chess",
        "question": "Who won the chess olympiad of 1978?",
        "split": "test",
        "tags": ["unanswerable", "of-our-own"],
        "gaps": [{"topic": "winner of the chess olympiad of 1978", "category": "source_not_found"}],
    },
]


@pytest.fixture
def small_web(tmp_path: Path) -> Path:
    slow = {"body": article("The river Zambezi", RIVER), "delay_s": 3}
    page = article("Tomatoes in a garden", FACT, "Peas and lettuce are sown in early spring, before the last frost.")
    return make_web(tmp_path / "small-web", {CROPS: page, SLOW: slow})


def labelled(path: Path, *questions: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(question) + "\n" for question in questions))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return labelled(tmp_path / "mine.jsonl", *QUESTIONS)


Eval = Callable[..., Ran]


@pytest.fixture
def evaluate(run: Run, file: Path, small_web: Path) -> Eval:
    """`marchwarden eval` on the two questions and their web, with other options behind them."""
    return lambda *more: run("eval", "--questions", str(file), "--web", str(small_web), *more)


def asked(folder: Path) -> list[str]:
    return [json.loads(line)["id"] for line in (folder / RESULTS).read_text().splitlines()]


# A run


def test_json_is_the_scores_and_nothing_else_and_the_same_is_kept_beside_the_run(
    evaluate: Eval, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    ran = evaluate("--json", "--out", str(folder))
    assert (ran.code, ran.err) == (0, "")
    body = json.loads(ran.out)
    assert (body["questions"], body["failed"]) == (2, 0)
    assert body["run"] | {"started": ""} == json.loads((folder / RUN).read_text()) | {"started": ""}
    assert (body["run"]["questions"], body["run"]["model_id"], body["run"]["split"]) == (
        "mine.jsonl",
        "extractive",
        None,
    )
    assert {name: body["scores"][name]["value"] for name in ("nugget_recall", "abstention", "budget_violations")} == {
        "nugget_recall": 1.0,
        "abstention": 1.0,
        "budget_violations": 0,
    }
    assert set(body["by_kind"]) == {"one-fact", "numeric", "unanswerable", "of-our-own"}
    assert json.loads((folder / "scores.json").read_text()) == body
    assert sorted(asked(folder)) == ["chess", "tomatoes"]
    assert len(list((folder / "traces").glob("*.jsonl"))) == 2


def test_people_get_tables_and_the_place_of_the_run_which_is_their_home(evaluate: Eval) -> None:
    ran = evaluate("--kind", "numeric")
    assert ran.code == 0
    assert "extractive: 1 questions" in ran.out
    assert "nugget recall" in ran.out
    (folder,) = (Path.home() / ".marchwarden" / "evals").iterdir()
    assert str(folder) in ran.said
    assert asked(folder) == ["tomatoes"]
    assert folder.name.endswith("-extractive-mine")


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--limit", "1"), ["tomatoes"]),
        (("--split", "test"), ["chess"]),
        (("--kind", "of-our-own"), ["chess"]),
        (("--kind", "numeric", "--kind", "unanswerable", "--split", "all"), ["chess", "tomatoes"]),
    ],
)
def test_questions_are_chosen_by_split_kind_and_number(
    evaluate: Eval, tmp_path: Path, options: tuple[str, ...], ids: list[str]
) -> None:
    assert evaluate(*options, "--json", "--out", str(tmp_path / "out")).code == 0
    assert sorted(asked(tmp_path / "out")) == ids


def test_the_program_in_force_is_named_unless_none_is_wanted(evaluate: Eval, tmp_path: Path) -> None:
    fitted = {"model_id": "extractive", "slope": 0, "intercept": 0, "questions": 9, "fitted_on": "x", "labels": "y"}
    (tmp_path / "fitted").mkdir()
    (tmp_path / "fitted" / "calibration.json").write_text(json.dumps(fitted | {"date": "2026-01-01"}))
    with_it = evaluate("--limit", "1", "--json", "--program", str(tmp_path / "fitted"), "--out", str(tmp_path / "a"))
    assert json.loads(with_it.out)["run"]["program"].startswith("fitted@")
    resumed = evaluate("--limit", "1", "--no-program", "--resume", "--out", str(tmp_path / "a"))
    assert "another version, model, program" in resumed.said
    without = evaluate("--limit", "1", "--json", "--no-program", "--out", str(tmp_path / "b"))
    assert json.loads(without.out)["run"]["program"] is None


# What is wrong


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--kind", "numerical"), "--kind numerical: no question is of that kind; there are numeric, of-our-own,"),
        (("--split", "validation"), "--split"),
        (("--limit", "0"), "--limit"),
        (("--jobs", "0"), "--jobs"),
        (("--program", "p", "--no-program"), "--program names one, --no-program wants none"),
    ],
)
def test_wrong_usage_is_exit_code_2_with_what_there_is(evaluate: Eval, options: tuple[str, ...], said: str) -> None:
    ran = evaluate(*options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.said


def test_files_and_settings_that_cannot_be_used_are_named_before_anything_is_asked(
    run: Run, evaluate: Eval, file: Path, tmp_path: Path
) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_text(file.read_text()[:-20])
    empty = labelled(tmp_path / "empty.jsonl")
    for arguments, said in [
        (("--questions", str(torn)), "torn.jsonl, line 2: no JSON"),
        (("--questions", str(empty)), "empty.jsonl holds no question"),
        (("--questions", str(empty), "--check"), "empty.jsonl holds no question"),
        (("--questions", str(file), "--split", "train"), "mine.jsonl holds no question of the split train"),
        (("--questions", str(tmp_path / "none.jsonl")), "none.jsonl can't be read"),
        (("--questions", str(file), "--web", str(tmp_path)), "manifest.jsonl: No such file"),
        (("--questions", str(file), "--program", str(tmp_path)), "holds no program"),
        (("--questions", str(file), "--out", str(file)), "can't be written"),
    ]:
        ran = run("eval", *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert said in ran.said.replace("- ", "-")
    assert not (Path.home() / ".marchwarden").exists()
    assert evaluate("--model", "anthropic/claude-x", "--limit", "1").said.startswith(
        "Error: anthropic/claude-x needs a key"
    )


# Labels


def test_check_says_that_every_label_holds_or_which_does_not(
    run: Run, evaluate: Eval, small_web: Path, tmp_path: Path
) -> None:
    ran = evaluate("--check")
    assert ran.code == 0
    assert "Every label holds." in ran.out
    assert "split: train 0 · dev 1 · test 1" in ran.out
    wrong = json.loads(json.dumps(QUESTIONS[0]))
    wrong["nuggets"][0]["evidence"][0]["quote"] = "Tomatoes need 120 centimetres of space [red]"
    broken = labelled(tmp_path / "broken.jsonl", wrong, QUESTIONS[1])
    ran = run("eval", "--check", "--questions", str(broken), "--web", str(small_web))
    assert ran.code == 1
    assert f"tomatoes: {CROPS} does not hold" in " ".join(ran.out.split())
    assert "[red]" in ran.out
    assert not (Path.home() / ".marchwarden").exists()


# Going on


def test_a_run_is_not_written_over_and_resumed_only_with_the_same_set_up(evaluate: Eval, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "out"), "--json")
    first = json.loads(evaluate(*out).out)
    assert "holds a run already" in evaluate(*out).said
    lines = (tmp_path / "out" / RESULTS).read_text().splitlines(keepends=True)
    (tmp_path / "out" / RESULTS).write_text(lines[0] + lines[1][:100])
    again = evaluate(*out, "--resume")
    assert (again.code, json.loads(again.out)["questions"]) == (0, 2)
    assert json.loads(again.out)["scores"]["nugget_recall"] == first["scores"]["nugget_recall"]
    assert {record.id for record in open_run(tmp_path / "out").records} == {"tomatoes", "chess"}
    other = evaluate(*out, "--resume", "--limit", "1")
    assert (other.code, other.out) == (1, "")
    assert "another version, model, program, labels or pages" in other.said
    nowhere = evaluate("--out", str(tmp_path / "nowhere"), "--resume")
    assert "holds no run" in nowhere.said


def test_resume_without_a_place_goes_on_with_the_latest_run_of_the_set_up(evaluate: Eval) -> None:
    none_yet = evaluate("--resume", "--limit", "1")
    assert none_yet.code == 1
    assert "no run of this set-up" in none_yet.said
    assert evaluate("--limit", "1").code == 0
    (folder,) = (Path.home() / ".marchwarden" / "evals").iterdir()
    (folder / RESULTS).unlink()
    assert evaluate("--limit", "1", "--resume").code == 0
    assert asked(folder) == ["tomatoes"]


def test_an_interrupted_run_shows_what_it_has_says_how_to_go_on_and_does(
    evaluate: Eval, file: Path, small_web: Path, tmp_path: Path
) -> None:
    slow = QUESTIONS[1] | {
        "id": "river",
        "question": "How long is the river Zambezi?",
        "gaps": [],
        "tags": ["one-fact"],
    }
    labelled(file, QUESTIONS[0], slow)
    out = tmp_path / "out"
    arguments = (
        "eval",
        "--questions",
        str(file),
        "--web",
        str(small_web),
        "--jobs",
        "1",
        "--out",
        str(out),
        "--json",
    )
    command = [sys.executable, "-m", "marchwarden", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "300"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 30
        while not (out / RESULTS).exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(stdout)["questions"] == 1
    assert b"Interrupted after 1 of 2 questions." in stderr
    assert f"--resume --out {out}".encode() in stderr
    assert evaluate("--jobs", "1", "--out", str(out), "--resume", "--json").code == 0
    assert asked(out) == ["tomatoes", "river"]
