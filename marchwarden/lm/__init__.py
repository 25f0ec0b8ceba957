"""A model that a stage can ask, made from a model id: `connect`, and `Model.predict`.

The engine for a provider is chosen in resolve.py; the cost of a call is bounded in metered.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from marchwarden.budget import Budget
from marchwarden.errors import ModelError, model_error
from marchwarden.lm.engine import CLOSING_S, USUAL_FORM, PromptForm
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.events import EngineFeatures, Recorder

if TYPE_CHECKING:
    import dspy

    from marchwarden.lm.engine import Engine

T = TypeVar("T")

# Times that DSPy repeats a call that failed for a passing reason, after the wait that the provider asks for. The
# default of the SDKs of Anthropic and OpenAI.
RETRIES = 2


async def _apart(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in a task of its own, and cancel that where we are cancelled.

    The cancellation that is raised here is then the very one that was sent: a library that is cancelled may raise
    another, by which the scope that sent it does not know its own, and which ends the whole call.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task}, timeout=CLOSING_S)
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
        budget: Budget,
        recorder: Recorder,
        *,
        secrets: tuple[str, ...] = (),
        retries: int = RETRIES,
    ) -> None:
        import dspy

        from marchwarden.lm.adapter import JSONAnswers, ShortJSONAnswers
        from marchwarden.lm.meter import Meter
        from marchwarden.lm.metered import BlockingEngine, MeteredEngine

        self.model_id = model_id
        self.meter = Meter(model_id, budget, recorder, secrets=secrets)
        self.adapter = JSONAnswers()
        self._short_adapter = ShortJSONAnswers()
        self._shortest_adapter = ShortJSONAnswers(only_needed=True)
        self._engine = MeteredEngine(engine, self.meter)
        self._blocking = BlockingEngine(self._engine)
        # DSPy's cache stays off: it would store an answer that was cut at a short budget under the uncut request.
        self._lm = dspy.LM(
            model_id, engine=self._blocking, async_engine=self._engine, cache=False, num_retries=retries
        )

    def __repr__(self) -> str:
        return f"Model({self.model_id!r})"

    @property
    def features(self) -> EngineFeatures:
        """Features of the service, as a trace keeps them."""
        known = self._engine.capabilities
        return EngineFeatures(
            response_schema=known.response_schema,
            function_calling=known.function_calling,
            reasoning=known.reasoning,
            params=sorted(known.params),
        )

    def lm(self, *, max_tokens: int) -> dspy.LM:
        """The model as DSPy's own, behind the same meter: for an optimizer that takes a second one."""
        return self._lm.copy(max_tokens=max_tokens)

    @contextmanager
    def asking(
        self, stage: str, *, max_tokens: int, answer_floor: int | None = None, form: PromptForm = USUAL_FORM
    ) -> Iterator[None]:
        """Make DSPy modules that run inside ask this model, as `stage`, for at most `max_tokens` an answer.

        `predict` uses it; evaluation and optimizers, which run modules themselves, use it directly.
        """
        import dspy

        from marchwarden.lm.meter import CALLER, Caller

        lm = self.lm(max_tokens=max_tokens)
        caller = {CALLER: Caller(stage, answer_floor, form)}
        short = self._shortest_adapter if form.is_last else self._short_adapter
        adapter = short if form.is_short else self.adapter
        with dspy.context(lm=lm, adapter=adapter, disable_history=True, track_usage=False, **caller):
            yield

    async def predict(
        self,
        stage: str,
        predictor: dspy.Module,
        *,
        max_tokens: int,
        answer_floor: int | None = None,
        form: PromptForm = USUAL_FORM,
        **inputs: Any,
    ) -> dspy.Prediction:
        """Run `predictor` on `inputs` as `stage`, with an answer of at most `max_tokens`.

        Where the budget is short the cap shrinks, down to `answer_floor` (a quarter of `max_tokens` by default). The
        short form of a prompt has no demonstrations.
        Raises BudgetExhausted where not even that can be paid for, ModelError for everything that the model or its
        service did not do, an unreadable answer included; nothing else but cancellation and what the recorder raises.
        """
        if any(each.lm is not None for each in predictor.predictors()):
            predictor.set_lm(None)  # a predictor with a model of its own would pass by the meter
        try:
            with self.asking(stage, max_tokens=max_tokens, answer_floor=answer_floor, form=form):
                return await _apart(predictor.acall(**inputs))
        except Exception as error:
            translated = model_error(error)
            if not isinstance(translated, ModelError):
                raise translated from None
            shown = ModelError(translated.kind, self.meter.redact(str(translated)), hint=translated.hint)
            # An unknown kind may be a bug of ours, and is looked for by its cause; the other causes can hold a key.
            raise shown from (error if shown.kind == "unknown" else None)

    async def first_call_tokens(self) -> int:
        """Return the tokens with which another call could ask what this one asked first; 0 where it asked nothing."""
        return await self._engine.least_tokens(self.meter.first) if self.meter.first else 0

    async def aclose(self) -> None:
        """Give back the connections, and end the event loop of callers that block, where there is one."""
        self._blocking.close()
        await self._engine.aclose()


def connect(settings: Settings, budget: Budget, recorder: Recorder) -> Model | None:
    """The model that the settings name, behind a meter over `budget`; None for `extractive`.

    No network is touched. Raises ConfigurationError, with a hint, for a missing key, a model that nobody knows, and
    certificates that the environment names and that are not there.
    """
    if settings.model_id == EXTRACTIVE:
        return None
    settings.require_model()
    from marchwarden.lm.resolve import resolve

    return Model(settings.model_id, resolve(settings), budget, recorder, secrets=secrets_of(settings))


__all__ = ["Model", "connect"]
