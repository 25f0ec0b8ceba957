"""What a compile may spend, and what it has spent: one purse for every call that any part of it makes.

Tokens are the meter's to refuse, as in a research call: no optimizer can spend what is not there. Since optimizers
swallow refusals and score them as failures, a compile ends before one, by `Stopped`, which they let through.
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
from marchwarden.lm.engine import Engine
from marchwarden.lm.recorded import RecordedEngine, Recording
from marchwarden.lm.resolve import resolve
from marchwarden.redaction import secrets_of
from marchwarden.settings import Settings
from marchwarden.stages.stage import FAILURES_BORNE
from marchwarden.trace.events import Event, ModelCalled, Recorder

CALLS = "calls.jsonl"
UNLIMITED = 10**12
MORE_TOKENS = "Allow more with --token-budget, and --resume."
INTERRUPTED = "it was interrupted"
SERVICE = ("bad_key", "network", "timeout", "server_error", "overloaded", "rate_limited")
"""What the service did not do: DSPy has already retried it, and it says nothing of the prompt that is tried."""
GONE = (*SERVICE, "unknown")
"""With what may be the service or the prompt: again and again, it is the service."""


class Stopped(BaseException):
    """Nothing more may be spent, or nobody answers. No `except Exception` of an optimizer holds it up."""

    def __init__(
        self, reason: str, hint: str | None, *, by: MarchwardenError | None = None, short_of: str = ""
    ) -> None:
        """`by`: a failure of our own, which optimizers must not swallow. `short_of`: the option that allows more."""
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
    """Since the compile began, interrupted attempts included."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """In calls that went out, one after another or side by side; recorded answers take none."""
    dollars: float | None = 0.0
    """None where a price is not known."""

    def since(self, before: Spent) -> Spent:
        dollars = None if self.dollars is None or before.dollars is None else self.dollars - before.dollars
        return Spent(self.calls - before.calls, self.tokens - before.tokens, self.seconds - before.seconds, dollars)

    def copy(self) -> Spent:
        return Spent(self.calls, self.tokens, self.seconds, self.dollars)


class Limits(Budget):
    """Tokens, and how many attempts may go out: both are counted before one does, under one lock."""

    def __init__(self, tokens: int, calls: int | None) -> None:
        super().__init__(Constraints(), math.inf)
        self.token_budget = tokens
        self._most_calls = calls
        self._calls_aside = 0

    def keep_calls(self, calls: int) -> None:
        """Leave so many calls for later; 0 gives them back."""
        with self._lock:
            self._calls_aside = calls

    @property
    def calls_left(self) -> int | None:
        """None for any number of them."""
        with self._lock:
            return self._calls_left()

    def _calls_left(self) -> int | None:
        return None if self._most_calls is None else self._most_calls - self._calls_aside - self._count

    def _left(self, stage: str) -> int:
        calls = self._calls_left()
        return super()._left(stage) if calls is None or calls > 0 else 0


class UncutModel(Model):
    """A model whose answers have their whole cap or are not asked for: one that was cut for lack of tokens would say
    that its prompt is a bad one."""

    @contextmanager
    def asking(self, stage: str, *, max_tokens: int, answer_floor: int | None = None) -> Iterator[None]:
        with super().asking(stage, max_tokens=max_tokens, answer_floor=answer_floor or max_tokens):
            yield


class Purse:
    """Opens models whose calls it pays for, and counts them. Safe under threads and tasks."""

    def __init__(
        self,
        folder: Path,
        *,
        tokens: int | None = None,
        calls: int | None = None,
        engine_for: Callable[[Settings], Engine] = resolve,
    ) -> None:
        """`folder` keeps every answer, so that nothing is paid twice. `engine_for`: the engine of a model."""
        self.budget = Limits(tokens or UNLIMITED, calls)
        self.spent = Spent()
        self.recording = Recording(folder / CALLS)
        self.on_call: Callable[[], None] = lambda: None
        self._engine_for = engine_for
        self._holds: dict[str, int] = defaultdict(int)
        """The most that a call of a stage was held for."""
        self._aside = ""
        """What is kept for later: `proof`."""
        self._trouble = 0
        self._writers: list[Model] = []
        self._writers_trouble = 0
        """Attempts in a row in which a model that writes instructions could not be asked."""
        self._writers_last = ""
        self._lock = threading.Lock()

    def open(self, settings: Settings, recorder: Recorder | None = None, *, writes: bool = False) -> Model:
        """The model of the settings. `writes`: it is to write instructions, and optimizers swallow what goes wrong
        with it. Raises ConfigurationError for a key that is missing or a model nobody knows."""
        model = UncutModel(
            settings.model_id,
            RecordedEngine(self._engine_for(settings), self.recording),
            self.budget,
            _Both(self, recorder, writes),
            secrets=secrets_of(settings),
        )
        if writes:
            self._writers = [model]
            self._writers_trouble = 0
        return model

    def open_within(self, settings: Settings, budget: Budget, recorder: Recorder) -> Model:
        """A model for one research call, whose own budget bounds it. `reserve` keeps that within the purse."""
        return Model(
            settings.model_id,
            RecordedEngine(self._engine_for(settings), self.recording),
            budget,
            _Both(self, recorder, writes=False),
            secrets=secrets_of(settings),
        )

    def reserve(self, name: str, tokens: int) -> Reservation:
        """Hold the whole budget of a research call; commit to `budget` what it used. Raises Stopped where that many
        tokens are not there."""
        self.check(name, tokens)
        try:
            return self.budget.reserve(name, tokens)
        except BudgetExhausted:  # another thread was quicker
            raise self._short_of_tokens(name, str(tokens)) from None

    def hold(self, stage: str) -> int:
        """The most tokens that a call of the stage was held for by now: prompt and answer at their longest."""
        return self._holds[stage]

    def set_aside(self, name: str, tokens: int, calls: int) -> None:
        """Keep tokens and calls for later, under this name; 0 gives them back."""
        self._aside = name if tokens or calls else ""
        self.budget.set_aside(name, tokens)
        self.budget.keep_calls(calls)

    def check(self, stage: str, answer: int) -> None:
        """Raises Stopped where one more call of the stage, with an answer of so many tokens, may not fit."""
        if stopped := self.ended(stage, answer):
            raise stopped

    def ended(self, stage: str, answer: int) -> Stopped | None:
        """Why no call may follow; None where one may."""
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
        """Why the meter let a call of the stage not go out."""
        calls = self.budget.calls_left
        if calls is not None and calls <= 0:
            rest = f"the rest is set aside for the {self._aside}" if self._aside else "no more may be"
            made = f"{self.spent.calls} calls were made, and {rest}"
            return Stopped(made, "Allow more with --max-calls, and --resume.", short_of="--max-calls")
        return self._short_of_tokens(stage, "more")

    def _short_of_tokens(self, stage: str, needed: str) -> Stopped:
        left = max(0, self.budget.tokens_left(stage))
        beside = f" beside what is set aside for the {self._aside}" if self._aside else ""
        return out_of_tokens(f"{left} tokens are left for {stage}{beside}, and a call may need {needed}")

    def failed(self, error: Exception) -> None:
        """Take note of a call that failed. Raises Stopped where the budget refused it, the service is gone, or
        answers can't be kept."""
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
                self._note_writer(event.error)
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

    def _note_writer(self, error: str | None) -> None:
        kind, _, said = (error or "").partition(": ")
        if kind not in GONE:
            self._writers_trouble = 0
            return
        self._writers_last = said
        self._writers_trouble += FAILURES_BORNE * (RETRIES + 1) if kind == "bad_key" else 1

    def progress(self, message: str) -> None:
        pass


@dataclass(frozen=True)
class _Both:
    """Tells the purse, and whoever else wants to know of the same calls."""

    purse: Purse
    other: Recorder | None
    writes: bool

    def record(self, event: Event) -> None:
        self.purse.record(event, writes=self.writes)
        if self.other:
            self.other.record(event)

    def progress(self, message: str) -> None:
        pass


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return round(time.monotonic() - self._began, 1)
