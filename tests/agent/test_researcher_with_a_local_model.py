"""Whole research calls with a real small model, through both of its endpoints. It is weak on purpose: what is asserted is
that the budget holds and the result is valid and verified, never what the model says."""

from __future__ import annotations

import os

import pytest

from marchwarden.settings import Settings, load_settings
from tests.profiles import within
from tests.runs import run

ADDRESS = os.environ.get("MARCHWARDEN_TEST_LM", "").rstrip("/")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.local_lm,
    pytest.mark.skipif(not ADDRESS, reason="MARCHWARDEN_TEST_LM names no local model server (.ci/run serves one)"),
]

QUESTION = "How many participants did VITAL enrol?"
SECONDS = 10.0
"""Wall clock of one call: enough for a few answers on a busy machine; what is not reached ends model-free."""


def settings_for(endpoint: str) -> Settings:
    if endpoint == "anthropic":
        own = {"model": "anthropic/claude-haiku-4-5", "api_base": ADDRESS, "anthropic_api_key": "sk-local"}
    else:
        own = {"model": "openai/smollm2", "api_base": f"{ADDRESS}/v1"}
    return load_settings(source="snapshot", max_seconds=SECONDS, model_calls=1, **own)


@pytest.mark.parametrize(
    ("endpoint", "budget"),
    [
        ("openai", 500),
        pytest.param("openai", 1000, marks=pytest.mark.slow),
        pytest.param("openai", 3000, marks=pytest.mark.slow),
        pytest.param("openai", 20_000, marks=pytest.mark.slow),
        pytest.param("anthropic", 500, marks=pytest.mark.slow),
        ("anthropic", 3000),
    ],
)
async def test_the_budget_holds_and_the_result_verifies(endpoint: str, budget: int) -> None:
    done = await run(QUESTION, settings=settings_for(endpoint), depth="shallow", constraints={"token_budget": budget})
    cost = done.result.cost_metadata
    assert 0 <= cost.tokens_used <= budget
    assert cost.tokens_used == sum(call.charged_tokens for call in done.events("model_call"))
    assert cost.wall_time_sec < within(SECONDS)
    assert done.problems == []
    if cost.budget_exhausted:
        assert "budget_exhausted" in done.categories()
    else:
        assert done.events("model_call")


async def test_at_500_tokens_there_is_a_valid_result_with_a_budget_gap() -> None:
    done = await run(QUESTION, settings=settings_for("openai"), constraints={"token_budget": 500})
    assert "budget_exhausted" in done.categories()
    assert done.result.citations
