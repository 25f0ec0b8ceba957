"""What the model tests share: a recorder in memory, budgets, requests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from dspy import lm15

from marchwarden.budget import Budget
from marchwarden.contract import Constraints
from marchwarden.trace.events import Event, ModelCalled


@dataclass
class MemoryRecorder:
    events: list[Event] = field(default_factory=list)

    def record(self, event: Event) -> None:
        self.events.append(event)

    def progress(self, message: str) -> None:
        pass

    @property
    def calls(self) -> list[ModelCalled]:
        return [event for event in self.events if isinstance(event, ModelCalled)]


@pytest.fixture
def recorder() -> MemoryRecorder:
    return MemoryRecorder()


def budget_of(tokens: int, *, seconds: float = 60.0) -> Budget:
    budget = Budget(Constraints(token_budget=max(tokens, 500)), seconds)
    budget.token_budget = tokens
    return budget


def answer_of(engine: Any, request: Any) -> Any:
    """The whole answer of an engine that streams, on an event loop of its own."""

    async def ask() -> Any:
        try:
            return await lm15.amaterialize_response(engine.stream(request), request)
        finally:
            await engine.aclose()

    return asyncio.run(ask())


def request_of(text: str = "Say hello.", *, cap: int | None = 100, **more: Any) -> Any:
    return lm15.Request(
        model="scripted", messages=(lm15.Message.user(text),), config=lm15.Config(max_tokens=cap), **more
    )
