"""Pages that show nothing until cookies are accepted, or advertising is paid off."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from marchwarden.reading.access.consent_words import (
    CONSENT_BANNERS,
    CONSENT_CONDITIONS,
    CONSENT_TALK,
    PRICE,
    SUBSCRIBING,
    TO_REFUSE,
    WITHOUT_TRACKING,
)
from marchwarden.reading.access.door_addresses import leads_back
from marchwarden.reading.access.page_features import Impression, sentences_of

_DOOR = re.compile(r"^(?:consent|cmp|privacy)\.|/(?:collect)?consent\b|/cookie-?wall\b", re.IGNORECASE)
_LONGEST = 3000
_MOST_OF_IT = 0.6
_ALL_OF_IT = 0.8


def is_consent_page(page: Impression) -> bool:
    """A banner over a page that can be read is none: there is more on it than talk of cookies."""
    if len(page.shown) > _LONGEST:
        return False
    share = _share_of_talk(page)
    if _was_sent_to_a_door(page) or any(_lets_choose(call) for call in page.calls):
        return share >= _MOST_OF_IT
    return share >= _ALL_OF_IT and page.calls_for(CONSENT_BANNERS)


def _lets_choose(call: str) -> bool:
    """Whether the sentence offers the page for consent, or for money without it."""
    return any(
        (
            CONSENT_CONDITIONS.search(call),
            WITHOUT_TRACKING.search(call) and (PRICE.search(call) or SUBSCRIBING.search(call)),
            TO_REFUSE.search(call) and SUBSCRIBING.search(call),
        )
    )


def _share_of_talk(page: Impression) -> float:
    """The part of what the page says that is about consent."""
    sentences = sentences_of(page.shown)
    talk = sum(len(sentence) for sentence in sentences if CONSENT_TALK.search(sentence))
    return talk / (sum(map(len, sentences)) or 1)


def _was_sent_to_a_door(page: Impression) -> bool:
    parts = urlsplit(page.url)
    return bool(page.asked and _DOOR.search(f"{parts.hostname}{parts.path}")) or leads_back(page.url, page.asked)
