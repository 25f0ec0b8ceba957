"""No call goes out that the budget can't pay for, and what a call cost is charged: nothing more, nothing less."""

from __future__ import annotations

import asyncio
import copy
import time
from typing import Any

import pytest
from dspy import lm15

from marchwarden.budget import Budget
from marchwarden.errors import BudgetExhausted, ModelError
from marchwarden.lm.engine import Capabilities
from marchwarden.lm.meter import ChargedUsage, Meter
from marchwarden.lm.metered import MeteredEngine
from marchwarden.lm.prompt import ABSURD_TIMES, most_tokens
from marchwarden.lm.scripted import Reply, Script, ScriptedEngine
from tests.profiles import within

from .conftest import MemoryRecorder, budget_of, request_of

pytestmark = pytest.mark.anyio

BOUND = most_tokens(request_of())


def metered(
    script: Script, budget: Budget, recorder: MemoryRecorder, **more: Any
) -> tuple[MeteredEngine, ScriptedEngine]:
    inner = ScriptedEngine(script, **more)
    return MeteredEngine(inner, Meter("scripted", budget, recorder)), inner


def used(input_tokens: int, output_tokens: int, **more: Any) -> Any:
    return lm15.Usage(input_tokens=input_tokens, output_tokens=output_tokens, **more)


async def test_a_call_is_charged_what_the_provider_reports_and_traced_in_one_event(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("hello", used(20, 3, cache_read_tokens=5))], budget, recorder)
    assert (await engine.complete(request_of())).text == "hello"
    [call] = recorder.calls
    assert budget.tokens_used == call.charged_tokens == call.tokens_used == 23
    assert (call.input_tokens, call.output_tokens, call.cached_tokens) == (20, 3, 5)
    assert call.reserved_tokens == BOUND + 100
    assert budget.tokens_held() == 0


async def test_a_prompt_that_does_not_fit_is_refused_without_a_call(recorder: MemoryRecorder) -> None:
    budget = budget_of(BOUND)
    engine, inner = metered(["never"], budget, recorder)
    with pytest.raises(BudgetExhausted, match="needs") as refused:
        await engine.complete(request_of())
    assert refused.value.limit == "tokens"
    assert engine.meter.refused == 1
    assert inner.requests == []
    assert recorder.calls == []
    assert budget.tokens_used == 0


async def test_a_short_budget_cuts_the_answers_cap_before_it_refuses(recorder: MemoryRecorder) -> None:
    engine, inner = metered([Reply("hi", used(30, 1))], budget_of(BOUND + 40), recorder)
    await engine.complete(request_of(cap=100))
    assert inner.requests[0].config.max_tokens == 40


async def test_a_cap_is_not_cut_below_a_quarter(recorder: MemoryRecorder) -> None:
    engine, inner = metered(["hi"], budget_of(BOUND + 24), recorder)
    with pytest.raises(BudgetExhausted):
        await engine.complete(request_of(cap=100))
    assert inner.requests == []


async def test_where_bytes_do_not_fit_the_engines_own_count_decides(recorder: MemoryRecorder) -> None:
    request = request_of("word " * 200)
    engine, inner = metered([Reply("hi", used(210, 1))], budget_of(400), recorder, count=lambda _: 210)
    await engine.complete(request)
    assert inner.requests[0].config.max_tokens == 100
    assert recorder.calls[0].reserved_tokens == 210 + 16 + 100


async def test_a_count_is_not_asked_for_where_bytes_fit(recorder: MemoryRecorder) -> None:
    asked: list[Any] = []

    def count(request: Any) -> int:
        asked.append(request)
        return 1

    engine, _ = metered(["hi"], budget_of(5000), recorder, count=count)
    await engine.complete(request_of())
    assert asked == []


async def test_an_answer_without_usage_is_charged_as_reserved(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("hello", lm15.Usage())], budget, recorder)
    await engine.complete(request_of())
    assert budget.tokens_used == BOUND + 100


async def test_a_reported_cost_of_nothing_for_an_answer_is_not_believed(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("hello", used(0, 0))], budget, recorder)
    await engine.complete(request_of())
    assert budget.tokens_used == BOUND + 100


async def test_a_total_beyond_input_and_output_is_what_counts(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("hello", used(20, 3, total_tokens=90))], budget, recorder)
    await engine.complete(request_of())
    assert budget.tokens_used == 90


