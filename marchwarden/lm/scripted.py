"""A model that answers from a script: for tests, and for trying a stage without a model.

`ScriptedEngine(["first answer", Reply("second", delay=0.1), lm15.ServerError("down")])` gives its replies in order;
a function from the request to a reply decides by what is asked.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import anyio
import anyio.lowlevel
from dspy import lm15

from marchwarden.lm.engine import Capabilities
from marchwarden.lm.prompt import prompt_texts


@dataclass(frozen=True)
class Reply:
    """One answer. `usage` None: a token for every four characters; `lm15.Usage()`: none reported."""

    text: str = ""
    usage: Any = None
    delay: float = 0.0
    """Seconds before the first event."""
    error: BaseException | None = None
    """Raised after `text` has streamed (before anything, where there is none)."""
    finish: Literal["stop", "length", "content_filter"] = "stop"
    piece: int = 4
    """Characters in one event."""
    endless: bool = False
    """Repeat `text` for ever."""


Line: TypeAlias = "Reply | str | BaseException"
Script: TypeAlias = "Iterable[Line] | Callable[[Any], Line]"


class ScriptedEngine:
    """The script as an engine. `requests` holds the requests that went out, in order."""

    def __init__(
        self, script: Script, *, capabilities: Capabilities | None = None, count: Callable[[Any], int] | None = None
    ) -> None:
        self.capabilities = capabilities or Capabilities.with_schema()
        self.requests: list[Any] = []
        if callable(script):
            self._next_line = script
        else:
            lines = iter(script)
            self._next_line = lambda _: next(lines, lm15.InvalidRequestError("the script is at its end"))
        self._count = count
        self._lock = threading.Lock()

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        with self._lock:
            self.requests.append(request)
            line = self._next_line(request)
        reply = (
            Reply(line) if isinstance(line, str) else Reply(error=line) if isinstance(line, BaseException) else line
        )
        await anyio.sleep(reply.delay)
        for event in _events(request, reply):
            await anyio.lowlevel.checkpoint()
            yield event

    async def count_tokens(self, request: Any) -> int | None:
        return self._count(request) if self._count else None

    async def aclose(self) -> None:
        pass


def _events(request: Any, reply: Reply) -> Iterator[Any]:
    if reply.error is None or reply.text:
        yield lm15.StreamStartEvent(id="scripted", model=request.model)
    while True:
        for start in range(0, len(reply.text), reply.piece):
            yield lm15.StreamDeltaEvent(lm15.TextDelta(text=reply.text[start : start + reply.piece]))
        if not reply.endless:
            break
    if reply.error is not None:
        raise reply.error
    # Without a usage of its own a reply counts four characters for a token.
    asked = sum(len(text) for text in prompt_texts(request))
    cap = request.config.max_tokens or len(reply.text)
    counted = lm15.Usage(input_tokens=asked // 4 + 1, output_tokens=min(len(reply.text) // 4 + 1, cap))
    yield lm15.StreamEndEvent(finish_reason=reply.finish, usage=reply.usage or counted)
