"""Claude, through the official SDK: streaming, prompt caching, token counting, structured output.

The SDK's own retries are off, its errors become lm15 errors, so that DSPy's retry policy holds and the meter above
sees every attempt.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2
from dspy import lm15

from marchwarden.http.certificates import tls_context
from marchwarden.lm.anthropic_errors import to_lm15
from marchwarden.lm.engine import READ_TIMEOUT_S, Capabilities

# Seconds for a connection. A guess: a service that takes longer is not there.
CONNECT_TIMEOUT_S = 10.0

# The API's own limit; other providers go to 2.
MAX_TEMPERATURE = 1.0

_WITHOUT_SCHEMA = re.compile(r"claude-(?:instant|[123][-.]|(?:opus|sonnet)-4-(?:0|2025))")
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_call",
    "refusal": "content_filter",
}


def capabilities_of(model: str) -> Capabilities:
    """Structured output came with Claude 4.1; older models answer in prose that the adapter reads."""
    return Capabilities() if _WITHOUT_SCHEMA.search(model) else Capabilities.with_schema()


class AnthropicEngine:
    """One model behind the Messages API. `base_url` None is Anthropic's own address."""

    def __init__(self, model: str, api_key: str, *, base_url: str | None = None) -> None:
        self.capabilities = capabilities_of(model)
        self._model = model
        # The SDK appends `/v1` itself; addresses of OpenAI's style, which users have at hand, end with it.
        root = base_url.rstrip("/").removesuffix("/v1") if base_url else None
        timeout = httpx2.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
        http = anthropic.DefaultAsyncHttpxClient(timeout=timeout, verify=tls_context(httpx2.create_ssl_context))
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key, base_url=root, max_retries=0, timeout=timeout, http_client=http
        )

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        """One attempt as lm15 events; raises lm15 errors."""
        reading = _Reading()
        with _translated(reading):
            arguments = message_arguments(self._model, request)
            async with await self._client.messages.create(**arguments, stream=True) as events:
                async for event in events:
                    for each in reading.events(event):
                        yield each

    async def count_tokens(self, request: Any) -> int | None:
        """The provider's own count, free of charge; None where the endpoint has none."""
        try:
            counted = await self._client.messages.count_tokens(**count_arguments(self._model, request))
        except (anthropic.AnthropicError, httpx2.HTTPError):
            return None
        return counted.input_tokens

    async def aclose(self) -> None:
        await self._client.close()


# Request → arguments


def message_arguments(model: str, request: Any) -> dict[str, Any]:
    """Arguments of `messages.create` for an lm15 Request; sampling parameters only where they were asked for."""
    config = request.config
    arguments = {**count_arguments(model, request), "max_tokens": config.max_tokens}
    if config.stop:
        arguments["stop_sequences"] = list(config.stop)
    # Current models refuse temperature and top_p together, and the SDK no longer names either.
    if config.temperature is not None:
        arguments["extra_body"] = {"temperature": min(config.temperature, MAX_TEMPERATURE)}
    elif config.top_p is not None:
        arguments["extra_body"] = {"top_p": config.top_p}
    return arguments


def count_arguments(model: str, request: Any) -> dict[str, Any]:
    """The part of a call that makes up its prompt."""
    messages = []
    for each in request.messages:
        if each.role not in ("user", "assistant") or each.text is None:
            raise lm15.UnsupportedFeatureError("this engine sends text messages of users and assistants only")
        messages.append({"role": each.role, "content": each.text})
    arguments: dict[str, Any] = {"model": model, "messages": messages}
    if request.system:
        system = request.system
        text = system if isinstance(system, str) else "\n\n".join(part.text for part in system)
        # A stage's system prompt is the same in every call: a cached prefix costs a tenth of its price.
        arguments["system"] = [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]
    response_format = request.config.response_format or {}
    if response_format.get("type") == "json_schema" and capabilities_of(model).response_schema:
        schema = anthropic.transform_schema(response_format["schema"])
        arguments["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return arguments


# Answer → events


class _Reading:
    """The SDK's events as lm15 events, and the usage that they have reported so far."""

    def __init__(self) -> None:
        self._reported: dict[str, int] = {}
        self._finish: str | None = None

    def events(self, event: Any) -> Iterator[Any]:
        if event.type == "message_start":
            self._report(event.message.usage)
            yield lm15.StreamStartEvent(id=event.message.id or None, model=event.message.model or None)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            yield lm15.StreamDeltaEvent(lm15.TextDelta(text=event.delta.text, part_index=event.index))
        elif event.type == "content_block_delta" and event.delta.type == "thinking_delta":
            yield lm15.StreamDeltaEvent(lm15.ThinkingDelta(text=event.delta.thinking, part_index=event.index))
        elif event.type == "message_delta":
            self._report(event.usage)
            self._finish = event.delta.stop_reason or self._finish
        elif event.type == "message_stop":
            yield lm15.StreamEndEvent(finish_reason=_FINISH.get(self._finish or "", "stop"), usage=self.usage())

    def _report(self, usage: Any) -> None:
        # Counts are cumulative, and a later event may leave some out.
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        for name in names:
            count = getattr(usage, name, None)
            # The SDK takes what a server says as it comes: lm15 takes whole numbers from 0 only.
            if isinstance(count, int) and count >= 0:
                self._reported[name] = count

    def usage(self, *, whole: bool = True) -> Any:
        """Input with its cached part included, as everyone else counts it; the API reports them apart.

        Until an answer is whole its output is not known: the count in the first event is a placeholder.
        """
        seen = self._reported
        written, read = seen.get("cache_creation_input_tokens", 0), seen.get("cache_read_input_tokens", 0)
        return lm15.Usage(
            input_tokens=seen["input_tokens"] + written + read if "input_tokens" in seen else None,
            output_tokens=seen.get("output_tokens") if whole else None,
            cache_read_tokens=read,
            cache_write_tokens=written,
        )


@contextmanager
def _translated(reading: _Reading) -> Iterator[None]:
    """Raise the SDK's errors as lm15 errors. An error that interrupts an answer carries the usage by then."""
    try:
        yield
    # The reader stopped by itself, and knows the usage that it has read.
    except GeneratorExit:
        raise
    except BaseException as error:
        translated = to_lm15(error) if isinstance(error, Exception) else None
        usage = reading.usage(whole=False)
        if usage.input_tokens is not None:
            setattr(translated or error, "usage", usage)  # noqa: B010 - no exception declares it
        if translated is None or translated is error:
            raise
        raise translated from error
