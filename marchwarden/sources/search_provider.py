"""Search: its protocol, and its providers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from marchwarden.contract import SourceFilter
from marchwarden.observations import SearchOutcome
from marchwarden.settings import Settings


class SearchProvider(Protocol):
    name: str

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the hits for `query`, best first, without those that the filter excludes.

        A failure of the service is in the outcome and is never raised. Cancellation passes through.
        """
        ...

    async def aclose(self) -> None: ...


def _tavily(settings: Settings) -> SearchProvider:
    from marchwarden.sources.tavily import TavilySearch

    return TavilySearch(settings)


def _snapshot(settings: Settings) -> SearchProvider:
    from marchwarden.sources.snapshot_search import SnapshotSearch

    return SnapshotSearch(settings)


PROVIDERS: dict[str, Callable[[Settings], SearchProvider]] = {"tavily": _tavily, "snapshot": _snapshot}
"""Functions that make the providers, by name. They import the provider's module, and raise ConfigurationError."""
