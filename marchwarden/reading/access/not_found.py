""" "Not found" with status 200."""

from __future__ import annotations

from marchwarden.reading.access.gone_words import GONE_TITLES, GONE_TITLES_PERHAPS, GONE_WORDS
from marchwarden.reading.access.page_features import Impression, is_titled, unquoted

_LONGEST = 1200
_SHORT = 300


def is_not_found(page: Impression) -> bool:
    titled, perhaps = is_titled(page, GONE_TITLES), is_titled(page, GONE_TITLES_PERHAPS)
    said = GONE_WORDS.search(unquoted(page.main[:600] or page.shown[:1500])) is not None
    if (titled or perhaps) and said:
        return len(page.main) < _LONGEST
    return (titled or said) and len(page.main) < _SHORT
