"""A run's figures with their intervals, overall and by kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.reports.figures import between_epochs
from marchwarden.evaluation.runs.run import Run, open_run, start_run
from marchwarden.evaluation.runs.scores import Scores, WithoutModel, scores_of, without_model
from marchwarden.evaluation.scoring.metrics import METRICS
from marchwarden.trace.events import Event, FellBack, ModelCalled
from marchwarden.trace.writer import TraceWriter
from tests.evaluation.samples import a_nugget, a_question, a_run, an_answer, case, info, perfect, record_of
from tests.trace.samples import a_whole_call


def asked(name: str, *tags: str) -> Question:
    return a_question(id=name, tags=list(tags), nuggets=[a_nugget(f"{len(name)}7 metres")])


@pytest.fixture
def scores(tmp_path: Path) -> Scores:
    """Of one question that was answered right, one that was answered with nothing, and one that failed."""
    right, empty, failed = asked("a", "numeric"), asked("bb", "numeric", "one-fact"), asked("ccc", "one-fact")
    return scores_of(
        a_run(
            tmp_path / "run", case(right, perfect(right)), case(empty, an_answer()), case(failed, None, seconds=2.0)
        )
    )


def test_a_failed_question_counts_as_a_zero_not_as_nothing(scores: Scores) -> None:
    assert (scores.questions, scores.failed) == (3, 1)
    assert scores.value("nugget_recall") == pytest.approx(1 / 3)
    assert scores.value("completed") == pytest.approx(2 / 3)
    assert scores.value("dollars") is None


def test_every_metric_has_a_score_with_its_interval_where_it_is_a_share(scores: Scores) -> None:
    assert [score.metric for score in scores.overall] == list(METRICS)
    for score in scores.overall:
        if score.value is None or not score.metric.is_share:
            assert (score.low, score.high) == (None, None)
        else:
            assert score.low is not None
            assert score.high is not None
            assert 0 <= score.low <= score.value + 1e-9
            assert score.value - 1e-9 <= score.high <= 1
    by_name = {score.metric.name: score.questions for score in scores.overall}
    assert (by_name["nugget_recall"], by_name["claim_grounding"], by_name["abstention"]) == (3, 1, 0)


def test_each_kind_is_scored_on_its_own_questions(scores: Scores) -> None:
    assert list(scores.by_kind) == ["numeric", "one-fact"]
    assert scores.by_kind["numeric"]["nugget_recall"] == 1 / 2
    assert scores.by_kind["one-fact"]["nugget_recall"] == 0


def test_how_many_were_to_be_asked_stands_beside_how_many_were(tmp_path: Path, scores: Scores) -> None:
    run = start_run(tmp_path / "cut", info(asked=10))
    run.add(record_of(case(asked("a"), None)))
    assert (scores_of(run).questions, scores_of(run).planned) == (1, 10)
    assert scores_of(run).as_json()["planned"] == 10
    assert scores.planned == 3


def test_epochs_are_scored_each_and_together_and_their_spread_is_told(tmp_path: Path) -> None:
    right, wrong = asked("a"), asked("bb")
    run = start_run(tmp_path / "epochs", info(asked=2, epochs=2))
    for epoch, result in ((1, perfect(wrong)), (2, an_answer())):
        run.add(record_of(case(right, perfect(right))).model_copy(update={"epoch": epoch}))
        run.add(record_of(case(wrong, result)).model_copy(update={"epoch": epoch}))
    scores = scores_of(open_run(run.folder))
    assert (scores.questions, scores.answers, scores.planned) == (2, 4, 4)
    assert scores.how_many == "2 questions in 2 epochs"
    recall = next(score for score in scores.overall if score.metric.name == "nugget_recall")
    assert (recall.value, recall.epochs, recall.questions) == (0.75, (1.0, 0.5), 2)
    assert recall.spread == pytest.approx(0.3536, abs=1e-4)
    assert between_epochs(recall) == "0.500 – 1.000, sd 0.354"
    assert scores.as_json()["scores"]["nugget_recall"]["epochs"] == [1.0, 0.5]


def test_as_json_everything_is_there(scores: Scores) -> None:
    body = json.loads(json.dumps(scores.as_json(), allow_nan=False))
    assert (body["questions"], body["failed"], body["run"]["model_id"]) == (3, 1, "extractive")
    assert set(body["scores"]) == {metric.name for metric in METRICS}
    assert body["scores"]["nugget_recall"]["questions"] == 3
    assert len(body["scores"]["nugget_recall"]["interval"]) == 2
    assert body["scores"]["seconds"]["interval"] is None
    assert body["by_kind"]["numeric"]["completed"] == 1


def test_a_run_without_records_has_no_scores(tmp_path: Path) -> None:
    scores = scores_of(a_run(tmp_path / "run"))
    assert (scores.questions, scores.failed, scores.by_kind) == (0, 0, {})
    assert {score.value for score in scores.overall} == {None}


# Answers that the model had no part in

FELL_BACK = FellBack(decision="go on", stage="plan", reason="no credit")
CALLED = next(event for event in a_whole_call() if isinstance(event, ModelCalled))
ANSWERED, REFUSED = CALLED.model_copy(update={"error": None}), CALLED.model_copy(update={"error": "no credit"})


def a_run_of(folder: Path, *answers: tuple[bool | None, list[Event]], model: str = "openai/m") -> Run:
    """A run of answers that the model worded, or did not, with what their traces say."""
    run = start_run(folder, info(model_id=model))
    for number, (own, events) in enumerate(answers):
        question = asked("a" * (number + 1))
        record = record_of(case(question, perfect(question), by_model=own))
        run.add(record.model_copy(update={"trace_id": f"{number}"}))
        with TraceWriter(run.traces, f"{number}") as writer:
            for event in events:
                writer.record(event)
    return run


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([], None),
        ([(True, [ANSWERED]), (True, [ANSWERED, FELL_BACK])], None),
        ([(True, [ANSWERED]), (False, [REFUSED, FELL_BACK])], WithoutModel(1, 2, "no credit", dead=False)),
        ([(True, [ANSWERED]), (False, [])], WithoutModel(1, 2, None, dead=False)),
        ([(False, [ANSWERED, FELL_BACK])], WithoutModel(1, 1, "no credit", dead=False)),
        ([(False, [REFUSED, FELL_BACK]), (False, [])], WithoutModel(2, 2, "no credit", dead=True)),
        ([(None, [REFUSED, FELL_BACK])], WithoutModel(0, 0, "no credit", dead=True)),
    ],
)
def test_what_a_model_had_no_part_in_is_told_with_the_reason(
    tmp_path: Path, answers: list[tuple[bool | None, list[Event]]], found: WithoutModel | None
) -> None:
    assert without_model(a_run_of(tmp_path / "run", *answers)) == found
    assert without_model(a_run_of(tmp_path / "none", *answers, model="extractive")) is None


def test_lost_traces_leave_the_count(tmp_path: Path) -> None:
    run = a_run_of(tmp_path / "run", (False, [FELL_BACK]))
    (run.traces / "0.jsonl").unlink()
    assert without_model(run) == WithoutModel(1, 1, None, dead=False)
