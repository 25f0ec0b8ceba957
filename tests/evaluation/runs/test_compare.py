"""Two runs against each other: differences with their certainty, what is left out, which questions moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from marchwarden.cli import app
from marchwarden.errors import EvaluationError
from marchwarden.evaluation.runs.compare import Comparison, LeftOut, compare
from marchwarden.evaluation.runs.run import Record, Run
from tests.evaluation.made_runs import a_nugget, a_question, a_record, a_run, an_answer

NAMES = [f"utah-{number:02}" for number in range(12)]


def right(name: str) -> Record:
    return a_record(a_question(name), seconds=1.0)


def wrong(name: str) -> Record:
    """It says nothing of what it should, but cites it."""
    return a_record(a_question(name), an_answer(answer="Peas go in early [1]."), seconds=1.0)


@pytest.fixture
def bad(tmp_path: Path) -> Run:
    return a_run(tmp_path / "bad", [wrong(name) for name in NAMES])


@pytest.fixture
def good(tmp_path: Path) -> Run:
    """One call failed; all others are right."""
    records = [right(name) for name in NAMES[:-1]] + [
        a_record(a_question(NAMES[-1]), error="overloaded", seconds=1.0)
    ]
    return a_run(tmp_path / "good", records, model_id="local/tiny")


def difference(found: Comparison, metric: str) -> tuple[float | None, bool, bool | None]:
    (each,) = (each for each in found.differences if each.metric.name == metric)
    return each.value, each.is_certain, each.is_better


def test_a_difference_is_b_less_a_and_says_whether_b_is_surely_better(bad: Run, good: Run) -> None:
    assert difference(compare(bad, good), "nugget_recall") == (pytest.approx(11 / 12), True, True)
    assert difference(compare(good, bad), "nugget_recall") == (pytest.approx(-11 / 12), True, False)


def test_a_difference_that_may_be_chance_is_neither(bad: Run, good: Run) -> None:
    assert difference(compare(bad, good), "completed") == (pytest.approx(-1 / 12), False, None)


def test_epochs_of_one_question_count_as_one(tmp_path: Path) -> None:
    """A question moves where most of its epochs do."""

    def run(name: str, *are_right: bool) -> Run:
        records = [(right if each else wrong)(NAMES[0]) for each in are_right]
        numbered = [each.model_copy(update={"epoch": number}) for number, each in enumerate(records, start=1)]
        return a_run(tmp_path / name, numbered, epochs=len(numbered))

    mostly, seldom, as_seldom = (
        run("a", True, True, False),
        run("b", False, True, False),
        run("c", True, False, False),
    )
    found = compare(mostly, seldom)
    assert (found.questions, found.left_out, found.cautions) == (1, LeftOut(0, 0, 0), [])
    assert [len(moved.lost) for moved in found.moved] == [1]
    assert compare(seldom, as_seldom).moved == []
    assert difference(found, "nugget_recall")[0] == pytest.approx(-1 / 3)


def test_metrics_that_neither_run_has_anything_for_are_left_out(bad: Run, good: Run) -> None:
    names = {each.metric.name for each in compare(bad, good).differences}
    assert "nugget_recall" in names
    assert names & {"dollars", "abstention"} == set()


def test_a_run_against_itself_does_not_differ(good: Run) -> None:
    found = compare(good, good)
    assert {each.value for each in found.differences} == {0}
    assert found.moved == []
    assert not found.left_out


def test_only_questions_with_equal_labels_are_compared(tmp_path: Path) -> None:
    other_labels = a_record(a_question("utah-02", nuggets=[a_nugget(answers=["kale"])]))
    a = a_run(tmp_path / "a", [right("utah-01"), right("utah-02"), right("utah-03")])
    b = a_run(tmp_path / "b", [right("utah-01"), other_labels, right("utah-04"), right("utah-05")])
    found = compare(a, b)
    assert found.questions == 1
    assert found.left_out == LeftOut(only_in_a=1, only_in_b=2, labels_differ=1)


def test_runs_that_share_no_question_can_not_be_compared(tmp_path: Path) -> None:
    a, b = a_run(tmp_path / "a", [right("utah-01")]), a_run(tmp_path / "b", [right("utah-02")])
    with pytest.raises(EvaluationError, match="a and b have no question in common"):
        compare(a, b)


def test_a_question_that_moved_says_what_it_gained_and_lost(bad: Run, good: Run) -> None:
    moved = {each.question.id: each for each in compare(bad, good).moved}
    assert moved.keys() == set(NAMES)
    assert (moved["utah-00"].gains, moved["utah-00"].losses) == (["nugget n1: Tomatoes need sun"], [])
    assert (moved["utah-11"].gains, moved["utah-11"].losses) == ([], ["evidence n1: Tomatoes need sun"])


def test_questions_that_moved_most_come_first(tmp_path: Path) -> None:
    a = a_run(tmp_path / "a", [wrong("utah-01"), right("utah-02")])
    b = a_run(tmp_path / "b", [right("utah-01"), a_record(a_question("utah-02"), error="overloaded")])
    assert [each.question.id for each in compare(a, b).moved] == ["utah-02", "utah-01"]


def test_what_else_differs_is_said(tmp_path: Path) -> None:
    a = a_run(tmp_path / "a", [right("utah-01")], pages="one", jobs=1)
    b = a_run(tmp_path / "b", [right("utah-01")], pages="two", jobs=2)
    assert compare(a, b).cautions == ["the pages", "how many questions ran side by side (seconds)"]


def test_another_program_is_said_to_be_another(tmp_path: Path) -> None:
    a, b = a_run(tmp_path / "a", [right("utah-01")]), a_run(tmp_path / "b", [right("utah-01")], program="sha-123")
    assert compare(a, b).cautions == ["the program"]
    said = shown(str(a.folder), str(b.folder))
    assert "A a: extractive, reading by words, no program" in said
    assert "B b: extractive, reading by words, program sha-123" in said
    assert "Different in the two runs: the program." in said


def shown(*arguments: str) -> str:
    done = CliRunner(env={"COLUMNS": "100"}).invoke(app, ["eval", "compare", *arguments])
    assert done.exit_code == 0
    return done.stdout


def test_the_command_shows_differences_and_the_questions_that_moved(bad: Run, good: Run) -> None:
    said = shown(str(bad.folder), str(good.folder))
    assert "A bad: extractive, reading by words, no program" in said
    assert "B good: local/tiny, reading by words, no program" in said
    assert "\n12 questions compared\n" in said
    (recall,) = (line.split() for line in said.splitlines() if line.strip().startswith("nugget recall"))
    assert (recall[2:5], recall[-1]) == (["0.000", "0.917", "+0.917"], "better")
    assert "12 questions moved: 11 better, 1 worse in B" in said
    assert "+ nugget n1: Tomatoes need sun" in said
    assert "− evidence n1: Tomatoes need sun" in said


def test_the_command_says_how_many_questions_are_left_out_and_why(bad: Run, tmp_path: Path) -> None:
    few = a_run(tmp_path / "few", [wrong(name) for name in NAMES[:3]])
    said = shown(str(bad.folder), str(few.folder))
    assert "3 questions compared; left out: 9 only in A" in said
    assert "No question moved." in said


def test_the_command_gives_machines_the_same(bad: Run, good: Run, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    from marchwarden.cli.evaluation.eval_compare import command

    command(bad.folder, good.folder, json=True)
    said = json.loads(capsysbinary.readouterr().out)
    (recall,) = (each for each in said["differences"] if each["metric"] == "nugget_recall")
    assert (recall["a"], recall["certain"], recall["better"]) == (0, True, True)
    assert recall["interval"][0] <= recall["difference"] <= recall["interval"][1]
    assert (said["a"]["name"], said["b"]["name"]) == ("bad", "good")
    assert said["left_out"] == {"only_in_a": 0, "only_in_b": 0, "labels_differ": 0}
    assert {each["id"] for each in said["moved"]} == set(NAMES)


def test_text_of_labels_is_shown_as_text(tmp_path: Path) -> None:
    question = a_question("utah-01", question="\x1b[2J[red]What?", nuggets=[a_nugget(text="\x1b[31m[bold]sun")])
    a = a_run(tmp_path / "a", [a_record(question)])
    b = a_run(tmp_path / "b", [a_record(question, error="overloaded")])
    said = shown(str(a.folder), str(b.folder))
    assert "\x1b" not in said
    assert "[red]What?" in said
    assert "[bold]sun" in said
