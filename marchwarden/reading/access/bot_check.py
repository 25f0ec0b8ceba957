"""Checks that a person is reading, and firewalls that say they take us for a program."""

from __future__ import annotations

from marchwarden.reading.access.bot_words import (
    BOT_MARKS,
    BOT_TITLES,
    BOT_TITLES_PERHAPS,
    BOT_WORDS,
    CHALLENGE_MARKS,
    NOT_A,
    ROBOT,
    TO_CONFIRM,
    TRAFFIC,
    UNUSUAL,
)
from marchwarden.reading.access.page_features import Impression, is_titled

_LONGEST = 1000
_LONGEST_OF_SURE_ONES = 1500


def is_bot_check(page: Impression) -> bool:
    length = len(page.shown)
    if length > _LONGEST_OF_SURE_ONES:
        return False
    titled, perhaps = is_titled(page, BOT_TITLES), is_titled(page, BOT_TITLES_PERHAPS)
    said = any(_asks_for_a_person(call) for call in page.calls)
    challenged = CHALLENGE_MARKS.search(page.markup) is not None
    marked = challenged or BOT_MARKS.search(page.markup) is not None
    if (titled or perhaps) + said + marked >= 2:
        return titled or length <= _LONGEST
    return (said and length < 500) or (titled and length < 250) or (challenged and length < 100)


def _asks_for_a_person(call: str) -> bool:
    return any(
        (
            BOT_WORDS.search(call),
            ROBOT.search(call) and NOT_A.search(call) and TO_CONFIRM.search(call),
            UNUSUAL.search(call) and TRAFFIC.search(call),
        )
    )
