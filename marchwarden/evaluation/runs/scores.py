"""A run's figures: each metric with its interval, over all questions and for each kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import stdev
from typing import Any

from marchwarden.errors import TraceError
from marchwarden.evaluation.runs.run import Run, RunInfo
from marchwarden.evaluation.scoring.aggregates import has_something
from marchwarden.evaluation.scoring.bootstrap import Scored, interval
from marchwarden.evaluation.scoring.metrics import METRICS, Metric, figure
from marchwarden.server.result_words import counted
from marchwarden.settings import EXTRACTIVE
from marchwarden.trace.reader import read_trace


@dataclass(frozen=True)
class Score:
    metric: Metric
    value: float | None
    """Figure of the metric; None where no question has anything to score."""
    low: float | None
    """Lower end of the 95 % bootstrap interval over questions; None where the metric has none."""
    high: float | None
    """Upper end of that interval; None where the metric has none."""
    questions: int
    """Number of questions that had something to score."""
    epochs: tuple[float | None, ...] = ()
    """Figure of each epoch; empty where there is one."""

    @property
    def spread(self) -> float | None:
        """Standard deviation of the epochs' figures; None where fewer than two have one."""
        there = [value for value in self.epochs if value is not None]
        return stdev(there) if len(there) > 1 else None


@dataclass(frozen=True)
class Scores:
    info: RunInfo
    questions: int
    """Number of questions that were asked in any epoch."""
    answers: int
    """Number of calls: of questions times epochs."""
    failed: int
    """Number of calls without a result."""
    overall: list[Score]
    by_kind: dict[str, dict[str, float | None]]
    """Figures by tag, then by metric."""

    @property
    def planned(self) -> int:
        """Number of calls that were to be made: more than `answers` where the run was interrupted."""
        return max(self.answers, (self.info.asked or 0) * self.info.epochs)

    @property
    def how_many(self) -> str:
        """Number of questions as text: `73 questions`, `8 of 73 questions` where the run was interrupted, or
        `73 questions in 3 epochs`."""
        part = f"{self.answers} of " if self.answers < self.planned else ""
        if self.info.epochs == 1:
            return f"{part}{counted(self.planned, 'question')}"
        whole = f"{counted(max(self.questions, self.info.asked or 0), 'question')} in {self.info.epochs} epochs"
        return f"{part}{self.planned} answers to {whole}" if part else whole

    def value(self, name: str) -> float | None:
        return next(score.value for score in self.overall if score.metric.name == name)

    def as_json(self) -> dict[str, Any]:
        return {
            "run": self.info.model_dump(mode="json"),
            "questions": self.questions,
            "answers": self.answers,
            "planned": self.planned,
            "failed": self.failed,
            "scores": {
                score.metric.name: {
                    "value": score.value,
                    "interval": None if score.low is None else [score.low, score.high],
                    "questions": score.questions,
                    **({"epochs": list(score.epochs), "spread": score.spread} if score.epochs else {}),
                }
                for score in self.overall
            },
            "by_kind": self.by_kind,
        }


def scores_of(run: Run) -> Scores:
    """Return the figures of a run, scored from the cells of its records."""
    records = run.records
    cells, names = [record.cells for record in records], [record.id for record in records]
    by_epoch: dict[int, list[Scored]] = {}
    for record in records:
        by_epoch.setdefault(record.epoch, []).append(record.cells)
    overall = []
    for metric in METRICS:
        with_labels = {record.id for record in records if has_something(record.cells.get(metric.cells))}
        # Only shares get an interval.
        low, high = (interval(metric, cells, names) if metric.is_share else None) or (None, None)
        epochs = tuple(figure(metric, by_epoch[epoch]) for epoch in sorted(by_epoch)) if len(by_epoch) > 1 else ()
        overall.append(Score(metric, figure(metric, cells), low, high, len(with_labels), epochs))
    return Scores(
        info=run.info,
        questions=len(set(names)),
        answers=len(records),
        failed=sum(record.result is None for record in records),
        overall=overall,
        by_kind=run.figures_by_kind(),
    )


# Answers that the model had no part in


@dataclass(frozen=True)
class WithoutModel:
    """Answers of a run with a model that the model had no part in."""

    answers: int
    """Number of answers that were worded without the model."""
    of: int
    """Number of answers that cite anything."""
    reason: str | None
    """Most frequent reason for which a stage did without the model; None where no trace gives one."""
    dead: bool
    """True where no answer is the model's and no call to it succeeded: then the figures are not the model's."""


def without_model(run: Run) -> WithoutModel | None:
    """Return the answers without the model; None where each answer is the model's own, or there is no model."""
    if run.info.model_id == EXTRACTIVE:
        return None
    worded = [(record, cells) for record in run.records if (cells := record.cells.get("by_model")) is not None]
    without = [record for record, cells in worded if not cells["hits"]]
    own = len(worded) - len(without)
    reasons, calls = Counter[str](), Counter[bool]()
    for record in without if own else run.records:
        try:
            lines = read_trace(run.traces / f"{record.trace_id}.jsonl").raw
        except TraceError:  # a trace that is gone says nothing
            continue
        for line in lines:
            if line.get("action") == "fallback":
                reasons[str(line.get("reason"))] += 1
            elif line.get("action") == "model_call":
                calls[line.get("error") is None] += 1
    dead = not own and not calls[True] and bool(reasons or calls)
    if not without and not dead:
        return None
    reason = reasons.most_common(1)[0][0] if reasons else None
    return WithoutModel(len(without), len(worded), reason, dead)