async def test_a_total_that_cannot_be_true_is_not_believed(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered(
        [Reply("hello", used(20, 3, total_tokens=ABSURD_TIMES * (BOUND + 100) + 1))], budget, recorder
    )
    await engine.complete(request_of())
    assert budget.tokens_used == 23


@pytest.mark.parametrize(("finish", "kind"), [("length", "truncated"), ("content_filter", "refused")])
async def test_an_answer_cut_short_or_refused_is_paid_for_and_no_answer(
    finish: Any, kind: str, recorder: MemoryRecorder
) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("hel", used(20, 3), finish=finish)], budget, recorder)
    with pytest.raises(ModelError) as failed:
        await engine.complete(request_of())
    assert failed.value.kind == kind
    assert budget.tokens_used == 23
    assert str(recorder.calls[0].error).startswith(kind)


async def test_an_attempt_that_failed_before_an_answer_costs_nothing(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered([lm15.RateLimitError("slow down")], budget, recorder)
    with pytest.raises(lm15.RateLimitError):
        await engine.complete(request_of())
    assert budget.tokens_used == budget.tokens_held() == 0
    assert "rate_limited" in str(recorder.calls[0].error)


async def test_a_failed_attempt_that_was_billed_is_charged(recorder: MemoryRecorder) -> None:
    error = lm15.ServerError("gone")
    error.usage = used(50, 7)
    budget = budget_of(1000)
    engine, _ = metered([error], budget, recorder)
    with pytest.raises(lm15.ServerError):
        await engine.complete(request_of())
    assert budget.tokens_used == 57


async def test_an_answer_that_broke_off_is_charged_for_its_prompt_and_what_was_streamed(
    recorder: MemoryRecorder,
) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("twelve chars", error=lm15.TransportError("reset"))], budget, recorder)
    with pytest.raises(lm15.TransportError):
        await engine.complete(request_of())
    assert budget.tokens_used == BOUND + 12


async def test_the_input_that_a_broken_answer_reported_is_used_instead_of_the_bound(recorder: MemoryRecorder) -> None:
    error = lm15.TransportError("reset")
    error.usage = lm15.Usage(input_tokens=31)
    budget = budget_of(1000)
    engine, _ = metered([Reply("twelve chars", error=error)], budget, recorder)
    with pytest.raises(lm15.TransportError):
        await engine.complete(request_of())
    assert budget.tokens_used == 31 + 12


async def test_an_endless_answer_is_cut_and_charged_as_reserved(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("and on ", endless=True)], budget, recorder)
    with pytest.raises(ModelError, match="cut off"):
        await engine.complete(request_of())
    assert budget.tokens_used == BOUND + 100


async def test_an_endless_answer_in_huge_pieces_is_cut_too(recorder: MemoryRecorder) -> None:
    engine, _ = metered([Reply("x" * 5000, piece=5000, endless=True)], budget_of(1000), recorder)
    with pytest.raises(ModelError, match="cut off"):
        await engine.complete(request_of())


async def test_a_provider_that_reports_more_than_the_bound_raises_later_bounds(recorder: MemoryRecorder) -> None:
    budget = budget_of(10_000)
    engine, _ = metered([Reply("a", used(2 * BOUND, 200)), "b"], budget, recorder)
    await engine.complete(request_of())
    await engine.complete(request_of())
    assert budget.tokens_used == 2 * BOUND + 200 + recorder.calls[1].charged_tokens
    assert recorder.calls[1].reserved_tokens == 2 * (BOUND + 100)


async def test_a_wait_longer_than_what_is_left_of_the_time_is_not_waited_for(recorder: MemoryRecorder) -> None:
    script = [lm15.RateLimitError("slow down", retry_after=30), lm15.RateLimitError("slow down", retry_after=300)]
    engine, _ = metered(script, budget_of(1000, seconds=60), recorder)
    with pytest.raises(lm15.RateLimitError):
        await engine.complete(request_of())
    with pytest.raises(ModelError) as failed:
        await engine.complete(request_of())
    assert failed.value.kind == "rate_limited"


def test_the_meter_survives_a_copy_of_the_program(recorder: MemoryRecorder) -> None:
    engine, _ = metered([], budget_of(1000), recorder)
    assert copy.deepcopy(engine) is engine


