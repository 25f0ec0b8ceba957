"""Intervals of figures and of differences between runs, by a bootstrap over questions (Efron and Tibshirani 1993).

A question that was asked in several epochs is drawn with all of them: what they have in common is counted once.
Own code rather than scipy.stats.bootstrap: scipy resamples arrays of numbers, and a figure here is reduced from the
cells of whole questions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from marchwarden.evaluation.scoring.aggregates import Cells, has_something
from marchwarden.evaluation.scoring.metrics import METRICS, Metric, figure

# Resamples of each interval. A guess.
SAMPLES = 1000
# Coverage of each interval, the usual one.
LEVEL = 0.95

Scored = Mapping[str, Cells | None]


@dataclass(frozen=True)
class Difference:
    """B − A, with its 95 % interval."""

    metric: Metric
    a: float | None
    b: float | None
    low: float | None
    high: float | None
    questions: int
    """Number of questions that have something to score in either run."""

    @property
    def value(self) -> float | None:
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def is_certain(self) -> bool:
        """True where the interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def is_better(self) -> bool | None:
        """True where B is better, False where A is; None where neither is, or where it is not certain."""
        if not self.is_certain or self.metric.better == "neither" or self.value is None:
            return None
        return (self.value > 0) is (self.metric.better == "higher")


def interval(
    metric: Metric, scored: Sequence[Scored], questions: Sequence[str] | None = None, *, seed: int = 0
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of one figure; None where there is nothing to resample.

    `questions` names the question of each case; without it, each is one of its own.
    """
    rows = [row for row, each in enumerate(scored) if each.get(metric.cells) is not None]
    named = [questions[row] if questions else row for row in rows]
    found = (figure(metric, [scored[rows[at]] for at in drawn]) for drawn in _resamples(named, seed))
    return _interval([value for value in found if value is not None])


def mean_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a mean, each value of a question of its own; None for no values."""
    if not values:
        return None
    drawn = np.random.default_rng(seed).integers(0, len(values), (SAMPLES, len(values)))
    return _interval(np.asarray(values, dtype=float)[drawn].mean(axis=1).tolist())


def differences(
    a: Sequence[Scored], b: Sequence[Scored], questions: Sequence[str] | None = None, *, seed: int = 0
) -> list[Difference]:
    """Return every metric's difference between two runs of the same questions, `a[i]` and `b[i]` of one question.

    `questions` names it; without it, each pair is of a question of its own.
    """
    return [difference(metric, a, b, questions, seed=seed) for metric in METRICS]


def difference(
    metric: Metric,
    a: Sequence[Scored],
    b: Sequence[Scored],
    questions: Sequence[str] | None = None,
    *,
    seed: int = 0,
) -> Difference:
    """Return one metric's difference, over the questions that either run has cells of it for."""
    named: Sequence[Hashable] = questions or range(len(a))
    pairs = [
        (question, one, other)
        for question, one, other in zip(named, a, b, strict=True)
        if one.get(metric.cells) is not None or other.get(metric.cells) is not None
    ]
    kept = [question for question, _, _ in pairs]
    ours, theirs = [one for _, one, _ in pairs], [other for _, _, other in pairs]
    low, high = paired_interval(partial(figure, metric), ours, theirs, kept, seed=seed) or (None, None)
    having = {question for question, *pair in pairs if any(has_something(each.get(metric.cells)) for each in pair)}
    return Difference(metric, figure(metric, ours), figure(metric, theirs), low, high, len(having))


def paired_interval(
    of: Callable[[Sequence[Scored]], float | None],
    a: Sequence[Scored],
    b: Sequence[Scored],
    questions: Sequence[Hashable] | None = None,
    *,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a figure of B minus that of A, `a[i]` and `b[i]` of one question.

    None where no resample has a figure of both.
    """
    changes = []
    for rows in _resamples(questions or range(len(a)), seed):
        first, second = of([a[row] for row in rows]), of([b[row] for row in rows])
        if first is not None and second is not None:
            changes.append(second - first)
    return _interval(changes)


# The seed is fixed, so that a run always has the same intervals.
def _resamples(questions: Sequence[Hashable], seed: int) -> Iterator[list[int]]:
    """Yield the rows of each resample: of a question that is drawn, all of its rows."""
    rows: dict[Hashable, list[int]] = {}
    for row, question in enumerate(questions):
        rows.setdefault(question, []).append(row)
    each = list(rows.values())
    if each:
        for drawn in np.random.default_rng(seed).integers(0, len(each), (SAMPLES, len(each))).tolist():
            yield [row for place in drawn for row in each[place]]


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    if not values:
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(np.asarray(values), [tail, 1 - tail])
    return float(low), float(high)
