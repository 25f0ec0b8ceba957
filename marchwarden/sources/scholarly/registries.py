"""The scholarly sources, one function each: the search of a registry, and the reader of what it finds.

A registry's module is imported when it is opened, so that no source pays for another.
"""

from __future__ import annotations

from marchwarden.sources.opening import Opening
from marchwarden.sources.scholarly.crossref import CrossrefSearch
from marchwarden.sources.scholarly.paper_reader import PaperReader
from marchwarden.sources.scholarly.scholarly_api import ScholarlyApi
from marchwarden.sources.tools import Tools


def open_arxiv(opening: Opening, name: str = "") -> Tools:
    """Return tools that search arXiv and read its preprints."""
    from marchwarden.sources.scholarly.arxiv import ArxivSearch

    return _open("arxiv", ArxivSearch(opening), opening)


def open_crossref(opening: Opening, name: str = "") -> Tools:
    """Return tools that search Crossref and read its works."""
    return _open("crossref", CrossrefSearch(opening), opening)


def open_europepmc(opening: Opening, name: str = "") -> Tools:
    """Return tools that search Europe PMC and read its articles."""
    from marchwarden.sources.scholarly.europepmc import EuropePmcSearch

    return _open("europepmc", EuropePmcSearch(opening), opening)


def open_pubmed(opening: Opening, name: str = "") -> Tools:
    """Return tools that search PubMed and read its articles."""
    from marchwarden.sources.scholarly.pubmed import PubmedSearch

    return _open("pubmed", PubmedSearch(opening), opening)


def open_openalex(opening: Opening, name: str = "") -> Tools:
    """Return tools that search OpenAlex and read its works."""
    from marchwarden.sources.scholarly.openalex import OpenAlexSearch

    return _open("openalex", OpenAlexSearch(opening), opening)


def open_semanticscholar(opening: Opening, name: str = "") -> Tools:
    """Return tools that search Semantic Scholar and read its papers."""
    from marchwarden.sources.scholarly.semanticscholar import SemanticScholarSearch

    return _open("semanticscholar", SemanticScholarSearch(opening), opening)


def _open(kind: str, registry: ScholarlyApi, opening: Opening) -> Tools:
    # Crossref knows the notices of works that other registries find.
    notices = registry if isinstance(registry, CrossrefSearch) else CrossrefSearch(opening)
    reader = PaperReader(registry, notices, opening)
    citations = registry if registry.relations else None
    return Tools(kind=kind, search=registry, fetcher=reader, address=reader.address, citations=citations)
