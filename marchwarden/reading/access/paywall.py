"""Teasers: the beginning of a text, and an offer to read on for money."""

from __future__ import annotations

import re

from marchwarden.reading.access.consent_words import CONSENT_TALK, PERIOD, PRICE
from marchwarden.reading.access.page_features import BREAKS_OFF, Impression, is_titled, unquoted
from marchwarden.reading.access.paywall_words import ABOUT_SUBSCRIBING, OFFERS, READ_ON_FOR_MONEY, SIGNS_OF_A_WALL
from marchwarden.reading.access.sign_in_words import NOT_FOR_READING
from marchwarden.reading.access.vocabulary import says

_TEASER = 1200
_NEXT_TO_NOTHING = 300
_DECLARED_TEASER = 1500
_LONG_TEASER = 4000
_MOST_SHOWN = 6000
_WHOLE_PART = 120
"""Characters of a part that costs, from which on it is taken to be there."""
_ENDS = re.compile(r"[.!?。！？:)\]][\"”»’]?\s*$")
_LINE_OF_PROSE = 60
_LONG_LINE = 150
_SHORT_BLOCK = 100


def is_paywalled(page: Impression) -> bool:
    """Whether only a teaser is there.

    Most pages that declare that they cost ship their whole text. So the declaration counts where the part that it
    names is missing or empty, or, where it names none, where the text is short.
    """
    if page.declared_closed and _is_declared_teaser(page):
        return True
    if len(page.content) >= _TEASER or len(page.shown) >= _MOST_SHOWN or is_titled(page, ABOUT_SUBSCRIBING):
        return False
    demand = max((_demand(call) for call in page.calls), default=0)
    if demand == 2 or (page.is_article and _offers_beside_text(page)):
        return True
    spoken = page.calls_for(SIGNS_OF_A_WALL)
    if spoken and len(page.content) < _NEXT_TO_NOTHING:
        return True
    signs = spoken + _is_cut(page) + _is_offered_in_a_gate(page)
    return signs > 0 and signs + demand + any(_is_offer(call) for call in page.calls) >= 2


def _offers_beside_text(page: Impression) -> bool:
    """Whether short blocks after the last long one name a subscription and its price."""
    blocks = unquoted(page.shown).split("\n")
    long_ones = [place for place, block in enumerate(blocks) if len(block) > _SHORT_BLOCK]
    after = blocks[long_ones[-1] + 1 :] if long_ones else []
    short = [block for block in after if len(block) <= _SHORT_BLOCK]
    priced = any(PRICE.search(block) and PERIOD.search(block) for block in short)
    return priced and any(_demand(block) or says(block, "paying") for block in short)


def _is_offer(call: str) -> bool:
    """Whether it offers a subscription, in words or as a price for a time."""
    return bool(OFFERS.search(call) or (PRICE.search(call) and PERIOD.search(call)))


def _is_declared_teaser(page: Impression) -> bool:
    if _shows_the_part(page):
        return False
    named = page.paid_part is not None and any(_demand(call) == 2 for call in page.calls)
    return len(page.content) < (_LONG_TEASER if named else _DECLARED_TEASER)


def _shows_the_part(page: Impression) -> bool:
    """Whether the part that costs is there, and is not the offer itself."""
    part = page.paid_part or ""
    return len(part) >= _WHOLE_PART and not any(part in gate and _demand(gate) for gate in page.gates)


def _demand(call: str) -> int:
    """How clearly the sentence asks for money before reading on: not at all, perhaps (1) or surely (2)."""
    if NOT_FOR_READING.search(call) or CONSENT_TALK.search(call):
        return 0
    if READ_ON_FOR_MONEY.search(call) or says(call, "paying", "to_read") or says(call, "paying", "pieces", "only"):
        return 2
    return int(says(call, "paying", "pieces") or says(call, "paying", "only"))


def _is_cut(page: Impression) -> bool:
    """Whether the last prose of the main text breaks off."""
    prose = [line for line in page.content.split("\n") if len(line) > _LINE_OF_PROSE and not _demand(line)]
    if not prose:
        return False
    cut_in_a_sentence = len(prose[-1]) > _LONG_LINE and not _ENDS.search(prose[-1])
    return cut_in_a_sentence or BREAKS_OFF.search(prose[-1]) is not None


def _is_offered_in_a_gate(page: Impression) -> bool:
    return any(OFFERS.search(gate) or _demand(gate) for gate in page.gates)
