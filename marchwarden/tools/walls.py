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
    """What closes or replaces the page, None where it is the page itself. With status 403, 429 or 503 only a bot check
    is looked for: it says more than the status does."""
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


# Bot checks

_BOT_TITLE = re.compile(
    r"just a moment(?:\.\.\.|…)?|attention required!?(?: \| cloudflare)?|pardon our interruption|robot check|bot check"
    r"|are you (?:a )?(?:robot|human)\??|(?:checking|verifying) your browser.*|security (?:check|verification)|ddos-guard"
    r"|(?:please )?verify (?:that )?you are (?:a )?human|human verification|one more step|captcha|access (?:denied|blocked)"
    r"|please wait(?:\.\.\.|…)?|you have been blocked|sorry, you have been blocked|un momento(?:\.\.\.|…)|einen moment.*",
    re.IGNORECASE,
)
_BOT_WORDS = re.compile(
    r"checking (?:if the site connection is secure|your browser)|verify(?:ing)? (?:that )?you(?:'|’)?(?: a)?re (?:not a robot|(?:a )?human)"
    r"|enable javascript and cookies to continue|confirm (?:that )?you(?:'|’| a)re (?:not a robot|(?:a )?human)"
    r"|unusual (?:traffic|activity) from your|complete the (?:captcha|security check)|prove (?:that )?you(?:'|’| a)re (?:not a robot|human)"
    r"|needs to review the security of your connection|ddos protection by|made us think (?:that )?you are a bot"
    r"|press (?:&|and) hold to confirm|automated (?:access|requests?|queries) (?:to|from)",
    re.IGNORECASE,
)
_BOT_MARKS = re.compile(
    r"_cf_chl_opt|cf-browser-verification|/cdn-cgi/challenge-platform|px-captcha|captcha-delivery\.com|g-recaptcha|h-captcha"
    r"|hcaptcha\.com|cf-turnstile|awswafcookiedomainlist|distil_r_|_incapsula_resource",
    re.IGNORECASE,
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

_SIGN_IN_PATH = re.compile(
    r"/(?:log|sign)[-_]?(?:in|on)\b|/(?:sso|saml|oauth2?|authorize|auth|cas|shibboleth|idp)(?:/|$)|/account/login|/session/new",
    re.IGNORECASE,
)
_SIGN_IN_HOST = re.compile(r"^(?:login|signin|sso|auth|idp|accounts?|id)\.", re.IGNORECASE)
_SIGN_IN_WORDS = re.compile(
    r"\b(?:log|sign) ?in to (?:continue|view|read|see|access|your account)|please (?:log|sign) ?in|you (?:must|need to) (?:be"
    r" (?:logged|signed) in|(?:log|sign) ?in)|(?:login|sign-?in) required|members? only|registered (?:users|members) only",
    re.IGNORECASE,
)
_SIGN_IN_TITLE = re.compile(
    r"(?:please )?(?:log|sign)[ -]?(?:in|on)(?: required)?(?: to .*)?|login required|anmelden|connexion", re.I
)


def is_sign_in(page: Impression) -> bool:
    if len(page.main) > 1000:
        return False
    parts = urlsplit(page.url)
    at_door = bool(_SIGN_IN_PATH.search(parts.path) or _SIGN_IN_HOST.match(parts.hostname or ""))
    titled = any(_SIGN_IN_TITLE.fullmatch(_bare(title)) for title in page.titles)
    said = bool(_SIGN_IN_WORDS.search(_said(page.shown)))
    if page.asks_password:
        return at_door or titled or said or len(page.main) < 300
    return at_door + titled + said >= 2


# Paywalls

_PAY_WORDS = re.compile(
    r"subscribe (?:now |today )?to (?:continue|keep|read|unlock|access|view|get (?:full|unlimited))|to (?:continue|keep) reading,? "
    r"|continue reading (?:with|by)|already a (?:subscriber|member)\?|(?:this|the full) (?:article|story|content|post|report|text|page)"
    r" is (?:only |exclusively )?(?:for|available (?:only )?(?:to|for)|reserved for) (?:\w+ )?(?:subscribers|members)"
    r"|(?:subscribers|members)[- ]only (?:article|content|story)|you(?:'|’)?(?:ve| have) (?:reached|read|used) (?:your|all)"
    r"|become a (?:member|subscriber) to (?:read|continue|access|unlock)|unlock (?:this|the full) (?:article|story|report)"
    r"|purchase (?:access|this article|instant access)|(?:buy|rent) this article|get (?:full|unlimited|digital) access"
    r"|start your (?:free )?trial|access through your institution|jetzt abonnieren|bereits abonnent|pur-abo|déjà abonné|ya eres suscriptor|réservé aux abonnés|para suscriptores",
    re.IGNORECASE,
)


def is_paywalled(page: Impression) -> bool:
    if page.declared_closed and len(page.main) < 1500:
        return True
    return len(page.main) < 1200 and bool(_PAY_WORDS.search(_said(page.shown)))


# "Not found" with status 200

_GONE_TITLE = re.compile(
    r"(?:error:? ?)?(?:404|410)(?: error)?(?:[ :.,-]+.*)?|(?:sorry,? )?(?:the |this )?(?:page|file|document|article|content|resource)"
    r" (?:you .{3,40} )?(?:was |is |has been |could |can |can’t |can't |does |cannot |no )*(?:be )?(?:not |n’t |n't )?(?:be )?"
    r"(?:found|exists?|removed|deleted|available|longer available|unavailable|gone)|not found|nothing (?:was )?found|oops.*"
    r"|seite nicht gefunden|page (?:introuvable|non trouvée)|página no encontrada",
    re.IGNORECASE,
)
_GONE_WORDS = re.compile(
    r"(?:page|file|document|article|url|address|link|content|resource|item)s?(?: that)? (?:you(?:'|’)?(?:re| are| were| have)? "
    r"?(?:look|request|try|search|want|ask|follow|enter|click)\w*(?: \w+){0,4}|at this address) ?(?:,? ?(?:is|was|has|does|do|may|might|could|can)"
    r"(?:n(?:'|’)t| ?not| no| longer| have)*)"
    r"|(?:we|i) (?:couldn(?:'|’)t|could not|can(?:'|’)t|cannot|were unable to|are unable to) (?:find|locate) (?:the|that|this|your|a) "
    r"?(?:\w+ )?(?:page|file|document|article|address|what)|(?:this|the|that|requested) (?:page|url|document|article|resource)(?: \S+)?"
    r" (?:was not found|could not be found|does(?:n(?:'|’)t| not) exist|cannot be found|can(?:'|’)t be found|no longer exists?"
    r"|is no longer available|has been (?:removed|deleted)|isn(?:'|’)t available)|there is no (?:such )?page"
    r"|nothing (?:was|could be) found",
    re.IGNORECASE,
)


def is_not_found(page: Impression) -> bool:
    titled = any(_GONE_TITLE.fullmatch(_bare(title)) for title in page.titles)
    said = bool(_GONE_WORDS.search(_said(page.main[:600] or page.shown[:1500])))
    if titled and said:
        return len(page.main) < 1200
    return (titled and len(page.main) < 300) or (said and len(page.main) < 300)
