"""What the stages share: a stage is a typed DSPy signature, a check of what the model gave, and a model-free form.

A stage whose output does not pass its check is asked once more, with what was wrong; then its model-free form runs.
In a research call the predictors of agent/program.py ask, which may be compiled; else each stage's own does.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import anyio
from pydantic import PydanticUserError, TypeAdapter

from marchwarden.budget import Budget
from marchwarden.errors import BudgetExhausted, Limit, ModelError
from marchwarden.programs import CompiledStage
from marchwarden.trace.events import Dropped, FellBack, Recorder

if TYPE_CHECKING:
    import dspy

    from marchwarden.lm import Model

Given = TypeVar("Given")
Output = TypeVar("Output")
Form = Literal["model", "model_free"]

FAILURES_BORNE = 3
"""So many failed calls in a row, each retried by DSPy already, and a model counts as down for the whole research."""
_ASK_AGAIN: tuple[str, ...] = ("unusable_output", "truncated")
"""What a second attempt can mend; anything else DSPy has already retried, or will not change."""


@dataclass(frozen=True)
class Stage(Generic[Given, Output]):
    name: str
    max_tokens: int
    """Cap of one answer."""
    signature: Callable[[], type[dspy.Signature]]
    """Built on first use: a researcher without a model never imports DSPy."""
    show: Callable[[Given], dict[str, Any]]
    """The signature's input fields."""
    read: Callable[[Given, dspy.Prediction], Output]
    """The model's fields as the stage's output; raises ValueError, saying what is wrong, where they are unusable."""
    model_free: Callable[[Given], Output]
    ground: Callable[[Given, Output], tuple[Output, list[Dropped]]]
    """The output without what the model worded and nothing that was met carries; and what was taken out."""
    essential: bool = True
    """Whether going without the model here for lack of tokens makes the result `budget_exhausted`."""
    demos: tuple[Mapping[str, Any], ...] = ()
    """Demonstrations that the model is shown: input and output fields by name."""
    without_model: bool = False
    """Whether it goes without the model, where there is one: its program says that the model does worse."""

    @cached_property
    def predictor(self) -> dspy.Predict:
        return self.new_predictor()

    @cached_property
    def fingerprint(self) -> str:
        """Of the signature's words and fields, in their order: what was compiled for one says nothing of another."""
        signature = self.signature()
        fields = [
            [
                name,
                each.json_schema_extra["__dspy_field_type"],
                each.json_schema_extra["desc"],
                _type(each.annotation),
            ]
            for name, each in signature.fields.items()
        ]
        told = json.dumps([signature.instructions, fields], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def compiled(self, by: CompiledStage) -> Stage[Given, Output]:
        """The same stage with the words and demonstrations that an optimizer found for it; or without the model."""
        if by.form == "model_free":
            return replace(self, without_model=True)
        return replace(
            self,
            signature=lambda: self.signature().with_instructions(by.instructions),
            demos=tuple(by.demos),
        )

    def new_predictor(self) -> dspy.Predict:
        """Ask with the stage's words and demonstrations; what is done to one predictor changes no other."""
        import dspy

        predictor = dspy.Predict(self.signature())
        predictor.demos = [dspy.Example(**demo) for demo in self.demos]
        return predictor


def _asking_again(predictor: dspy.Predict, problem: str) -> dspy.Predict:
    """A predictor that says, after its own words, what was wrong with the answer before."""
    import dspy

    signature = predictor.signature
    words = f"{signature.instructions}\n\nYour previous answer could not be used: {problem}"
    again = dspy.Predict(signature.with_instructions(words))
    again.demos = predictor.demos
    return again


def _type(annotation: Any) -> Any:
    """A field's type as JSON schema, or in Python's words where it has none."""
    try:
        return TypeAdapter(annotation).json_schema()
    except PydanticUserError:
        return repr(annotation)


class Stages(Protocol):
    """Runs stages."""

    @property
    def trouble(self) -> str | None:
        """What went wrong with the model's service; None where nothing did."""
        ...

    @property
    def exhausted(self) -> Sequence[Limit]:
        """Limits that cut the call short, so far."""
        ...

    async def run(self, stage: Stage[Given, Output], given: Given) -> tuple[Output, Form]:
        """Return the stage's output, and which form gave it."""
        ...


@dataclass(frozen=True)
class WithoutModel:
    """Runs stages without a model: for the end of a call whose time, or process, is over."""

    exhausted: Sequence[Limit]
    trouble: str | None = None

    async def run(self, stage: Stage[Given, Output], given: Given) -> tuple[Output, Form]:
        return stage.model_free(given), "model_free"


class StageRunner:
    """Runs stages for one call, with its model or without one."""

    def __init__(
        self,
        model: Model | None,
        budget: Budget,
        recorder: Recorder,
        *,
        at_once: int = 1,
        predictors: Mapping[str, dspy.Predict] | None = None,
        without_model: Collection[str] = (),
    ) -> None:
        """`at_once`: how many model calls may run side by side; more wait their turn. `predictors`: what asks the
        model in place of the stages' own, by name. `without_model`: names of stages that go without it."""
        self.model = model
        self.trouble: str | None = None
        """What went wrong with the model's service at last; None where it did its work, or answered badly only."""
        self._failures = 0
        self._turns = asyncio.Semaphore(at_once)
        self._budget = budget
        self._recorder = recorder
        self._predictors = predictors or {}
        self._without_model = frozenset(without_model)

    @property
    def exhausted(self) -> Sequence[Limit]:
        return self._budget.exhausted

    async def run(
        self, stage: Stage[Given, Output], given: Given, *, seconds: float | None = None
    ) -> tuple[Output, Form]:
        """The stage's output, and which form gave it; the model has `seconds` for it, where they are given."""
        if self.model is None or stage.without_model or stage.name in self._without_model:
            return stage.model_free(given), "model_free"
        reason = f"the model took longer than {seconds or 0:.0f} s"
        try:
            with anyio.move_on_after(seconds):
                output = await self._ask(self.model, stage, given)
                self._failures = 0
                return self._grounded(stage, given, output), "model"
        except BudgetExhausted as error:
            if stage.essential:
                self._budget.ran_out("tokens")
            reason = str(error)
        except ModelError as error:
            reason = f"{error.kind}: {error}"
            if error.kind not in _ASK_AGAIN:
                self._failures += 1
                self.trouble = reason
            if self.model and (error.kind == "bad_key" or self._failures >= FAILURES_BORNE):
                self.model = None
                reason += " (the model is not asked again in this research)"
        self._recorder.record(
            FellBack(stage=stage.name, reason=reason, decision=f"{stage.name} goes on without the model")
        )
        return stage.model_free(given), "model_free"

    def _grounded(self, stage: Stage[Given, Output], given: Given, output: Output) -> Output:
        kept, dropped = stage.ground(given, output)
        for drop in dropped:
            self._recorder.record(drop)
        return kept

    async def _ask(self, model: Model, stage: Stage[Given, Output], given: Given) -> Output:
        predictor = self._predictors.get(stage.name) or stage.predictor
        shown = stage.show(given)
        async with self._turns:
            if self.model is None:
                raise ModelError("network", "the model failed too often and is not asked again")
            try:
                return await self._predict(model, stage, predictor, given, shown)
            except ModelError as error:
                if error.kind not in _ASK_AGAIN:
                    raise
                again = _asking_again(predictor, str(error))
            return await self._predict(model, stage, again, given, shown)

    async def _predict(
        self, model: Model, stage: Stage[Given, Output], predictor: dspy.Predict, given: Given, shown: dict[str, Any]
    ) -> Output:
        prediction = await model.predict(stage.name, predictor, max_tokens=stage.max_tokens, **shown)
        try:
            return stage.read(given, prediction)
        except (ValueError, TypeError, AttributeError) as error:
            raise ModelError("unusable_output", _first_line(error)) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
