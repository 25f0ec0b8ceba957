"""A run's figures: each metric with its interval, over all questions and for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marchwarden.evaluation.bootstrap import interval
from marchwarden.evaluation.metrics import METRICS, Metric, figure
from marchwarden.evaluation.reductions import has_something
from marchwarden.evaluation.runs import Run, RunInfo


@dataclass(frozen=True)
class Score:
    metric: Metric
    value: float | None
    """None where no question has anything to score."""
    low: float | None
    high: float | None
    """Of the 95 % bootstrap interval over questions."""
    questions: int
    """How many had something to score."""


@dataclass(frozen=True)
class Scores:
    info: RunInfo
    questions: int
    failed: int
    overall: list[Score]
    by_kind: dict[str, dict[str, float | None]]
    """By tag, then by metric."""

    def value(self, name: str) -> float | None:
        return next(score.value for score in self.overall if score.metric.name == name)

    def as_json(self) -> dict[str, Any]:
        return {
            "run": self.info.model_dump(mode="json"),
            "questions": self.questions,
            "failed": self.failed,
            "scores": {
                score.metric.name: {
                    "value": score.value,
                    "interval": None if score.low is None else [score.low, score.high],
                    "questions": score.questions,
                }
                for score in self.overall
            },
            "by_kind": self.by_kind,
        }


def scores_of(run: Run) -> Scores:
    records = run.records
    return Scores(
        info=run.info,
        questions=len(records),
        failed=sum(record.result is None for record in records),
        overall=[_score(metric, run) for metric in METRICS],
        by_kind=run.figures_by_kind(),
    )


def _score(metric: Metric, run: Run) -> Score:
    cells = [record.cells for record in run.records]
    with_labels = sum(has_something(each.get(metric.cells)) for each in cells)
    low, high = (interval(metric, cells) if metric.is_share else None) or (None, None)
    return Score(metric, figure(metric, cells), low, high, with_labels)
