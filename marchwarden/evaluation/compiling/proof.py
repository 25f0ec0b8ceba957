"""Whether a compiled prompt helped: both are run on the same dev examples as the loop runs them, fall-backs included,
and only a difference beyond the noise counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import anyio

from marchwarden.budget import Budget
from marchwarden.errors import EvaluationError
from marchwarden.evaluation.compiling.purse import GONE, SERVICE, Purse, Stopped, service_gone
from marchwarden.evaluation.stage_sets import AnyStageSet, Example
from marchwarden.evaluation.stage_sets.scoring import ExampleScore, mean_interval, score_examples
from marchwarden.lm import Model
from marchwarden.settings import Settings
from marchwarden.stages import FAILURES_BORNE, Stage
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
    """The stage on these examples, paid from the purse. Raises Stopped where that runs out or the service is gone:
    what was refused, or never answered, is no score. What the service did not do once is asked for once more."""
    scored = _scored_once(stage_set, stage, examples, settings, purse, jobs, on_example)
    unanswered = [example for example, each in zip(examples, scored, strict=True) if _unanswered(each)]
    again = iter(_scored_once(stage_set, stage, unanswered, settings, purse, jobs, on_example) if unanswered else ())
    scored = [next(again) if _unanswered(each) else each for each in scored]
    if failed := [each for each in scored if _unanswered(each)]:
        raise service_gone(str(failed[-1].fell_back))
    return scored


def _scored_once(
    stage_set: AnyStageSet,
    stage: Stage[Any, Any],
    examples: Sequence[Example[Any, Any]],
    settings: Settings,
    purse: Purse,
    jobs: int,
    on_example: Callable[[ExampleScore], None],
) -> list[ExampleScore]:
    opened: list[Model] = []
    failures = 0

    def connect(budget: Budget, tally: Recorder) -> Model:
        if stopped := purse.ended(stage.name, stage.max_tokens):
            raise _Refused(stopped)
        opened.append(purse.open(settings, tally))
        return opened[-1]

    def note(scored: ExampleScore) -> None:
        nonlocal failures
        failures = failures + 1 if _kind(scored) in GONE else 0
        if failures >= FAILURES_BORNE or _kind(scored) == "bad_key":
            raise _Refused(service_gone(str(scored.fell_back)))
        if opened and any(model.meter.refused for model in opened):
            raise _Refused(purse.refused(stage.name))
        on_example(scored)

    async def run() -> list[ExampleScore]:
        return await score_examples(stage_set, stage, examples, connect, at_once=jobs, on_example=note)

    try:
        return anyio.run(run)
    except _Refused as refused:
        raise refused.stopped from None
    except EvaluationError as error:
        raise service_gone(str(error).removeprefix("the model can't be asked: ")) from None


def _kind(scored: ExampleScore) -> str:
    """Of the failure for which the model's answer was not used."""
    return (scored.fell_back or "").partition(":")[0]


def _unanswered(scored: ExampleScore) -> bool:
    return _kind(scored) in SERVICE


class _Refused(Exception):
    """Carries a Stopped out of tasks, which pass on exceptions only."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(str(stopped))
        self.stopped = stopped
