"""The engine that the meter expects: one attempt, told event by event, and a count of a prompt's tokens.

An engine speaks `dspy.lm15`: it takes a `Request`, yields stream events, raises lm15 errors and never retries (DSPy
does, above the meter).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

# Seconds without a byte after which an attempt is given up: the wall clock of the longest research call.
READ_TIMEOUT_S = 180.0

# Seconds that a cancelled call may take to close its connection and be charged. A guess: both are done at once
# where the service still answers, and whoever cancels is waiting.
CLOSING_S = 1.0


@dataclass(frozen=True)
class Capabilities:
    """Features that DSPy's adapters ask for before they write a request."""

    response_schema: bool = False
    function_calling: bool = False
    reasoning: bool = False
    params: frozenset[str] = frozenset({"max_tokens", "temperature", "top_p", "stop"})

    @classmethod
    def with_schema(cls) -> Capabilities:
        """An engine that takes a JSON schema for the answer."""
        return cls(response_schema=True, params=cls.params | {"response_format"})


@dataclass(frozen=True)
class PromptForm:
    """The form of a prompt: the usual one, or the shortest for a budget that the usual one does not fit."""

    is_short: bool = False
    is_last: bool = True
    """False where the same is asked in another form if this one does not fit the budget."""


USUAL_FORM = PromptForm()


class Engine(Protocol):
    capabilities: Capabilities

    def stream(self, request: Any) -> AsyncIterator[Any]:
        """One attempt as lm15 stream events; the last is a StreamEndEvent with the usage that was billed."""
        ...

    async def count_tokens(self, request: Any) -> int | None:
        """The prompt's tokens as the model counts them, template included; None where nobody can tell."""
        ...

    async def aclose(self) -> None:
        """Give back the connections."""
        ...


@runtime_checkable
class RecordedCall(Protocol):
    """An engine that knows beforehand what will be asked."""

    async def check_recorded(self, request: Any) -> None:
        """Raise NotRecorded, or BudgetExhausted, for what will not be asked, before tokens are reserved for it."""
        ...


class PerLoopEngine:
    """An engine for any number of event loops: each gets one of its own from `open_engine`, with its connections.

    A connection belongs to the loop that opened it. A loop gives its connections back by `aclose`; those of a loop
    that ended without it go with that loop.
    """

    def __init__(self, open_engine: Callable[[], Engine], capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self._open_engine = open_engine
        self._engines: WeakKeyDictionary[asyncio.AbstractEventLoop, Engine] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def stream(self, request: Any) -> AsyncIterator[Any]:
        return self._engine_here().stream(request)

    async def count_tokens(self, request: Any) -> int | None:
        return await self._engine_here().count_tokens(request)

    async def aclose(self) -> None:
        with self._lock:
            engine = self._engines.pop(asyncio.get_running_loop(), None)
        if engine is not None:
            await engine.aclose()

    def _engine_here(self) -> Engine:
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._engines:
                self._engines[loop] = self._open_engine()
            return self._engines[loop]
