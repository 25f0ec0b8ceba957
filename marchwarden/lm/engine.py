"""What the meter expects of the engine beneath it: one attempt, told event by event.

An engine speaks `dspy.lm15`: it takes a `Request`, yields stream events, raises lm15 errors and never retries (DSPy
does, above the meter).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Capabilities:
    """What DSPy's adapters ask before they write a request."""

    response_schema: bool = False
    function_calling: bool = False
    reasoning: bool = False
    params: frozenset[str] = frozenset({"max_tokens", "temperature", "top_p", "stop"})

    @classmethod
    def with_schema(cls) -> Capabilities:
        """An engine that takes a JSON schema for the answer."""
        return cls(response_schema=True, params=cls.params | {"response_format"})


class Engine(Protocol):
    capabilities: Capabilities

    def stream(self, request: Any) -> Iterator[Any]:
        """One attempt as lm15 stream events; the last is a StreamEndEvent with the usage that was billed."""
        ...

    def count_tokens(self, request: Any) -> int | None:
        """The prompt's tokens as the model counts them, template included; None where nobody can tell."""
        ...

    def close(self) -> None: ...


class AsyncEngine(Protocol):
    capabilities: Capabilities

    def stream(self, request: Any) -> AsyncIterator[Any]: ...

    async def count_tokens(self, request: Any) -> int | None: ...

    async def aclose(self) -> None: ...
