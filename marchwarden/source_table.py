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
    """What is searched, in one line for people and for models."""
    opener: str
    """Function that opens it, as `module:function`; called with an Opening and the name behind the colon."""
    rule: str
    """Limits and etiquette of the service, in one line."""
    licence: str
    """Licence or terms of what it returns, in one line."""
    needs: tuple[str, ...] = ()
    """Settings of which one must be set: `tavily_api_key`. Empty where it works without."""
    is_named: bool = False
    """True where a name follows a colon: `corpus:notes`."""
    hosts: tuple[str, ...] = ()
    """Domains of the pages that it finds; empty where they may be anywhere."""


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
        "one request after another, with a User-Agent that names a contact (MARCHWARDEN_CONTACT)",
        "CC BY-SA 4.0",
        hosts=("wikipedia.org",),
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
        "db",
        "database",
        "a database of your own that databases.toml names",
        "marchwarden.sources.database.open_database:open_database",
        "one SELECT at a time, in a process of its own with limits",
        "your own",
        is_named=True,
    ),
)

SOURCES: dict[str, SourceEntry] = {entry.name: entry for entry in _ENTRIES}
"""Entries by name, in the order in which they are listed."""

GROUPS: dict[str, tuple[str, ...]] = {
    "open": ("wikipedia",),
    "scholarly": (),
}
"""Names that stand for several sources; those whose key is missing are left out."""


def members_of(name: str) -> tuple[str, ...]:
    """Return the sources that a name stands for: those of a group, or the name itself."""
    return GROUPS.get(name, (name,))
