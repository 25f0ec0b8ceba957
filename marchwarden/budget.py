"""The budget of one call: tokens, iterations, sources and seconds. The clock is passed in.

Tokens are reserved before a model is called and committed after it, so that concurrent calls together never spend
more than the budget. Safe under threads and tasks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from marchwarden.contract import Constraints
from marchwarden.errors import BudgetExhausted, Limit

# Share of the tokens, and tokens at most, that are set aside for the answer before anything else is spent.
SYNTHESIS_SHARE, SYNTHESIS_TOKENS = 0.5, 4000
# The same while nothing is found that an answer could be made of: a model may find it in the pages. A guess.
UNFOUNDED_SYNTHESIS_SHARE = 0.25
# The same for the check of its claims. The answer takes about a third of its own, and the check may take the rest.
VERIFY_SHARE, VERIFY_TOKENS = 0.1, 1500
# Tokens below which nothing is set aside for the check: one claim with its quote takes about 300.
LEAST_VERIFY_TOKENS = 250


@dataclass(frozen=True)
class Reservation:
    stage: str
    tokens: int
    number: int


class Budget:
    def __init__(
        self, constraints: Constraints, max_seconds: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.token_budget = constraints.token_budget
        self.max_iterations = constraints.max_iterations
        self.max_sources = constraints.max_sources
        self.max_seconds = max_seconds
        self.tokens_used = 0
        self.iterations_run = 0
        self.sources_used = 0
        self.exhausted: list[Limit] = []
        """Limits that cut something short, in the order in which they did."""
        self._clock = clock
        self._started = clock()
        self._held: dict[int, Reservation] = {}
        self._set_aside: dict[str, int] = {}
        self._count = 0
        self._lock = threading.Lock()

    def start_clock(self) -> None:
        """Count seconds from now: what was made ready before, for all calls, is on no call's time."""
        self._started = self._clock()

    # Tokens

    def set_aside(self, stage: str, tokens: int) -> None:
        """Keep `tokens` for `stage`, so that no other stage can reserve them; 0 gives them back."""
        with self._lock:
            self._set_aside[stage] = tokens

    def tokens_left(self, stage: str) -> int:
        """Return the tokens that `stage` may still reserve.

        Those are tokens not used, not held by a running call, and not set aside for another stage.
        """
        with self._lock:
            return self._left(stage)

    def tokens_held(self) -> int:
        """Return the tokens that running calls hold; each call gives back those that it did not need."""
        with self._lock:
            return sum(held.tokens for held in self._held.values())

    def reserve(self, stage: str, tokens: int) -> Reservation:
        """Hold `tokens` and return the reservation, to be committed after the call.

        Raises BudgetExhausted where so many are not left.
        """
        with self._lock:
            if tokens > (left := self._left(stage)):
                raise BudgetExhausted("tokens", f"{stage} needs {tokens} tokens, but only {max(left, 0)} are left")
            self._count += 1
            reservation = Reservation(stage, tokens, self._count)
            self._held[reservation.number] = reservation
            return reservation

    def commit(self, reservation: Reservation, tokens: int) -> int:
        """Turn a reservation into use and return the tokens that were charged.

        They are `tokens`, or, where a provider reports more than was reserved, as many of them as nobody else holds.
        """
        # The reservation is a bound on the call's cost, so that only a wrong report goes beyond it. The total stays
        # within the budget whatever is reported.
        with self._lock:
            self._held.pop(reservation.number)
            others = sum(held.tokens for held in self._held.values())
            charged = min(max(tokens, 0), self.token_budget - self.tokens_used - others)
            self.tokens_used += charged
            return charged

    def _left(self, stage: str) -> int:
        held = sum(each.tokens for each in self._held.values())
        aside = sum(tokens for name, tokens in self._set_aside.items() if name != stage)
        return self.token_budget - self.tokens_used - held - aside

    # Iterations, sources, seconds

    def take_iteration(self) -> bool:
        """Count one more turn of the loop; False where the limit is reached."""
        if self.iterations_run >= self.max_iterations:
            return False
        self.iterations_run += 1
        return True

    def take_sources(self, wanted: int) -> int:
        """Count up to `wanted` more pages, and return how many may be fetched."""
        granted = min(wanted, self.max_sources - self.sources_used)
        self.sources_used += granted
        return granted

    def seconds_used(self) -> float:
        return self._clock() - self._started

    def seconds_left(self) -> float:
        return self.max_seconds - self.seconds_used()

    def ran_out(self, limit: Limit) -> None:
        """Remember that `limit` cut something short, so that the result says `budget_exhausted`."""
        if limit not in self.exhausted:
            self.exhausted.append(limit)
