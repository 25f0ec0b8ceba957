"""The space of parameters that is searched: their bounds, and the distance of a set of values from the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from marchwarden.programs.parameters import JudgedWeights, Parameters, RelevanceWeights, Value

# Values by dotted name; WEIGHTS is 1 where the fitted weights are used, else 0.
Values: TypeAlias = dict[str, Value]
WEIGHTS = "relevance.weights"
# Distance of a neighbour's value from the start, at most, as a share of its range. A guess.
NEAR = 0.25
# Values of a neighbour that differ from the start. A guess.
MOVED = 3


@dataclass(frozen=True)
class Range:
    name: str
    low: float
    high: float
    whole: bool = False

    def rounded(self, value: float) -> Value:
        return round(value) if self.whole else round(min(max(value, self.low), self.high), 3)


# Parameters that decide answers, gaps and all that is told beside them. The bounds are guesses.
ANSWERS = (
    Range("extract.relevant", 0.05, 0.6),
    Range("extract.judged", 0.03, 0.5),
    Range("extract.together", 0.3, 0.9),
    Range("extract.relevant_too", 0.01, 0.3),
    Range("extract.picks_per_aspect", 1, 5, whole=True),
    Range("relevance.nothing_asked", 0.5, 1.0),
    Range("conflicts.close_to_best", 0.3, 0.9),
    Range("conflicts.answers", 0.1, 0.8),
    Range("synthesize.close_to_best", 0.3, 0.9),
    Range("synthesize.fresh_source", 0.0, 0.6),
    Range("synthesize.authority.high", 0.0, 0.3),
    Range("synthesize.authority.low", -0.4, 0.0),
    Range("gaps.relevant_closed", 0.3, 0.8),
    Range("gaps.relevant_lead", 0.2, 0.7),
)
# Parameters that decide only the confidence. `sensible` makes sure that more sources never count less. The bounds are
# guesses.
CONFIDENCE = (
    Range("confidence.one_source", 0.3, 0.95),
    Range("confidence.two_sources", 0.3, 0.95),
    Range("confidence.three_sources", 0.3, 0.95),
    Range("confidence.more_sources", 0.3, 0.95),
    Range("confidence.authority.high", 0.0, 0.2),
    Range("confidence.authority.low", -0.4, 0.0),
    Range("confidence.dated", 0.0, 0.3),
    Range("confidence.unresolved", 0.0, 0.4),
    Range("confidence.resolved", 0.0, 0.2),
    Range("confidence.exhausted", 0.0, 0.4),
    Range("confidence.fit_half", 0.05, 0.6),
    Range("confidence.fit_slope", 0.3, 3.0),
    Range("confidence.answered_floor", 0.0, 0.9),
)
_BY_SOURCES = tuple(each.name for each in CONFIDENCE[:4])


@dataclass(frozen=True)
class FittedWeights:
    sets: Mapping[str, RelevanceWeights | JudgedWeights]
    """Sets of weights that were fitted, by their names in `Parameters.relevance`."""

    def differ(self, start: Parameters) -> bool:
        """True where they differ from the weights in force by more than rounding."""
        old = start.relevance.model_dump()
        return any(
            abs(float(value) - float(old[name][feature])) > 0.01
            for name, weights in self.sets.items()
            for feature, value in weights.model_dump().items()
        )

    def put_into(self, parameters: Parameters) -> Parameters:
        return parameters.model_copy(update={"relevance": parameters.relevance.model_copy(update=dict(self.sets))})


class Space:
    """The values to search, around those of `start`. A range is widened where the start lies outside it."""

    def __init__(self, ranges: tuple[Range, ...], start: Parameters, weights: FittedWeights | None = None) -> None:
        values = start.values()
        self._start, self._weights = start, weights
        self.ranges = [
            Range(each.name, min(each.low, values[each.name]), max(each.high, values[each.name]), each.whole)
            for each in ranges
        ]
        if weights:
            self.ranges.append(Range(WEIGHTS, 0, 1, whole=True))
        self.start: Values = {each.name: values.get(each.name, 0) for each in self.ranges}

    def suggest(self, trial: Any) -> Values:
        """Return the values that optuna's trial suggests."""
        values: Values = {}
        for each in self.ranges:
            if each.whole:
                suggested = float(trial.suggest_int(each.name, round(each.low), round(each.high)))
            else:
                suggested = float(trial.suggest_float(each.name, each.low, each.high))
            values[each.name] = each.rounded(suggested)
        return sensible(values)

    def neighbour(self, random: np.random.Generator) -> Values:
        """Return the start with a few values moved a little."""
        values = dict(self.start)
        for place in random.choice(len(self.ranges), size=min(MOVED, len(self.ranges)), replace=False):
            each = self.ranges[place]
            if each.whole:
                values[each.name] = int(random.integers(round(each.low), round(each.high) + 1))
            else:
                step = NEAR * (each.high - each.low) * random.uniform(-1, 1)
                values[each.name] = each.rounded(values[each.name] + step)
        return values

    def moved(self, values: Values) -> list[str]:
        """Return the names of the values that differ from the start, the least moved first."""
        names = [each.name for each in self.ranges if values[each.name] != self.start[each.name]]
        by_name = {each.name: each for each in self.ranges}
        return sorted(names, key=lambda name: self._distance(by_name[name], values))

    def distance(self, values: Values) -> float:
        """Return the distance of these values from the start, 0–1: the mean of their shares of their ranges."""
        return sum(self._distance(each, values) for each in self.ranges) / len(self.ranges)

    def _distance(self, each: Range, values: Values) -> float:
        return abs(values[each.name] - self.start[each.name]) / (each.high - each.low)

    def parameters(self, values: Mapping[str, Value]) -> Parameters:
        numbers = {name: value for name, value in values.items() if name != WEIGHTS}
        parameters = self._start.with_values(numbers)
        return self._weights.put_into(parameters) if self._weights and values.get(WEIGHTS) else parameters


def sensible(values: Values) -> Values:
    """Return the values with the bases of the confidence in order: another source never makes it less."""
    if _BY_SOURCES[0] not in values:
        return values
    in_order = sorted(values[name] for name in _BY_SOURCES)
    return values | dict(zip(_BY_SOURCES, in_order, strict=True))
