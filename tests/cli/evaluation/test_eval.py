"""`marchwarden eval`: scores on stdout, the run on disk, and a way on after everything that can end it."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marchwarden.cli.evaluation.eval_run import going_on
from marchwarden.cli.views import console
from marchwarden.evaluation.datasets import DATASETS
from marchwarden.evaluation.runs.run import RESULTS, RUN, open_run
from marchwarden.optimization.stage_sets import STAGE_SETS
from tests.cli.conftest import Ran, Run
from tests.cli.running import ROOT
from tests.corpora import corpus_of
from tests.lm.wire import Answer, as_events, as_json, service
from tests.programs import made
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
    evaluate: Eval, run: Run, tmp_path: Path
) -> None:
    """The run is listed then, and has to reach the figures that are asked of it."""
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
    (listed,) = json.loads(run("eval", "list", str(tmp_path), "--json").out)
    assert (listed["folder"], listed["run"], listed["questions"]) == (str(folder), body["run"], 2)
    assert listed["figures"]["nugget_recall"] == 1.0
    assert run("eval", "list", str(tmp_path)).out.splitlines()[-2].split()[3:6] == ["2", "1.00", "1.00"]
    floors = ("--fail-under", "nugget-recall=1", "--fail-under", "seconds=0.001", "--fail-under", "by_model=0.5")
    again = evaluate("--out", str(folder), "--resume", *floors)
    assert again.code == 1
    assert re.findall("Error: (.*)", again.err) == [
        f"seconds is {body['scores']['seconds']['value']:.3f}, more than 0.001",
        "by_model: no question has anything to score",
    ]
    assert evaluate("--out", str(folder), "--resume", *floors[:2]).code == 0


def test_people_get_tables_and_the_place_of_the_run_which_is_their_home(evaluate: Eval) -> None:
    ran = evaluate("--kind", "numeric")
    assert ran.code == 0
    assert "extractive, reading by words: 1 question" in ran.out
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
    assert "other settings: program fitted@" in resumed.said
    assert "there, none now" in resumed.said
    without = evaluate("--limit", "1", "--json", "--no-program", "--out", str(tmp_path / "b"))
    assert json.loads(without.out)["run"]["program"] is None


# What is wrong


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--stage", "answer"), f"there is no such stage; there are {', '.join(STAGE_SETS)}"),
        (("--stage", "extract", "--judge", "m"), "--stage and --judge can't be used together"),
        (("--check", "--stage", "extract"), "--check and --stage can't be used together"),
        (("--check", "--limit", "1"), "--check and --limit can't be used together"),
        (("--check", "--kind", "numeric"), "--check and --kind can't be used together"),
        (("--check", "--model", "m"), "--check and --model can't be used together"),
        (("--check", "--json"), "--check and --json can't be used together"),
        (("--fail-under", "recall=1"), "there is no such metric; there are verbatim_fidelity,"),
        (("--fail-under", "brier=nan"), "takes METRIC=VALUE, such as brier=0.8; not 'brier=nan'"),
        (("--judge", "extractive"), "--judge extractive: that is not a model"),
        (("--path", "p"), "--path is the path of a --dataset: name the data set too"),
        (("--dataset", "gaps", "--path", "p"), "--dataset and --questions can't be used together"),
        (("--kind", "numerical"), "--kind numerical: no question is of that kind; there are numeric, of-our-own,"),
        (("--split", "validation"), "--split"),
        (("--limit", "0"), "--limit"),
        (("--jobs", "0"), "--jobs"),
        (("--program", "p", "--no-program"), "--program and --no-program can't be used together"),
    ],
)
def test_wrong_usage_is_exit_code_2_with_what_there_is(evaluate: Eval, options: tuple[str, ...], said: str) -> None:
    ran = evaluate(*options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.said


def test_files_and_settings_that_cannot_be_used_are_named_before_anything_is_asked(
    run: Run, file: Path, small_web: Path, tmp_path: Path
) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_text(file.read_text()[:-20])
    empty = labelled(tmp_path / "empty.jsonl")
    for arguments, said in [
        (("--questions", str(torn)), "torn.jsonl, line 2: no JSON"),
        (("--questions", str(empty)), "empty.jsonl holds no question"),
        (("--questions", str(empty), "--check"), "empty.jsonl holds no question"),
        (("--questions", str(file), "--split", "train"), "no question of the split train It holds dev and test;"),
        (("--questions", str(tmp_path / "none.jsonl")), "none.jsonl can't be read"),
        (("--questions", str(file), "--web", str(tmp_path)), "manifest.jsonl: No such file"),
        (("--questions", str(file), "--web", str(small_web), "--program", str(tmp_path)), "holds no program"),
        (("--questions", str(file)), "1 of the 1 pages that the labels name are not in "),
    ]:
        ran = run("eval", *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert said in ran.said.replace("- ", "-")
    assert not (Path.home() / ".marchwarden").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "anthropic/claude-x"), "Error: anthropic/claude-x needs a key"),
        (("--model", "claud"), "Error: "),
        (("--web", "nowhere"), "manifest.jsonl: No such file"),
    ],
)
def test_what_would_fail_every_question_is_known_before_there_is_a_folder(
    evaluate: Eval, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    ran = evaluate(*options, "--limit", "1", "--jobs", "1", "--out", str(tmp_path / "out"))
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.said
    assert not (tmp_path / "out").exists()


def test_a_model_that_never_answers_is_no_run_that_went_well(
    evaluate: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARCHWARDEN_API_BASE", "http://127.0.0.1:1/v1")
    asking = ("--model", "openai/foo", "--limit", "1", "--out", str(tmp_path / "out"), "--json")
    ran = evaluate(*asking)
    assert ran.code == 1
    assert json.loads(ran.out)["scores"]["by_model"]["value"] == 0
    assert "1 of 1 answers were worded without the model: " in ran.said
    assert "the model service could not be reached" in ran.said
    assert "No call to the model succeeded" in ran.said
    assert evaluate(*asking, "--resume").code == 1


def test_a_place_where_no_run_can_be_is_named(evaluate: Eval, file: Path, tmp_path: Path) -> None:
    for place, code, said in ((file, 2, "can't be written"), (tmp_path, 1, "holds other files, and no run")):
        ran = evaluate("--out", str(place))
        assert (ran.code, ran.out) == (code, "")
        assert said in ran.said
        assert "Free some space" not in ran.said


def test_a_pipe_hears_now_and_then_how_far_a_run_has_come(capsys: pytest.CaptureFixture[str]) -> None:
    recalls = iter([None, 0.814])
    with console.evaluation_progress(39, 73, lambda: {"nugget_recall": next(recalls)}, every=0) as advance:
        advance()
        advance()
    with console.evaluation_progress(39, 73, lambda: {"nugget_recall": 1.0}) as advance:
        advance()
    out, err = capsys.readouterr()
    assert (out, err.splitlines()) == ("", ["40 of 73 questions", "41 of 73 questions, nugget recall 0.81"])


# Labels


def test_questions_without_labels_are_nothing_to_score_by(run: Run, small_web: Path, tmp_path: Path) -> None:
    bare = labelled(tmp_path / "bare.jsonl", {"id": "q", "question": "What?", "split": "dev"})
    ran = run("eval", "--questions", str(bare), "--web", str(small_web))
    assert (ran.code, ran.out) == (1, "")
    assert "no question has a label (1 question), so no answer can be scored" in ran.said


@pytest.mark.slow
def test_own_files_are_asked_several_times_and_the_run_is_written_for_inspect(run: Run, tmp_path: Path) -> None:
    corpus_of(tmp_path / "notes", {"tomatoes.md": f"# Tomatoes\n\n{FACT} They like the sun.\n"})
    question = json.loads(json.dumps(QUESTIONS[0]).replace(CROPS, "notes/tomatoes.md"))
    over_notes = ("eval", "--questions", str(labelled(tmp_path / "q.jsonl", question)), "--source", "corpus")
    assert run(*over_notes, "--check").code == 0
    ran = run(*over_notes, "--epochs", "2", "--model", "extractive", "--inspect-log", "logs", "--json", "--out", "r")
    scores = json.loads(ran.out)
    assert (scores["questions"], scores["answers"], scores["run"]["source"]) == (1, 2, "corpus:default")
    assert scores["scores"]["evidence_recall"]["epochs"] == [1.0, 1.0]
    assert scores["scores"]["nugget_recall"]["spread"] == 0
    (log,) = Path("logs").iterdir()
    assert [each["epoch"] for each in json.loads(log.read_text())["samples"]] == [1, 2]
    assert "epochs 2 there, 1 now" in run(*over_notes, "--model", "extractive", "--resume", "--out", "r").said


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
    assert sorted(asked(tmp_path / "out")) == ["chess", "tomatoes"]
    other = evaluate(*out, "--resume", "--limit", "1")
    assert (other.code, other.out) == (1, "")
    assert "other settings: other questions, 2 there, 1 now (another --split, --kind, --limit," in other.said
    nowhere = evaluate("--out", str(tmp_path / "nowhere"), "--resume")
    assert "holds no run" in nowhere.said


def test_resume_without_a_place_goes_on_with_the_latest_run_of_the_set_up(evaluate: Eval) -> None:
    none_yet = evaluate("--resume", "--limit", "1")
    assert none_yet.code == 1
    assert "holds no run with these settings" in none_yet.said
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
        end = time.monotonic() + 120
        while not (out / RESULTS).exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert json.loads(stdout)["questions"] == 1
    assert b"Interrupted after 1 of 2 questions." in stderr
    assert f"To continue: marchwarden {shlex.join(arguments)} --resume\n".encode() in stderr
    assert evaluate("--jobs", "1", "--out", str(out), "--resume", "--json").code == 0
    assert asked(out) == ["tomatoes", "river"]


def test_the_command_that_goes_on_is_one_for_the_shell_with_its_place() -> None:
    place = Path("runs/my own")
    assert going_on(["/x/marchwarden", "eval", "--kind", "a b"], place) == (
        "marchwarden eval --kind 'a b' --resume --out 'runs/my own'"
    )
    for given in (("--out", "x"), ("--out=x",)):
        command = ["-m", "eval", "--resume", *given]
        assert going_on(command, place) == shlex.join(["marchwarden", *command[1:]])


# A single stage


def test_a_stage_is_scored_alone_with_its_worst_examples(evaluate: Eval) -> None:
    ran = evaluate("--stage", "extract")
    assert (ran.code, ran.err) == (0, "")
    flat = " ".join(ran.out.split())
    assert flat.startswith("extract, extractive: ")
    assert "valid output" in flat
    assert not (Path.home() / ".marchwarden").exists()
    body = json.loads(evaluate("--stage", "plan", "--json", "--kind", "numeric").out)
    assert (body["stage"], body["model_id"], body["tokens"]) == ("plan", "extractive", 0)
    assert [each["question"] for each in body["examples"]] == ["tomatoes"]


def test_a_stage_is_scored_in_the_form_of_the_program_and_a_stale_one_is_said_to_be(
    evaluate: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")
    folder = str(made.a_program(tmp_path / "p", made.compiled(), made.compiled("gaps", signature="0123456789abcdef")))
    plan = ("--stage", "plan", "--model", made.MODEL, "--kind", "numeric")
    with service(said("{}")) as server:
        monkeypatch.setenv("MARCHWARDEN_API_BASE", f"{server.address}/v1")
        ran = evaluate(*plan, "--program", folder)
        prompts = [json.dumps(body) for _, _, body in server.received]
        server.received.clear()
        without = evaluate(*plan, "--no-program")
        uncompiled = [json.dumps(body) for _, _, body in server.received]
    assert (ran.code, without.code) == (0, 0)
    assert ran.said.count("The compiled gaps of openai/some-model-2 was made for other words or fields") == 1
    assert "marchwarden compile --model openai/some-model-2 --stage gaps" in ran.said
    assert "compiled (p@" in " ".join(ran.out.split())
    assert len(prompts) > 0
    assert all(made.WORDS in prompt for prompt in prompts)
    assert (without.err, "compiled" in without.out) == ("", False)
    assert len(uncompiled) > 0
    assert not any(made.WORDS in prompt for prompt in uncompiled)


def test_a_stage_shows_what_was_wrong_with_the_worst_and_nothing_where_there_is_no_example(
    run: Run, small_web: Path, tmp_path: Path
) -> None:
    nowhere = QUESTIONS[0] | {"question": "How tall is [red]the tower?"}
    file = labelled(tmp_path / "hard.jsonl", nowhere)
    out = " ".join(run("eval", "--questions", str(file), "--web", str(small_web), "--stage", "plan").out.split())
    assert "The worst examples 0." in out
    assert "How tall is [red]the tower" in out
    none = run("eval", "--questions", str(file), "--web", str(small_web), "--stage", "discoveries")
    assert (none.code, none.out.splitlines()[0]) == (0, "discoveries, extractive: 0 examples")
    assert "no example of this stage" in none.out


# A judge


def marked(*grades: str) -> Answer:
    return said(json.dumps({"grades": list(grades)}))


def said(text: str) -> Answer:
    """What an OpenAI-compatible server streams."""
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "judge"}
    return as_events(
        (None, {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}),
        (None, {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        (None, {**base, "choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 9, "total_tokens": 909}}),
        (None, "[DONE]"),
    )


def test_a_judge_marks_the_answers_and_its_agreement_stands_beside_the_scores(
    evaluate: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ("--out", str(tmp_path / "out"))
    with service(marked("supported")) as server:
        monkeypatch.setenv("MARCHWARDEN_API_BASE", f"{server.address}/v1")
        asking = ("--model", "extractive", "--judge", "openai/judge")
        ran = evaluate(*out, *asking, "--json")
        assert ran.code == 0
        assert len(server.received) == 1
        shown = evaluate(*out, *asking, "--resume")
        assert len(server.received) == 1
    body = json.loads(ran.out)
    assert body["judge"] == {
        "model_id": "openai/judge",
        "answers": 1,
        "unreadable": 0,
        "unasked": 0,
        "facts": 1,
        "agreement": 1.0,
        "kappa": None,
        "grades": [{"labels": "said", "grade": "supported", "facts": 1}],
        "tokens": 909,
    }
    assert json.loads((tmp_path / "out" / "scores.json").read_text())["judge"] == body["judge"]
    assert body["scores"]["tokens"]["value"] == 0
    assert "Judge openai/judge: 1 answer marked" in shown.out
    assert "Agreement with the labels on 1 fact: 1.000, Cohen's kappa –" in shown.out
    assert len((tmp_path / "out" / RESULTS).read_text().splitlines()) == 2


def test_a_judge_that_cannot_be_asked_is_known_before_anything_is_or_named_with_the_answers_kept(
    evaluate: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = evaluate("--judge", "anthropic/claude-x", "--out", str(tmp_path / "a"))
    assert (ran.code, ran.out) == (1, "")
    assert ran.said.startswith("Error: anthropic/claude-x needs a key")
    assert not (tmp_path / "a").exists()
    with service(as_json({"error": {"message": "no such key"}}, 401)) as server:
        monkeypatch.setenv("MARCHWARDEN_API_BASE", f"{server.address}/v1")
        ran = evaluate("--model", "extractive", "--judge", "openai/judge", "--out", str(tmp_path / "b"))
    assert (ran.code, ran.out) == (1, "")
    assert "the judge can't be asked" in ran.said
    assert sorted(asked(tmp_path / "b")) == ["chess", "tomatoes"]


# Public data sets


def hotpot(folder: Path, *, rows: int = 3) -> Path:
    folder.mkdir()
    lines = [
        {
            "id": f"row{number}",
            "question": f"In which year was the Halden Bridge number {number} built?",
            "answer": f"19{number}1",
            "type": "bridge",
            "supporting_facts": {"title": ["Halden Bridge"], "sent_id": [0]},
            "context": {
                "title": ["Halden Bridge", "Tista"],
                "sentences": [
                    [f"The Halden Bridge number {number} was built in the year 19{number}1 over the river Tista."],
                    ["The Tista is a river with pike and perch in it."],
                ],
            },
        }
        for number in range(1, rows + 1)
    ]
    (folder / "hotpot_distractor_100.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_a_public_set_of_questions_is_scored_over_a_web_that_the_run_keeps(run: Run, tmp_path: Path) -> None:
    path, out = hotpot(tmp_path / "set"), tmp_path / "out"
    ran = run("eval", "--dataset", "hotpot", "--path", str(path), "--limit", "2", "--out", str(out), "--json")
    assert (ran.code, ran.err) == (0, "")
    body = json.loads(ran.out)
    assert (body["questions"], body["run"]["questions"], body["run"]["split"]) == (2, "hotpot", None)
    assert body["scores"]["nugget_recall"]["value"] == 1.0
    assert len((out / "web" / "manifest.jsonl").read_text().splitlines()) == 4
    assert len(asked(out)) == 2
    (out / RESULTS).unlink()
    again = run("eval", "--dataset", "hotpot", "--path", str(path), "--limit", "2", "--out", str(out), "--resume")
    assert (again.code, len(asked(out))) == (0, 2)


def test_a_public_set_can_be_checked_and_gives_stages_their_examples(run: Run, tmp_path: Path) -> None:
    given = ("--dataset", "hotpot", "--path", str(hotpot(tmp_path / "set")))
    assert "Every label holds." in run("eval", *given, "--check").out
    assert json.loads(run("eval", *given, "--stage", "extract", "--limit", "1", "--json").out)["examples"]


def test_a_set_that_scores_a_part_of_ours_prints_its_figures(run: Run, tmp_path: Path) -> None:
    rows = [
        {"label": label, "claim": claim, "evidence": ["The bridge was built in 1931."], "meta": {"id": label}}
        for label, claim in [("supported", "The bridge was built in 1931."), ("not_supported", "It fell in 1999.")]
    ]
    (tmp_path / "claim_dev.jsonl.gz").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ("eval", "--dataset", "wice", "--path", str(tmp_path))
    ran = run(*given, "--json")
    assert (ran.code, ran.err) == (0, "")
    body = json.loads(ran.out)
    assert (body["name"], body["items"], body["figures"]["auroc"]) == ("wice", 2, 1.0)
    text = " ".join(run(*given).out.split())
    assert "wice: the grounding checker" in text
    assert "AUROC 1.000" in text
    assert json.loads(run(*given, "--limit", "1", "--json").out)["items"] == 1
    for option in ("--judge", "--stage", "--out", "--kind", "--model"):
        ran = run(*given, option, "x")
        assert ran.code == 2
        assert f"{option} has no effect on it" in ran.said


def test_an_unknown_set_or_one_without_its_place_is_wrong_usage_and_a_foreign_file_a_failure(
    run: Run, tmp_path: Path
) -> None:
    unknown = run("eval", "--dataset", "squad", "--path", str(tmp_path))
    assert unknown.code == 2
    assert f"there are {', '.join(DATASETS)}" in unknown.said
    nowhere = run("eval", "--dataset", "gaps")
    assert (nowhere.code, "needs --path: dev.jsonl.gz" in nowhere.said) == (2, True)
    for name in DATASETS:
        ran = run("eval", "--dataset", name, "--path", str(tmp_path))
        assert (ran.code, ran.out) == (1, "")
        assert "--path names" in ran.said
    assert not (Path.home() / ".marchwarden").exists()


def test_help_names_the_sets_and_the_exit_codes(run: Run) -> None:
    out = " ".join(run("eval", "--help").out.translate({ord("│"): " "}).split())
    assert ", ".join(DATASETS) in out
    assert "130 interrupted (--resume goes on)" in out
    for option in ("--stage", "--judge", "--dataset"):
        assert f"marchwarden eval {option}" in out or f"{option} " in out
