"""The one door to a model: tokens are reserved before a call, and the call is refused where they are not there.

Both engines stand between `dspy.LM` (which retries) and the engine that speaks to the provider (which does not), so
each attempt that really goes out passes here once.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any

import anyio
from dspy import lm15

from marchwarden.lm.engine import AsyncEngine, Capabilities, Engine
from marchwarden.lm.meter import Admission, Answer, Meter, current_caller
from marchwarden.lm.prompt import most_tokens

_POLL = 0.02
"""Seconds between looks at what other calls still hold."""


class _Metered:
    """What both engines share: the meter, and the inner engine's capability hints, forwarded."""

    def __init__(self, meter: Meter, capabilities: Capabilities) -> None:
        self.meter = meter
        self.supports_response_schema = capabilities.response_schema
        self.supports_function_calling = capabilities.function_calling
        self.supports_reasoning = capabilities.reasoning
        self.supported_params = capabilities.params

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self  # optimizers copy programs; there is one budget


class MeteredEngine(_Metered):
    """A `dspy.LM(engine=…)` that refuses what the budget can't pay for."""

    def __init__(self, inner: Engine, meter: Meter) -> None:
        super().__init__(meter, inner.capabilities)
        self._inner = inner

    def complete(self, request: Any) -> Any:
        """One attempt. Raises BudgetExhausted before it, ModelError for an answer that is cut short or refused, and
        the inner engine's lm15 errors."""
        admission = self._admit(request)
        answer = Answer(admission.cap)
        try:
            events = self._watched(admission.request, answer)
            response = lm15.materialize_response(events, admission.request)
        except BaseException as error:
            self.meter.settle_failure(admission, answer, error)
            raise
        return self.meter.settle(admission, answer, response)

    def stream(self, request: Any) -> Iterator[Any]:
        yield from lm15.response_to_events(self.complete(request))

    def close(self) -> None:
        self._inner.close()

    def _admit(self, request: Any) -> Admission:
        caller, bound = current_caller(), self.meter.corrected(most_tokens(request))
        admission = self.meter.admit(caller, request, bound, shrink=False)
        if admission is None:
            bound = _tighter(bound, self._inner.count_tokens(request), self.meter)
            admission = self.meter.admit(caller, request, bound, shrink=False)
        while admission is None and self.meter.worth_waiting(caller, request, bound):
            time.sleep(_POLL)
            admission = self.meter.admit(caller, request, bound, shrink=False)
        return admission or _surely(self.meter.admit(caller, request, bound, shrink=True))

    def _watched(self, request: Any, answer: Answer) -> Iterator[Any]:
        with closing(self._inner.stream(request)) as events:  # type: ignore[type-var]
            for event in events:
                answer.take(event)
                if answer.overrun:
                    yield lm15.StreamEndEvent(finish_reason="length")
                    return
                yield event


class AsyncMeteredEngine(_Metered):
    """A `dspy.LM(async_engine=…)` that refuses what the budget can't pay for."""

    def __init__(self, inner: AsyncEngine, meter: Meter) -> None:
        super().__init__(meter, inner.capabilities)
        self._inner = inner

    async def complete(self, request: Any) -> Any:
        """As MeteredEngine.complete; cancelled midway, what had been asked and streamed is charged."""
        admission = await self._admit(request)
        answer = Answer(admission.cap)
        try:
            events = self._watched(admission.request, answer)
            response = await lm15.amaterialize_response(events, admission.request)
        except BaseException as error:
            self.meter.settle_failure(admission, answer, error)
            raise
        return self.meter.settle(admission, answer, response)

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        for event in lm15.response_to_events(await self.complete(request)):
            yield event

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _admit(self, request: Any) -> Admission:
        caller, bound = current_caller(), self.meter.corrected(most_tokens(request))
        admission = self.meter.admit(caller, request, bound, shrink=False)
        if admission is None:
            bound = _tighter(bound, await self._inner.count_tokens(request), self.meter)
            admission = self.meter.admit(caller, request, bound, shrink=False)
        while admission is None and self.meter.worth_waiting(caller, request, bound):
            await anyio.sleep(_POLL)
            admission = self.meter.admit(caller, request, bound, shrink=False)
        return admission or _surely(self.meter.admit(caller, request, bound, shrink=True))

    async def _watched(self, request: Any, answer: Answer) -> AsyncIterator[Any]:
        async with aclosing(self._inner.stream(request)) as events:  # type: ignore[type-var]
            async for event in events:
                answer.take(event)
                if answer.overrun:
                    yield lm15.StreamEndEvent(finish_reason="length")
                    return
                yield event


def _tighter(bound: int, counted: int | None, meter: Meter) -> int:
    """The count where there is one, with a margin: providers call their counts estimates."""
    if counted is None:
        return bound
    return min(bound, meter.corrected(counted + max(16, counted // 50)))


def _surely(admission: Admission | None) -> Admission:
    assert admission is not None, "admit(shrink=True) admits or raises"
    return admission
