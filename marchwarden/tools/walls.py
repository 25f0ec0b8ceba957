"""Pages that are not the page that was asked for: paywalls, sign-in forms, bot checks, "not found" with status 200.

A page must both be short and say so of itself, in a title, a heading or a sentence to its reader; an article *about*
such pages is an ordinary page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from marchwarden.observations import Failure, FailureKind


@dataclass(frozen=True)
class Impression:
    """What a page looks like at a glance."""

    url: str
    titles: tuple[str, ...]
    """<title> and main heading."""
    shown: str
    """All text that a reader sees."""
    main: str
    """What of it can be read as content."""
    markup: str
    """The start of the source."""
    asks_password: bool = False
    declared_closed: bool = False


def wall_of_status(status: int) -> Failure | None:
    """The failure that an HTTP status alone means; None for 2xx."""
    if 200 <= status < 300:
        return None
    kind = _BY_STATUS.get(status)
    if kind is None:
        kind = FailureKind.SERVER_ERROR if status >= 500 or status < 400 else FailureKind.BAD_REQUEST
    return Failure(kind, f"{_BY_KIND[kind]} (HTTP status {status})")


_BY_STATUS = {
    401: FailureKind.FORBIDDEN,
    402: FailureKind.PAYWALL,
    403: FailureKind.FORBIDDEN,
    404: FailureKind.NOT_FOUND,
    407: FailureKind.FORBIDDEN,
    408: FailureKind.TIMEOUT,
    410: FailureKind.NOT_FOUND,
    429: FailureKind.RATE_LIMITED,
    451: FailureKind.FORBIDDEN,
    999: FailureKind.BOT_WALL,
}
_BY_KIND = {
    FailureKind.FORBIDDEN: "the server does not let us read this page",
    FailureKind.PAYWALL: "the page has to be paid for",
    FailureKind.NOT_FOUND: "there is no such page",
    FailureKind.TIMEOUT: "the server gave up waiting",
    FailureKind.RATE_LIMITED: "the server wants fewer requests",
    FailureKind.BOT_WALL: "the server lets no automatic readers in",
    FailureKind.SERVER_ERROR: "the server failed to give the page",
    FailureKind.BAD_REQUEST: "the server does not take this request",
}


def wall_of_page(page: Impression, status: int = 200) -> Failure | None:
    """What closes or replaces the page, None where it is the page itself.

    With another status than 200 only a bot check is looked for: it says more than the status does.
    """
    if is_bot_check(page):
        return Failure(
            FailureKind.BOT_WALL, "the site wants a check that a person is reading before it shows the page"
        )
    if status != 200:
        return None
    if is_sign_in(page):
        return Failure(FailureKind.LOGIN_REQUIRED, "the page is shown to signed-in readers only")
    if is_paywalled(page):
        return Failure(FailureKind.PAYWALL, "only a teaser can be read without a subscription")
    if is_not_found(page):
        return Failure(FailureKind.NOT_FOUND, "the server answers with a page that says there is no such page")
    return None


_QUOTED = re.compile(r"[“\"„«‘][^“”\"„«»‘’]{0,200}[”\"“»’]")


def _said(text: str) -> str:
    """Without what is only quoted."""
    return _QUOTED.sub(" ", text)


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases), re.IGNORECASE)


_ARE = r"(?:'|’| a)re"  # you're, you are
_A_PERSON = r"(?:not a (?:ro)?bot|(?:a )?human)"


# Bot checks

_BOT_TITLE = _any(
    r"just a moment(?:\.\.\.|…)?",
    r"attention required!?",
    r"pardon our interruption",
    r"(?:ro)?bot check",
    r"are you (?:a )?(?:robot|human)\??",
    r"(?:checking|verifying) your browser.*",
    r"security (?:check|verification)",
    r"ddos-guard",
    r"(?:please )?verify (?:that )?you are (?:a )?human",
    r"human verification",
    r"one more step",
    r"captcha",
    r"access (?:denied|blocked)",
    r"please wait(?:\.\.\.|…)?",
    r"(?:sorry, )?you have been blocked",
    r"einen moment.*",
)
_BOT_WORDS = _any(
    r"checking (?:if the site connection is secure|your browser)",
    rf"verify(?:ing)? (?:that )?you{_ARE} {_A_PERSON}",
    rf"confirm (?:that )?you{_ARE} {_A_PERSON}",
    rf"prove (?:that )?you{_ARE} {_A_PERSON}",
    r"enable javascript and cookies to continue",
    r"unusual (?:traffic|activity) from your",
    r"complete the (?:captcha|security check)",
    r"needs to review the security of your connection",
    r"ddos protection by",
    r"made us think (?:that )?you are a bot",
    r"press (?:&|and) hold to confirm",
    r"automated (?:access|requests?|queries) (?:to|from)",
)
_BOT_MARKS = _any(
    r"_cf_chl_opt",
    r"cf-browser-verification",
    r"/cdn-cgi/challenge-platform",
    r"px-captcha",
    r"captcha-delivery\.com",
    r"g-recaptcha",
    r"h-?captcha",
    r"cf-turnstile",
    r"awswafcookiedomainlist",
    r"_incapsula_resource",
)


def is_bot_check(page: Impression) -> bool:
    if len(page.shown) > 1000:
        return False
    titled = any(_BOT_TITLE.fullmatch(_bare(title)) for title in page.titles)
    said = bool(_BOT_WORDS.search(_said(page.shown)))
    marked = bool(_BOT_MARKS.search(page.markup))
    return titled + said + marked >= 2 or (said and len(page.shown) < 500) or (titled and len(page.shown) < 250)


def _bare(title: str) -> str:
    """A title without what follows a bar or dash (the site's name)."""
    return re.split(r"\s+[|–—·-]\s+", title.strip())[0].strip(" .!")


# Sign-in forms

_SIGN_IN_PATH = _any(
    r"/(?:log|sign)[-_]?(?:in|on)\b",
    r"/(?:sso|saml|oauth2?|authorize|auth|cas|shibboleth|idp)(?:/|$)",
    r"/session/new",
    r"/anmelden\b",
)
_SIGN_IN_HOST = re.compile(r"(?:login|signin|sso|auth|idp|accounts?|id)\.", re.IGNORECASE)
_SIGN_IN_WORDS = _any(
    r"\b(?:log|sign) ?in to (?:continue|view|read|see|access|your account)",
    r"please (?:log|sign) ?in",
    r"you (?:must|need to) (?:be (?:logged|signed) in|(?:log|sign) ?in)",
    r"(?:login|sign-?in) required",
    r"(?:registered )?(?:users|members) only",
)
_FORM_WORDS = _any(r"\b(?:log|sign)[ -]?in\b", r"\bpassword\b", r"passwort", r"mot de passe", r"contraseña")
_SIGN_IN_TITLE = _any(
    r"(?:please )?(?:log|sign)[ -]?(?:in|on)(?: required)?(?: to .*)?",
    r"login required",
    r"anmelden",
    r"connexion",
)


def is_sign_in(page: Impression) -> bool:
    if len(page.main) > 1000:
        return False
    parts = urlsplit(page.url)
    at_door = bool(_SIGN_IN_PATH.search(parts.path) or _SIGN_IN_HOST.match(parts.hostname or ""))
    titled = any(_SIGN_IN_TITLE.fullmatch(_bare(title)) for title in page.titles)
    said = bool(_SIGN_IN_WORDS.search(_said(page.shown)))
    if page.asks_password:
        asked = bool(_FORM_WORDS.search(page.shown)) and len(page.shown) < 600
        return at_door or titled or said or asked
    return at_door + titled + said >= 2


# Paywalls

_THE_PIECE = r"(?:this|the full) (?:article|story|content|post|report|text|page)"
_PAY_WORDS = _any(
    r"subscribe (?:now |today )?to (?:continue|keep|read|unlock|access|view|get (?:full|unlimited))",
    r"to (?:continue|keep) reading,? ",
    r"continue reading (?:with|by)",
    r"already a (?:subscriber|member)\?",
    rf"{_THE_PIECE} is (?:only |exclusively )?(?:for|available (?:only )?(?:to|for)|reserved for)"
    r" (?:\w+ )?(?:subscribers|members)",
    r"(?:subscribers|members)[- ]only (?:article|content|story)",
    r"you(?:'|’| ha)?ve (?:reached|read|used) (?:your|all)",
    r"become a (?:member|subscriber) to (?:read|continue|access|unlock)",
    rf"unlock {_THE_PIECE}",
    r"purchase (?:access|this article|instant access)",
    r"(?:buy|rent) this article",
    r"get (?:full|unlimited|digital) access",
    r"start your (?:free )?trial",
    r"access through your institution",
    r"jetzt abonnieren",
    r"bereits abonnent",
    r"pur-abo",
    r"réservé aux abonnés",
    r"déjà abonné",
    r"para suscriptores",
    r"ya eres suscriptor",
)


def is_paywalled(page: Impression) -> bool:
    if page.declared_closed and len(page.main) < 1500:
        return True
    return len(page.main) < 1200 and len(page.shown) < 6000 and bool(_PAY_WORDS.search(_said(page.shown)))


# "Not found" with status 200

_A_PAGE = r"(?:page|file|document|article|content|resource|item|url|address|link)"
_IS_GONE = (
    r"(?:was|is|has been|could|can(?:’t|'t|not)?|does(?:n’t|n't)?|isn(?:’t|'t)|couldn(?:’t|'t)|no longer)"
    r"(?: not| no longer| be)*(?: (?:found|exists?|removed|deleted|moved|available|unavailable|located|gone))"
)
_GONE_TITLE = _any(
    r"(?:error:? ?)?(?:404|410)(?: error)?(?:[ :.,-]+.*)?",
    rf"(?:sorry,? )?(?:the |this |that )?{_A_PAGE} (?:you .{{3,40}} )?(?:{_IS_GONE}|not found|unavailable|gone)",
    r"not found",
    r"nothing (?:was )?found",
    r"oops.*",
    r"seite nicht gefunden",
    r"page (?:introuvable|non trouvée)",
    r"página no encontrada",
)
_GONE_WORDS = _any(
    rf"\b{_A_PAGE}s?(?: that| which)? you(?:'|’)?(?:re| are| were| have)? "
    rf"(?:look|request|try|search|want|ask|follow|enter|click)\w*(?: \w+){{0,4}},? {_IS_GONE}",
    rf"(?:we|i) (?:couldn(?:'|’)t|could not|can(?:'|’)t|cannot|were unable to|are unable to) (?:find|locate)"
    rf" (?:the|that|this|your|a|what)(?: \w+)? ?(?:{_A_PAGE}|you)",
    rf"(?:this|the|that|requested) {_A_PAGE}(?: \S+)? {_IS_GONE}",
    r"there is (?:no such page|no page|nothing) (?:at|under|here)",
    r"nothing (?:was|could be) found",
)


def is_not_found(page: Impression) -> bool:
    titled = any(_GONE_TITLE.fullmatch(_bare(title)) for title in page.titles)
    said = bool(_GONE_WORDS.search(_said(page.main[:600] or page.shown[:1500])))
    if titled and said:
        return len(page.main) < 1200
    return (titled or said) and len(page.main) < 300
