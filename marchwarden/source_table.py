"""Sources that can be searched, one line each: names, what they need, and where the code of each stands.

Commands that only name sources read this table; the code of a source is imported when it is opened
(sources/source_registry.py). To add one: a module under sources/, and its entry here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

SourceKind: TypeAlias = Literal["web", "encyclopedia", "scholarly", "community", "database", "corpus", "snapshot"]


@dataclass(frozen=True)
class SourceEntry:
    name: str
    """Name on the command line and in `MARCHWARDEN_SOURCE`."""
    kind: SourceKind
    about: str
    """Line on what is searched, for people and for models."""
    opener: str
    """Function that opens it, as `module:function`; called with an Opening and the name behind the colon."""
    rule: str
    """Limits and etiquette of the service, in one line."""
    licence: str
    """Licence or terms of what it returns, in one line."""
    needs: tuple[str, ...] = ()
    """Settings of which one must be set: `tavily_api_key`. Empty where it works without."""
    group_needs: str = ""
    """Setting without which a group leaves it out, though it works: a service that refuses most who have no key."""
    is_named: bool = False
    """True where a name follows a colon: `corpus:notes`."""
    topics: tuple[str, ...] = ()
    """Topics of sources/source_choice.py for which a group searches it; empty for every question."""


_ENTRIES = (
    SourceEntry(
        "web",
        "web",
        "the live web, through a search service",
        "marchwarden.sources.web.web_source:open_web",
        "one request a search; the limits of your account",
        "pages belong to their publishers",
        needs=("tavily_api_key", "brave_api_key", "exa_api_key", "serper_api_key", "searxng_url"),
    ),
    SourceEntry(
        "wikipedia",
        "encyclopedia",
        "Wikipedia, in the language of the question",
        "marchwarden.sources.encyclopedia.wikipedia:open_wikipedia",
        "5 requests a second; set MARCHWARDEN_CONTACT, which names you as their sender",
        "CC BY-SA 4.0",
    ),
    SourceEntry(
        "wikidata",
        "encyclopedia",
        "facts about people, places and things, by Wikidata",
        "marchwarden.sources.encyclopedia.wikidata:open_wikidata",
        "5 requests a second; set MARCHWARDEN_CONTACT, which names you as their sender",
        "CC0",
        topics=("general",),
    ),
    SourceEntry(
        "stackexchange",
        "community",
        "questions and answers of Stack Overflow and other sites of Stack Exchange",
        "marchwarden.sources.community.stackexchange:open_stackexchange",
        "300 requests a day without a key; pauses that it asks for are kept",
        "CC BY-SA 2.5 to 4.0, as each answer says",
        topics=("programming",),
    ),
    SourceEntry(
        "hackernews",
        "community",
        "discussions of Hacker News, and the pages that they are about",
        "marchwarden.sources.community.hackernews:open_hackernews",
        "10,000 requests an hour",
        "comments belong to their authors, pages to their publishers",
        topics=("technology",),
    ),
    SourceEntry(
        "arxiv",
        "scholarly",
        "preprints of arXiv: physics, mathematics, computer science and more",
        "marchwarden.sources.scholarly.registries:open_arxiv",
        "one request in 3 seconds and one connection, for all your machines together",
        "metadata CC0; papers by their authors, to quote and not to hand on",
        topics=("science",),
    ),
    SourceEntry(
        "crossref",
        "scholarly",
        "works with a DOI, by Crossref: journals, proceedings, books, preprints",
        "marchwarden.sources.scholarly.registries:open_crossref",
        "5 requests a second; name an e-mail address in MARCHWARDEN_CONTACT for the better pool",
        "metadata are facts; abstracts and papers belong to their publishers",
        topics=("science", "medicine"),
    ),
    SourceEntry(
        "europepmc",
        "scholarly",
        "articles and preprints of the life sciences, by Europe PMC, with the full texts of open ones",
        "marchwarden.sources.scholarly.registries:open_europepmc",
        "5 requests a second",
        "each article has its own",
        topics=("medicine",),
    ),
    SourceEntry(
        "pubmed",
        "scholarly",
        "articles of medicine and biology, by PubMed",
        "marchwarden.sources.scholarly.registries:open_pubmed",
        "3 requests a second",
        "metadata in the public domain; abstracts belong to their publishers",
        topics=("medicine",),
    ),
    SourceEntry(
        "openalex",
        "scholarly",
        "works of all fields, by OpenAlex",
        "marchwarden.sources.scholarly.registries:open_openalex",
        "a thousand searches a day with the free key",
        "CC0",
        needs=("openalex_api_key",),
        topics=("science", "medicine"),
    ),
    SourceEntry(
        "semanticscholar",
        "scholarly",
        "papers of all fields, by Semantic Scholar",
        "marchwarden.sources.scholarly.registries:open_semanticscholar",
        "one request a second with a key; without one often refused",
        "terms of the Semantic Scholar API, with attribution",
        group_needs="semantic_scholar_api_key",
        topics=("science", "medicine"),
    ),
    SourceEntry(
        "snapshot",
        "snapshot",
        "the frozen web, a folder of pages that needs no network",
        "marchwarden.sources.snapshot_search:open_snapshot",
        "none",
        "as its pages say; those of the shipped one come with Marchwarden",
    ),
    SourceEntry(
        "corpus",
        "corpus",
        "files of your own that `marchwarden index` has indexed",
        "marchwarden.sources.corpus_search:open_files",
        "none",
        "your own",
        is_named=True,
    ),
    SourceEntry(
        "zim",
        "corpus",
        "an encyclopedia or another site in a ZIM file of Kiwix, without a network",
        "marchwarden.sources.encyclopedia.zim_archive:open_zim",
        "none",
        "as the file says; those of Wikipedia CC BY-SA 4.0",
        is_named=True,
    ),
    SourceEntry(
        "db",
        "database",
        "a database of your own, added with `marchwarden sources add`",
        "marchwarden.sources.database.open_database:open_database",
        "one SELECT at a time, in a process of its own with limits",
        "your own",
        is_named=True,
    ),
)

SOURCES: dict[str, SourceEntry] = {entry.name: entry for entry in _ENTRIES}
"""Entries by name, in the order in which they are listed."""

GROUPS: dict[str, tuple[str, ...]] = {
    "open": (
        "wikipedia", "wikidata", "stackexchange", "hackernews", "arxiv", "crossref", "europepmc", "pubmed",
        "openalex", "semanticscholar",
    ),
    "scholarly": ("arxiv", "crossref", "europepmc", "pubmed", "openalex", "semanticscholar"),
}  # fmt: skip
"""Names that stand for several sources; those whose key is missing are left out."""


def members_of(name: str) -> tuple[str, ...]:
    """Return the sources that a name stands for: those of a group, or the name itself."""
    return GROUPS.get(name, (name,))