def test_the_inner_engines_capabilities_are_forwarded(recorder: MemoryRecorder) -> None:
    engine, _ = metered([], budget_of(1000), recorder, capabilities=Capabilities.with_schema())
    assert engine.supports_response_schema
    assert "response_format" in engine.supported_params
    assert not engine.supports_function_calling
    assert not engine.supports_reasoning


async def test_a_stream_through_the_meter_is_metered(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("hello", used(20, 3))], budget, recorder)
    assert [event.type async for event in engine.stream(request_of())] == ["start", "delta", "end"]
    assert budget.tokens_used == 23


async def test_forty_tasks_together_never_overspend(recorder: MemoryRecorder) -> None:
    budget = budget_of(10 * (BOUND + 100))
    engine, inner = metered(lambda _: Reply("x" * 40, used(BOUND, 100), delay=0.002), budget, recorder)
    outcomes = await asyncio.gather(*(engine.complete(request_of()) for _ in range(40)), return_exceptions=True)
    assert sum(isinstance(outcome, BudgetExhausted) for outcome in outcomes) == 30
    assert len(inner.requests) == 10
    assert budget.tokens_used == budget.token_budget


async def test_a_call_waits_for_what_running_calls_hold_but_will_not_need(recorder: MemoryRecorder) -> None:
    """Bounds are three to four times the real cost: calls side by side must not refuse each other for that."""
    budget = budget_of(BOUND + 150)
    engine, inner = metered(lambda _: Reply("hi", used(10, 1), delay=0.01), budget, recorder)
    await asyncio.gather(*(engine.complete(request_of()) for _ in range(4)))
    assert [request.config.max_tokens for request in inner.requests] == [100] * 4
    assert budget.tokens_used == 44


async def test_a_cancelled_call_frees_its_hold_and_pays_for_what_was_asked(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered([Reply("late", delay=30)], budget, recorder)
    task = asyncio.create_task(engine.complete(request_of()))
    await asyncio.sleep(0.02)
    assert budget.tokens_held() == BOUND + 100
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < within(1)
    assert budget.tokens_held() == 0
    assert budget.tokens_used == BOUND
    assert recorder.calls[0].error == "cancelled"


async def test_a_call_cancelled_while_it_waits_for_others_costs_nothing(recorder: MemoryRecorder) -> None:
    budget = budget_of(BOUND + 150)
    engine, inner = metered(lambda _: Reply("hi", used(10, 1), delay=0.1), budget, recorder)
    first = asyncio.create_task(engine.complete(request_of()))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(engine.complete(request_of()))
    await asyncio.sleep(0.01)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    assert len(inner.requests) == 1
    assert budget.tokens_used == 11


@pytest.mark.parametrize("name", ["ConnectError", "ConnectTimeout"])
async def test_an_attempt_that_never_reached_the_service_costs_nothing(name: str, recorder: MemoryRecorder) -> None:
    unsent = lm15.TransportError("the connection failed")
    unsent.__cause__ = type(name, (Exception,), {})("refused")
    budget = budget_of(5000)
    engine = MeteredEngine(ScriptedEngine([Reply(error=unsent)]), Meter("m", budget, recorder))
    with pytest.raises(lm15.TransportError):
        await engine.complete(request_of("question"))
    assert budget.tokens_used == recorder.calls[0].charged_tokens == 0


@pytest.mark.parametrize(
    ("cause", "status", "charged"), [(None, None, True), ("ReadError", None, True), (None, 502, False)]
)
async def test_an_attempt_that_a_service_may_have_answered_is_charged_at_its_highest_cost(
    cause: str | None, status: int | None, charged: bool, recorder: MemoryRecorder
) -> None:
    fallen = lm15.TransportError("the connection fell")
    fallen.__cause__ = type(cause, (Exception,), {})("reset") if cause else None
    fallen.status = status
    budget = budget_of(5000)
    engine, _ = metered([fallen], budget, recorder)
    with pytest.raises(lm15.TransportError):
        await engine.complete(request_of())
    assert budget.tokens_used == (BOUND + 100 if charged else 0)


async def test_a_recorded_charge_is_not_checked_again(recorder: MemoryRecorder) -> None:
    budget = budget_of(1000)
    engine, _ = metered(
        [Reply("hello", ChargedUsage(input_tokens=0, output_tokens=0, total_tokens=7))], budget, recorder
    )
    await engine.complete(request_of())
    [call] = recorder.calls
    assert (budget.tokens_used, call.cached_tokens) == (7, 0)
