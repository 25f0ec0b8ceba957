"""Pages that say that they are not shown here: to visitors of this country, under an age, or outside an app."""

from __future__ import annotations

from marchwarden.reading.access.gone_words import NOT_SHOWN_HERE
from marchwarden.reading.access.page_features import Impression

_LONGEST = 600


def is_restricted(page: Impression) -> bool:
    return len(page.shown) < _LONGEST and page.calls_for(NOT_SHOWN_HERE)
