"""Budgets: what is reserved, committed, set aside and counted can never exceed its limit."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from marchwarden.budget import Budget, Reservation
from marchwarden.contract import Constraints
from marchwarden.errors import BudgetExhausted


def budget(tokens: int = 1000, **more: int) -> Budget:
    return Budget(Constraints(token_budget=tokens, **more), 60)


def test_a_reservation_is_held_until_it_is_committed() -> None:
    b = budget()
    held = b.reserve("plan", 600)
    assert b.tokens_left("plan") == 400
    assert b.tokens_held() == 600
    assert b.commit(held, 250) == 250
    assert b.tokens_used == 250
    assert b.tokens_held() == 0
    assert b.tokens_left("plan") == 750


def test_more_than_is_left_cannot_be_reserved() -> None:
    b = budget()
    b.reserve("plan", 600)
    with pytest.raises(BudgetExhausted, match="plan needs 401 tokens, but only 400 are left") as refused:
        b.reserve("plan", 401)
    assert refused.value.limit == "tokens"


def test_all_that_is_left_can_be_reserved_and_then_nothing() -> None:
    b = budget()
    b.reserve("plan", 600)
    b.reserve("extract", 400)
    with pytest.raises(BudgetExhausted, match="gaps needs 1 tokens, but only 0 are left"):
        b.reserve("gaps", 1)


def test_of_what_is_set_aside_beyond_the_budget_none_is_left_for_others() -> None:
    b = budget()
    b.set_aside("synthesize", 1200)
    with pytest.raises(BudgetExhausted, match="plan needs 1 tokens, but only 0 are left"):
        b.reserve("plan", 1)


def test_what_is_set_aside_for_a_stage_only_that_stage_can_reserve() -> None:
    b = budget()
    b.set_aside("synthesize", 700)
    assert b.tokens_left("plan") == 300
    assert b.tokens_left("synthesize") == 1000
    b.set_aside("synthesize", 0)
    assert b.tokens_left("plan") == 1000


def test_a_report_beyond_the_hold_takes_only_what_nobody_else_holds() -> None:
    b = budget()
    first, second = b.reserve("plan", 100), b.reserve("extract", 300)
    assert b.commit(first, 5000) == 700
    assert b.commit(second, 300) == 300
    assert b.tokens_used == 1000


def test_a_negative_report_is_nothing() -> None:
    b = budget()
    assert b.commit(b.reserve("plan", 100), -5) == 0


def test_a_reservation_is_committed_once() -> None:
    b = budget()
    held = b.reserve("plan", 100)
    b.commit(held, 10)
    with pytest.raises(KeyError):
        b.commit(held, 10)


def test_iterations_are_taken_one_by_one_until_the_limit() -> None:
    b = budget(max_iterations=2)
    assert [b.take_iteration() for _ in range(3)] == [True, True, False]
    assert b.iterations_run == 2


def test_sources_are_granted_up_to_the_limit() -> None:
    b = budget(max_sources=5)
    assert [b.take_sources(3), b.take_sources(3), b.take_sources(3)] == [3, 2, 0]
    assert b.sources_used == 5


def test_seconds_run_on_the_clock_that_is_passed_in() -> None:
    now = 100.0
    b = Budget(Constraints(), 30, clock=lambda: now)
    now = 112.0
    assert b.seconds_used() == 12
    assert b.seconds_left() == 18


def test_each_limit_that_ran_out_is_remembered_once_in_order() -> None:
    b = budget()
    for limit in ("seconds", "tokens", "seconds"):
        b.ran_out(limit)  # type: ignore[arg-type]
    assert b.exhausted == ["seconds", "tokens"]


def test_forty_threads_reserve_no_more_than_there_is() -> None:
    b, barrier = budget(1000), threading.Barrier(40)

    def take(_: int) -> int:
        barrier.wait()
        try:
            return b.commit(b.reserve("extract", 90), 90)
        except BudgetExhausted:
            return 0

    with ThreadPoolExecutor(40) as pool:
        assert sum(pool.map(take, range(40))) == b.tokens_used == 990


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(-10, 3000)), max_size=20))
def test_any_sequence_of_calls_stays_within_the_budget(calls: list[tuple[int, int]]) -> None:
    b, charged = budget(1000), 0
    for held, reported in calls:
        try:
            charged += b.commit(b.reserve("plan", held), reported)
        except BudgetExhausted:
            assert held > 1000 - b.tokens_used
    assert charged == b.tokens_used <= 1000


class Interleaved(RuleBasedStateMachine):
    """Reservations of several stages, committed in any order and for any report."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = budget(1000)
        self.open: list[Reservation] = []

    @rule(stage=st.sampled_from(["plan", "extract", "synthesize"]), tokens=st.integers(0, 600))
    def reserve(self, stage: str, tokens: int) -> None:
        left = self.budget.tokens_left(stage)
        try:
            self.open.append(self.budget.reserve(stage, tokens))
        except BudgetExhausted:
            assert tokens > left

    @rule(index=st.integers(0, 20), reported=st.integers(0, 2000))
    def commit(self, index: int, reported: int) -> None:
        if self.open:
            self.budget.commit(self.open.pop(index % len(self.open)), reported)

    @rule(tokens=st.integers(0, 500))
    def set_aside(self, tokens: int) -> None:
        self.budget.set_aside("synthesize", tokens)

    @invariant()
    def used_and_held_fit(self) -> None:
        assert self.budget.tokens_used + self.budget.tokens_held() <= self.budget.token_budget


TestInterleaved = Interleaved.TestCase
