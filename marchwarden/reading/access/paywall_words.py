"""What paywalls say beside, or instead of, the words of the vocabulary."""

from __future__ import annotations

from marchwarden.reading.access.wall_phrases import any_of

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
