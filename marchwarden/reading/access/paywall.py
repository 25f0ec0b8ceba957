"""Teasers: the beginning of a text, and an offer to read on for money."""

from __future__ import annotations

import re

from marchwarden.reading.access.page_features import BREAKS_OFF, Impression, is_titled, sentences_of, unquoted
from marchwarden.reading.access.sign_in import NOT_FOR_READING
from marchwarden.reading.access.vocabulary import CONSENT_TALK, PERIOD, PRICE, VOCABULARIES, any_of, says
from marchwarden.reading.text_lengths import latin_length

_THE_PIECE = r"(?:this|the full|the complete) (?:article|story|content|post|report|text|page|essay|issue)"
_OF_PAYERS = r"(?:\w+ )?(?:subscribers|members|patrons|supporters)"

# Sentences between a teaser and the rest that need no other sign beside them.
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
# Sentences that end a teaser, also a long one: they tell of the rest of this very article.
REST_FOR_MONEY = any_of(
    {
        "en": (
            r"\bthe rest (?:of (?:this|the) (?:article|story|post|essay|report) )?"
            rf"is (?:only )?(?:for|reserved for|available to) (?:our )?{_OF_PAYERS}",
            rf"\bthis (?:article|story|post) continues for (?:our )?{_OF_PAYERS}",
            r"\byou have \d+ ?% of this (?:article|story) left",
        ),
        "de": (r"\bder (?:rest|vollständige) (?:des )?(?:artikels?|beitrags?|text)\b.{0,30}\b(?:abonnent|abo\b)",),
        "fr": (
            r"\bil vous reste [\d.,]+ ?% (?:de (?:cet|l')|à (?:lire|découvrir))",
            r"\bla suite (?:de (?:cet |l')article )?est (?:réservée?|accessible) (?:uniquement )?(?:aux|à nos) abonn",
        ),
        "es": (
            r"\bel resto (?:de(?:l| este) artículo )?es(?:tá reservado)? (?:s[oó]lo )?(?:para|a) .{0,10}suscriptor",
        ),
        "it": (r"\bil resto (?:dell'articolo )?è riservato (?:agli|ai nostri) abbonati",),
        "pl": (
            r"\bpozostało(?: ci)? \d+ ?% (?:artykułu|tekstu)",
            r"\b(?:dalszy ciąg|dalsza część|reszta)\b.{0,25}\b(?:tylko|wyłącznie) dla (?:naszych )?"
            r"(?:prenumerator|abonent|subskrybent)",
        ),
        "pt": (
            r"\bo restante (?:deste artigo |desta matéria )?é (?:exclusivo|reservado) (?:para|a)\b.{0,10}assinante",
        ),
        "ja": (r"残り\s?[\d,]+\s?文?字", r"この記事は有料(?:会員)?(?:記事|限定)"),
        "hi": (
            r"(?:बाकी|शेष|पूरा) (?:लेख|खबर|आर्टिकल).{0,20}(?:केवल|सिर्फ़?).{0,20}(?:सदस्य|सब्सक्राइब|ग्राहक)",
            r"(?:बाकी|शेष|पूरा|पूरी) (?:लेख|खबर|आर्टिकल) पढ़ने के लिए (?:अभी )?(?:सब्सक्राइब|सदस्यता)",
        ),
    }
)
# Lines at the end of the text in which they stand. A guess.
_LAST_LINES = 3
# Sentences beside a paywall, and now and then beside a page that can be read.
PAYWALL_SIGNS = any_of(
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
# Offers that readable pages make as well: they count where the text breaks off, or in an element named as a paywall.
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
# Titles of pages that sell subscriptions, and hide no other page.
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

# The lengths below are in characters; evals/reading/access measures their effect on labelled pages.
# A longer content, or a longer page, is no teaser.
_MAX_TEASER_CHARS = 1200
_MAX_SHOWN_CHARS = 6000
# So short that one sign of a paywall is enough.
_NEXT_TO_NOTHING_CHARS = 300
# Bounds for pages that declare that they cost: in general, and where they name a part that isn't there.
_MAX_DECLARED_TEASER_CHARS = 1500
_MAX_TEASER_OF_PART_CHARS = 4000
# A part that costs is taken to be there from this length on.
_MIN_PART_CHARS = 120
# A sentence, or an address, where readers are told where to write.
_ENDS = re.compile(r"(?:[.!?。！？:)\]][\"”»’]?|[\w.+-]+@[\w-]+\.[\w.-]+|(?:https?://|www\.|[@#])\S+)\s*$")
# A line of prose, and one that is long enough to break off within a sentence.
_MIN_PROSE_CHARS = 60
_MIN_CUT_CHARS = 150
# A longer block is text, and no offer.
_MAX_OFFER_CHARS = 100


def is_paywalled(page: Impression) -> bool:
    """True where only a teaser is there.

    Most pages that declare that they cost send their whole text. So the declaration counts only where the part that
    it names is missing or empty, or, where it names none, where the text is short.
    """
    if page.declared_closed:
        part = page.paid_part or ""
        # The part that costs may be the offer itself: then it doesn't count as shown.
        gates = (gate for gate in page.gates if part and part in gate)
        offers = (call for gate in gates for call in (gate, *sentences_of(gate)))
        is_offer = any(_demand(call) or OFFERS.search(call) or PAYWALL_SIGNS.search(call) for call in offers)
        lacks_part = page.paid_part is not None and any(_demand(call) == 2 for call in page.calls)
        longest = _MAX_TEASER_OF_PART_CHARS if lacks_part else _MAX_DECLARED_TEASER_CHARS
        if (latin_length(part) < _MIN_PART_CHARS or is_offer) and latin_length(page.content) < longest:
            return True
    if latin_length(page.paid_part or "") < _MIN_PART_CHARS and _breaks_off_for_money(page):
        return True
    if (
        latin_length(page.content) >= _MAX_TEASER_CHARS
        or latin_length(page.shown) >= _MAX_SHOWN_CHARS
        or is_titled(page, ABOUT_SUBSCRIBING)
    ):
        return False
    demand = max((_demand(call) for call in page.calls_beside_prose), default=0)
    if demand == 2 or (page.is_article and _has_offer_below(page)):
        return True
    has_sign = page.calls_for(PAYWALL_SIGNS)
    if has_sign and latin_length(page.content) < _NEXT_TO_NOTHING_CHARS:
        return True
    has_offer_in_gate = any(OFFERS.search(gate) or _demand(gate) for gate in page.gates)
    # The last prose of the main text may break off.
    prose = [line for line in page.content.split("\n") if len(line) > _MIN_PROSE_CHARS and not _demand(line)]
    last = prose[-1] if prose else ""
    is_cut = (len(last) > _MIN_CUT_CHARS and not _ENDS.search(last)) or BREAKS_OFF.search(last) is not None
    signs = has_sign + (bool(prose) and is_cut) + has_offer_in_gate
    # An offer of a subscription, in words or as a price for a time.
    has_offer = any(
        OFFERS.search(call) or (PRICE.search(call) and PERIOD.search(call)) for call in (page.calls if signs else ())
    )
    return signs > 0 and signs + demand + has_offer >= 2


def _breaks_off_for_money(page: Impression) -> bool:
    """True where one of the last lines says that the rest of this article is for those who pay."""
    if latin_length(page.content) >= _MAX_TEASER_OF_PART_CHARS:
        return False
    last = [line for line in page.main.split("\n") if line.strip()][-_LAST_LINES:]
    at = page.shown.rfind(last[-1]) if last else -1
    below = page.shown[at + len(last[-1]) :].split("\n")[: _LAST_LINES + 1] if at >= 0 else []
    calls = (call for line in (*last, *below) for call in sentences_of(unquoted(line)))
    return any(REST_FOR_MONEY.search(call) for call in calls)


def _has_offer_below(page: Impression) -> bool:
    """True where short blocks after the last long one name a subscription and its price."""
    blocks = unquoted(page.shown).split("\n")
    long_ones = [place for place, block in enumerate(blocks) if len(block) > _MAX_OFFER_CHARS]
    after = blocks[long_ones[-1] + 1 :] if long_ones else []
    short = [block for block in after if len(block) <= _MAX_OFFER_CHARS]
    priced = any(PRICE.search(block) and PERIOD.search(block) for block in short)
    return priced and any(_demand(block) or says(block, "paying") for block in short)


def _demand(call: str) -> int:
    """Return how clearly the sentence asks for money before reading on: not at all (0), perhaps (1) or surely (2)."""
    # Most sentences ask for no money, so it is looked for before what takes that back.
    demand = _demanded(call)
    return 0 if demand and (NOT_FOR_READING.search(call) or CONSENT_TALK.search(call)) else demand


def _demanded(call: str) -> int:
    if READ_ON_FOR_MONEY.search(call):
        return 2
    demand = 0
    for words in VOCABULARIES.values():
        if words.says(call, "paying"):
            of_pieces, exclusive = words.says(call, "pieces"), words.says(call, "only")
            if words.says(call, "to_read") or (of_pieces and exclusive):
                return 2
            demand = max(demand, int(of_pieces or exclusive))
    return demand
