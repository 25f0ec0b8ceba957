"""Runs one stage over its set, as the loop runs it, and reports its scores. Nothing else of the loop runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from marchwarden.budget import Budget
from marchwarden.contract import Constraints
from marchwarden.errors import EvaluationError
from marchwarden.evaluation.scoring.aggregates import auroc
from marchwarden.evaluation.scoring.bootstrap import mean_interval
from marchwarden.optimization.examples.stage_example import AnyStageSet, Example
from marchwarden.settings import EXTRACTIVE
from marchwarden.stages.stage import FAILURES_BORNE, Form, Stage, StageRunner, side_by_side
from marchwarden.trace.events import Event, FellBack, ModelCalled, Recorder

if TYPE_CHECKING:
    from marchwarden.lm import Model

# Makes the model of one example, behind a meter over the budget that is given; None for the model-free form.
Connect: TypeAlias = Callable[[Budget, Recorder], "Model | None"]

# Limits of one example: enough for every attempt that a stage makes. A guess.
TOKENS, SECONDS = 100_000, 600.0
_SERVICE_IS_GONE = ("bad_key", "network")


@dataclass(frozen=True)
class ExampleScore:
    id: str
    question: str
    kind: str
    score: float
    """Score of what the loop would have gone on with, 0–1."""
    form: Form
    own: bool
    """True where the model's own output was used: it could be read, and something of it stood."""
    tokens: int
    calls: int
    """Attempts that went out to the model."""
    seconds: float
    feedback: str
    fell_back: str | None = None
    """Reason why the model's output was not used; None where it was."""
    confidence: float | None = None
    """Probability that the output states, 0–1; None for a stage that states none."""
    right: bool | None = None
    """True where what has this probability came true; None for a stage that states none."""


@dataclass(frozen=True)
class StageReport:
    stage: str
    model_id: str
    labels: str
    """Hash of the labelled questions."""
    pages: str
    """Hash of the frozen web's pages."""
    examples: list[ExampleScore]
    program: str | None = None
    """Fingerprint of the program whose compiled form of the stage was asked; None where it ran uncompiled."""

    @property
    def score(self) -> float | None:
        """Mean score over the examples, 0–1; None where there is none."""
        return fmean(each.score for each in self.examples) if self.examples else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return mean_interval([each.score for each in self.examples])

    @property
    def valid_rate(self) -> float | None:
        """Share of examples in which the model's own output was used, 0–1; None without a model."""
        if self.model_id == EXTRACTIVE or not self.examples:
            return None
        return fmean(each.own for each in self.examples)

    @property
    def auroc(self) -> float | None:
        """Chance that what came true had more probability than what did not; None where the stage states none."""
        return auroc([asdict(each) for each in self.examples if each.right is not None])

    @property
    def by_kind(self) -> dict[str, float]:
        kinds = sorted({each.kind for each in self.examples})
        return {kind: fmean(each.score for each in self.examples if each.kind == kind) for kind in kinds}

    def as_json(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "model_id": self.model_id,
            "program": self.program,
            "labels": self.labels,
            "pages": self.pages,
            "score": self.score,
            "interval": self.interval and list(self.interval),
            "valid_rate": self.valid_rate,
            "auroc": self.auroc,
            "by_kind": self.by_kind,
            "tokens": sum(each.tokens for each in self.examples),
            "seconds": round(sum(each.seconds for each in self.examples), 3),
            "examples": [asdict(each) for each in self.examples],
        }


class _Tally:
    """Counts the model's calls for one example."""

    def __init__(self) -> None:
        self.tokens = 0
        self.calls = 0
        self.fell_back: str | None = None

    def record(self, event: Event) -> None:
        if isinstance(event, ModelCalled):
            self.tokens += event.charged_tokens
            self.calls += 1
        elif isinstance(event, FellBack):
            self.fell_back = event.reason

    def progress(self, message: str) -> None:
        pass


async def score_examples(
    stage_set: AnyStageSet,
    stage: Stage[Any, Any],
    examples: Sequence[Example[Any, Any]],
    connect: Connect,
    *,
    at_once: int,
    on_example: Callable[[ExampleScore], None] = lambda scored: None,
) -> list[ExampleScore]:
    """Run this form of the stage on these examples, `at_once` of them side by side.

    Raises EvaluationError where the model's service can't be used at all, and what `connect` raises.
    """
    return await StageRun(stage_set, stage, connect, on_example).all(examples, at_once=at_once)


class StageRun:
    """One run of a stage over examples."""

    def __init__(
        self,
        stage_set: AnyStageSet,
        stage: Stage[Any, Any],
        connect: Connect,
        on_example: Callable[[ExampleScore], None],
    ) -> None:
        self._set = stage_set
        self._stage = stage
        self._connect = connect
        self._on_example = on_example
        self.model_id = EXTRACTIVE
        self._failures = 0
        """Examples in a row in which the model's service could not be used."""

    async def all(self, examples: Sequence[Example[Any, Any]], *, at_once: int) -> list[ExampleScore]:
        places = anyio.Semaphore(at_once)

        async def one(example: Example[Any, Any]) -> ExampleScore:
            async with places:
                scored = await self._one(example)
            self._on_example(scored)
            return scored

        return await side_by_side([one(example) for example in examples])

    async def _one(self, example: Example[Any, Any]) -> ExampleScore:
        tally = _Tally()
        budget = Budget(Constraints(token_budget=TOKENS), SECONDS)
        model = self._connect(budget, tally)
        began = time.monotonic()
        try:
            self.model_id = model.model_id if model else EXTRACTIVE
            runner = StageRunner(model, budget, tally)
            output, form = await runner.run(self._stage, example.given)
            seconds = round(time.monotonic() - began, 3)
        finally:
            if model is not None:
                await model.aclose()
        # Where the service is gone, whatever came of the example is no score of the model.
        gone = runner.trouble is not None and runner.trouble.partition(":")[0] in _SERVICE_IS_GONE
        self._failures = self._failures + 1 if gone else 0
        if self._failures >= FAILURES_BORNE:
            raise EvaluationError(
                f"the model can't be asked: {runner.trouble}", hint="`marchwarden doctor` says what is missing."
            )
        own = form == "model" and self._set.is_own(example.given, output)
        if form == "model" and not own:
            output = self._stage.model_free(example.given)
        feedback = self._set.score(example, output)
        confidence, right = self._set.forecast(example, output) if self._set.forecast else (None, None)
        return ExampleScore(
            id=example.id,
            question=example.question,
            kind=example.kind,
            score=round(feedback.score, 4),
            form="model" if own else "model_free",
            own=own,
            tokens=tally.tokens,
            calls=tally.calls,
            seconds=seconds,
            feedback=feedback.text,
            fell_back=tally.fell_back or ("nothing of it stood" if form == "model" and not own else None),
            confidence=confidence,
            right=right,
        )
