"""Everything that can go wrong, as one tree; foreign errors are translated here and nowhere else.

MarchwardenError
├── InvalidRequest            the call's arguments break the contract; nothing was run
├── ConfigurationError        a setting, a key or a file is missing or wrong
├── EndedEarly                the research stops, and the result says so
│   ├── BudgetExhausted       tokens, iterations, sources or seconds ran out
│   └── Cancelled             the caller took the call back
├── ModelError                the model gave nothing usable (kind says why)
├── TraceError                no such trace, an ambiguous prefix, an unreadable file
├── StorageError              the disk is full or the folder can't be written
└── ResearchFailed            a call ended in an internal failure; carries the trace id
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pydantic import ValidationError

Limit: TypeAlias = Literal["tokens", "iterations", "sources", "seconds"]
ModelErrorKind: TypeAlias = Literal[
    "bad_key",
    "rate_limited",
    "overloaded",
    "server_error",
    "timeout",
    "network",
    "context_overflow",
    "refused",
    "truncated",
    "unusable_output",
    "unknown",
]


class MarchwardenError(Exception):
    """Base of all: `str(error)` is one sentence for a person; `hint` says what to do next, if anything."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class InvalidRequest(MarchwardenError):
    """`problems` holds a (field, what is wrong with it) for each broken argument."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("\n".join(f"{field}: {problem}" for field, problem in problems))
        self.problems = problems

    @classmethod
    def of(cls, error: ValidationError) -> InvalidRequest:
        """pydantic's report as lines that name field and limit, without echoing the input."""
        return cls(
            [(".".join(str(part) for part in each["loc"]) or "arguments", each["msg"]) for each in error.errors()]
        )


class ConfigurationError(MarchwardenError):
    pass


class EndedEarly(MarchwardenError):
    pass


class BudgetExhausted(EndedEarly):
    """`limit` names what ran out. No layer retries it."""

    def __init__(self, limit: Limit, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class Cancelled(EndedEarly):
    pass


class ModelError(MarchwardenError):
    def __init__(self, kind: ModelErrorKind, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class TraceError(MarchwardenError):
    pass


class StorageError(MarchwardenError):
    pass


class ResearchFailed(MarchwardenError):
    def __init__(self, message: str, *, trace_id: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.trace_id = trace_id
