"""Search: the protocol that every source's search keeps."""

from __future__ import annotations

from typing import Protocol

from marchwarden.contract import SourceFilter
from marchwarden.observations import SearchOutcome


class SearchProvider(Protocol):
    name: str

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the hits for `query`, best first, without those that the filter excludes.

        A failure of the service is in the outcome and is never raised. Cancellation passes through.
        """
        ...

    async def aclose(self) -> None: ...
