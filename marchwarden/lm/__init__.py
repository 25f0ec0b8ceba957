"""From a model id to a model that a stage can ask: `connect`, and `Model.predict`.

Which engine speaks to which provider is decided here; what a call may cost, in metered.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from marchwarden.budget import Budget
from marchwarden.errors import MarchwardenError, ModelError, model_error
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.trace.events import Recorder

if TYPE_CHECKING:
    import dspy

    from marchwarden.lm.engine import AsyncEngine, Engine

T = TypeVar("T")

CLOSING_SECONDS = 1.0
"""How long a cancelled call may take to close its connection and be charged."""
RETRIES = 2
"""How often DSPy repeats a call that failed for a passing reason, with the wait that the provider asks for."""


async def _apart(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a task of its own, and cancel that where we are cancelled.

    What is raised here is then the very cancellation that was sent: a library that is cancelled may raise another, by
    which the scope that sent it does not know its own, and which ends the whole call.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task}, timeout=CLOSING_SECONDS)
        if task.done() and not task.cancelled():
            task.exception()  # looked at, so that nobody complains that it was not
        raise
    return task.result()


class Model:
    """A model behind the meter of one research call. Stages ask it through `predict`."""

    def __init__(
        self,
        model_id: str,
        engine: Engine,
        async_engine: AsyncEngine,
        budget: Budget,
        recorder: Recorder,
        *,
        secrets: tuple[str, ...] = (),
        retries: int = RETRIES,
    ) -> None:
        import dspy

        from marchwarden.lm.adapter import JSONAnswers
        from marchwarden.lm.meter import Meter
        from marchwarden.lm.metered import AsyncMeteredEngine, MeteredEngine

        self.model_id = model_id
        self.meter = Meter(model_id, budget, recorder, secrets=secrets)
        self.adapter = JSONAnswers()
        self._engines = (MeteredEngine(engine, self.meter), AsyncMeteredEngine(async_engine, self.meter))
        sync, asynchronous = self._engines
        self._lm = dspy.LM(model_id, engine=sync, async_engine=asynchronous, cache=False, num_retries=retries)

    def __repr__(self) -> str:
        return f"Model({self.model_id!r})"

    def lm(self, *, max_tokens: int) -> dspy.LM:
        """The model as DSPy's own, behind the same meter: for an optimizer that takes a second one."""
        return self._lm.copy(max_tokens=max_tokens)

    @contextmanager
    def asking(self, stage: str, *, max_tokens: int, answer_floor: int | None = None) -> Iterator[None]:
        """DSPy modules run inside ask this model, as `stage`, for at most `max_tokens` an answer.

        `predict` uses it; evaluation and optimizers, which run modules themselves, use it directly.
        """
        import dspy

        from marchwarden.lm.meter import CALLER, Caller

        lm = self.lm(max_tokens=max_tokens)
        caller = {CALLER: Caller(stage, answer_floor)}
        with dspy.context(lm=lm, adapter=self.adapter, disable_history=True, track_usage=False, **caller):
            yield

    async def predict(
        self,
        stage: str,
        predictor: dspy.Module,
        *,
        max_tokens: int,
        answer_floor: int | None = None,
        **inputs: Any,
    ) -> dspy.Prediction:
        """Run `predictor` on `inputs` as `stage`, with an answer of at most `max_tokens`.

        Where the budget is short the cap shrinks, down to `answer_floor` (a quarter of `max_tokens` by default).
        Raises BudgetExhausted where not even that can be paid for, ModelError for everything that the model or its
        service did not do, an unreadable answer included; nothing else but cancellation and what the recorder raises.
        """
        _unbind(predictor)
        try:
            with self.asking(stage, max_tokens=max_tokens, answer_floor=answer_floor):
                return await _apart(predictor.acall(**inputs))
        except Exception as error:
            translated = self._scrubbed(model_error(error))
            unknown = isinstance(translated, ModelError) and translated.kind == "unknown"
            raise translated from (error if unknown else None)

    async def aclose(self) -> None:
        """Give back the connections of both engines."""
        sync, asynchronous = self._engines
        sync.close()
        await asynchronous.aclose()

    def _scrubbed(self, error: MarchwardenError) -> MarchwardenError:
        if isinstance(error, ModelError) and (text := self.meter.scrub(str(error))) != str(error):
            return ModelError(error.kind, text, hint=error.hint)
        return error


def _unbind(predictor: Any) -> None:
    """A predictor that carries a model of its own would pass by the meter."""
    if any(each.lm is not None for each in predictor.predictors()):
        predictor.set_lm(None)


def connect(settings: Settings, budget: Budget, recorder: Recorder) -> Model | None:
    """The model that the settings name, behind a meter over `budget`; None for `extractive`.

    No network is touched. Raises ConfigurationError, with a hint, for a missing key or a model that nobody knows.
    """
    if settings.model_id == EXTRACTIVE:
        return None
    from marchwarden.lm.resolve import resolve

    resolved = resolve(settings)
    return Model(
        settings.model_id, resolved.engine, resolved.async_engine, budget, recorder, secrets=resolved.secrets
    )


__all__ = ["Model", "connect"]
