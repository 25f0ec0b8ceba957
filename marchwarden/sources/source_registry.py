"""Kinds of researcher: each is a search and a fetcher under one loop. To add one: a function, and its line below.

A kind's modules are imported when it is opened, so that no kind pays for another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from marchwarden.sources.search_provider import PROVIDERS
from marchwarden.text.embedding import open_embedder

if TYPE_CHECKING:
    from marchwarden.settings import Settings
    from marchwarden.sources.tools import Tools


def open_web(settings: Settings, name: str = "") -> Tools:
    """Return tools that search with Tavily and read the live web. Raises ConfigurationError where there is no key."""
    from marchwarden.sources.fetch import Fetcher
    from marchwarden.sources.tools import Tools

    settings.require_search_key()
    return Tools(kind="web", search=PROVIDERS["tavily"](settings), fetcher=Fetcher(settings))


def open_snapshot(settings: Settings, name: str = "") -> Tools:
    """Return tools that search the index of a frozen web and read its folder. They need no network and no key."""
    from marchwarden.frozen_web.pages import FrozenWeb, FrozenWebTransport, manifest_hash
    from marchwarden.sources.fetch import Fetcher
    from marchwarden.sources.snapshot_search import SnapshotSearch
    from marchwarden.sources.tools import Tools

    web = FrozenWeb.load(settings.frozen_web)
    fetcher = Fetcher(settings, transport=FrozenWebTransport(web))
    search = SnapshotSearch(settings, web)
    return Tools(
        kind="snapshot", search=search, fetcher=fetcher, prepare=search.prepare, web=manifest_hash(web.folder)
    )


def open_files(settings: Settings, name: str) -> Tools:
    """Return tools that search the index of a corpus and read the user's files where they lie. Raises
    ConfigurationError where there is no corpus of that name."""
    from marchwarden.corpus.corpora import open_corpus
    from marchwarden.corpus.corpus_fetcher import CorpusFetcher
    from marchwarden.sources.corpus_search import CorpusSearch
    from marchwarden.sources.tools import Tools

    corpus = open_corpus(name)
    fetcher = CorpusFetcher(corpus, timeout=settings.fetch_timeout)
    return Tools(kind="file", search=CorpusSearch(corpus), fetcher=fetcher, address=fetcher.address)


RESEARCHERS: dict[str, Callable[[Settings, str], Tools]] = {
    "web": open_web,
    "snapshot": open_snapshot,
    "corpus": open_files,
}
"""Functions by the part of a source before its colon; the part behind the colon is their second argument."""


def open_tools(settings: Settings) -> Tools:
    """Return the tools of the researcher in the settings, or of several as one. Raises ConfigurationError where a
    key, a folder or a corpus is missing."""
    found = []
    for source in settings.sources:
        kind, _, name = source.partition(":")
        found.append(RESEARCHERS[kind](settings, name))
    if len(found) > 1:
        from marchwarden.sources.combined import combine_tools

        found = [combine_tools(found)]
    return replace(found[0], embedder=open_embedder(settings))
