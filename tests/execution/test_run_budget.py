"""The budget of a run: no call begins that could exceed it."""

from __future__ import annotations

import anyio
import pytest

from marchwarden.errors import BudgetExhausted
from marchwarden.execution.run_budget import RunBudget

pytestmark = pytest.mark.anyio


async def test_a_call_that_could_exceed_the_total_is_refused_and_what_came_before_counts() -> None:
    budget = RunBudget(1_000, used=300)
    await budget.reserve(600)
    await budget.settle(600, 500)
    with pytest.raises(BudgetExhausted, match="the run has used 800 of its 1,000 tokens, and a question may use 300"):
        await budget.reserve(300)
    await budget.reserve(200)


async def test_a_call_waits_while_others_may_give_back_what_it_needs() -> None:
    budget = RunBudget(1_000)
    await budget.reserve(900)
    async with anyio.create_task_group() as group:
        group.start_soon(budget.reserve, 500)
        await anyio.wait_all_tasks_blocked()
        await budget.settle(900, 100)
    with pytest.raises(BudgetExhausted):
        await budget.reserve(901)


async def test_without_a_total_everything_is_counted_and_nothing_refused() -> None:
    budget = RunBudget()
    await budget.reserve(10**9)
    await budget.settle(10**9, 7)
    assert budget.used == 7
