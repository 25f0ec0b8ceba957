"""tokens_used ≤ token_budget, whatever a model does; what is charged is what was billed, where it can be known."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import dspy
import pytest
from dspy import lm15
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marchwarden.errors import BudgetExhausted, MarchwardenError, ModelError
from marchwarden.lm import Model
from marchwarden.lm.meter import Meter
from marchwarden.lm.metered import BlockingEngine, MeteredEngine
from marchwarden.lm.prompt import BASE_OVERHEAD_TOKENS, MESSAGE_OVERHEAD_TOKENS, prompt_texts
from marchwarden.lm.scripted import Reply, ScriptedEngine

from .conftest import MemoryRecorder, budget_of, request_of

Deed: TypeAlias = Literal[
    "answers",
    "fills its cap",
    "fails",
    "fails and bills",
    "breaks off",
    "lets go",
    "lets the time run out",
    "reports nothing",
    "exaggerates",
    "never ends",
]
TRUTHFUL: list[Deed] = ["answers", "fills its cap", "fails", "fails and bills"]
UNREPORTED: list[Deed] = ["breaks off", "lets go", "lets the time run out"]
LYING: list[Deed] = ["reports nothing", "exaggerates", "never ends"]

TEXTS = st.one_of(
    st.text(min_size=1, max_size=60),
    st.text(alphabet="ไทยहिन्दीﷺ中文🧪", min_size=1, max_size=60),
    st.integers(1, 300).map(lambda n: "word " * n),
)


def worst_tokenizer(request: Any) -> int:
    """A token for each byte, and the whole of the overhead that a template may add."""
    overhead = BASE_OVERHEAD_TOKENS + MESSAGE_OVERHEAD_TOKENS * (len(request.messages) + bool(request.system))
    return overhead + sum(len(text.encode()) for text in prompt_texts(request))


def usual_tokenizer(request: Any) -> int:
    return worst_tokenizer(request) // 4


@dataclass
class Provider:
    """A provider that keeps its own books: `billed` is what an invoice would say."""

    deeds: Iterator[Deed]
    tokens: Callable[[Any], int] = worst_tokenizer
    text: str = "hello there"
    billed: int = 0
    capped: list[bool] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Any) -> Reply:
        with self._lock:
            deed = next(self.deeds, "answers")
        prompt, cap = self.tokens(request), request.config.max_tokens
        match deed:
            case "answers":
                return self._bill(prompt, min(cap, 3), Reply(self.text))
            case "fills its cap":
                return self._bill(prompt, cap, Reply("x" * cap, piece=7))
            case "fails":
                return Reply(error=lm15.ServerError("down", retry_after=0))
            case "fails and bills":
                return self._fail(prompt, cap)
            case "breaks off":
                self.billed += prompt + min(cap, 5)
                return Reply("x" * 5, error=lm15.TransportError("reset", retry_after=0), piece=1)
            case "lets go":
                self.billed += prompt + cap
                return Reply(error=lm15.TransportError("reset"))
            case "lets the time run out":
                self.billed += prompt + cap
                return Reply(error=lm15.TimeoutError("no answer in time"))
            case "reports nothing":
                return Reply(self.text, lm15.Usage())
            case "exaggerates":
                return Reply(self.text, lm15.Usage(input_tokens=prompt * 9, output_tokens=cap * 9))
        return Reply(self.text, endless=True)

    def _bill(self, prompt: int, output: int, reply: Reply) -> Reply:
        with self._lock:
            self.billed += prompt + output
        return Reply(reply.text, lm15.Usage(input_tokens=prompt, output_tokens=output), piece=reply.piece)

    def _fail(self, prompt: int, cap: int) -> Reply:
        error = lm15.ServerError("down", retry_after=0)
        error.usage = lm15.Usage(input_tokens=prompt, output_tokens=min(cap, 2))
        with self._lock:
            self.billed += prompt + min(cap, 2)
        return Reply(error=error)


def deeds(*kinds: list[Deed]) -> st.SearchStrategy[list[Deed]]:
    return st.lists(st.sampled_from([deed for kind in kinds for deed in kind]), max_size=12)


def ask_in_turn(engine: MeteredEngine, texts: list[str], **more: Any) -> None:
    async def ask() -> None:
        for text in texts:
            with outcomes():
                await engine.complete(request_of(text, **more))

    asyncio.run(ask())


def outcomes() -> contextlib.suppress:
    return contextlib.suppress(MarchwardenError, lm15.LM15Error)


@settings(deadline=None)
@given(st.integers(0, 3000), deeds(TRUTHFUL), st.lists(TEXTS, min_size=1, max_size=10), st.integers(1, 400))
def test_what_is_charged_is_what_was_billed(tokens: int, doing: list[Deed], texts: list[str], cap: int) -> None:
    provider, recorder, budget = Provider(iter(doing)), MemoryRecorder(), budget_of(tokens)
    engine = MeteredEngine(ScriptedEngine(provider), Meter("m", budget, recorder))
    ask_in_turn(engine, texts, cap=cap)
    assert budget.tokens_used == provider.billed <= tokens
    assert budget.tokens_used == sum(call.charged_tokens for call in recorder.calls)
    assert budget.tokens_held() == 0


@settings(deadline=None)
@given(st.integers(0, 3000), deeds(TRUTHFUL, UNREPORTED), st.lists(TEXTS, min_size=1, max_size=10))
def test_what_is_not_reported_is_charged_at_its_most(tokens: int, doing: list[Deed], texts: list[str]) -> None:
    provider, budget = Provider(iter(doing), usual_tokenizer), budget_of(tokens)
    engine = MeteredEngine(ScriptedEngine(provider), Meter("m", budget, MemoryRecorder()))
    ask_in_turn(engine, texts)
    assert provider.billed <= budget.tokens_used <= tokens


@settings(deadline=None)
@given(st.integers(0, 3000), deeds(TRUTHFUL, UNREPORTED, LYING), st.lists(TEXTS, min_size=1, max_size=10))
def test_no_lie_breaks_the_budget(tokens: int, doing: list[Deed], texts: list[str]) -> None:
    recorder, budget = MemoryRecorder(), budget_of(tokens)
    engine = MeteredEngine(ScriptedEngine(Provider(iter(doing))), Meter("m", budget, recorder))
    ask_in_turn(engine, texts)
    assert budget.tokens_used <= tokens
    assert budget.tokens_used == sum(call.charged_tokens for call in recorder.calls)
    assert budget.tokens_held() == 0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 3000), deeds(TRUTHFUL), st.lists(TEXTS, min_size=8, max_size=8))
def test_threads_side_by_side_are_charged_what_was_billed(tokens: int, doing: list[Deed], texts: list[str]) -> None:
    provider, budget = Provider(iter(doing), usual_tokenizer), budget_of(tokens)
    engine = BlockingEngine(MeteredEngine(ScriptedEngine(provider), Meter("m", budget, MemoryRecorder())))

    def ask(text: str) -> None:
        with outcomes():
            engine.complete(request_of(text))

    with ThreadPoolExecutor(8) as pool, contextlib.closing(engine):
        list(pool.map(ask, texts))
    assert budget.tokens_used == provider.billed <= tokens


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 3000),
    deeds(TRUTHFUL, UNREPORTED, LYING),
    st.lists(TEXTS, min_size=8, max_size=8),
    st.sets(st.integers(0, 7)),
)
def test_tasks_side_by_side_some_cancelled_keep_the_budget(
    tokens: int, doing: list[Deed], texts: list[str], cancelled: set[int]
) -> None:
    budget = budget_of(tokens)
    engine = MeteredEngine(ScriptedEngine(Provider(iter(doing))), Meter("m", budget, MemoryRecorder()))

    async def ask_all() -> None:
        tasks = [asyncio.create_task(engine.complete(request_of(text))) for text in texts]
        await asyncio.sleep(0)
        for index in cancelled:
            tasks[index].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(ask_all())
    assert budget.tokens_used <= tokens
    assert budget.tokens_held() == 0


class Question(dspy.Signature):  # type: ignore[misc]
    """Answer."""

    question: str = dspy.InputField()
    answers: list[int] = dspy.OutputField()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(500, 6000),
    deeds(TRUTHFUL),
    st.sampled_from(["hello", '{"answers": [1]}', '{"answers": ["x"]}', "[[ ## answers ## ]]\n[1]", ""]),
)
@pytest.mark.parametrize("adapter", [dspy.ChatAdapter(), None], ids=["with a fall-back", "ours"])
def test_fall_backs_and_retries_are_charged_what_was_billed(
    adapter: Any, tokens: int, doing: list[Deed], text: str
) -> None:
    """One prediction may go out several times: a fall-back to another format, and each with its retries."""
    provider, recorder, budget = Provider(iter(doing), usual_tokenizer, text), MemoryRecorder(), budget_of(tokens)
    inner = ScriptedEngine(provider)

    async def predict() -> None:
        model = Model("scripted", inner, budget, recorder)
        model.adapter = adapter or model.adapter
        for _ in range(3):
            with contextlib.suppress(ModelError, BudgetExhausted):
                await model.predict("stage", dspy.Predict(Question), max_tokens=50, question="How many?")

    asyncio.run(predict())
    assert budget.tokens_used == provider.billed <= tokens
    assert len(recorder.calls) == len(inner.requests)
