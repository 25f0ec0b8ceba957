"""Claude's engine: what it sends, how it reads answers and errors in the API's documented format.

Answers of a real server are replayed from tests/cassettes/anthropic (see the README there); error bodies, which a
local server does not send, come in the documented wire format from a server on loopback.
"""

from __future__ import annotations

import asyncio
import email.utils
import time
from pathlib import Path
from typing import Any

import dspy
import httpx2
import pytest
from dspy import lm15

from marchwarden.budget import Budget
from marchwarden.errors import ModelError
from marchwarden.lm import Model, connect
from marchwarden.settings import Settings

from .conftest import MemoryRecorder, answer_of, budget_of, request_of
from .wire import Answer, as_events, as_json, service

SCHEMA = {
    "type": "object",
    "properties": {"answers": {"type": "array", "items": {"type": "string"}, "maxItems": 3}},
    "required": ["answers"],
    "additionalProperties": False,
}
KEY = "sk-ant-api03-secret-secret"


# The SDK is imported by what uses it: it costs two CPU seconds, which each worker would pay for collecting these tests.


def engine_at(address: str, model: str = "claude-sonnet-5-5", key: str = KEY) -> Any:
    from marchwarden.lm.anthropic import AnthropicEngine

    return AnthropicEngine(model, key, base_url=address)


def message_arguments(model: str, request: Any) -> Any:
    from marchwarden.lm import anthropic

    return anthropic.message_arguments(model, request)


def to_lm15(error: Exception) -> Any:
    from marchwarden.lm import anthropic_errors

    return anthropic_errors.to_lm15(error)


