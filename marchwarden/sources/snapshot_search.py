"""Search of the frozen web: hits from its index, which is built once and kept (frozen_web/kept_index.py)."""

from __future__ import annotations

import threading
import time

import anyio.to_thread

from marchwarden.contract import SourceFilter
from marchwarden.frozen_web.crawl import Listing
from marchwarden.frozen_web.kept_index import Tell, open_or_build
from marchwarden.frozen_web.page_index import PageIndex
from marchwarden.frozen_web.pages import FrozenWeb, FrozenWebTransport, manifest_hash
from marchwarden.http.addresses import host_of, web_address
from marchwarden.observations import SearchHit, SearchOutcome, shortened
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools
from marchwarden.text.ranking import rank

# Characters of a snippet: about two lines of a terminal.
SNIPPET_LIMIT = 300


def open_snapshot(opening: Opening, name: str = "") -> Tools:
    """Return tools that search the index of a frozen web and read its folder. They need no network and no key."""
    web = FrozenWeb.load(opening.settings.frozen_web)
    fetcher = Fetcher(opening.settings, transport=FrozenWebTransport(web))
    search = SnapshotSearch(opening.settings, web)

    def address(url: str) -> str | None:
        found = web_address(url)
        return found if found and web.page(found) else None

    return Tools(
        kind="snapshot",
        search=search,
        fetcher=fetcher,
        address=address,
        prepare=search.prepare,
        web=manifest_hash(web.folder),
    )


class SnapshotSearch:
    """Search of one frozen web. Raises ConfigurationError on creation where the folder is no frozen web."""

    name = "snapshot"

    def __init__(self, settings: Settings, web: FrozenWeb | None = None) -> None:
        """Search `web`, or, where it is None, the frozen web that the settings name."""
        self._web = web or FrozenWeb.load(settings.frozen_web)
        self._caches = settings.caches
        self._opening = threading.Lock()
        self._index: PageIndex | None = None

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the hits for `query`; there is no failure. Builds the index where nobody prepared it."""
        began = time.monotonic()
        hits, meant = await anyio.to_thread.run_sync(
            self._find, query, max_results, source_filter, abandon_on_cancel=True
        )
        return SearchOutcome(query, self.name, hits, seconds=time.monotonic() - began, meant=meant)

    def prepare(self, tell: Tell = lambda message: None) -> None:
        """Open the index, building it where there is none: 14 ms a page. `tell` receives the progress."""
        self._opened(tell)

    async def aclose(self) -> None:
        self._index = None

    def _find(
        self, query: str, max_results: int, source_filter: SourceFilter
    ) -> tuple[tuple[SearchHit, ...], dict[str, str]]:
        hits: list[SearchHit] = []
        meant = self._opened().meant(query)
        query = " ".join((query, *meant.values()))
        for score, listing in self._opened().find(query):
            if len(hits) >= max_results:
                break
            if source_filter.allows(host_of(listing.url)):
                snippet = listing.snippet or best_sentence(query, listing)
                hits.append(SearchHit(listing.url, listing.title, snippet, score, listing.published))
        return tuple(hits), meant

    def _opened(self, tell: Tell = lambda message: None) -> PageIndex:
        with self._opening:
            if self._index is None:
                self._index = open_or_build(self._web, self._caches, tell)
            return self._index


def best_sentence(query: str, listing: Listing) -> str:
    """Sentence of the page that answers `query` best, the first where none does; cut to SNIPPET_LIMIT."""
    scores = rank(query, listing.sentences, language=listing.language)
    best = max(zip(scores, listing.sentences, strict=True), key=lambda pair: pair[0], default=(0.0, ""))[1]
    return shortened(best, SNIPPET_LIMIT)
