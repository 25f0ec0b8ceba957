"""A run as a log that Inspect reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.evaluation.reports.inspect_log import file_name, inspect_log
from marchwarden.evaluation.runs.run import Run
from tests.evaluation.made_runs import a_question, a_record, a_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Of two questions in two epochs; the second failed once, and was not asked again."""
    answered, failed = a_question("a"), a_question("b")
    records = [a_record(answered), a_record(failed, error="overloaded"), a_record(answered)]
    numbered = [each.model_copy(update={"epoch": epoch}) for each, epoch in zip(records, (1, 1, 2), strict=True)]
    return a_run(tmp_path / "run", numbered, epochs=2, asked=2)


def test_each_question_and_epoch_is_a_sample_with_its_scores(run: Run) -> None:
    log = json.loads(json.dumps(inspect_log(run), allow_nan=False))
    assert (log["version"], log["status"], log["eval"]["config"]) == (2, "cancelled", {"epochs": 2})
    assert log["results"]["total_samples"] == 4
    assert log["results"]["completed_samples"] == 2
    by_name = {score["name"]: score["metrics"] for score in log["results"]["scores"]}
    assert by_name["nugget_recall"]["figure"]["value"] == pytest.approx(2 / 3)
    assert "epoch_sd" in by_name["nugget_recall"]
    first, failed, again = log["samples"]
    assert [(each["id"], each["epoch"]) for each in log["samples"]] == [("a", 1), ("b", 1), ("a", 2)]
    assert first["scores"]["nugget_recall"]["value"] == 1
    assert first["target"] == ["Tomatoes need sun"]
    assert first["metadata"]["citations"][0]["locator"] == "https://garden.example/crops"
    assert (failed["output"]["completion"], failed["output"]["error"]) == ("", "overloaded")
    assert again["scores"].keys() == first["scores"].keys()


@pytest.mark.slow
def test_inspect_reads_it(run: Run, tmp_path: Path) -> None:
    """inspect_ai is no dependency: `pip install inspect_ai` beside Marchwarden runs this."""
    log = pytest.importorskip("inspect_ai.log")
    file = tmp_path / "run.json"
    file.write_text(json.dumps(inspect_log(run)))
    read = log.read_eval_log(str(file))
    assert (read.status, read.eval.config.epochs, len(read.samples)) == ("cancelled", 2, 3)
    assert read.samples[0].output.completion == "Tomatoes need full sun [1]."
    assert read.samples[0].scores["nugget_recall"].value == 1
    assert read.results.scores[0].metrics
    assert read.samples[1].error.message == "overloaded"
    file.rename(tmp_path / file_name(run))
    assert len(log.list_eval_logs(str(tmp_path), recursive=False)) == 1
