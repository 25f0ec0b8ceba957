"""Search: the protocol, and which providers there are."""

from __future__ import annotations

from typing import Protocol

from marchwarden.contract import SourceFilter
from marchwarden.observations import SearchOutcome


class SearchProvider(Protocol):
    name: str

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Hits for `query`, best first, none that the filter excludes. Never raises for what the service does:
        the outcome carries the failure. Cancellation passes through."""
        ...

    async def aclose(self) -> None: ...
