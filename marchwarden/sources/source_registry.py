"""Opening sources: each is a search and a reader under one loop, and several are one (combined.py).

What there is stands in source_table.py. The code of a source is imported when it is opened, so that no source pays
for another.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from marchwarden.judge.answering import open_judge
from marchwarden.source_table import GROUPS, SOURCES
from marchwarden.text.embedding import open_embedder

if TYPE_CHECKING:
    import httpx

    from marchwarden.settings import Settings
    from marchwarden.sources.opening import Opening
    from marchwarden.sources.tools import Tools
    from marchwarden.text.embedding import Embedder


def open_tools(settings: Settings, *, transport: httpx.AsyncBaseTransport | None = None) -> Tools:
    """Return the tools of the sources in the settings, as one. Raises ConfigurationError where a key, a folder, a
    corpus or a database is missing. `transport` stands in for the network."""
    from marchwarden.sources.opening import Opening

    opening = Opening(settings, transport)
    embedder = open_embedder(settings)
    found = [_open(opening, source, embedder) for source in settings.sources]
    return replace(_as_one(found), embedder=embedder, judge=open_judge(settings))


def ready_members(settings: Settings, group: str) -> tuple[str, ...]:
    """Return the sources of a group that need no key, or have one."""
    return tuple(
        name
        for name in GROUPS[group]
        if is_ready(settings, name)
        and (not (need := SOURCES[name].group_needs) or getattr(settings, need) is not None)
    )


def is_ready(settings: Settings, name: str) -> bool:
    """Return whether a source has what it needs in the settings; the network is not asked."""
    needs = SOURCES[name].needs
    return not needs or any(getattr(settings, need) for need in needs)


def describe_sources(settings: Settings) -> str:
    """Return what the sources in force search, for people and models: `Wikipedia …; files of your own (notes)`."""
    said = []
    for source in settings.sources:
        kind, _, name = source.partition(":")
        for member in ready_members(settings, kind) if kind in GROUPS else (kind,):
            said.append(SOURCES[member].about + (f" ({name})" if name else ""))
    return "; ".join(dict.fromkeys(said))


def _open(opening: Opening, source: str, embedder: Embedder | None) -> Tools:
    kind, _, name = source.partition(":")
    if kind not in GROUPS:
        opened: Tools = pkgutil.resolve_name(SOURCES[kind].opener)(opening, name)
        return opened
    from marchwarden.sources.source_choice import choose_sources

    members = ready_members(opening.settings, kind)
    return _as_one(
        [_open(opening, member, embedder) for member in members],
        lambda query: choose_sources(query, members, embedder),
    )


def _as_one(found: list[Tools], choose: Callable[[str], Collection[int]] | None = None) -> Tools:
    if len(found) == 1:
        return found[0]
    from marchwarden.sources.combined import combine_tools

    return combine_tools(found, choose)
