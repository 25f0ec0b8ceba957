"""Search: the protocol, and which providers there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from marchwarden.contract import SourceFilter
from marchwarden.observations import SearchOutcome
from marchwarden.settings import Settings


class SearchProvider(Protocol):
    name: str

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Hits for `query`, best first, none that the filter excludes. Never raises for what the service does:
        the outcome carries the failure. Cancellation passes through."""
        ...

    async def aclose(self) -> None: ...


def _tavily(settings: Settings) -> SearchProvider:
    from marchwarden.sources.tavily import TavilySearch

    return TavilySearch(settings)


def _snapshot(settings: Settings) -> SearchProvider:
    from marchwarden.sources.snapshot_search import SnapshotSearch

    return SnapshotSearch(settings)


PROVIDERS: dict[str, Callable[[Settings], SearchProvider]] = {"tavily": _tavily, "snapshot": _snapshot}
"""How to make each provider; its module is imported when it is made. Raises ConfigurationError."""
