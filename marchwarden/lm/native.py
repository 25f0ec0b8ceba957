"""Every model but Claude, through DSPy's own engines: lm15's, or LiteLLM's where only that knows the provider.

A server that speaks OpenAI's chat completions at an address of its own is declared to lm15 as a provider.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from dspy import lm15

from marchwarden.lm.counting import AsyncTokenCounter, TokenCounter
from marchwarden.lm.engine import Capabilities
from marchwarden.lm.prompt import TOO_LONG

DECLARED = "openai-compatible"
"""The provider under which a server at MARCHWARDEN_API_BASE is declared to lm15."""

READ_TIMEOUT = 180.0


@dataclass(frozen=True)
class Route:
    """Where a model's calls go: its name there, what it can do, how its usage is to be read."""

    wire_model: str
    capabilities: Capabilities
    cached_apart: bool = False
    """Whether the provider reports cached tokens beside the input tokens, not among them."""


def declared_provider(api_base: str, *, keyless: bool) -> lm15.ProviderDefinition:
    """A server at `api_base` that speaks OpenAI's chat completions; without a key it gets a placeholder."""
    return lm15.ProviderDefinition.chat(
        lm15.AccessPolicy(provider=DECLARED, base_url=api_base),
        compat=lm15.OpenAIChatCompat(max_tokens_field="max_tokens", instruction_role="system"),
        placeholder_key="none" if keyless else None,
    )


class _Declining:
    """Remembers that a server refuses response schemas, so that it is asked without one from then on."""

    def __init__(self, route: Route) -> None:
        self.capabilities = route.capabilities
        self._route = route
        self._takes_schema = True

    def _addressed(self, request: Any) -> Any:
        request = replace(request, model=self._route.wire_model)
        return request if self._takes_schema else _without_schema(request)

    def _declined(self, error: Any, request: Any) -> bool:
        """Whether to ask again without the schema: a request refused as it stands was not billed."""
        asked = self._takes_schema and request.config.response_format is not None
        if not asked or isinstance(error, lm15.ContextLengthError) or error.status not in (400, 422):
            return False
        self._takes_schema = False
        return True

    def _normal(self, event: Any) -> Any:
        """Input tokens with their cached part included."""
        usage = event.usage if event.type == "end" else None
        if usage is None or usage.input_tokens is None or not self._route.cached_apart:
            return event
        cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
        whole = replace(usage, input_tokens=usage.input_tokens + cached, total_tokens=None)
        return replace(event, usage=whole)


def _told_apart(error: Any) -> Any:
    """Servers of one's own have a message of their own for a prompt that is too long."""
    if type(error) is not lm15.InvalidRequestError or not TOO_LONG.search(error.message):
        return error
    return lm15.ContextLengthError(error.message, status=error.status, provider_code=error.provider_code)


def _without_schema(request: Any) -> Any:
    return replace(request, config=replace(request.config, response_format=None))


class NativeEngine(_Declining):
    """A DSPy engine as the meter wants it."""

    def __init__(self, inner: Any, route: Route, counter: TokenCounter | None = None) -> None:
        super().__init__(route)
        self._inner = inner
        self._counter = counter

    def stream(self, request: Any) -> Iterator[Any]:
        addressed = self._addressed(request)
        try:
            for event in self._inner.stream(addressed):
                yield self._normal(event)
        except lm15.InvalidRequestError as refused:
            error = _told_apart(refused)
            if not self._declined(error, addressed):
                raise error from refused
            for event in self._inner.stream(_without_schema(addressed)):
                yield self._normal(event)

    def count_tokens(self, request: Any) -> int | None:
        return self._counter.count(self._addressed(request)) if self._counter else None

    def close(self) -> None:
        self._inner.close()
        if self._counter:
            self._counter.close()


class AsyncNativeEngine(_Declining):
    """As NativeEngine, for tasks."""

    def __init__(self, inner: Any, route: Route, counter: AsyncTokenCounter | None = None) -> None:
        super().__init__(route)
        self._inner = inner
        self._counter = counter

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        addressed = self._addressed(request)
        try:
            async with aclosing(self._inner.stream(addressed)) as events:
                async for event in events:
                    yield self._normal(event)
        except lm15.InvalidRequestError as refused:
            error = _told_apart(refused)
            if not self._declined(error, addressed):
                raise error from refused
            async with aclosing(self._inner.stream(_without_schema(addressed))) as events:
                async for event in events:
                    yield self._normal(event)

    async def count_tokens(self, request: Any) -> int | None:
        return await self._counter.count(self._addressed(request)) if self._counter else None

    async def aclose(self) -> None:
        await self._inner.aclose()
        if self._counter:
            await self._counter.aclose()
