"""Intervals of figures and of differences between runs, by a bootstrap over questions (Efron and Tibshirani 1993).

A question that was asked in several epochs is drawn with all of them: what they have in common is counted once.
Own code rather than scipy.stats.bootstrap: scipy resamples arrays of numbers, and a figure here is reduced from the
cells of whole questions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from marchwarden.evaluation.scoring.aggregates import OF_SUMS, Cells, has_something
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
    metric: Metric, scored: Sequence[Scored], questions: Sequence[str] | None = None
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of one figure; None where there is nothing to resample.

    `questions` names the question of each case; without it, each is one of its own.
    """
    rows = [row for row, each in enumerate(scored) if each.get(metric.cells) is not None]
    named = [questions[row] if questions else row for row in rows]
    found = _Resamples(named).figures(metric, [scored[row] for row in rows])
    return _interval([value for value in found if value is not None])


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a mean, each value of a question of its own; None for no values.

    For the differences between two runs of the same questions, it is the paired interval.
    """
    if not values:
        return None
    drawn = np.random.default_rng(0).integers(0, len(values), (SAMPLES, len(values)))
    return _interval(np.asarray(values, dtype=float)[drawn].mean(axis=1).tolist())


def differences(a: Sequence[Scored], b: Sequence[Scored], questions: Sequence[str] | None = None) -> list[Difference]:
    """Return every metric's difference between two runs of the same questions, `a[i]` and `b[i]` of one question.

    `questions` names it; without it, each pair is of a question of its own.
    """
    return [difference(metric, a, b, questions) for metric in METRICS]


def difference(
    metric: Metric,
    a: Sequence[Scored],
    b: Sequence[Scored],
    questions: Sequence[str] | None = None,
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
    resamples = _Resamples(kept)
    changes = _changes(resamples.figures(metric, ours), resamples.figures(metric, theirs))
    low, high = _interval(changes) or (None, None)
    having = {question for question, *pair in pairs if any(has_something(each.get(metric.cells)) for each in pair)}
    return Difference(metric, figure(metric, ours), figure(metric, theirs), low, high, len(having))


def paired_interval(
    of: Callable[[Sequence[Scored]], float | None],
    a: Sequence[Scored],
    b: Sequence[Scored],
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a figure of B minus that of A, `a[i]` and `b[i]` of one question.

    None where no resample has a figure of both.
    """
    resamples = _Resamples(range(len(a)))
    first, second = (map(of, resamples.of(scored)) for scored in (a, b))
    return _interval(_changes(first, second))


class _Resamples:
    """Questions drawn again and again, each with all of its rows; the same every time."""

    def __init__(self, questions: Sequence[Hashable]) -> None:
        rows: dict[Hashable, list[int]] = {}
        for row, question in enumerate(questions):
            rows.setdefault(question, []).append(row)
        self._rows = list(rows.values())
        number = len(self._rows)
        self._drawn = np.random.default_rng(0).integers(0, number or 1, (SAMPLES if number else 0, number))

    def of(self, scored: Sequence[Scored]) -> Iterator[list[Scored]]:
        """Yield the cases of each resample."""
        for drawn in self._drawn.tolist():
            yield [scored[row] for place in drawn for row in self._rows[place]]

    def figures(self, metric: Metric, scored: Sequence[Scored]) -> Iterable[float | None]:
        """Return the metric of each resample: from sums, all at once, where it depends on nothing else."""
        counts = OF_SUMS.get(metric.reduce)
        if counts is None or not self._rows:
            return (figure(metric, cases) for cases in self.of(scored))
        cells = [[scored[row].get(metric.cells) or {} for row in rows] for rows in self._rows]
        sums = np.array([[sum(cell.get(count, 0) for cell in own) for count in counts] for own in cells])
        totals = sums[self._drawn].sum(axis=1).tolist()
        return (metric.reduce([dict(zip(counts, total, strict=True))]) for total in totals)


def _changes(first: Iterable[float | None], second: Iterable[float | None]) -> list[float]:
    """Return B minus A, of the resamples that have a figure of both."""
    return [b - a for a, b in zip(first, second, strict=True) if a is not None and b is not None]


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    if not values:
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(np.asarray(values), [tail, 1 - tail])
    return float(low), float(high)
