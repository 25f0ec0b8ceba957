"""Threads share one metered engine: one budget, one event loop, and whoever is interrupted leaves nothing behind."""

from __future__ import annotations

import copy
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import dspy
import pytest
from dspy import lm15

from marchwarden.budget import Budget
from marchwarden.errors import BudgetExhausted, StorageError
from marchwarden.lm.engine import Capabilities
from marchwarden.lm.meter import CALLER, Caller, Meter
from marchwarden.lm.metered import BlockingEngine, MeteredEngine
from marchwarden.lm.prompt import most_tokens
from marchwarden.lm.scripted import Reply, ScriptedEngine

from .conftest import MemoryRecorder, budget_of, request_of

BOUND = most_tokens(request_of())
OPEN = "model calls"
"""The name of the thread that runs the event loop."""

Opening = Callable[..., "tuple[BlockingEngine, ScriptedEngine]"]


def small(delay: float = 0.0) -> Reply:
    return Reply("hi", lm15.Usage(input_tokens=10, output_tokens=1), delay=delay)


@pytest.fixture
def opened(recorder: MemoryRecorder) -> Iterator[Opening]:
    """Opens engines over a script, and closes them."""
    with ExitStack() as stack:

        def open_engine(script: Any, budget: Budget, **more: Any) -> tuple[BlockingEngine, ScriptedEngine]:
            inner = ScriptedEngine(script, **more)
            engine = BlockingEngine(MeteredEngine(inner, Meter("scripted", budget, recorder)))
            stack.callback(engine.close)
            return engine, inner

        yield open_engine
    assert OPEN not in [thread.name for thread in threading.enumerate()]


def at_once(engine: BlockingEngine, calls: int) -> list[Any]:
    """The answers, or the errors, of so many threads that ask side by side."""

    def ask(_: int) -> Any:
        try:
            return engine.complete(request_of())
        except Exception as error:
            return error

    with ThreadPoolExecutor(calls) as pool:
        return list(pool.map(ask, range(calls)))


def test_forty_threads_together_never_overspend(opened: Opening) -> None:
    budget = budget_of(10 * (BOUND + 100))
    whole = Reply("x" * 40, lm15.Usage(input_tokens=BOUND, output_tokens=100), delay=0.002)
    engine, inner = opened(lambda _: whole, budget)
    outcomes = at_once(engine, 40)
    assert sum(isinstance(outcome, BudgetExhausted) for outcome in outcomes) == 30
    assert len(inner.requests) == 10
    assert budget.tokens_used == budget.token_budget
    assert budget.tokens_held() == 0


def test_a_thread_waits_for_what_running_calls_hold_but_will_not_need(opened: Opening) -> None:
    budget = budget_of(BOUND + 150)
    engine, inner = opened(lambda _: small(delay=0.02), budget)
    assert [outcome.text for outcome in at_once(engine, 3)] == ["hi"] * 3
    assert len(inner.requests) == 3
    assert budget.tokens_used == 33


def test_each_thread_asks_as_the_stage_of_its_own_context(opened: Opening, recorder: MemoryRecorder) -> None:
    engine, _ = opened(lambda _: small(delay=0.002), budget_of(50_000))

    def ask(number: int) -> None:
        with dspy.context(**{CALLER: Caller(f"stage {number}")}):
            engine.complete(request_of())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))
    assert sorted(call.stage for call in recorder.calls) == [f"stage {number}" for number in range(8)]


class Enough(BaseException):
    """An end that is no Exception, as an optimizer's budget raises it."""


@pytest.mark.parametrize(
    "error", [lm15.ServerError("down"), StorageError("the disk is full"), KeyboardInterrupt(), Enough()]
)
def test_an_error_reaches_the_thread_that_asked_and_no_other(opened: Opening, error: BaseException) -> None:
    budget = budget_of(5000)
    engine, _ = opened([error, small()], budget)
    with pytest.raises(type(error)):
        engine.complete(request_of())
    assert engine.complete(request_of()).text == "hi"
    assert budget.tokens_held() == 0


def test_a_thread_that_is_interrupted_while_it_waits_leaves_no_call_running(
    opened: Opening, recorder: MemoryRecorder
) -> None:
    """Ctrl-C raises KeyboardInterrupt in the main thread, wherever that waits."""
    budget = budget_of(1000)

    def interrupt(_: Any) -> Reply:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        return Reply("late", delay=30)

    engine, _ = opened(interrupt, budget)
    with pytest.raises(KeyboardInterrupt):
        engine.complete(request_of())
    assert budget.tokens_held() == 0
    assert budget.tokens_used == BOUND
    assert [call.error for call in recorder.calls] == ["cancelled"]


def test_closing_ends_the_calls_that_still_run_and_admits_no_further_one(opened: Opening) -> None:
    budget, asked = budget_of(1000), threading.Event()

    def slow(_: Any) -> Reply:
        asked.set()
        return Reply("late", delay=30)

    engine, inner = opened(slow, budget)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(engine.complete, request_of())
        assert asked.wait(10)
        engine.close()
        assert waiting.exception(10) is not None
    with pytest.raises(lm15.ConfigurationError):
        engine.complete(request_of())
    assert len(inner.requests) == 1
    assert budget.tokens_held() == 0
    assert budget.tokens_used == BOUND


def test_no_thread_is_started_where_nobody_blocks(opened: Opening) -> None:
    engine, _ = opened([], budget_of(1000))
    assert OPEN not in [thread.name for thread in threading.enumerate()]
    engine.close()


def test_a_copy_of_a_program_shares_engine_and_budget(opened: Opening) -> None:
    engine, _ = opened([], budget_of(1000))
    assert copy.deepcopy(engine) is engine


def test_the_inner_engines_capabilities_are_forwarded(opened: Opening) -> None:
    engine, _ = opened([], budget_of(1000), capabilities=Capabilities.with_schema())
    assert engine.supports_response_schema
    assert "response_format" in engine.supported_params
    assert not engine.supports_function_calling
    assert not engine.supports_reasoning


def test_a_stream_is_metered(opened: Opening) -> None:
    budget = budget_of(1000)
    engine, _ = opened([small()], budget)
    assert [event.type for event in engine.stream(request_of())] == ["start", "delta", "end"]
    assert budget.tokens_used == 11
