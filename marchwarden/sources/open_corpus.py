"""The researcher of the user's own files: an index finds them, and they are read again from where they lie."""

from __future__ import annotations

from marchwarden.corpus.corpora import open_corpus
from marchwarden.corpus.corpus_fetcher import CorpusFetcher
from marchwarden.settings import Settings
from marchwarden.sources.corpus_search import CorpusSearch
from marchwarden.sources.source_registry import Tools


def open_tools(settings: Settings, name: str) -> Tools:
    """Raises ConfigurationError where there is no such corpus."""
    corpus = open_corpus(name)
    fetcher = CorpusFetcher(corpus, timeout=settings.fetch_timeout)
    return Tools(kind="file", search=CorpusSearch(corpus), fetcher=fetcher, address=fetcher.address)
