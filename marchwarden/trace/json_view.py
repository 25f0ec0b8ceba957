"""JSON objects as objects with attributes, unchecked: for readers of trace files that must start quickly.

Validating a trace line as its model takes longer than a whole `replay` may. A view is typed as what it is: nothing
that it holds has been checked, so each attribute is Any.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class JsonView(SimpleNamespace):
    """JSON object whose members are attributes. Raises AttributeError for a missing one."""

    @classmethod
    def of(cls, value: Any) -> Any:
        """Return a JSON value with views in place of its objects."""
        if isinstance(value, dict):
            return cls(**{name: cls.of(each) for name, each in value.items()})
        return [cls.of(each) for each in value] if isinstance(value, list) else value

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class TolerantJsonView(JsonView):
    """View of a file that may be damaged or older: a missing member is None."""

    def __getattr__(self, name: str) -> Any:
        return None
