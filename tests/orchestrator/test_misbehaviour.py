"""Whatever researchers do, the budget holds, the result is valid, and every loss is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.orchestrator.schedules import check_schedule

pytestmark = pytest.mark.anyio


# evals/investigations/misbehaviour.py runs a thousand.
@pytest.mark.parametrize("seed", range(0, 20, 10))
async def test_random_teams_that_crash_lie_and_overspend(seed: int, tmp_path: Path) -> None:
    for number in range(seed, seed + 10):
        await check_schedule(number, tmp_path / str(number), hangs=False)


async def test_random_teams_that_hang(tmp_path: Path) -> None:
    for number in range(1_000, 1_002):
        await check_schedule(number, tmp_path / str(number), hangs=True)