class Question(dspy.Signature):  # type: ignore[misc]
    """Answer."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def start(input_tokens: int = 250, **usage: int) -> tuple[str, Any]:
    message = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-sonnet-5-5",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": input_tokens, "output_tokens": 1, **usage},
    }
    return ("message_start", {"type": "message_start", "message": message})


def block(text: str, kind: str = "text") -> list[tuple[str, Any]]:
    delta = {"type": f"{kind}_delta", kind: text}
    return [
        (
            "content_block_start",
            {"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: ""}},
        ),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
    ]


def end(stop_reason: str = "end_turn", output_tokens: int = 12, **delta: Any) -> list[tuple[str, Any]]:
    return [
        (
            "message_delta",
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop_reason, "stop_sequence": None, **delta},
                "usage": {"output_tokens": output_tokens},
            },
        ),
        ("message_stop", {"type": "message_stop"}),
    ]


WHOLE = as_events(start(), *block('{"answer": "Paris"}'), *end())


def failure(status: int, kind: str, message: str, **headers: str) -> Answer:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011"}
    return as_json(body, status, request_id="req_011", **headers)


def ask(*answers: Answer) -> Any:
    with service(*answers) as claude:
        return answer_of(engine_at(claude.address), request_of())


# What is sent


def test_the_system_prompt_is_marked_as_a_prefix_to_cache() -> None:
    sent = message_arguments("claude-sonnet-5-5", request_of("hi", system="Be brief."))
    assert sent["system"] == [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    assert sent["messages"] == [{"role": "user", "content": "hi"}]
    assert sent["max_tokens"] == 100


def test_sampling_parameters_are_sent_only_when_asked_for_and_never_together() -> None:
    """Current models refuse temperature and top_p in one request."""
    assert "extra_body" not in message_arguments("claude-sonnet-5-5", request_of())
    messages = request_of().messages
    config = lm15.Config(max_tokens=5, temperature=1.5, top_p=0.9, stop=("END",))
    sent = message_arguments("claude-sonnet-5-5", lm15.Request(model="m", messages=messages, config=config))
    assert sent["extra_body"] == {"temperature": 1.0}
    assert sent["stop_sequences"] == ["END"]
    config = lm15.Config(max_tokens=5, top_p=0.9)
    sent = message_arguments("claude-sonnet-5-5", lm15.Request(model="m", messages=messages, config=config))
    assert sent["extra_body"] == {"top_p": 0.9}


def test_a_response_schema_is_sent_without_what_the_api_refuses() -> None:
    config = lm15.Config(max_tokens=5, response_format={"type": "json_schema", "schema": SCHEMA})
    request = lm15.Request(model="m", messages=request_of().messages, config=config)
    sent = message_arguments("claude-sonnet-5-5", request)["output_config"]["format"]
    assert sent["type"] == "json_schema"
    assert sent["schema"]["required"] == ["answers"]
    assert "maxItems" not in sent["schema"]["properties"]["answers"]
    assert "output_config" not in message_arguments("claude-3-5-haiku-latest", request)


@pytest.mark.parametrize(
    ("model", "takes_schema"),
    [
        ("claude-3-5-haiku-latest", False),
        ("claude-sonnet-4-20250514", False),
        ("claude-opus-4-0", False),
        ("claude-opus-4-1", True),
        ("claude-haiku-4-5-20251001", True),
        ("claude-sonnet-5-5", True),
    ],
)
def test_which_models_take_a_schema(model: str, takes_schema: bool) -> None:
    from marchwarden.lm.anthropic import capabilities_of

    assert capabilities_of(model).response_schema is takes_schema


def test_what_is_not_text_is_refused_before_anything_is_sent() -> None:
    image = lm15.ImagePart(url="https://example.org/a.png")
    request = lm15.Request(model="m", messages=(lm15.Message.user([image]),), config=lm15.Config(max_tokens=5))
    with pytest.raises(lm15.UnsupportedFeatureError):
        message_arguments("claude-sonnet-5-5", request)


# How answers are read


def test_an_answer_is_read_with_its_cached_tokens_among_the_input() -> None:
    usage = {"cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000}
    response = ask(as_events(start(25, **usage), *block("Paris"), *end(output_tokens=3)))
    assert response.text == "Paris"
    assert response.finish_reason == "stop"
    assert response.usage.input_tokens == 1125
    assert response.usage.output_tokens == 3
    assert response.usage.cache_read_tokens == 1000
    assert response.usage.cache_write_tokens == 100


@pytest.mark.parametrize(
    ("stop_reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("tool_use", "tool_call"),
        ("something_new", "stop"),
    ],
)
def test_why_an_answer_ended(stop_reason: str, finish: str) -> None:
    assert ask(as_events(start(), *block("text"), *end(stop_reason))).finish_reason == finish


def test_an_answer_without_its_first_event_keeps_what_it_did_report() -> None:
    """llama.cpp leaves message_start out where an answer holds no whole character."""
    response = ask(as_events(*end(output_tokens=1)))
    assert response.usage.input_tokens is None
    assert response.usage.output_tokens == 1


def test_thinking_is_kept_apart_from_the_answer() -> None:
    thinking = block("hm", "thinking")
    response = ask(as_events(start(), *thinking, *block("Paris"), *end()))
    assert response.text == "Paris"


def test_a_refusal_is_an_error_of_its_own_and_paid_for(recorder: MemoryRecorder) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    refusal = as_events(start(), *end("refusal", 2, stop_details=details))
    outcome, budget, _ = predict([refusal], recorder)
    assert isinstance(outcome, ModelError)
    assert outcome.kind == "refused"
    assert budget.tokens_used == 252


# How errors are read

ERRORS: list[tuple[Answer, type[Exception], str]] = [
    (failure(401, "authentication_error", "invalid x-api-key"), lm15.AuthError, "bad_key"),
    (failure(403, "permission_error", "Your API key may not use this"), lm15.AuthError, "bad_key"),
    (failure(402, "billing_error", "Payment required"), lm15.BillingError, "bad_key"),
    (
        failure(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
        lm15.BillingError,
        "bad_key",
    ),
    (
        failure(400, "invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum"),
        lm15.ContextLengthError,
        "context_overflow",
    ),
    (
        failure(400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 199999 + 900"),
        lm15.ContextLengthError,
        "context_overflow",
    ),
    (failure(413, "request_too_large", "Request exceeds the maximum size"), lm15.ContextLengthError, "context_overflow"),
    (failure(400, "invalid_request_error", "messages: at least one message"), lm15.InvalidRequestError, "unknown"),
    (failure(404, "not_found_error", "model: claude-nope"), lm15.UnsupportedModelError, "unknown"),
    (failure(429, "rate_limit_error", "exceeds your rate limit"), lm15.RateLimitError, "rate_limited"),
    (failure(500, "api_error", "Internal server error"), lm15.ServerError, "server_error"),
    (failure(504, "timeout_error", "The request timed out"), lm15.TimeoutError, "timeout"),
    (failure(529, "overloaded_error", "Overloaded"), lm15.ServerError, "overloaded"),
    (Answer(502, b"<html>Bad Gateway</html>", {"content-type": "text/html"}), lm15.ServerError, "server_error"),
    (Answer(408, b"", {}), lm15.TimeoutError, "timeout"),
    (as_events(start(), ("error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})),
     lm15.ServerError, "overloaded"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "expected", "kind"), ERRORS, ids=lambda value: getattr(value, "__name__", None))
def test_an_error_body_becomes_the_error_that_dspy_knows(answer: Answer, expected: Any, kind: str) -> None:
    from marchwarden.errors import model_error

    with pytest.raises(expected) as raised:
        ask(answer)
    assert type(raised.value) is expected
    translated = model_error(raised.value)
    assert isinstance(translated, ModelError)
    assert translated.kind == kind


def test_every_status_error_of_the_sdk_is_translated() -> None:
    """Fails when the SDK grows an error that would pass as something unknown."""
    import anthropic

    request = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    for each in _descendants(anthropic.APIStatusError):
        status = getattr(each, "status_code", 500)
        translated = to_lm15(each("m", response=httpx2.Response(status, request=request), body=None))
        assert isinstance(translated, lm15.ProviderError), each
        retried = isinstance(translated, lm15.RETRYABLE_ERRORS)
        assert retried is (status in (408, 429) or status >= 500), each


def test_every_other_error_of_the_sdk_is_translated() -> None:
    import anthropic

    request = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    known: dict[str, Exception] = {
        "APIConnectionError": anthropic.APIConnectionError(request=request),
        "APITimeoutError": anthropic.APITimeoutError(request=request),
        "APIResponseValidationError": anthropic.APIResponseValidationError(
            response=httpx2.Response(200, request=request), body=None
        ),
    }
    for each in _descendants(anthropic.AnthropicError):
        if not issubclass(each, anthropic.APIStatusError):
            error = known.get(each.__name__) or each.__new__(each)
            assert isinstance(to_lm15(error), lm15.LM15Error), each


def test_what_is_no_failure_of_the_service_stays_what_it_is() -> None:
    bug = TypeError("a bug of ours")
    assert to_lm15(bug) is bug
    assert isinstance(to_lm15(httpx2.ReadTimeout("slow")), lm15.TimeoutError)
    assert isinstance(to_lm15(httpx2.RemoteProtocolError("cut")), lm15.TransportError)


def _descendants(parent: type) -> set[type]:
    children = set(parent.__subclasses__())
    return children.union(*(_descendants(child) for child in children)) if children else set()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after_ms": "250", "retry_after": "1"}, 0.25),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    with pytest.raises(lm15.RateLimitError) as raised:
        ask(failure(429, "rate_limit_error", "slow down", **headers))
    assert raised.value.retry_after == (seconds if seconds is None else pytest.approx(seconds, abs=2))
    assert raised.value.request_id == "req_011"


def test_a_date_to_wait_for_becomes_seconds() -> None:
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    with pytest.raises(lm15.RateLimitError) as raised:
        ask(failure(429, "rate_limit_error", "slow down", retry_after=date))
    assert 90 < raised.value.retry_after <= 100


# Through DSPy, behind the meter


def predict(answers: list[Answer], recorder: MemoryRecorder) -> tuple[Any, Budget, list[Any]]:
    budget = budget_of(5000)

    async def run(address: str) -> Any:
        model = claude_at(address, budget, recorder)
        try:
            return await model.predict("plan", dspy.Predict(Question), max_tokens=50, question="Capital of France?")
        except Exception as error:
            return error
        finally:
            await model.aclose()

    with service(*answers) as claude:
        outcome = asyncio.run(run(claude.address))
        return outcome, budget, claude.received


def claude_at(address: str, budget: Budget, recorder: MemoryRecorder) -> Model:
    model = connect(
        Settings(model="anthropic/claude-sonnet-5-5", api_base=address, anthropic_api_key=KEY),  # type: ignore[arg-type]
        budget,
        recorder,
    )
    assert model is not None
    return model


def test_an_overload_is_waited_out_as_the_service_asks(recorder: MemoryRecorder) -> None:
    started = time.monotonic()
    overloaded = failure(529, "overloaded_error", "Overloaded", retry_after_ms="150")
    outcome, budget, received = predict([overloaded, overloaded, WHOLE], recorder)
    assert outcome.answer == "Paris"
    assert len(received) == 3
    assert time.monotonic() - started >= 0.3
    assert budget.tokens_used == 262
    assert [call.charged_tokens for call in recorder.calls] == [0, 0, 262]
    assert str(recorder.calls[0].error).startswith("overloaded")


def test_a_bad_key_is_not_tried_again_and_never_shown(recorder: MemoryRecorder) -> None:
    outcome, budget, received = predict([failure(401, "authentication_error", f"invalid x-api-key {KEY}")], recorder)
    assert isinstance(outcome, ModelError)
    assert outcome.kind == "bad_key"
    assert outcome.hint
    assert len(received) == 1
    assert KEY in received[0][1]["authorization"]
    assert KEY not in str(outcome) + repr(outcome) + str(recorder.events)
    assert budget.tokens_used == 0


def test_an_answer_that_breaks_off_is_charged_and_asked_for_again(recorder: MemoryRecorder) -> None:
    broken = as_events(start(250), *block('{"answer": "Pa')[:2], breaks_off=True)
    outcome, budget, received = predict([broken, WHOLE], recorder)
    assert outcome.answer == "Paris"
    assert len(received) == 2
    assert [call.charged_tokens for call in recorder.calls] == [250 + len('{"answer": "Pa'), 262]
    assert budget.tokens_used == 250 + len('{"answer": "Pa') + 262


@pytest.mark.anyio
async def test_a_service_that_is_not_there_is_a_network_error() -> None:
    engine = engine_at("http://127.0.0.1:9")
    with pytest.raises(lm15.TransportError):
        await anext(engine.stream(request_of()))
    assert await engine.count_tokens(request_of()) is None
    await engine.aclose()


@pytest.mark.anyio
async def test_a_prompt_is_counted_where_the_service_counts() -> None:
    with service(WHOLE, counted=as_json({"input_tokens": 14})) as claude:
        engine = engine_at(claude.address + "/v1")
        assert await engine.count_tokens(request_of()) == 14
        claude.counted = None
        assert await engine.count_tokens(request_of()) is None
        await engine.aclose()


# Against a recorded server


@pytest.fixture
def vcr_cassette_dir() -> str:
    return str(Path(__file__).parent.parent / "cassettes" / "anthropic")


@pytest.fixture
def vcr_config() -> dict[str, Any]:
    return {
        "filter_headers": ["x-api-key", "authorization", "user-agent"],
        "match_on": ["method", "path", "body"],
        "decode_compressed_response": True,
    }


RECORDED = "http://127.0.0.1:8101"
"""Where the server stood that the cassettes were recorded from."""


@pytest.fixture
def recorded() -> Any:
    return engine_at(RECORDED, "smollm2", "none")


def recorded_request(cap: int) -> Any:
    config = lm15.Config(max_tokens=cap, temperature=0.0)
    messages = (lm15.Message.user("Name the capital of France."),)
    return lm15.Request(model="smollm2", messages=messages, system="Answer in one sentence.", config=config)


@pytest.mark.vcr
def test_a_real_stream_is_read_whole(recorded: Any) -> None:
    response = answer_of(recorded, recorded_request(40))
    assert "Paris" in response.text
    assert response.finish_reason == "stop"
    assert response.usage.input_tokens > 20
    assert 0 < response.usage.output_tokens < 40


@pytest.mark.vcr
def test_a_real_stream_ends_at_its_cap(recorded: Any) -> None:
    response = answer_of(recorded, recorded_request(3))
    assert response.finish_reason == "length"
    assert response.usage.output_tokens == 3


@pytest.mark.vcr
@pytest.mark.anyio
async def test_a_real_count_is_what_a_real_call_reports(recorded: Any) -> None:
    counted = await recorded.count_tokens(recorded_request(3))
    response = await lm15.amaterialize_response(recorded.stream(recorded_request(3)), recorded_request(3))
    await recorded.aclose()
    assert counted == response.usage.input_tokens


@pytest.mark.vcr
def test_a_real_server_says_when_a_prompt_is_too_long(recorded: Any) -> None:
    with pytest.raises(lm15.ContextLengthError):
        answer_of(recorded, request_of("1" * 17_000))
