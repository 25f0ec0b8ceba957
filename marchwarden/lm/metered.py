"""The one door to a model: tokens are reserved before a call, and the call is refused where they are not there.

The metered engine stands between `dspy.LM` (which retries) and the engine that speaks to the provider (which does
not), so each attempt that really goes out passes here once. DSPy's optimizers call it from threads, through
BlockingEngine.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, aclosing
from dataclasses import replace
from typing import Any

import anyio
import anyio.to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal
from dspy import lm15

from marchwarden.lm.engine import CLOSING_S, Capabilities, Engine, RecordedCall
from marchwarden.lm.meter import Admission, Answer, Meter, current_caller
from marchwarden.lm.prompt import is_plausible, most_tokens, prompt_texts

# Seconds between looks at what other calls still hold. A guess: short beside an answer, which takes seconds.
POLL_S = 0.02

# A count is raised by a 50th of it, and by 16 tokens at least: providers call their counts estimates, and give no
# figure for the error. A guess.
MIN_COUNT_MARGIN_TOKENS = 16
COUNT_MARGIN_SHARE = 50


class _DSPyEngine:
    """The attributes that DSPy reads from any engine: the capability hints of the one beneath."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self.supports_response_schema = capabilities.response_schema
        self.supports_function_calling = capabilities.function_calling
        self.supports_reasoning = capabilities.reasoning
        self.supported_params = capabilities.params

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self  # optimizers copy programs; there is one budget


class MeteredEngine(_DSPyEngine):
    """A `dspy.LM(async_engine=…)` that refuses what the budget can't pay for."""

    def __init__(self, inner: Engine, meter: Meter) -> None:
        super().__init__(inner.capabilities)
        self.meter = meter
        self._inner = inner

    async def complete(self, request: Any) -> Any:
        """Make one attempt; cancelled midway, charge what had been asked and streamed.

        Raises BudgetExhausted before it, ModelError for an answer that is cut short or refused, and the lm15 error of
        an attempt that failed.
        """
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
        if isinstance(self._inner, RecordedCall):
            await self._inner.check_recorded(request)
        caller, bound = current_caller(), self.meter.corrected(most_tokens(request))
        admission = self.meter.admit(caller, request, bound, shrink=False)
        counted: int | None = None
        # A count costs a round trip, so it is asked for only where the bound, which is free, does not fit.
        if admission is None:
            counted, by_count = await self._counted(request)
            bound = min(bound, by_count)
            admission = self.meter.admit(caller, request, bound, shrink=False)
        if admission is None and request.config.response_format and not self.meter.may_fit(caller, request, bound):
            # The prompt says in words what the schema says.
            plain = replace(request, config=replace(request.config, response_format=None))
            plain_counted, by_count = await self._counted(plain)
            plain_bound = min(self.meter.corrected(most_tokens(plain)), by_count)
            if plain_bound < bound:
                request, bound, counted = plain, plain_bound, plain_counted
        while admission is None and self.meter.worth_waiting(caller, request, bound):
            await anyio.sleep(POLL_S)
            admission = self.meter.admit(caller, request, bound, shrink=False)
        admission = admission or self.meter.admit(caller, request, bound, shrink=True)
        assert admission is not None, "admit(shrink=True) admits or raises"
        admission.counted = counted
        return admission

    async def least_tokens(self, admission: Admission) -> int:
        """Return the tokens with which a call of another budget could ask the same: its prompt without a schema,
        counted where the service counts, and the shortest answer that is of use."""
        plain = replace(admission.request, config=replace(admission.request.config, response_format=None))
        bound, counted = most_tokens(plain), await self._inner.count_tokens(plain)
        if counted is not None and is_plausible(counted, "\n".join(prompt_texts(plain)), bound):
            bound = min(bound, counted + max(MIN_COUNT_MARGIN_TOKENS, counted // COUNT_MARGIN_SHARE))
        return self.meter.corrected(bound) + admission.caller.floor(admission.cap)

    async def _counted(self, request: Any) -> tuple[int | None, int]:
        """Return the count of a prompt's tokens, and the count with a margin, or a lower bound by what was reported.

        Where there is no count that can be true: None, and a bound.
        """
        counted, bound = await self._inner.count_tokens(request), most_tokens(request)
        if counted is not None and is_plausible(counted, "\n".join(prompt_texts(request)), bound):
            bound = counted + max(MIN_COUNT_MARGIN_TOKENS, counted // COUNT_MARGIN_SHARE)
        else:
            counted = None
        learned = await anyio.to_thread.run_sync(self.meter.reported.most_tokens, request)
        return counted, self.meter.corrected(bound if learned is None else min(bound, learned))

    async def _watched(self, request: Any, answer: Answer) -> AsyncIterator[Any]:
        async with aclosing(self._inner.stream(request)) as events:  # type: ignore[type-var]
            async for event in events:
                answer.take(event)
                if answer.overrun:
                    # A server that does not keep the cap would stream for ever, and bill it.
                    yield lm15.StreamEndEvent(finish_reason="length")
                    return
                yield event


class BlockingEngine(_DSPyEngine):
    """A `dspy.LM(engine=…)` over the same metered engine, for callers that block: the threads of DSPy's optimizers.

    All of them share one event loop in a thread of its own, which the first call starts and `close` ends.
    """

    def __init__(self, engine: MeteredEngine) -> None:
        super().__init__(engine.capabilities)
        self._engine = engine
        self._lock = threading.Lock()
        self._portal: BlockingPortal | None = None
        self._portal_exit = ExitStack()
        self._calls: set[Future[Any]] = set()
        self._is_closed = False

    def complete(self, request: Any) -> Any:
        """Make one attempt, and wait for it; interrupted meanwhile, cancel it, so that its tokens are settled.

        Raises what MeteredEngine.complete raises, and lm15.ConfigurationError where the engine is closed.
        """
        settled = threading.Event()

        async def attempt() -> tuple[Any, BaseException | None]:
            try:
                return await self._engine.complete(request), None
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:
                # Handed over, not raised: a KeyboardInterrupt that leaves a task ends the event loop of all threads.
                return None, error
            finally:
                settled.set()

        with self._lock:
            if self._is_closed:
                raise lm15.ConfigurationError("the model is closed")
            if self._portal is None:
                self._portal = self._portal_exit.enter_context(start_blocking_portal(name="model calls"))
            portal = self._portal
        # The task runs in a copy of this thread's context, so that `dspy.context` tells the meter who asks.
        call = portal.start_task_soon(attempt)
        self._calls.add(call)
        try:
            response, error = call.result()
        except BaseException:
            call.cancel()
            settled.wait(CLOSING_S)
            raise
        finally:
            self._calls.discard(call)
        if error is not None:
            raise error
        return response

    def stream(self, request: Any) -> Iterator[Any]:
        yield from lm15.response_to_events(self.complete(request))

    def close(self) -> None:
        """End the event loop, with the calls and connections that are on it."""
        with self._lock:
            self._is_closed = True
            portal, self._portal = self._portal, None
        if portal is not None:
            # Cancelled before their connections go: a call that loses its connection looks as if it cost nothing.
            for call in self._calls.copy():
                call.cancel()
            portal.call(self._engine.aclose)
            portal.call(portal.stop, True)
            self._portal_exit.close()
