"""Teasers: the beginning of a text, and an offer to read on for money."""

from __future__ import annotations

import re

from marchwarden.reading.access.consent import CONSENT_TALK, PERIOD, PRICE
from marchwarden.reading.access.page_features import BREAKS_OFF, Impression, is_titled, unquoted
from marchwarden.reading.access.sign_in import NOT_FOR_READING
from marchwarden.reading.access.vocabulary import any_of, says

_THE_PIECE = r"(?:this|the full|the complete) (?:article|story|content|post|report|text|page|essay|issue)"
_OF_PAYERS = r"(?:\w+ )?(?:subscribers|members|patrons|supporters)"

READ_ON_FOR_MONEY = any_of(
    {
        "en": (
            r"\bread the (?:full|whole|entire) (?:article|story|report) with (?:a|your)\b",
            rf"\bthe rest of this (?:article|story|post|essay) is (?:only )?(?:for|reserved for) {_OF_PAYERS}",
            rf"{_THE_PIECE} is (?:locked\b|(?:for|available to|reserved for) (?:our )?{_OF_PAYERS})",
            r"\bthis (?:article|story|post|content) continues for\b",
            r"\byou(?:'| ha)?ve (?:reached|hit|exceeded|read|used) (?:your|all|the|\d+ of \d+)\b",
            r"\blast free (?:article|story)\b",
            r"\bfull[- ]text\b.{0,30}\b(?:subscribing|by signing in through|through your)\b",
            rf"\bunlock {_THE_PIECE}",
            r"\b(?:purchase|buy|rent) (?:(?:a|the|this)(?: full)? )?"
            r"(?:article|chapter|pdf|standard|report|document|study|instant access|access)\b",
            r"\bfull report\b.{0,40}\bis available for purchase",
            r"\bpreview of subscription content",
            r"\baccess this (?:article|chapter) for \d+ (?:days?|hours?)",
            r"\bdo not (?:currently )?have access to this (?:article|content|chapter|document)",
            r"\bthis (?:story|article) costs \d+ credits?",
        ),
        "de": (
            r"\b(?:weiter)?lesen\b.{0,40}\bmit \w+(?:\+| ?plus\b)",
            r"\bdieser (?:artikel|beitrag|inhalt) ist kostenpflichtig",
        ),
        "fr": (r"\bil vous reste [\d.,]+ ?% ",),
        "pl": (r"\bpozostało(?: ci)? \d+ ?% (?:artykułu|tekstu)",),
        "ja": (r"残り\s?[\d,]+\s?文?字", r"ここから先は有料"),
    }
)
"""What stands between a teaser and the rest, in words that need no others beside them."""
SIGNS_OF_A_WALL = any_of(
    {
        "en": (
            r"^already (?:a )?(?:paid |paying )?(?:subscribe[dr]|member)\?",
            r"^(?:want|would you like) to (?:read|keep reading)\b",
            r"^access through your (?:institution|organi[sz]ation)",
            r"\b(?:reading|this is) (?:a|the) (?:free )?(?:preview|excerpt)\b",
        ),
        "de": (
            r"\bbereits (?:ein )?abo(?:nnent(?:in)?)?\b",
            r"^(?:sie )?(?:möchten|wollen)\b.{0,30}\bweiterlesen\?",
            r"^jetzt weiterlesen",
        ),
        "fr": (r"^déjà abonn", r"\benvie de lire la suite"),
        "es": (r"^¿?ya eres suscriptor", r"^¿quieres seguir leyendo"),
        "it": (r"^sei già abbonato", r"^vuoi continuare a leggere"),
        "nl": (r"\bal abonnee\?", r"^(?:wilt u|wil je)\b.{0,25}\blezen\?", r"^(?:verder|dit artikel) lezen\?"),
        "pt": (r"^já é assinante", r"^quer continuar lendo"),
        "pl": (r"^masz już prenumeratę", r"^chcesz czytać dalej"),
        "sv": (r"^redan prenumerant", r"^vill du läsa"),
        "ru": (r"^уже есть подписка",),
    }
)
"""What is beside a wall, and now and then beside a page that can be read."""
OFFERS = any_of(
    {
        "en": (
            r"\bsubscribe (?:now|today|from)\b",
            r"\bget (?:full|unlimited|digital) access",
            r"\bunlimited (?:digital )?access\b",
            r"\bstart (?:your|a) (?:free |digital )?(?:trial|subscription)",
            r"\bdigital subscription\b",
            r"\b(?:members|subscribers) only\b",
            r"^choose a (?:plan|membership)",
        ),
        "de": (
            r"\bjetzt (?:abo(?:nnieren)?\b|\d+ (?:tage|wochen|monate?) (?:kostenlos|gratis) testen)",
            r"\babo abschließen",
        ),
        "fr": (r"\babonnez-vous à partir de", r"\bsans engagement\b"),
        "es": (r"\bsuscríbete (?:por|desde)", r"\bhazte (?:premium|soci[oa])\b"),
        "it": (r"\babbonati (?:da|a partire da)\b",),
        "nl": (r"\b(?:neem|kies|sluit) (?:nu )?een abonnement",),
        "pt": (r"\bassine por\b",),
        "sv": (r"\bläs vidare för\b",),
    }
)
"""Made by pages that can be read as well: they count where the text breaks off, or a paywall's element makes them."""
ABOUT_SUBSCRIBING = any_of(
    {
        "en": (
            r"(?:our |choose your )?(?:subscriptions?|membership|pricing|plans)(?: (?:plans|options))?",
            r"terms\b.*",
        ),
        "de": (r"(?:unsere )?abo(?:nnements?|s)?", r"(?:agb|mitglied werden)"),
        "fr": (r"(?:nos )?(?:abonnements|offres)",),
        "es": (r"suscripciones", r"planes"),
    }
)
"""Titles of pages that sell subscriptions, and are no wall before another page."""

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
