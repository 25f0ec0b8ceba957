"""The frozen web as stage sets read it: each page is fetched once, each query asked once, whatever asks for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date

import anyio
import anyio.to_thread

from marchwarden.contract import SourceFilter
from marchwarden.evaluation.labels.scoring_text import address
from marchwarden.evidence.close_reading import likeness
from marchwarden.evidence.relevance import PageTerms, Relevance
from marchwarden.frozen_web.pages import FrozenWeb, FrozenWebTransport
from marchwarden.ledger import Aspect, Lead
from marchwarden.observations import FetchOutcome, Page, SearchOutcome
from marchwarden.programs import load_program
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.snapshot_search import SnapshotSearch
from marchwarden.sources.tools import HITS_PER_QUERY
from marchwarden.text.embedding import open_embedder

# Seconds to wait for a page whose delay is longer than the timeout: it fails all the same. A guess.
_LATE_PAGE_WAIT_S = 0.05
# Seconds to wait for any other page, at least: however busy the machine, the same pages make the same examples, so
# that a search that goes on finds its answers. A guess.
_PAGE_WAIT_S = 120.0


def patience(web: FrozenWeb, url: str, timeout: float) -> float:
    """Return the seconds to wait for a page: next to none for one that would come after the timeout anyway."""
    entry = web.page(url)
    return _LATE_PAGE_WAIT_S if entry is not None and entry.delay_s >= timeout else max(timeout, _PAGE_WAIT_S)


class LabelledWeb:
    """The frozen web, its search and its embedder, each of whose answers is kept.

    It answers after it was closed, too, so that metrics can go on with the examples. Raises ConfigurationError on
    creation where the settings name no frozen web, or a program that can't be used.
    """

    def __init__(self, settings: Settings) -> None:
        self._web = FrozenWeb.load(settings.frozen_web)
        self._timeout = settings.fetch_timeout
        self._search = SnapshotSearch(settings, self._web)
        self._fetcher = Fetcher(settings, transport=FrozenWebTransport(self._web))
        self._embedder = open_embedder(settings)
        program = load_program(settings)
        self.parameters = (program.parameters if program else None) or DEFAULT
        """Parameters in force of the model-free stages, by which ledgers are filled."""
        self._outcomes: dict[str, FetchOutcome] = {}
        self._found: dict[tuple[str, str | None], SearchOutcome] = {}

    @property
    def as_of(self) -> date:
        """Newest date of its pages. It stands for today, so that scores do not change from day to day."""
        return max((page.published for page in self._web.pages.values() if page.published), default=date(2000, 1, 1))

    def lead(self, url: str, aspect: int) -> Lead:
        """Return a page that no search has found, as though another had linked to it, as the manifest shows it."""
        entry = self._web.page(url)
        title, snippet = (entry.title or "", entry.snippet or "") if entry else ("", "")
        return Lead(url=url, title=title, snippet=snippet, published=None, aspect=aspect, rank=0.0)

    async def read(self, url: str) -> FetchOutcome:
        """Return the outcome of a fetch, failures included."""
        where = address(url)
        if where not in self._outcomes:
            outcome = await self._fetcher.fetch(where, timeout=patience(self._web, where, self._timeout))
            self._outcomes[where] = replace(outcome, body=b"")
        return self._outcomes[where]

    async def relevance(self, page: Page, aspects: Sequence[Aspect], position: int) -> Relevance:
        """Return the relevance of a page to aspects, in meaning too where an embedding model is installed.

        `position`: the page's place among the hits, from 1. Terms are as rare as they are on the page.
        """
        by_words = Relevance(PageTerms(page), aspects, position=position, parameters=self.parameters)
        if self._embedder is None:
            return by_words
        (alike,) = await anyio.to_thread.run_sync(likeness, self._embedder, [by_words], aspects)
        return by_words.to(aspects, alike)

    async def search(self, query: str, source_filter: str | None) -> SearchOutcome:
        """Search as the loop does; the hits' addresses are in the form in which they are compared."""
        key = (query, source_filter)
        if key not in self._found:
            outcome = await self._search.search(
                query, max_results=HITS_PER_QUERY, source_filter=SourceFilter(source_filter)
            )
            hits = tuple(replace(hit, url=address(hit.url)) for hit in outcome.hits)
            self._found[key] = replace(outcome, hits=hits)
        return self._found[key]

    def find(self, queries: Iterable[str], source_filter: str | None) -> list[SearchOutcome]:
        """Search without a coroutine, for metrics."""
        queries = list(queries)
        missing = [query for query in queries if (query, source_filter) not in self._found]

        async def search_missing() -> None:
            for query in missing:
                await self.search(query, source_filter)

        if missing:
            # In a thread, since metrics may be called with or without a running event loop.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(anyio.run, search_missing).result()
        return [self._found[query, source_filter] for query in queries]

    async def aclose(self) -> None:
        await self._search.aclose()
        await self._fetcher.aclose()


@asynccontextmanager
async def labelled_web(settings: Settings) -> AsyncIterator[LabelledWeb]:
    web = LabelledWeb(settings)
    try:
        yield web
    finally:
        await web.aclose()
