"""Bot checks, and firewalls that take us for a program."""

from __future__ import annotations

import re

from marchwarden.reading.access.page_features import Impression, is_titled
from marchwarden.reading.access.vocabulary import any_of
from marchwarden.reading.text_lengths import latin_length

_ARE = r"(?:'| a)re"  # you're, you are
_A_PERSON = r"(?:not a (?:ro)?bot|(?:a )?human)"

BOT_TITLES = any_of(
    {
        "en": (
            r"just a moment(?:\.\.\.|…)?",
            r"attention required!?",
            r"pardon our interruption(?:\.\.\.|…)?",
            r"(?:ro)?bot check",
            r"are you (?:a )?(?:robot|human)\??",
            r"(?:checking|verifying) your browser.*",
            r"ddos-guard",
            r"(?:please )?verify (?:that )?you are (?:a )?human",
            r"human verification",
            rf"making sure you{_ARE} not a bot",
            r"(?:sorry, )?you have been blocked",
        ),
        "de": (r"einen moment.*", r"sind sie ein (?:mensch|roboter)\??"),
        "fr": (r"un instant.*", r"êtes-vous un (?:humain|robot) ?\??"),
        "es": (r"un momento.*", r"¿?eres (?:humano|un robot)\??"),
        "ru": (r"вы не робот\??",),
    }
)
BOT_TITLES_PERHAPS = any_of(
    {
        "en": (
            r"security (?:check(?:point)?|verification)",
            r"(?:website firewall - )?access (?:to this page has been )?(?:denied|blocked)",
            r"one more step",
            r"captcha",
            r"please wait(?:\.\.\.|…)?",
        ),
        "de": (r"sicherheits(?:über)?prüfung",),
        "fr": (r"vérification de (?:la )?sécurité",),
        "es": (r"(?:control|verificación) de seguridad",),
    }
)
BOT_WORDS = any_of(
    {
        "en": (
            r"checking (?:if the site connection is secure|your browser)",
            rf"(?:verify(?:ing)?|confirm|prove|make sure|making sure|know) (?:that )?you{_ARE} {_A_PERSON}",
            r"verifying your browser",
            r"enable (?:javascript and cookies to continue|js and disable any ad blocker)",
            r"complete the (?:captcha|security check)",
            r"needs to review the security of your connection",
            r"ddos protection by",
            r"made us think (?:that )?you (?:a|we)re a bot",
            r"press (?:&|and) hold to confirm",
            r"automated (?:access|requests?|queries) (?:to|from|are|is)",
            r"bad bot access",
            r"you are using automat",
            r"(?:request|connection|browser) (?:is being|will be) (?:verified|checked)",
            r"access to this (?:site|service) has been limited",
            r"proof-of-work check",
            r"enter the characters you see",
            r"incapsula incident id",
            r"^reference #\d+\.[0-9a-f]+\.",
        ),
        "es": (r"verifica que eres humano", r"que la conexión de tu sitio es segura"),
        "ja": (r"人間であることを確認",),
        "zh": (r"(?:您|你)是(?:真)?人", r"人机(?:验证|身份验证)"),
    }
)
ROBOT = re.compile(r"\b(?:ro)?bot\b|\broboter\b|\brobô\b|\brobotem\b|робот|ロボット|机器人|機器人", re.IGNORECASE)
NOT_A = re.compile(
    r"\b(?:not|no|nicht|kein|n['’]êtes pas|pas|non|geen|não|nie|inte|ikke|не)\b|ではない|不是", re.IGNORECASE
)
TO_CONFIRM = re.compile(
    r"\b(?:confirm|verif|prove\b|bestätig|vérifi|prouve|comprueb|conferm|bevestig|prouv|potwierd|bekräfta)"
    r"|подтверд|確認|确认|验证|證明",
    re.IGNORECASE,
)
UNUSUAL = re.compile(
    r"\b(?:unusual|suspicious|ungewöhnlich|inhabituel|inusual|insolit|ongewoon|ongebruikelijk|incomum|nietypow|ovanlig)"
    r"|необычн|подозрительн|異常|异常",
    re.IGNORECASE,
)
TRAFFIC = re.compile(
    r"\b(?:traffic|activity|trafic|activité|tráfi[cg]o|actividad|traffico|attività|aktivität|zugriff|verkeer|ruch)"
    r"|трафик|активност|запрос|アクセス|流量|访问",
    re.IGNORECASE,
)


# Marks of pages that are nothing but a check, where they show next to nothing.
CHALLENGE_MARKS = any_of(
    {
        "names in scripts and markup": (
            r"_cf_chl_opt|_chl_opt",
            r"cf-browser-verification",
            r"px-captcha",
            r"captcha-delivery\.com",
            r"awswafcookiedomainlist",
            r"_incapsula_resource",
            r"\bkpsdk\b",
        )
    }
)
# Marks that pages with a form have as well.
BOT_MARKS = any_of(
    {
        "names in scripts and markup": (
            r"/cdn-cgi/challenge-platform",
            r"g-recaptcha",
            r"h-?captcha",
            r"cf-turnstile",
            r"smartcaptcha",
        )
    }
)

# Characters of visible text; evals/reading/access measures their effect on labelled pages.
_MAX_CHARS = 1000
# The same where the title is that of a bot check.
_MAX_TITLED_CHARS = 1500


def is_bot_check(page: Impression) -> bool:
    length = latin_length(page.shown)
    if length > _MAX_TITLED_CHARS:
        return False
    titled, perhaps = is_titled(page, BOT_TITLES), is_titled(page, BOT_TITLES_PERHAPS)
    said = any(
        BOT_WORDS.search(call)
        or (ROBOT.search(call) and NOT_A.search(call) and TO_CONFIRM.search(call))
        or (UNUSUAL.search(call) and TRAFFIC.search(call))
        for call in page.calls
    )
    challenged = CHALLENGE_MARKS.search(page.markup) is not None
    marked = challenged or BOT_MARKS.search(page.markup) is not None
    if (titled or perhaps) + said + marked >= 2:
        return titled or length <= _MAX_CHARS
    # One sign alone is enough only on a page that shows little else.
    return (said and length < 500) or (titled and length < 250) or (challenged and length < 100)
