"""A stage: a typed DSPy signature, a check of the model's output, and a model-free form.

Where an output does not pass its check, the model is asked once more and told the problem. Then the model-free form
runs. In a research call the predictors of agent/program.py ask, which may be compiled; else each stage's own does.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import anyio
from pydantic import PydanticUserError, TypeAdapter

from marchwarden.budget import Budget
from marchwarden.errors import BudgetExhausted, Limit, ModelError, NotRecorded
from marchwarden.lm.engine import PromptForm
from marchwarden.trace.events import Dropped, FellBack, ModelCalled, Recorder

if TYPE_CHECKING:
    import dspy

    from marchwarden.lm import Model
    from marchwarden.programs import CompiledStage

Given = TypeVar("Given")
Output = TypeVar("Output")
Form = Literal["model", "model_free"]

# Failed calls in a row after which the model counts as down for the whole research; DSPy has already retried each of
# them. A guess.
FAILURES_BORNE = 3
# Kinds of error that a second attempt can mend: answers that can't be read. DSPy has already retried the others, or
# they would not change.
UNREADABLE: tuple[str, ...] = ("unusable_output", "truncated")
# Shortest answer to a short prompt that is of use, at most. A guess: a claim takes 30 to 60.
_SHORT_ANSWER_TOKENS = 150
# Reasons for which no answer came, as traces and results have them.
TOO_SLOW = "the model took longer than"
OUT_OF_TIME = "it was asked until the time ran out"
# Characters that are kept of an error's first line. A guess.
_ERROR_CHARS = 300


@dataclass(frozen=True)
class Stage(Generic[Given, Output]):
    name: str
    max_tokens: int
    """Tokens of one answer, at most."""
    signature: Callable[[], type[dspy.Signature]]
    """Builder of the signature. It is called on first use: a researcher without a model never imports DSPy."""
    show: Callable[[Given], dict[str, Any]]
    """Returns the signature's input fields."""
    read: Callable[[Given, dspy.Prediction], Output]
    """Returns the stage's output from the model's fields; raises ValueError, with the reason, where they are
    unusable."""
    model_free: Callable[[Given], Output]
    """Returns the output without a model."""
    ground: Callable[[Given, Output], tuple[Output, list[Dropped]]]
    """Returns the output without the model's words that nothing found supports, and a list of what was dropped."""
    essential: bool = True
    """True where a result is `budget_exhausted` if this stage has no tokens left for the model."""
    demos: tuple[Mapping[str, Any], ...] = ()
    """Demonstrations that the model is shown: input and output fields by name."""
    without_model: bool = False
    """True where the stage never asks the model, because its program found that the model does worse."""
    brief: str | None = None
    """Instructions in the fewest words, for prompts in their short form; None for the signature's own."""
    shorten: Callable[[Given], Given | None] = lambda given: None
    """Returns the input with less for the model to be shown; None where there is no less."""
    least_answer: Callable[[Given], int] | None = None
    """Returns the tokens of the shortest answer that is of use to a short prompt; None for those of any."""
    time_share: float | None = None
    """Share, 0–1, that the model may take of the time which is left where the stage is run; None for all of it."""

    @cached_property
    def predictor(self) -> dspy.Predict:
        return self.new_predictor()

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the signature's words and fields, in their order: 16 hexadecimal digits.

        A compiled form is used only where the signature has the fingerprint that it was compiled for.
        """
        signature = self.signature()
        fields = []
        for name, each in signature.fields.items():
            try:
                schema: Any = TypeAdapter(each.annotation).json_schema()
            except PydanticUserError:  # a type that pydantic has no schema for
                schema = repr(each.annotation)
            extra = each.json_schema_extra
            fields.append([name, extra["__dspy_field_type"], extra["desc"], schema])
        told = json.dumps([signature.instructions, fields], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def compiled(self, by: CompiledStage) -> Stage[Given, Output]:
        """Return the stage with an optimizer's instructions and demonstrations, or as one that asks no model."""
        if by.form == "model_free":
            return replace(self, without_model=True)
        return replace(
            self,
            signature=lambda: self.signature().with_instructions(by.instructions),
            demos=tuple(by.demos),
        )

    def new_predictor(self) -> dspy.Predict:
        """Return a predictor with the stage's instructions and demonstrations, which shares no state with others."""
        import dspy

        predictor = dspy.Predict(self.signature())
        predictor.demos = [dspy.Example(**demo) for demo in self.demos]
        return predictor


