"""Search of a corpus: hits from the index of the user's own files."""

from __future__ import annotations

import threading
import time

import anyio.to_thread

from marchwarden.contract import SourceFilter
from marchwarden.corpus.corpora import Corpus, again, open_corpus, open_search
from marchwarden.corpus.corpus_fetcher import CorpusFetcher
from marchwarden.corpus.engines.corpus_index import Found
from marchwarden.corpus.hybrid_search import HybridSearch
from marchwarden.corpus.snapshots import is_fetched
from marchwarden.errors import MarchwardenError
from marchwarden.observations import Failure, FailureKind, SearchHit, SearchOutcome, shortened
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools
from marchwarden.text.embedding import Embedder, open_embedder
from marchwarden.text.ranking import term_weights, terms_of

# Characters of a snippet: about two lines of a terminal.
SNIPPET_LIMIT = 300


def open_files(opening: Opening, name: str) -> Tools:
    """Return tools that search the index of a corpus and read the user's files where they lie. Raises
    ConfigurationError where there is no corpus of that name."""
    corpus = open_corpus(name, opening.settings.store)
    fetcher = CorpusFetcher(corpus, timeout=opening.settings.fetch_timeout)
    return Tools(
        kind="file",
        search=CorpusSearch(corpus, open_embedder(opening.settings)),
        fetcher=fetcher,
        address=fetcher.address,
    )


class CorpusSearch:
    def __init__(self, corpus: Corpus, embedder: Embedder | None = None) -> None:
        """Make a search, by words alone where `embedder` is None or the corpus has no vectors."""
        self.name = f"corpus:{corpus.name}"
        self._corpus = corpus
        self._embedder = embedder
        self._opening = threading.Lock()
        self._index: HybridSearch | None = None

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return files that match `query`; none where the filter includes domains. A damaged index is a failure."""
        began = time.monotonic()
        hits: tuple[SearchHit, ...] = ()
        meant: dict[str, str] = {}
        failure = None
        if source_filter.allows(""):
            try:
                hits, meant = await anyio.to_thread.run_sync(self._find, query, max_results, abandon_on_cancel=True)
            except MarchwardenError as error:
                advice = f". {error.hint}" if error.hint else ""
                failure = Failure(FailureKind.SERVICE_DOWN, f"the corpus can't be searched: {error}{advice}")
            except (OSError, ValueError) as error:
                name = self._corpus.name
                advice = f"Run `{again(name)}` to repair it"
                if is_fetched(self._corpus.folder):
                    advice = f"Run `marchwarden index --remove {name}`; then it is fetched again"
                failure = Failure(FailureKind.SERVICE_DOWN, f"the corpus can't be searched ({error}). {advice}")
        return SearchOutcome(query, self.name, hits, failure, time.monotonic() - began, meant)

    async def aclose(self) -> None:
        self._index = None

    def _find(self, query: str, most: int) -> tuple[tuple[SearchHit, ...], dict[str, str]]:
        meant = self._opened().meant(query)
        query = " ".join((query, *meant.values()))
        hits = tuple(
            SearchHit(each.locator, each.title, _best_sentence(query, each), each.score, each.published)
            for each in self._opened().find(query, most)
        )
        return hits, meant

    def _opened(self) -> HybridSearch:
        with self._opening:
            if self._index is None:
                self._index = open_search(self._corpus, self._embedder)
            return self._index


def _best_sentence(query: str, found: Found) -> str:
    """Return the sentence that shares most with `query`; a word that few of the sentences have counts more."""
    asked, *said = terms_of([query, *found.sentences], found.language)
    wanted = set(asked)
    shared = [wanted.intersection(each) for each in said]
    weights = term_weights(shared)
    worth = [sum(weights[term] for term in each) for each in shared]
    best = max(range(len(worth)), key=worth.__getitem__)
    return shortened(found.sentences[best], SNIPPET_LIMIT)
