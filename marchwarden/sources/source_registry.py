"""The kinds of researcher: each is a search and a fetch under one loop. To add one: a file here, a line below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from marchwarden.http.addresses import web_address
from marchwarden.sources.search_provider import SearchProvider
from marchwarden.text.embedding import Embedder, open_embedder

if TYPE_CHECKING:
    from marchwarden.observations import FetchOutcome
    from marchwarden.settings import Settings


class Reader(Protocol):
    """What fetches: pages of a web (sources/fetch.py), files of a corpus, or each where it belongs."""

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        """What stands at `url`, or what kept us from it. Only cancellation passes through."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True)
class Tools:
    """What one call acts with. `kind` is what its citations name as their source: "web", "snapshot", "file"; where
    there are several, "web,file"."""

    kind: str
    search: SearchProvider
    fetcher: Reader
    embedder: Embedder | None = None
    """Compares texts in meaning, where that is installed."""
    address: Callable[[str], str | None] = web_address
    """The one spelling of a hit's address; None for what this fetcher can't go to."""

    async def aclose(self) -> None:
        await self.search.aclose()
        await self.fetcher.aclose()


def _web(settings: Settings, name: str) -> Tools:
    from marchwarden.sources.open_web import open_tools

    return open_tools(settings)


def _snapshot(settings: Settings, name: str) -> Tools:
    from marchwarden.sources.open_snapshot import open_tools

    return open_tools(settings)


def _corpus(settings: Settings, name: str) -> Tools:
    from marchwarden.sources.open_corpus import open_tools

    return open_tools(settings, name)


RESEARCHERS: dict[str, Callable[[Settings, str], Tools]] = {"web": _web, "snapshot": _snapshot, "corpus": _corpus}
"""By what stands before the colon of a source; what stands behind it is the second argument."""


def open_tools(settings: Settings) -> Tools:
    """The tools of the researcher in force, or of several as one; raises ConfigurationError where a key, a folder or
    a corpus is missing."""
    found = [_opened(settings, source) for source in settings.sources]
    if len(found) > 1:
        from marchwarden.sources.combined import together

        found = [together(found)]
    return replace(found[0], embedder=open_embedder(settings))


def _opened(settings: Settings, source: str) -> Tools:
    kind, _, name = source.partition(":")
    return RESEARCHERS[kind](settings, name)
