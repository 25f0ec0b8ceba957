"""The frozen web as stage sets read it: each page is fetched once, each query asked once, whatever asks for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date
from functools import partial

import anyio
import anyio.to_thread

from marchwarden.agent.loop import HITS_PER_QUERY
from marchwarden.contract import SourceFilter
from marchwarden.evaluation.labels.scoring_text import address
from marchwarden.evidence.relevance import Alike, likeness
from marchwarden.frozen_web.pages import FrozenWeb, FrozenWebTransport
from marchwarden.ledger import Aspect, Lead
from marchwarden.observations import FetchOutcome, Page, SearchOutcome
from marchwarden.programs import load_program
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.snapshot_search import SnapshotSearch
from marchwarden.text.embedding import open_embedder

# Seconds that a page is waited for whose delay is longer than the fetch would wait: it fails all the same.
_SURE_TO_BE_LATE = 0.05


def patience(web: FrozenWeb, url: str, timeout: float) -> float:
    """Seconds to wait for a page: next to none for one that would come after the timeout anyway."""
    entry = web.page(url)
    return _SURE_TO_BE_LATE if entry is not None and entry.delay_s >= timeout else timeout


class LabelledWeb:
    """Raises ConfigurationError on creation where the settings name no frozen web, or a program that can't be used.
    It answers after it was closed, too, so that metrics can go on with the examples."""

    def __init__(self, settings: Settings) -> None:
        self._web = FrozenWeb.load(settings.frozen_web)
        self._timeout = settings.fetch_timeout
        self._search = SnapshotSearch(settings, self._web)
        self._fetcher = Fetcher(settings, transport=FrozenWebTransport(self._web))
        self._embedder = open_embedder(settings)
        program = load_program(settings)
        self.parameters = (program.parameters if program else None) or DEFAULT
        """Those of the model-free stages in force, by which ledgers are filled."""
        self._outcomes: dict[str, FetchOutcome] = {}
        self._found: dict[tuple[str, str | None], SearchOutcome] = {}

    @property
    def as_of(self) -> date:
        """The newest date of its pages: a day that does not pass, so that scores stay what they are."""
        return max((page.published for page in self._web.pages.values() if page.published), default=date(2000, 1, 1))

    def lead(self, url: str, aspect: int) -> Lead:
        """A page that no search has found, as though another had linked to it: with what the manifest shows of it."""
        entry = self._web.page(url)
        title, snippet = (entry.title or "", entry.snippet or "") if entry else ("", "")
        return Lead(url=url, title=title, snippet=snippet, published=None, aspect=aspect, rank=0.0)

    async def read(self, url: str) -> FetchOutcome:
        """What a fetch of it gives, failures included."""
        where = address(url)
        if where not in self._outcomes:
            outcome = await self._fetcher.fetch(where, timeout=patience(self._web, where, self._timeout))
            self._outcomes[where] = replace(outcome, body=b"")
        return self._outcomes[where]

    async def alike(self, page: Page, aspects: Sequence[Aspect]) -> Alike:
        """How alike aspects and passages are in meaning; empty where the embedding model is not installed."""
        if self._embedder is None:
            return {}
        return await anyio.to_thread.run_sync(likeness, self._embedder, page, aspects, self.parameters)

    async def search(self, query: str, source_filter: str | None) -> SearchOutcome:
        """As the loop searches, its hits' addresses as they are compared."""
        key = (query, source_filter)
        if key not in self._found:
            outcome = await self._search.search(
                query, max_results=HITS_PER_QUERY, source_filter=SourceFilter(source_filter)
            )
            hits = tuple(replace(hit, url=address(hit.url)) for hit in outcome.hits)
            self._found[key] = replace(outcome, hits=hits)
        return self._found[key]

    def find(self, queries: Iterable[str], source_filter: str | None) -> list[SearchOutcome]:
        """The same for metrics, which are no coroutines, and may be called with or without a running event loop."""
        queries = list(queries)
        missing = [query for query in queries if (query, source_filter) not in self._found]
        if missing:
            with ThreadPoolExecutor(1) as thread:
                thread.submit(anyio.run, partial(self._search_all, missing, source_filter)).result()
        return [self._found[query, source_filter] for query in queries]

    async def _search_all(self, queries: list[str], source_filter: str | None) -> None:
        for query in queries:
            await self.search(query, source_filter)

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
