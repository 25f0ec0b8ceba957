"""How sure a difference between two runs is: a paired bootstrap over questions (Efron and Tibshirani 1993)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from marchwarden.evaluation.scoring.aggregates import Cells, has_something
from marchwarden.evaluation.scoring.metrics import METRICS, Metric, figure

SAMPLES = 1000
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
    """How many questions have something to score in either run."""

    @property
    def value(self) -> float | None:
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def is_better(self) -> bool | None:
        """Whether B is better; None where it is neither, or not certain."""
        if not self.is_certain or self.metric.better == "neither" or self.value is None:
            return None
        return (self.value > 0) is (self.metric.better == "higher")


def interval(metric: Metric, scored: Sequence[Scored], *, seed: int = 0) -> tuple[float, float] | None:
    """The 95 % percentile interval of one figure; None where there is nothing to resample."""
    kept = [each for each in scored if each.get(metric.cells) is not None]
    return _interval(
        [value for rows in _resamples(len(kept), seed) if (value := _of(metric, kept, rows)) is not None]
    )


def differences(a: Sequence[Scored], b: Sequence[Scored], *, seed: int = 0) -> list[Difference]:
    """Every metric's difference between two runs of the same questions, `a[i]` and `b[i]` of one question."""
    return [difference(metric, a, b, seed=seed) for metric in METRICS]


def difference(metric: Metric, a: Sequence[Scored], b: Sequence[Scored], *, seed: int = 0) -> Difference:
    pairs = [
        (one, other)
        for one, other in zip(a, b, strict=True)
        if one.get(metric.cells) is not None or other.get(metric.cells) is not None
    ]
    ours, theirs = [one for one, _ in pairs], [other for _, other in pairs]
    low, high = paired_interval(partial(figure, metric), ours, theirs, seed=seed) or (None, None)
    return Difference(metric, figure(metric, ours), figure(metric, theirs), low, high, _having(metric, pairs))


def paired_interval(
    of: Callable[[Sequence[Scored]], float | None], a: Sequence[Scored], b: Sequence[Scored], *, seed: int = 0
) -> tuple[float, float] | None:
    """The 95 % percentile interval of what a figure of B is above that of A, `a[i]` and `b[i]` of one question; None
    where no resample has a figure of both."""
    changes = []
    for rows in _resamples(len(a), seed):
        first, second = of([a[row] for row in rows]), of([b[row] for row in rows])
        if first is not None and second is not None:
            changes.append(second - first)
    return _interval(changes)


def _having(metric: Metric, pairs: Sequence[tuple[Scored, Scored]]) -> int:
    return sum(any(has_something(each.get(metric.cells)) for each in pair) for pair in pairs)


def _resamples(size: int, seed: int) -> list[list[int]]:
    if not size:
        return []
    drawn: list[list[int]] = np.random.default_rng(seed).integers(0, size, (SAMPLES, size)).tolist()
    return drawn


def _of(metric: Metric, scored: Sequence[Scored], rows: Sequence[int]) -> float | None:
    return figure(metric, [scored[row] for row in rows])


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    if not values:
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(np.asarray(values), [tail, 1 - tail])
    return float(low), float(high)