class Stages(Protocol):
    """Runs stages."""

    @property
    def trouble(self) -> str | None:
        """Last failure of the model's service, or that no answer could be read, in words; None where there was
        neither."""
        ...

    @property
    def has_answered(self) -> bool:
        """True where an answer of the model could be read."""
        ...

    @property
    def tokens_used(self) -> int: ...

    @property
    def exhausted(self) -> Sequence[Limit]:
        """Limits that have cut the call short."""
        ...

    @property
    def unpaid(self) -> Sequence[str]:
        """Names of essential stages that had too few tokens for the model, in the order in which they had."""
        ...

    async def run(self, stage: Stage[Given, Output], given: Given) -> tuple[Output, Form]:
        """Return the stage's output, and the form that gave it."""
        ...

    def give_back(self, stage: Stage[Any, Any]) -> None:
        """Free the tokens that are still set aside for a stage."""
        ...

    def repeat(self, events: Sequence[ModelCalled | FellBack]) -> None:
        """Charge and record again what a recorded call spent on a stage that a re-run does not run."""
        ...


@dataclass(frozen=True)
class WithoutModel:
    """Runs stages without a model, at the end of a call whose time or process is over."""

    exhausted: Sequence[Limit]
    trouble: str | None = None
    unpaid: Sequence[str] = ()
    has_answered: bool = True
    tokens_used: int = 0

    @classmethod
    def after(cls, stages: Stages) -> WithoutModel:
        """Return what runs the rest of a call that these stages began."""
        return cls(stages.exhausted, stages.trouble, stages.unpaid, stages.has_answered, stages.tokens_used)

    async def run(self, stage: Stage[Given, Output], given: Given) -> tuple[Output, Form]:
        return stage.model_free(given), "model_free"

    def give_back(self, stage: Stage[Any, Any]) -> None:
        pass

    def repeat(self, events: Sequence[ModelCalled | FellBack]) -> None:
        pass


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
        late_answers: Mapping[tuple[str, int], str] | None = None,
    ) -> None:
        """Make a runner for one call.

        `at_once` is the most model calls that run side by side; more wait their turn. `predictors`, by stage, replace
        the stages' own. `without_model` names stages that never ask the model. `late_answers` has the reasons, by
        stage and number of its run, for which an answer is not read: in a call that is repeated it came too late.
        """
        self.model = model
        self.unpaid: list[str] = []
        self._service_trouble: str | None = None
        self._unreadable: str | None = None
        """The problem of the last answer that could not be read."""
        self.has_answered = False
        self._unanswered: str | None = None
        """The last call that got no answer in its time."""
        self.cut: list[str] = []
        """Stages whose model was being asked as the caller gave up."""
        self._failures = 0
        self._turns = asyncio.Semaphore(at_once)
        self._budget = budget
        self._recorder = recorder
        self._predictors = predictors or {}
        self._without_model = frozenset(without_model)
        self._late_answers = late_answers or {}
        self._runs: Counter[str] = Counter()
        """Runs with the model that have begun, by stage."""

    @property
    def trouble(self) -> str | None:
        """Last failure of the model's service, or that no answer came or could be read; None for some bad answers."""
        if self._service_trouble is None and not self.has_answered:
            if self._unreadable:
                return f"no answer of the model could be read; {self._unreadable}"
            if self._unanswered:
                return f"no answer of the model came; {self._unanswered}"
        return self._service_trouble

    def give_up(self) -> None:
        """Note that an answer of the model was waited for until the time was over."""
        if self.model is not None:
            self._unanswered = self.model.meter.last_failure or OUT_OF_TIME

    def take_back(self) -> None:
        """Forget that a model's answer was waited for in vain: the caller did not want it any more."""
        if self._unanswered == OUT_OF_TIME:
            self._unanswered = None

    @property
    def tokens_used(self) -> int:
        return self._budget.tokens_used

    @property
    def exhausted(self) -> Sequence[Limit]:
        return self._budget.exhausted

    async def run(
        self, stage: Stage[Given, Output], given: Given, *, seconds: float | None = None
    ) -> tuple[Output, Form]:
        """Return the stage's output, and the form that gave it.

        The model has `seconds`; for None it has the stage's share of the time that is left, or no limit.
        """
        if self.model is None or stage.without_model or stage.name in self._without_model:
            return stage.model_free(given), "model_free"
        if seconds is None and stage.time_share is not None:
            # Until whoever runs the stage gives up, so that what comes after it has its time.
            left = anyio.current_effective_deadline() - anyio.current_time()
            seconds = stage.time_share * max(0.0, left)
        reason = f"{TOO_SLOW} {seconds or 0:.0f} s"
        asked = self.model
        limit: Limit | None = None
        self._runs[stage.name] += 1
        late = self._late_answers.get((stage.name, self._runs[stage.name]))
        try:
            with anyio.move_on_after(seconds):
                output = await self._ask(self.model, stage, given)
                if late:
                    raise NotRecorded(late)
                self._failures = 0
                self.has_answered = True
                kept, dropped = stage.ground(given, output)
                for drop in dropped:
                    self._recorder.record(drop)
                return kept, "model"
            # Attempts may have failed meanwhile, and been made again.
            self._unanswered = asked.meter.last_failure or reason
        except anyio.get_cancelled_exc_class():
            self._unanswered = asked.meter.last_failure or OUT_OF_TIME
            self.cut.append(stage.name)
            raise
        except BudgetExhausted as error:
            if stage.essential:
                self._add_unpaid(stage.name)
            reason, limit = str(error), error.limit
        except NotRecorded as error:
            # What ended for want of time then, ends as it did then.
            if error.ends_call:
                self._unanswered = asked.meter.last_failure or OUT_OF_TIME
                self.cut.append(stage.name)
                raise
            reason = str(error)
            if reason.startswith(TOO_SLOW):
                self._unanswered = asked.meter.last_failure or reason
        except ModelError as error:
            reason = f"{error.kind}: {error}"
            if error.kind in UNREADABLE:
                self._unreadable = reason
            else:
                self._failures += 1
                self._service_trouble = reason
            if self.model and (error.kind == "bad_key" or self._failures >= FAILURES_BORNE):
                self.model = None
                reason += " (the model is not asked again in this call)"
        self._recorder.record(
            FellBack(
                stage=stage.name,
                reason=reason,
                limit=limit,
                decision=f"{stage.name} goes on without the model",
            )
        )
        return stage.model_free(given), "model_free"

    def give_back(self, stage: Stage[Any, Any]) -> None:
        self._budget.set_aside(stage.name, 0)

    def repeat(self, events: Sequence[ModelCalled | FellBack]) -> None:
        for event in events:
            self._recorder.record(event)
            if isinstance(event, FellBack):
                if event.limit == "tokens":
                    self._add_unpaid(event.stage)
                continue
            held = self._budget.reserve(event.stage, event.charged_tokens)
            self._budget.commit(held, event.charged_tokens)
            self.has_answered = self.has_answered or event.error is None

    def _add_unpaid(self, stage: str) -> None:
        self._budget.ran_out("tokens")
        if stage not in self.unpaid:
            self.unpaid.append(stage)

    async def _ask(self, model: Model, stage: Stage[Given, Output], given: Given) -> Output:
        predictor = self._predictors.get(stage.name) or stage.predictor
        async with self._turns:
            if self.model is None:
                raise ModelError("network", "the model failed too often and is not asked again")
            try:
                return await self._predict(model, stage, predictor, given)
            except ModelError as error:
                if error.kind not in UNREADABLE:
                    raise
                problem = f"\n\nYour previous answer could not be used: {error}"
            return await self._predict(model, stage, predictor, given, problem)

    async def _predict(
        self, model: Model, stage: Stage[Given, Output], predictor: dspy.Predict, given: Given, problem: str = ""
    ) -> Output:
        """Ask in the usual form where it fits the budget, else in the short form, with as much as fits."""
        usual, brief = _with(predictor, problem), _with(predictor, problem, instead=stage.brief)
        form, shown = PromptForm(is_last=False), given
        while True:
            try:
                return await self._predict_once(model, stage, brief if form.is_short else usual, shown, form)
            except (BudgetExhausted, NotRecorded) as error:
                less = stage.shorten(shown) if form.is_short else shown
                if less is None or (isinstance(error, NotRecorded) and not error.has_other_form):
                    raise
            form, shown = PromptForm(is_short=True, is_last=stage.shorten(less) is None), less

    async def _predict_once(
        self, model: Model, stage: Stage[Given, Output], predictor: dspy.Predict, given: Given, form: PromptForm
    ) -> Output:
        floor = None
        if form.is_short:
            least = stage.least_answer(given) if stage.least_answer else stage.max_tokens // 4
            floor = min(_SHORT_ANSWER_TOKENS, least)
        prediction = await model.predict(
            stage.name,
            predictor,
            max_tokens=stage.max_tokens,
            answer_floor=floor,
            form=form,
            **stage.show(given),
        )
        try:
            return stage.read(given, prediction)
        except (ValueError, TypeError, AttributeError) as error:
            first_line = (str(error).splitlines() or [type(error).__name__])[0][:_ERROR_CHARS]
            raise ModelError("unusable_output", first_line) from error


def _with(predictor: dspy.Predict, problem: str, *, instead: str | None = None) -> dspy.Predict:
    """Return the predictor with other instructions, and with the problem of an earlier answer after them."""
    import dspy

    if not problem and instead is None:
        return predictor
    words = predictor.signature.instructions if instead is None else instead
    other = dspy.Predict(predictor.signature.with_instructions(words + problem))
    other.demos = predictor.demos
    return other


async def side_by_side(calls: Sequence[Coroutine[Any, Any, Output]]) -> list[Output]:
    """Run calls side by side, and return their results in the order of the calls.

    Unlike `asyncio.gather`, it never leaves a call running: when it is cancelled, or one fails, it waits until all
    have ended, so that what they spent is settled. Raises the error of the first that failed.
    """
    results: dict[int, Output] = {}
    errors: list[Exception] = []

    async def run(number: int, call: Coroutine[Any, Any, Output]) -> None:
        try:
            results[number] = await call
        except Exception as error:
            errors.append(error)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for number, call in enumerate(calls):
            group.start_soon(run, number, call)
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(calls))]
