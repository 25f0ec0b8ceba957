"""Validation of a compiled prompt on dev examples, against the uncompiled prompt and the model-free form.

Both prompts run on the same examples as the loop runs them, fall-backs included. Only a difference beyond the noise
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import anyio

from marchwarden.budget import Budget
from marchwarden.errors import EvaluationError
from marchwarden.evaluation.scoring.bootstrap import mean_interval
from marchwarden.lm import Model
from marchwarden.optimization.examples.example_scoring import ExampleScore, score_examples
from marchwarden.optimization.examples.stage_example import AnyStageSet, Example
from marchwarden.optimization.spending import GONE, SERVICE, Spending, Stopped, service_gone
from marchwarden.settings import Settings
from marchwarden.stages.stage import FAILURES_BORNE, UNREADABLE, Stage
from marchwarden.trace.events import Recorder


@dataclass(frozen=True)
class Validation:
    """Scores of the same examples with the uncompiled prompt, with the compiled one, and without the model."""

    uncompiled: list[ExampleScore]
    compiled: list[ExampleScore] | None
    """Scores with the compiled prompt; None where no other prompt was found, or could be tried."""
    model_free: list[float]
    """Scores of the model-free form, 0–1."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % paired-bootstrap interval of what the compiled prompt gained."""
        compiled = self.compiled or self.uncompiled
        return gain([each.score for each in self.uncompiled], [each.score for each in compiled])

    @property
    def helped(self) -> bool:
        return self.compiled is not None and self.interval[0] > 0

    @property
    def without_model(self) -> tuple[float, float]:
        """The interval of what the model-free form gains over the best prompt."""
        best_prompt = self.compiled if self.compiled and self.helped else self.uncompiled
        return gain([each.score for each in best_prompt], self.model_free)

    @property
    def unreadable(self) -> str | None:
        """The last problem where not one answer of the model could be read, with either prompt; else None."""
        scored = [*self.uncompiled, *(self.compiled or [])]
        return scored[-1].fell_back if scored and all(_kind(each) in UNREADABLE for each in scored) else None


def gain(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % paired-bootstrap interval of the mean of the differences."""
    low, high = mean_interval([other - one for one, other in zip(before, after, strict=True)]) or (0.0, 0.0)
    return round(low, 4), round(high, 4)


def model_free_scores(stage_set: AnyStageSet, examples: Sequence[Example[Any, Any]]) -> list[float]:
    """Return what the model-free form earns on each example, 0–1; it costs nothing."""
    return [stage_set.score(each, stage_set.stage.model_free(each.given)).score for each in examples]


def mean(scored: Sequence[ExampleScore]) -> float:
    """Return the mean score of what the loop would have gone on with, 0–1; 0 for no examples."""
    return round(fmean(each.score for each in scored), 4) if scored else 0.0


def valid_rate(scored: Sequence[ExampleScore]) -> float:
    """Return the share of answers that were the model's own, 0–1; 0 for no examples."""
    return round(fmean(each.own for each in scored), 4) if scored else 0.0


def score_within_budget(
    stage_set: AnyStageSet,
    stage: Stage[Any, Any],
    examples: Sequence[Example[Any, Any]],
    settings: Settings,
    spending: Spending,
    *,
    jobs: int,
) -> list[ExampleScore]:
    """Score the stage on these examples, within the compile's budget.

    An example that the service did not answer is asked once more. Raises Stopped where the budget runs out or the
    service is gone, since what was refused, or never answered, is no score.
    """
    scored = _scored_once(stage_set, stage, examples, settings, spending, jobs)
    unanswered = [example for example, each in zip(examples, scored, strict=True) if _unanswered(each)]
    again = iter(_scored_once(stage_set, stage, unanswered, settings, spending, jobs) if unanswered else ())
    scored = [next(again) if _unanswered(each) else each for each in scored]
    if failed := [each for each in scored if _unanswered(each)]:
        raise service_gone(str(failed[-1].fell_back))
    return scored


def _scored_once(
    stage_set: AnyStageSet,
    stage: Stage[Any, Any],
    examples: Sequence[Example[Any, Any]],
    settings: Settings,
    spending: Spending,
    jobs: int,
) -> list[ExampleScore]:
    opened: list[Model] = []
    failures = 0

    def connect(budget: Budget, tally: Recorder) -> Model:
        if stopped := spending.ended(stage.name, stage.max_tokens):
            raise _Refused(stopped)
        opened.append(spending.open(settings, tally))
        return opened[-1]

    def note(scored: ExampleScore) -> None:
        nonlocal failures
        failures = failures + 1 if _kind(scored) in GONE else 0
        if failures >= FAILURES_BORNE or _kind(scored) == "bad_key":
            raise _Refused(service_gone(str(scored.fell_back)))
        if opened and any(model.meter.refused for model in opened):
            raise _Refused(spending.refused(stage.name))

    try:
        return anyio.run(partial(score_examples, stage_set, stage, examples, connect, at_once=jobs, on_example=note))
    except _Refused as refused:
        raise refused.stopped from None
    except EvaluationError as error:
        raise service_gone(str(error).removeprefix("the model can't be asked: ")) from None


def _kind(scored: ExampleScore) -> str:
    """Return the kind of the failure for which the model's answer was not used."""
    return (scored.fell_back or "").partition(":")[0]


def _unanswered(scored: ExampleScore) -> bool:
    return _kind(scored) in SERVICE


class _Refused(Exception):
    """Carries a Stopped out of tasks, which pass on exceptions only."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(str(stopped))
        self.stopped = stopped
