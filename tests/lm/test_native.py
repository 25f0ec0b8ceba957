"""DSPy's own engine against a server that speaks OpenAI's chat completions."""

from __future__ import annotations

import asyncio
from typing import Any

import dspy
import pytest
from dspy import lm15

from marchwarden.budget import Budget
from marchwarden.errors import ModelError
from marchwarden.lm import connect
from marchwarden.lm.engine import Capabilities, Engine
from marchwarden.lm.native import NativeEngine, Route
from marchwarden.lm.prompt import usual_most_tokens
from marchwarden.lm.resolve import resolve
from marchwarden.settings import Settings

from .conftest import MemoryRecorder, budget_of, request_of
from .test_anthropic import WHOLE as CLAUDE_ANSWER
from .wire import Answer, Service, as_events, as_json, service

# Bound on request_of() for any tokenizer that is known.
MEASURED = usual_most_tokens(request_of())


class Question(dspy.Signature):  # type: ignore[misc]
    """Answer."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def answer(text: str, finish: str = "stop", **usage: Any) -> Answer:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "smollm2"}
    usage = usage or {"prompt_tokens": 400, "completion_tokens": 9, "total_tokens": 409}
    return as_events(
        (None, {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}),
        (None, {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
        (None, {**base, "choices": [], "usage": usage}),
        (None, "[DONE]"),
    )


def refused(status: int, message: str, **headers: str) -> Answer:
    return as_json({"error": {"message": message, "type": "invalid_request_error"}}, status, **headers)


def predict(
    answers: list[Answer], recorder: MemoryRecorder, *, times: int = 1, budget: Budget | None = None, **more: Any
) -> tuple[list[Any], Budget, Service]:
    budget = budget or budget_of(20_000)

    async def run(address: str) -> list[Any]:
        model = connect(
            Settings(model="openai/smollm2", api_base=address + "/v1", api_key="sk-own-0123456789"),  # type: ignore[arg-type]
            budget,
            recorder,
        )
        assert model is not None
        outcomes: list[Any] = []
        for _ in range(times):
            try:
                outcomes.append(await model.predict("plan", dspy.Predict(Question), max_tokens=50, question="Q?"))
            except Exception as error:
                outcomes.append(error)
        await model.aclose()
        return outcomes

    with service(*answers, **more) as server:
        return asyncio.run(run(server.address)), budget, server


def test_an_answer_streams_with_its_usage_and_the_schema_was_sent(recorder: MemoryRecorder) -> None:
    [outcome], budget, server = predict([answer('{"answer": "Paris"}')], recorder)
    assert outcome.answer == "Paris"
    assert budget.tokens_used == 409
    path, headers, body = server.received[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer sk-own-0123456789"
    assert body["model"] == "smollm2"
    assert body["max_tokens"] == 50
    assert body["stream_options"] == {"include_usage": True}
    assert body["response_format"]["json_schema"]["schema"]["properties"].keys() == {"answer"}


def test_a_server_that_takes_no_schema_is_asked_without_one_from_then_on(recorder: MemoryRecorder) -> None:
    no = refused(400, "response_format is not supported")
    whole = answer('{"answer": "Paris"}')
    outcomes, budget, server = predict([no, whole, whole], recorder, times=2)
    assert [outcome.answer for outcome in outcomes] == ["Paris", "Paris"]
    assert ["response_format" in body for _, _, body in server.received] == [True, False, False]
    assert budget.tokens_used == 818


@pytest.mark.parametrize(
    ("response", "kind", "attempts"),
    [
        (refused(401, "Incorrect API key provided: sk-own-0123456789"), "bad_key", 1),
        (refused(400, "request (20030 tokens) exceeds the available context size"), "context_overflow", 1),
        (refused(404, "no such model"), "unknown", 1),
        (refused(429, "slow down", retry_after="0"), "rate_limited", 3),
        (refused(500, "oops", retry_after="0"), "server_error", 3),
        (answer("half", finish="length"), "truncated", 1),
        (answer("no", finish="content_filter"), "refused", 1),
    ],
)
def test_what_can_go_wrong(response: Answer, kind: str, attempts: int, recorder: MemoryRecorder) -> None:
    [outcome], _, server = predict([response], recorder)
    assert isinstance(outcome, ModelError)
    assert outcome.kind == kind
    assert len(server.received) == attempts == len(recorder.calls)
    assert "sk-own-0123456789" not in str(outcome) + str(recorder.events)


def test_an_attempt_that_a_server_refused_costs_nothing(recorder: MemoryRecorder) -> None:
    _, budget, _ = predict([refused(429, "slow down", retry_after="0")], recorder)
    assert budget.tokens_used == 0


def test_a_tight_budget_asks_the_server_to_count(recorder: MemoryRecorder) -> None:
    counted = as_json({"input_tokens": 200})
    [outcome], _, _ = predict([answer('{"answer": "x"}')], recorder, budget=budget_of(500), counted=counted)
    assert outcome.answer == "x"
    assert recorder.calls[0].reserved_tokens == 200 + 16 + 50


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (as_json({"input_tokens": 31}), 31),
        (as_json({"count": 31, "max_model_len": 4096, "tokens": [0] * 31}), 31),
        (as_json({"tokens": [1, 2, 3]}), 3 + 96 + 16),
        (as_json({"something": "else"}), MEASURED),
        (Answer(200, b"not json"), MEASURED),
        (None, MEASURED),
        # Counts that can't be true.
        *((as_json({"input_tokens": lie, "tokens": []}), MEASURED) for lie in (-7, 0, 10**12, 3.5, "3", None, True)),
        (Answer(200, b'{"input_tokens": 1e400}'), MEASURED),
        (Answer(200, b'{"input_tokens": NaN}'), MEASURED),
    ],
)
def test_a_count_comes_from_whichever_endpoint_there_is(counted: Answer | None, expected: int | None) -> None:
    async def count(engine: Engine) -> list[int | None]:
        counts = [await engine.count_tokens(request_of()) for _ in range(2)]
        await engine.aclose()
        return counts

    with service(Answer(), counted=counted) as server:
        engine = resolve(Settings(model="openai/m", api_base=server.address + "/v1"))
        assert asyncio.run(count(engine)) == [expected] * 2


@pytest.mark.anyio
async def test_without_a_server_there_is_a_measured_bound_and_a_network_error() -> None:
    engine = resolve(Settings(model="openai/m", api_base="http://127.0.0.1:9/v1"))
    assert await engine.count_tokens(request_of()) == MEASURED
    with pytest.raises(lm15.TransportError):
        await anext(engine.stream(request_of()))
    await engine.aclose()


@pytest.mark.parametrize("model", ["openai/m", "anthropic/m"])
def test_one_model_answers_threads_and_tasks_on_event_loops_of_their_own(
    model: str, recorder: MemoryRecorder
) -> None:
    """A connection that is kept alive belongs to the loop that opened it, and can't be used on another."""
    whole = CLAUDE_ANSWER if model.startswith("anthropic") else answer('{"answer": "Paris"}')
    with service(whole, keeps_alive=True) as server:
        asked = connect(Settings(model=model, api_base=server.address + "/v1"), budget_of(50_000), recorder)
        assert asked is not None
        predictor = dspy.Predict(Question)

        async def ask() -> list[str]:
            found = []
            for _ in range(2):
                predicted = await asked.predict("plan", predictor, max_tokens=50, question="Q?")
                found.append(predicted.answer)
                with asked.asking("plan", max_tokens=50):
                    found.append(predictor(question="Q?").answer)
            await asked.aclose()
            return found

        assert asyncio.run(ask()) == ["Paris"] * 4


class _Inner:
    def __init__(self, usage: Any) -> None:
        self.usage = usage

    async def stream(self, request: Any) -> Any:
        yield lm15.StreamStartEvent(model=request.model)
        yield lm15.StreamEndEvent(finish_reason="stop", usage=self.usage)


@pytest.mark.anyio
async def test_cached_tokens_that_are_reported_apart_are_counted_as_input() -> None:
    usage = lm15.Usage(input_tokens=5, output_tokens=2, cache_read_tokens=100)
    engine = NativeEngine(_Inner(usage), Route("bedrock-anthropic:m", Capabilities(), cached_apart=True))
    *_, end = [event async for event in engine.stream(request_of())]
    assert end.usage.input_tokens == 105
    assert end.usage.total_tokens == 107
    assert await engine.count_tokens(request_of()) == MEASURED
