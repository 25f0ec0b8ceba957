"""Sources of a group that are searched where meanings can't be compared."""

from __future__ import annotations

from marchwarden.source_table import GROUPS
from marchwarden.sources.source_choice import choose_sources


def test_without_meanings_all_but_forums_are_searched() -> None:
    names = GROUPS["open"]
    chosen = [names[place] for place in choose_sources("Where was the singer born?", names, None)]
    assert chosen == [name for name in names if name not in ("stackexchange", "hackernews")]
