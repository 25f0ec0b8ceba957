"""A real small model, on both of its endpoints: transport, streaming, usage, truncation and refusal; never content.

Runs where MARCHWARDEN_TEST_LM holds the address of a llama.cpp server (http://127.0.0.1:8101) that serves `smollm2`.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from typing import Any

import dspy
import pytest
from dspy import lm15

from marchwarden.budget import Budget
from marchwarden.errors import BudgetExhausted, ModelError
from marchwarden.lm import Model, connect
from marchwarden.lm.prompt import most_tokens
from marchwarden.lm.resolve import resolve
from marchwarden.settings import Settings

from .conftest import MemoryRecorder, budget_of

ADDRESS = os.environ.get("MARCHWARDEN_TEST_LM", "").rstrip("/").removesuffix("/v1")
MODELS = ["openai/smollm2", "anthropic/smollm2"]

pytestmark = [
    pytest.mark.local_lm,
    pytest.mark.skipif(not ADDRESS, reason="MARCHWARDEN_TEST_LM does not name a local model"),
    pytest.mark.anyio,
]


class Verdict(dspy.Signature):  # type: ignore[misc]
    """Say whether the statement is true."""

    statement: str = dspy.InputField()
    true: bool = dspy.OutputField()


def connected(model_id: str, budget: Budget, recorder: MemoryRecorder) -> Model:
    model = connect(Settings(model=model_id, api_base=ADDRESS + "/v1"), budget, recorder)
    assert model is not None
    return model


async def outcome(model: Model, statement: str, *, max_tokens: int = 40) -> Any:
    try:
        return await model.predict("plan", dspy.Predict(Verdict), max_tokens=max_tokens, statement=statement)
    except (ModelError, BudgetExhausted) as error:
        return error


@pytest.mark.parametrize("tokens", [500, *(pytest.param(each, marks=pytest.mark.slow) for each in (1000, 3000))])
@pytest.mark.parametrize("model_id", MODELS)
async def test_calls_side_by_side_keep_the_budget(model_id: str, tokens: int, recorder: MemoryRecorder) -> None:
    budget = budget_of(tokens)
    model = connected(model_id, budget, recorder)
    statements = [f"{n} is an even number; क्या यह सच है? 🧮" for n in range(6)]
    outcomes = await asyncio.gather(*(outcome(model, statement, max_tokens=12) for statement in statements))
    await model.aclose()
    assert 0 < budget.tokens_used <= tokens
    assert budget.tokens_used == sum(call.input_tokens + call.output_tokens for call in recorder.calls)
    assert budget.tokens_held() == 0
    for call in recorder.calls:
        assert call.charged_tokens <= call.reserved_tokens
    assert any(isinstance(each, BudgetExhausted) for each in outcomes) is (tokens <= 1000)


@pytest.mark.parametrize("model_id", MODELS)
async def test_an_answer_is_cut_at_its_cap(model_id: str, recorder: MemoryRecorder) -> None:
    model = connected(model_id, budget_of(3000), recorder)
    failed = await outcome(model, "Water is wet.", max_tokens=2)
    await model.aclose()
    assert isinstance(failed, ModelError)
    assert failed.kind == "truncated"
    assert recorder.calls[0].output_tokens == 2


@pytest.mark.parametrize("model_id", MODELS)
async def test_a_prompt_too_long_for_the_model_is_told_apart(model_id: str, recorder: MemoryRecorder) -> None:
    budget = budget_of(200_000)
    model = connected(model_id, budget, recorder)
    failed = await outcome(model, "1" * 20_000)
    await model.aclose()
    assert isinstance(failed, ModelError)
    assert failed.kind == "context_overflow"
    assert budget.tokens_used == 0
    assert len(recorder.calls) == 1


async def test_a_schema_makes_the_smallest_model_answer_in_json(recorder: MemoryRecorder) -> None:
    model = connected("openai/smollm2", budget_of(3000), recorder)
    answered = await outcome(model, "Ice is cold.")
    await model.aclose()
    assert isinstance(answered.true, bool)


@pytest.mark.parametrize("model_id", MODELS)
async def test_an_answer_streams_piece_by_piece(model_id: str) -> None:
    async with aclosing(resolve(Settings(model=model_id, api_base=ADDRESS + "/v1"))) as engine:
        events = [event.type async for event in engine.stream(asked("Count from one to ten.", 12))]
    assert events[0] == "start"
    assert events[-1] == "end"
    assert events.count("delta") > 1


TEXTS = ["plain words", "ไทยไม่เว้นวรรค", "中文字符测试", "🧪🌍👩‍🔬🧬", "ﷺﷺﷺ", "\u200b\u0301" * 20]


@pytest.mark.parametrize("model_id", MODELS)
async def test_the_bound_holds_in_every_script_and_the_count_is_what_is_billed(model_id: str) -> None:
    async with aclosing(resolve(Settings(model=model_id, api_base=ADDRESS + "/v1"))) as engine:
        for text in TEXTS:
            assert await count(engine, asked(text, 8)) <= most_tokens(asked(text, 8))
        request = asked("Say hello.", 8)
        response = await lm15.amaterialize_response(engine.stream(request), request)
        assert response.usage.input_tokens == await count(engine, request)


async def count(engine: Any, request: Any) -> int:
    """The server's count. While it generates for other tests, an engine may wait for it in vain."""
    for _ in range(6):
        if (counted := await engine.count_tokens(request)) is not None:
            return int(counted)
    pytest.fail("the server did not count")


def asked(text: str, cap: int) -> Any:
    messages = (lm15.Message.user(text),)
    # The likeliest answer: llama.cpp leaves out `message_start`, and so what the prompt cost, where an answer's first
    # token is a part of an emoji.
    config = lm15.Config(max_tokens=cap, temperature=0)
    return lm15.Request(model="m", messages=messages, system="Be brief.", config=config)
