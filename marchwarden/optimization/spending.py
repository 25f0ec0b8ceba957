"""The budget of a compile, and what it has spent: one `Spending` for every call that any part of it makes.

The meter refuses tokens, as in a research call, so no optimizer can spend what is not there. Optimizers swallow
refusals and score them as failures. So a compile ends before a refusal, by `Stopped`, which they let through.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from marchwarden.budget import Budget, Reservation
from marchwarden.contract import Constraints
from marchwarden.errors import BudgetExhausted, MarchwardenError, ModelError
from marchwarden.evaluation.runs.prices import price_of
from marchwarden.lm import RETRIES, Model
from marchwarden.lm.engine import USUAL_FORM, Engine, PromptForm
from marchwarden.lm.recorded import RecordedEngine, Recording
from marchwarden.lm.resolve import resolve
from marchwarden.settings import Settings
from marchwarden.stages.stage import FAILURES_BORNE
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.events import Event, ModelCalled, Recorder

CALLS = "calls.jsonl"
# Tokens where no limit is given: more than any compile can use.
UNLIMITED = 10**12
MORE_TOKENS = "Allow more with --token-budget, and --resume."
INTERRUPTED = "it was interrupted"
# Kinds of failure that are the service's alone. DSPy has already retried the call, and the failure says nothing about
# the prompt that is tried.
SERVICE = ("bad_key", "network", "timeout", "server_error", "overloaded", "rate_limited")
# With kinds that may be the service's or the prompt's: where they come again and again, it is the service.
GONE = (*SERVICE, "unknown")


class Stopped(BaseException):
    """The end of a compile: nothing more may be spent, or the service is gone.

    It is a BaseException, so that no `except Exception` of an optimizer swallows it.
    """

    def __init__(
        self, reason: str, hint: str | None, *, by: MarchwardenError | None = None, short_of: str = ""
    ) -> None:
        """`by` is a failure of our own, which optimizers must not swallow; `short_of` the option that allows more."""
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.by = by
        self.short_of = short_of

    @property
    def is_interrupt(self) -> bool:
        return self.reason == INTERRUPTED


def interrupted() -> Stopped:
    return Stopped(INTERRUPTED, "--resume goes on.")


def out_of_tokens(reason: str) -> Stopped:
    return Stopped(reason, MORE_TOKENS, short_of="--token-budget")


def service_gone(reason: str) -> Stopped:
    return Stopped(
        f"the model can't be asked: {reason}", "`marchwarden doctor --online` says more; --resume goes on."
    )


@dataclass
class Spent:
    """Sums since the compile began, interrupted runs of it included."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """Seconds in calls that went out, added up also where they ran side by side; recorded answers take none."""
    dollars: float | None = 0.0
    """US dollars; None where a price is not known."""

    def since(self, before: Spent) -> Spent:
        dollars = None if self.dollars is None or before.dollars is None else self.dollars - before.dollars
        return Spent(self.calls - before.calls, self.tokens - before.tokens, self.seconds - before.seconds, dollars)

    def copy(self) -> Spent:
        return Spent(self.calls, self.tokens, self.seconds, self.dollars)


class Limits(Budget):
    """Limits of tokens and of calls. Both are counted before a call goes out, under one lock."""

    def __init__(self, tokens: int, calls: int | None) -> None:
        super().__init__(Constraints(), math.inf)
        self.token_budget = tokens
        self._most_calls = calls
        self._calls_aside = 0

    def keep_calls(self, calls: int) -> None:
        """Keep so many calls for later; 0 gives them back."""
        with self._lock:
            self._calls_aside = calls

    @property
    def calls_left(self) -> int | None:
        """Calls that may still go out; None where they are not limited."""
        with self._lock:
            return self._calls_left()

    def _calls_left(self) -> int | None:
        # Without the lock, which `_left` is called under.
        return None if self._most_calls is None else self._most_calls - self._calls_aside - self._count

    def _left(self, stage: str) -> int:
        calls = self._calls_left()
        return super()._left(stage) if calls is None or calls > 0 else 0


class UncutModel(Model):
    """A model that is asked only where the budget holds the whole output limit of the answer.

    An answer that was cut for lack of tokens would make its prompt look like a bad one.
    """

    @contextmanager
    def asking(
        self, stage: str, *, max_tokens: int, answer_floor: int | None = None, form: PromptForm = USUAL_FORM
    ) -> Iterator[None]:
        with super().asking(stage, max_tokens=max_tokens, answer_floor=answer_floor or max_tokens, form=form):
            yield


class Spending:
    """Opens models whose calls share one budget, and counts their calls. Safe under threads and tasks."""

    def __init__(
        self,
        folder: Path,
        *,
        tokens: int | None = None,
        calls: int | None = None,
        engine_for: Callable[[Settings], Engine] = resolve,
    ) -> None:
        """`folder` keeps every answer, so that nothing is paid twice. `engine_for` makes the engine of a model."""
        self.budget = Limits(tokens or UNLIMITED, calls)
        self.spent = Spent()
        self.recording = Recording(folder / CALLS)
        self.on_call: Callable[[], None] = lambda: None
        self._engine_for = engine_for
        self._holds: dict[str, int] = defaultdict(int)
        """Most tokens that were reserved for a call of each stage."""
        self._aside = ""
        """Name of what tokens and calls are set aside for; empty where none are."""
        self._trouble = 0
        """Calls in a row in which the model could not be asked."""
        self._writers: list[Model] = []
        self._writers_trouble = 0
        """Attempts in a row in which a model that writes instructions could not be asked."""
        self._writers_last = ""
        self._lock = threading.Lock()

    def open(self, settings: Settings, recorder: Recorder | None = None, *, writes: bool = False) -> Model:
        """Open the model of the settings.

        `writes` says that it writes instructions: optimizers swallow what goes wrong with such a model. Raises
        ConfigurationError where a key is missing or the model is unknown.
        """
        model = UncutModel(
            settings.model_id,
            RecordedEngine(self._engine_for(settings), self.recording),
            self.budget,
            _SpendingRecorder(self, recorder, writes),
            secrets=secrets_of(settings),
        )
        if writes:
            self._writers = [model]
            self._writers_trouble = 0
        return model

    def open_within(self, settings: Settings, budget: Budget, recorder: Recorder) -> Model:
        """Open a model for one research call, which has its own budget. `reserve` keeps that within this one."""
        return Model(
            settings.model_id,
            RecordedEngine(self._engine_for(settings), self.recording),
            budget,
            _SpendingRecorder(self, recorder, writes=False),
            secrets=secrets_of(settings),
        )

    def reserve(self, name: str, tokens: int) -> Reservation:
        """Reserve the whole budget of a research call; commit to `budget` what it used.

        Raises Stopped where so many tokens are not left.
        """
        self.check(name, tokens)
        try:
            return self.budget.reserve(name, tokens)
        except BudgetExhausted:  # another thread was quicker
            raise self._short_of_tokens(name, str(tokens)) from None

    def hold(self, stage: str) -> int:
        """Return the most tokens that were reserved for a call of the stage: prompt and answer at their longest."""
        return self._holds[stage]

    def set_aside(self, name: str, tokens: int, calls: int) -> None:
        """Set tokens and calls aside for later, under this name; 0 gives them back."""
        self._aside = name if tokens or calls else ""
        self.budget.set_aside(name, tokens)
        self.budget.keep_calls(calls)

    def check(self, stage: str, answer: int) -> None:
        """Raise Stopped where one more call of the stage, with an answer of so many tokens, may not fit."""
        if stopped := self.ended(stage, answer):
            raise stopped

    def ended(self, stage: str, answer: int) -> Stopped | None:
        """Return the reason why no call of the stage may follow; None where one may."""
        if self._writers_trouble >= FAILURES_BORNE * (RETRIES + 1):
            return service_gone(self._writers_last)
        calls = self.budget.calls_left
        if calls is not None and calls <= 0:
            return self.refused(stage)
        left, needed = self.budget.tokens_left(stage), max(self._holds[stage], answer)
        if left < needed:
            return self._short_of_tokens(stage, str(needed))
        if any(model.meter.refused for model in self._writers):
            return self.refused(stage)
        return None

    def refused(self, stage: str) -> Stopped:
        """Return the reason why the meter refused a call of the stage."""
        calls = self.budget.calls_left
        if calls is not None and calls <= 0:
            rest = f"the rest is set aside for {self._aside}" if self._aside else "no more may be made"
            made = f"{self.spent.calls} calls were made, and {rest}"
            return Stopped(made, "Allow more with --max-calls, and --resume.", short_of="--max-calls")
        return self._short_of_tokens(stage, "more")

    def _short_of_tokens(self, stage: str, needed: str) -> Stopped:
        left = max(0, self.budget.tokens_left(stage))
        beside = f" beside what is set aside for {self._aside}" if self._aside else ""
        return out_of_tokens(f"{left} tokens are left for {stage}{beside}, and a call may need {needed}")

    def failed(self, error: Exception) -> None:
        """Count a call that failed.

        Raises Stopped where the budget refused it, the service is gone, or answers can't be kept.
        """
        if isinstance(error, BudgetExhausted):
            raise self.refused("the search") from None
        if isinstance(error, MarchwardenError) and not isinstance(error, ModelError):
            raise Stopped(str(error), error.hint, by=error)
        if not isinstance(error, ModelError) or error.kind not in GONE:
            self._trouble = 0
            return
        self._trouble += 1
        if error.kind == "bad_key" or self._trouble >= FAILURES_BORNE:
            raise service_gone(str(error))

    def answered(self) -> None:
        self._trouble = 0

    def record(self, event: Event, *, writes: bool = False) -> None:
        if not isinstance(event, ModelCalled):
            return
        price = price_of(event.model_id)
        with self._lock:
            if writes:
                kind, _, said = (event.error or "").partition(": ")
                if kind not in GONE:
                    self._writers_trouble = 0
                else:
                    self._writers_last = said
                    # A wrong key stays wrong, so it counts as all the attempts that are borne.
                    self._writers_trouble += FAILURES_BORNE * (RETRIES + 1) if kind == "bad_key" else 1
            else:
                self._holds[event.stage] = max(self._holds[event.stage], event.reserved_tokens)
            self.spent.calls += 1
            self.spent.tokens += event.charged_tokens
            self.spent.seconds += event.duration_sec
            if price is None or self.spent.dollars is None:
                self.spent.dollars = None
            else:
                self.spent.dollars += price.of(event.input_tokens, event.output_tokens, event.cached_tokens)
        self.on_call()

    def progress(self, message: str) -> None:
        pass


@dataclass(frozen=True)
class _SpendingRecorder:
    """Records calls in the spending, and passes them on to another recorder."""

    spending: Spending
    other: Recorder | None
    writes: bool

    def record(self, event: Event) -> None:
        self.spending.record(event, writes=self.writes)
        if self.other:
            self.other.record(event)

    def progress(self, message: str) -> None:
        pass


class Clock:
    """Counts seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return round(time.monotonic() - self._began, 1)
