"""The kinds of researcher: each is a search and a fetch under one loop. To add one: a file here, a line below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from marchwarden.embedding import Embedder, open_embedder
from marchwarden.tools.search import SearchProvider

if TYPE_CHECKING:
    from marchwarden.settings import Settings
    from marchwarden.tools.fetch import Fetcher


@dataclass(frozen=True)
class Tools:
    """What one call acts with. `kind` is what its citations name as their source: "web", "file" …"""

    kind: str
    search: SearchProvider
    fetcher: Fetcher
    embedder: Embedder | None = None
    """Compares texts in meaning, where that is installed."""

    async def aclose(self) -> None:
        await self.search.aclose()
        await self.fetcher.aclose()


def _web(settings: Settings) -> Tools:
    from marchwarden.researchers.web import open_tools

    return open_tools(settings)


def _snapshot(settings: Settings) -> Tools:
    from marchwarden.researchers.snapshot import open_tools

    return open_tools(settings)


RESEARCHERS: dict[str, Callable[[Settings], Tools]] = {"web": _web, "snapshot": _snapshot}


def open_tools(settings: Settings) -> Tools:
    """The tools of the researcher in force; raises ConfigurationError where a key or a folder is missing."""
    return replace(RESEARCHERS[settings.source_name](settings), embedder=open_embedder(settings))
