"""Consent pages: they show nothing until the reader accepts cookies, or pays for a version without advertising."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from marchwarden.reading.access.page_features import Impression, leads_back, sentences_of
from marchwarden.reading.access.vocabulary import CONSENT_TALK, PRICE, any_of
from marchwarden.reading.text_lengths import latin_length

# Sentences of a page that opens only when the reader accepts.
CONSENT_CONDITIONS = any_of(
    {
        "en": (
            r"^before you (?:continue|enter)",
            r"accept (?:our |all |the )?cookies to (?:continue|access|view|read|enter|use)",
            r"without your consent",
            r"\b(?:need|have) to (?:agree|accept|consent)\b",
            r"(?:must|need to|have to|please) (?:make a choice|choose whether we may)",
            r"cookies (?:are )?required",
        ),
        "de": (
            r"weiter(?:lesen)? mit werbung|mit werbung weiterlesen",
            r"\bpur-abo\b",
            r"akzeptieren und weiter",
            r"bevor sie fortfahren",
            r"(?:verarbeitung ihrer daten|setzen von cookies)\b.{0,60}\bzustimmen",
        ),
        "fr": (
            r"accepter et continuer",
            r"continuer sans accepter",
            r"s'abonner pour refuser",
            r"avant de continuer",
        ),
        "es": (
            r"aceptar (?:y continuar|el uso de cookies)",
            r"rechazar(?:las)? y suscribir",
            r"antes de continuar",
        ),
        "it": (r"accett(?:i|a|ando|are) i cookie\b", r"accetta e continua", r"prima di continuare"),
        "nl": (r"toestemming voor cookies", r"mogen wij cookies plaatsen", r"voordat (?:je|u) verdergaat"),
        "pt": (r"aceitar e continuar", r"antes de continuar", r"aceite os cookies para"),
        "pl": (r"zanim przejdziesz dalej", r"akceptuję i przechodzę"),
    }
)
WITHOUT_TRACKING = re.compile(
    r"\b(?:without|no|ohne|sans|sin|senza|zonder|sem|bez|utan)\b.{0,20}\b(?:ads|advert|track|cookie|werb|publicit|publicid|pubblicit)"
    r"|werbefrei|ad-free",
    re.IGNORECASE,
)
TO_REFUSE = re.compile(r"\b(?:reject|refus|ablehn|rechaz|rifiut|weiger|recus)", re.IGNORECASE)
SUBSCRIBING = re.compile(r"\b(?:subscri|abonn|suscri|abbon|assin|prenumer)", re.IGNORECASE)
# Sentences that banners over readable pages have as well.
CONSENT_BANNERS = any_of(
    {
        "en": (
            r"\bwe (?:and our (?:\d+ )?partners|value|care about|respect) .{0,30}\b(?:cookies|privacy|device)",
            r"your privacy choices",
            r"personali[sz]ed (?:ads|advertising)",
        ),
        "de": (r"personalisierte werbung", r"ihre privatsphäre ist uns wichtig"),
        "fr": (r"publicités? personnalisée", r"vous avez le choix", r"le respect de votre vie privée"),
        "es": (r"publicidad personalizada", r"(?:nos importa|valoramos) (?:tu|su) privacidad"),
        "it": (r"cookie di profilazione", r"la tua privacy"),
        "nl": (r"gepersonaliseerde advertenties", r"jouw privacy"),
    }
)

_CONSENT_ADDRESS = re.compile(r"^(?:consent|cmp|privacy)\.|/(?:collect)?consent\b|/cookie-?wall\b", re.IGNORECASE)
# Characters of visible text; evals/reading/access measures its effect, and that of the shares, on labelled pages.
_MAX_CHARS = 3000
# Least share of the text that is about consent: on a page that offers a choice, and on any other.
_MIN_SHARE_WITH_CHOICE = 0.6
_MIN_SHARE = 0.8


def is_consent_page(page: Impression) -> bool:
    """True where the page is about consent only; a banner over a readable page doesn't count."""
    if latin_length(page.shown) > _MAX_CHARS:
        return False
    sentences = sentences_of(page.shown)
    about_consent = sum(len(sentence) for sentence in sentences if CONSENT_TALK.search(sentence))
    share = about_consent / (sum(map(len, sentences)) or 1)
    if share < _MIN_SHARE_WITH_CHOICE:
        return False
    parts = urlsplit(page.url)
    was_redirected = page.asked and _CONSENT_ADDRESS.search(f"{parts.hostname}{parts.path}")
    # A sentence may offer the page for consent, or for money without consent.
    has_choice = any(
        CONSENT_CONDITIONS.search(call)
        or (WITHOUT_TRACKING.search(call) and (PRICE.search(call) or SUBSCRIBING.search(call)))
        or (TO_REFUSE.search(call) and SUBSCRIBING.search(call))
        for call in page.calls
    )
    if was_redirected or has_choice or leads_back(page.url, page.asked):
        return True
    return share >= _MIN_SHARE and page.calls_for(CONSENT_BANNERS)
