"""Whether a compiled prompt helped: both are run on the same dev examples as the loop runs them, fall-backs included,
and only a difference beyond the noise counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import anyio

from marchwarden.budget import Budget
from marchwarden.evaluation.compiling.purse import MORE_TOKENS, Purse, Stopped
from marchwarden.evaluation.stage_sets import AnyStageSet, Example
from marchwarden.evaluation.stage_sets.scoring import ExampleScore, mean_interval, score_examples
from marchwarden.lm import Model
from marchwarden.settings import Settings
from marchwarden.stages import Stage
from marchwarden.trace.events import Recorder


@dataclass(frozen=True)
class Proof:
    """The same examples with the uncompiled prompt and with the compiled one."""

    uncompiled: list[ExampleScore]
    compiled: list[ExampleScore]

    @property
    def scores(self) -> tuple[float, float]:
        """The means, 0–1, of what the loop would have gone on with."""
        return mean(self.uncompiled), mean(self.compiled)

    @property
    def valid(self) -> tuple[float, float]:
        """The shares of answers that were the model's own."""
        return valid_rate(self.uncompiled), valid_rate(self.compiled)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % paired-bootstrap interval of what was gained."""
        gained = [after.score - before.score for before, after in zip(self.uncompiled, self.compiled, strict=True)]
        low, high = mean_interval(gained) or (0.0, 0.0)
        return round(low, 4), round(high, 4)

    @property
    def helped(self) -> bool:
        return self.interval[0] > 0


def mean(scored: Sequence[ExampleScore]) -> float:
    return round(fmean(each.score for each in scored), 4) if scored else 0.0


def valid_rate(scored: Sequence[ExampleScore]) -> float:
    return round(fmean(each.own for each in scored), 4) if scored else 0.0


def score_on(
    stage_set: AnyStageSet,
    stage: Stage[Any, Any],
    examples: Sequence[Example[Any, Any]],
    settings: Settings,
    purse: Purse,
    *,
    jobs: int,
    on_example: Callable[[ExampleScore], None] = lambda scored: None,
) -> list[ExampleScore]:
    """The stage on these examples, paid from the purse. Raises Stopped where that runs out: what was refused is no
    score."""

    opened: list[Model] = []

    def connect(budget: Budget, tally: Recorder) -> Model:
        if stopped := purse.ended(stage.name, 2 * stage.max_tokens):
            raise _Refused(stopped)
        opened.append(purse.open(settings, tally))
        return opened[-1]

    async def run() -> list[ExampleScore]:
        return await score_examples(stage_set, stage, examples, connect, at_once=jobs, on_example=on_example)

    try:
        scored = anyio.run(run)
    except _Refused as refused:
        raise refused.stopped from None
    if any(model.meter.refused for model in opened):
        raise Stopped("the token budget refused a call", MORE_TOKENS)
    return scored


class _Refused(Exception):
    """Carries a Stopped out of tasks, which pass on exceptions only."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(str(stopped))
        self.stopped = stopped
