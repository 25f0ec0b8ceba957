"""What a compile may spend, and what it has spent: one purse for every call that any part of it makes.

Tokens are the meter's to refuse, as in a research call: no optimizer can spend what is not there. Since optimizers
swallow refusals and score them as failures, a compile ends before one, by `Stopped`, which they let through.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from marchwarden.budget import Budget
from marchwarden.errors import BudgetExhausted, ModelError
from marchwarden.evaluation.prices import price_of
from marchwarden.lm import Model
from marchwarden.lm.recorded import AsyncRecordedEngine, RecordedEngine, Recording
from marchwarden.lm.resolve import Resolved, resolve
from marchwarden.settings import Settings
from marchwarden.stages import FAILURES_BORNE
from marchwarden.trace.events import Event, ModelCalled, Recorder

CALLS = "calls.jsonl"
UNLIMITED = 10**12
MORE_TOKENS = "Allow more with --token-budget, and --resume."
_GONE = ("bad_key", "network", "timeout", "server_error", "overloaded", "rate_limited", "unknown")
"""What says nothing of the prompt that is tried: DSPy has already retried it."""


class Stopped(BaseException):
    """Nothing more may be spent, or nobody answers. No `except Exception` of an optimizer holds it up."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


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


class Purse:
    """Opens models whose calls it pays for, and counts them. Safe under threads and tasks."""

    def __init__(
        self,
        folder: Path,
        *,
        tokens: int | None = None,
        calls: int | None = None,
        engines: Callable[[Settings], Resolved] = resolve,
    ) -> None:
        """`folder` keeps every answer, so that nothing is paid twice. `engines`: how a model id becomes engines."""
        self.budget = Budget.of_tokens(tokens or UNLIMITED)
        self.spent = Spent()
        self.recording = Recording(folder / CALLS)
        self.on_call: Callable[[], None] = lambda: None
        self._most_calls = calls
        self._engines = engines
        self._longest = 0
        self._trouble = 0
        self._lock = threading.Lock()

    def open(self, settings: Settings, recorder: Recorder | None = None) -> Model:
        """The model of the settings. Raises ConfigurationError for a key that is missing or a model nobody knows."""
        found = self._engines(settings)
        return Model(
            settings.model_id,
            RecordedEngine(found.engine, self.recording),
            AsyncRecordedEngine(found.async_engine, self.recording),
            self.budget,
            _Both(self, recorder),
            secrets=found.secrets,
        )

    def check(self, stage: str, answer: int) -> None:
        """Raises Stopped where one more call of the stage, with an answer of so many tokens, may not fit."""
        if stopped := self.ended(stage, answer):
            raise stopped

    def ended(self, stage: str, answer: int) -> Stopped | None:
        """Why no call may follow; None where one may."""
        if self._most_calls is not None and self.spent.calls >= self._most_calls:
            return Stopped(f"{self._most_calls} calls were made", "Allow more with --max-calls, and --resume.")
        left = self.budget.tokens_left(stage)
        if left < self._longest + answer:
            needed = f"{max(0, left)} tokens are left, and a call may need {self._longest + answer}"
            return Stopped(needed, MORE_TOKENS)
        return None

    def failed(self, error: Exception) -> None:
        """Take note of a call that failed; raises Stopped where the budget refused it, or the service is gone."""
        if isinstance(error, BudgetExhausted):
            raise Stopped(str(error), MORE_TOKENS) from None
        if not isinstance(error, ModelError) or error.kind not in _GONE:
            self._trouble = 0
            return
        self._trouble += 1
        if error.kind == "bad_key" or self._trouble >= FAILURES_BORNE:
            raise Stopped(
                f"the model can't be asked: {error}", "`marchwarden doctor --online` says more; --resume goes on."
            )

    def answered(self) -> None:
        self._trouble = 0

    def record(self, event: Event) -> None:
        if not isinstance(event, ModelCalled):
            return
        price = price_of(event.model_id)
        with self._lock:
            self.spent.calls += 1
            self.spent.tokens += event.charged_tokens
            self.spent.seconds += event.duration_sec
            self._longest = max(self._longest, event.input_tokens)
            if price is None or self.spent.dollars is None:
                self.spent.dollars = None
            else:
                self.spent.dollars += price.of(event.input_tokens, event.output_tokens, event.cached_tokens)
        self.on_call()

    def progress(self, message: str) -> None:
        pass


@dataclass(frozen=True)
class _Both:
    """Tells the purse, and whoever else wants to know of the same calls."""

    purse: Purse
    other: Recorder | None

    def record(self, event: Event) -> None:
        self.purse.record(event)
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
