"""Search of the frozen web: its index, built on first use and kept in the cache folder, and hits from it."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from pathlib import Path

import anyio.to_thread

from marchwarden.contract import SourceFilter
from marchwarden.frozen_web.crawl import LISTING_VERSION, Listing, crawl
from marchwarden.frozen_web.page_index import PageIndex
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.http.addresses import host_of
from marchwarden.observations import SearchHit, SearchOutcome
from marchwarden.settings import Settings
from marchwarden.text.ranking import rank

KEPT = 6
"""Indexes in the cache folder, of other frozen webs or older states of them; the oldest go."""
SNIPPET_LIMIT = 300


class SnapshotSearch:
    """Raises ConfigurationError on creation where the folder is no frozen web."""

    name = "snapshot"

    def __init__(self, settings: Settings, web: FrozenWeb | None = None) -> None:
        """`web`: the one in the settings, where it has been loaded already."""
        self._web = web or FrozenWeb.load(settings.frozen_web)
        self._shelf = settings.caches / "snapshot"
        self._opening = threading.Lock()
        self._index: PageIndex | None = None

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """As the protocol says; there is no failure. The first search may take seconds, to read all pages."""
        began = time.monotonic()
        hits = await anyio.to_thread.run_sync(self._find, query, max_results, source_filter, abandon_on_cancel=True)
        return SearchOutcome(query, self.name, hits, seconds=time.monotonic() - began)

    def prepare(self) -> None:
        """Read all pages now, where the first search would."""
        self._opened()

    async def aclose(self) -> None:
        self._index = None

    def _find(self, query: str, max_results: int, source_filter: SourceFilter) -> tuple[SearchHit, ...]:
        hits: list[SearchHit] = []
        for score, listing in self._opened().find(query):
            if len(hits) >= max_results:
                break
            if source_filter.allows(host_of(listing.url)):
                snippet = listing.snippet or best_sentence(query, listing)
                hits.append(SearchHit(listing.url, listing.title, snippet, score, listing.published))
        return tuple(hits)

    def _opened(self) -> PageIndex:
        with self._opening:
            if self._index is None:
                self._index = _kept_or_built(self._web, self._shelf)
            return self._index


def best_sentence(query: str, listing: Listing) -> str:
    """The sentence of the page that answers `query` best, the first where none does; cut to about two lines."""
    scores = rank(query, listing.sentences, language=listing.language)
    best = max(zip(scores, listing.sentences, strict=True), key=lambda pair: pair[0], default=(0.0, ""))[1]
    best = " ".join(best.split())
    if len(best) <= SNIPPET_LIMIT:
        return best
    return best[:SNIPPET_LIMIT].rpartition(" ")[0] + " …"


def _kept_or_built(web: FrozenWeb, shelf: Path) -> PageIndex:
    folder = shelf / f"{web.fingerprint[:32]}-{LISTING_VERSION}"
    try:
        return PageIndex.open(folder)
    except (OSError, ValueError):  # not there yet, or damaged
        listings = crawl(web)
    try:
        return _kept(listings, folder)
    except (OSError, ValueError):  # no place, or no permission: this process does without
        return PageIndex.build(listings)


def _kept(listings: list[Listing], folder: Path) -> PageIndex:
    """Built aside and moved into place whole; another process that was quicker has built the same.

    Raises OSError or ValueError where the folder cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
    try:
        PageIndex.build(listings, aside)
        _put(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    _tidy(folder.parent)
    return PageIndex.open(folder)


def _put(aside: Path, folder: Path) -> None:
    try:
        aside.replace(folder)
    except OSError:
        try:
            PageIndex.open(folder)  # the other's is whole
        except (OSError, ValueError):
            shutil.rmtree(folder)
            aside.replace(folder)


def _tidy(shelf: Path) -> None:
    newest_first = sorted(shelf.iterdir(), key=lambda folder: folder.lstat().st_mtime, reverse=True)
    for folder in newest_first[KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)
