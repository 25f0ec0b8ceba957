"""Tools of a researcher: a search, a fetcher, and what belongs to both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from marchwarden.http.addresses import web_address
from marchwarden.sources.search_provider import SearchProvider
from marchwarden.text.embedding import Embedder

if TYPE_CHECKING:
    from marchwarden.observations import FetchOutcome


class Reader(Protocol):
    """Fetch pages of a web (sources/fetch.py), files of a corpus, or each where it belongs."""

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        """Return what stands at `url`, or what kept us from it. Only cancellation passes through."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True)
class Tools:
    """Search and fetch of one call."""

    kind: str
    """Source that its citations name: "web", "snapshot", "file"; where there are several, "web,file"."""
    search: SearchProvider
    fetcher: Reader
    embedder: Embedder | None = None
    """Compares texts in meaning, where that is installed."""
    address: Callable[[str], str | None] = web_address
    """The one spelling of a hit's address; None for what this fetcher can't go to."""
    prepare: Callable[[Callable[[str], None]], None] = lambda tell: None
    """Make ready what the first search needs, before a call's clock runs. Blocks; `tell` hears how far it is."""

    async def aclose(self) -> None:
        await self.search.aclose()
        await self.fetcher.aclose()
