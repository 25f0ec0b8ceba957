"""The model of a recorded call, for a re-run: each attempt gives again what it gave then, answer or error.

An attempt is known by the hash of what was asked. Attempts end in the order in which they ended then, since a budget
decides by what was spent before.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

import anyio
from dspy import lm15

from marchwarden.errors import BudgetExhausted, ModelError, ModelErrorKind, NotRecorded
from marchwarden.lm.engine import Capabilities, Engine
from marchwarden.lm.meter import ChargedUsage, current_caller
from marchwarden.lm.prompt import request_hash
from marchwarden.lm.recorded import answer_events
from marchwarden.sources.recorded_tools import NOT_ASKED
from marchwarden.trace.events import EngineFeatures, ModelCalled

# Seconds without an end of another attempt, after which the one before it has done all that follows from it. A guess:
# a stage takes some milliseconds to read an answer.
SETTLED_S = 0.03
# Seconds between looks at the others. A guess.
_POLL_S = 0.005
# Looks after which an attempt waits no longer for one that came before it then: it will not come now. They are 2 s on
# an idle machine. On one with twenty processes for each core, where others take longer than that to begin, looks are
# fewer, too. A guess.
_MOST_LOOKS = 400


@dataclass(frozen=True)
class Attempt:
    """One attempt of the recorded call."""

    call: ModelCalled
    cut: str | None = None
    """Reason for which its stage went on without the model, where time cut the attempt; None elsewhere."""
    ends_call: bool = False
    """True where the time of the whole call cut the attempt."""
    at_end: bool = False
    """True where the loop had stopped before it."""


class ReplayedEngine:
    """An engine over recorded attempts; what was not asked then goes to `inner`, where there is one."""

    def __init__(
        self,
        attempts: Sequence[Attempt],
        features: EngineFeatures,
        check_clock: Callable[[], None],
        inner: Engine | None = None,
        *,
        too_slow: Mapping[str, Sequence[str]],
        refused: Mapping[str, str],
    ) -> None:
        """Make an engine.

        `check_clock` is called for a prompt that was not asked then, and raises where its time was over. `too_slow`
        has, by stage, the reasons for which it went on without the model before any attempt had begun, and `refused`
        the last one for want of tokens.
        """
        self.capabilities = Capabilities(
            features.response_schema, features.function_calling, features.reasoning, frozenset(features.params)
        )
        self._check_clock = check_clock
        self._inner = inner
        self._too_slow = {stage: deque(reasons) for stage, reasons in too_slow.items()}
        self._refused = refused
        self._left: dict[str, deque[tuple[int, Attempt]]] = defaultdict(deque)
        for place, attempt in enumerate(attempts):
            self._left[attempt.call.request_hash or ""].append((place, attempt))
        self._open = set(range(len(attempts)))
        # Attempts that the call's time cut, by whether the loop had stopped; each set was under way together.
        self._cut = {
            at_end: {n for n, each in enumerate(attempts) if each.ends_call and each.at_end is at_end}
            for at_end in (False, True)
        }
        self._last_end = 0.0

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        left = self._left[request_hash(request)]
        if not left:
            if self._inner is None:
                await self._refuse()
                return
            async with aclosing(self._inner.stream(request)) as events:  # type: ignore[type-var]
                async for event in events:
                    yield event
            return
        place, attempt = left.popleft()
        self._cut[attempt.at_end].discard(place)
        try:
            await self._wait(place)
            if attempt.ends_call:
                # The first to end cancels the others, which must have begun by then: they were charged, too.
                await self._wait_while(lambda: self._cut[attempt.at_end])
            for event in _replay(request, attempt, is_retried=bool(left)):
                yield event
        except anyio.get_cancelled_exc_class() as cancelled:
            cancelled.usage = _usage(attempt.call)  # type: ignore[attr-defined]
            raise
        finally:
            self._open.discard(place)
            self._last_end = time.monotonic()

    async def check_recorded(self, request: Any) -> None:
        """Raise NotRecorded, or BudgetExhausted, for what was not asked then, where no other model is asked."""
        # A prompt that says in words what its schema says may go without the schema.
        plain = replace(request, config=replace(request.config, response_format=None))
        if self._inner is None and not self._left[request_hash(request)] and not self._left[request_hash(plain)]:
            await self._refuse()

    async def count_tokens(self, request: Any) -> int | None:
        """Return the count of then; of what was not asked then, that of the inner engine."""
        if left := self._left[request_hash(request)]:
            return left[0][1].call.counted_tokens
        return await self._inner.count_tokens(request) if self._inner else None

    async def aclose(self) -> None:
        if self._inner:
            await self._inner.aclose()

    async def _refuse(self) -> None:
        """Raise what tells why this was not asked then."""
        caller = current_caller()
        stage = caller.stage
        if reason := self._refused.get(stage):
            # The budget did not allow this form of the prompt, or none.
            raise BudgetExhausted("tokens", reason)
        if not caller.form.is_last and any(
            each.call.stage == stage for left in self._left.values() for _, each in left
        ):
            raise NotRecorded(NOT_ASKED.format(stage), has_other_form=True)
        # Where time ended the recorded call, this prompt was about to be sent: what was under way comes first.
        await self._wait(max(self._open, default=0) + 1)
        if reasons := self._too_slow.get(stage):
            raise NotRecorded(reasons.popleft())
        self._check_clock()
        raise NotRecorded(NOT_ASKED.format(stage))

    async def _wait(self, place: int) -> None:
        """Wait until the attempts before this one have ended, or none of them ends any more."""
        await self._wait_while(lambda: {other for other in self._open if other < place})
        await anyio.sleep(max(0.0, self._last_end + SETTLED_S - time.monotonic()))

    async def _wait_while(self, expected: Callable[[], set[int]]) -> None:
        """Wait while attempts are expected, until nothing has happened for so long that they will not come."""
        looks, last_end = 0, self._last_end
        while left := expected():
            if self._last_end != last_end:
                looks, last_end = 0, self._last_end
            if looks == _MOST_LOOKS:
                self._open -= left
                return
            looks += 1
            await anyio.sleep(_POLL_S)


def _replay(request: Any, attempt: Attempt, *, is_retried: bool) -> list[Any]:
    """Return the answer as stream events. Raises what the attempt raised, with the usage that it was charged."""
    call = attempt.call
    if call.answer is not None:
        return answer_events(request, call.answer, call.finish, _usage(call))
    error: Exception
    if attempt.ends_call or attempt.cut:
        error = NotRecorded(attempt.cut or "the recorded call had run out of time", ends_call=attempt.ends_call)
    elif is_retried:
        # The same was asked again, by DSPy, after a wait that need not be waited now.
        error = lm15.ServerError(call.error or "", retry_after=0.0)
    else:
        kind, _, message = (call.error or "").partition(": ")
        error = ModelError(cast(ModelErrorKind, kind), message)
    error.usage = _usage(call)  # type: ignore[attr-defined]
    raise error


def _usage(call: ModelCalled) -> Any:
    """Return the usage that gives the charge of then."""
    return ChargedUsage(
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        cache_read_tokens=call.cached_tokens,
        total_tokens=max(call.charged_tokens, call.input_tokens + call.output_tokens),
    )
