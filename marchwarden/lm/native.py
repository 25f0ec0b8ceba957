"""Every model but Claude, through DSPy's own engines: lm15's, or LiteLLM's where only that knows the provider.

A server that speaks OpenAI's chat completions at an address of its own is declared to lm15 as a provider.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from dspy import lm15

from marchwarden.lm.counting import TokenCounter
from marchwarden.lm.engine import Capabilities
from marchwarden.lm.prompt import TOO_LONG

# The provider under which a server at MARCHWARDEN_API_BASE is declared to lm15.
DECLARED = "openai-compatible"


@dataclass(frozen=True)
class Route:
    """The way of a model's calls: its name there, its capabilities, how its usage is to be read."""

    wire_model: str
    capabilities: Capabilities
    cached_apart: bool = False
    """True where the provider reports cached tokens beside the input tokens, not among them."""


def declared_provider(api_base: str, *, keyless: bool) -> lm15.ProviderDefinition:
    """A server at `api_base` that speaks OpenAI's chat completions; without a key it gets a placeholder."""
    return lm15.ProviderDefinition.chat(
        lm15.AccessPolicy(provider=DECLARED, base_url=api_base),
        compat=lm15.OpenAIChatCompat(max_tokens_field="max_tokens", instruction_role="system"),
        placeholder_key="none" if keyless else None,
    )


class NativeEngine:
    """A DSPy engine as the meter wants it. A server that refuses a response schema is sent no further one."""

    def __init__(self, inner: Any, route: Route, counter: TokenCounter | None = None) -> None:
        self.capabilities = route.capabilities
        self._inner = inner
        self._route = route
        self._counter = counter or TokenCounter()
        self._takes_schema = True

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        """One attempt as lm15 events; a second one where the server refuses the schema, which it does not bill."""
        addressed = self._addressed(request)
        try:
            async with aclosing(self._attempt(addressed)) as events:  # type: ignore[type-var]
                async for event in events:
                    yield event
        except lm15.InvalidRequestError as refused:
            if type(refused) is lm15.InvalidRequestError and TOO_LONG.search(refused.message):
                # Servers of one's own have words for it and no code.
                code = refused.provider_code
                raise lm15.ContextLengthError(refused.message, status=refused.status, provider_code=code) from refused
            # No server refuses a schema in a form of its own: any refusal of a request that has one may be that.
            may_be_schema = addressed.config.response_format is not None and refused.status in (400, 422)
            if not may_be_schema or isinstance(refused, lm15.ContextLengthError):
                raise
            self._takes_schema = False
            async with aclosing(self._attempt(self._addressed(request))) as events:  # type: ignore[type-var]
                async for event in events:
                    yield event

    async def _attempt(self, request: Any) -> AsyncIterator[Any]:
        has_text = False
        try:
            async with aclosing(self._inner.stream(request)) as events:
                async for event in events:
                    has_text = has_text or event.type == "delta"
                    usage = event.usage if event.type == "end" else None
                    if usage is not None and usage.input_tokens is not None and self._route.cached_apart:
                        # Input tokens with their cached part included.
                        tokens = usage.input_tokens + (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
                        event = replace(event, usage=replace(usage, input_tokens=tokens, total_tokens=None))
                    yield event
        except (TypeError, ValueError, AttributeError):
            # lm15 fails on a usage that is no whole numbers. It comes last, so that the answer is there.
            if not has_text:
                raise
            yield lm15.StreamEndEvent(finish_reason="stop")

    async def count_tokens(self, request: Any) -> int | None:
        return await self._counter.count(self._addressed(request))

    async def aclose(self) -> None:
        await self._inner.aclose()
        await self._counter.aclose()

    def _addressed(self, request: Any) -> Any:
        request = replace(request, model=self._route.wire_model)
        if self._takes_schema:
            return request
        return replace(request, config=replace(request.config, response_format=None))
