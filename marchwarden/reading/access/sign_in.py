"""Sign-in forms in place of the page, and walls that ask for an account that costs nothing."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from marchwarden.reading.access.page_features import Impression, is_titled
from marchwarden.reading.access.vocabulary import any_of, says

_NOT_TO_READ = (
    r"(?! (?:to )?(?:reply|comment|post|vote|answer|add|leave|rate|write|follow|download|submit|edit|ask|save|see)\b)"
)
NOT_FOR_READING = any_of(
    {
        "en": (
            r"\b(?:repl(?:y|ies)|comments?|vote|answer a|rate|save|edit|upload|order|checkout|cart|prices?|newsletter"
            r"|attachments?|attached|wish-?list|podcast|notifications?|(?:by|via) e-?mail)\b",
        ),
        "de": (r"\b(?:kommentieren|antworten|bewerten|newsletter|per e-?mail|preise?|warenkorb|merkliste)\b",),
        "fr": (r"\b(?:commenter|répondre|newsletter|infolettre|par e-?mail|prix|panier)\b",),
        "es": (r"\b(?:comentar|responder|bolet[ií]n|por (?:correo|e-?mail)|newsletter|precios?|carrito)\b",),
        "it": (r"\b(?:commentare|rispondere|newsletter|via e-?mail|prezz[oi]|carrello)\b",),
        "nl": (r"\b(?:reageren|nieuwsbrief|per e-?mail|prijzen|winkelwagen)\b",),
        "pt": (r"\b(?:comentar|responder|newsletter|por e-?mail|preços?|carrinho)\b",),
        "sv": (r"\b(?:kommentera|svara|nyhetsbrev)\b",),
        "ja": (r"コメント|メールマガジン|メールが届",),
        "zh": (r"评论|回复",),
    }
)
"""What else one pays or signs in for."""
ACCOUNT_CONDITIONS = any_of(
    {
        "en": (
            r"you (?:must|need to|have to) be (?:logged|signed)[ -]in to do (?:that|this)\b",
            r"you are not logged in or you do not have permission to (?:access|view)",
            r"^(?:login|log-in|sign-?in|authentication|registration) required\.?$",
            r"^you need to be authenticated to",
            r"restricted to (?:registered )?(?:members|users)\b",
            r"^(?:oops! )?th(?:is|at) page is private",
            r"\bguests (?:cannot|can't|can not|may not) (?:view|see|read)\b",
            r"^you need (?:access|permission)\.?$",
            r"this (?:is a|(?:community|forum|group|page|area) is) (?:private|for registered (?:users|members))\b",
            r"^join \w+ to (?:see|view|read)\b",
            r"^keep reading for free",
        ),
        "de": (
            r"nur (?:für|von) (?:registrierte|angemeldete)n? (?:mitglieder|nutzer|benutzer|leser)",
            r"^anmeldung erforderlich\.?$",
        ),
        "fr": (r"^connexion requise\.?$",),
        "ja": (r"ログインが必要です",),
    }
)
SIGN_IN_WORDS = any_of(
    {
        "en": (
            r"^(?:please )?(?:log|sign) ?in (?:or (?:register|sign ?up|join) )?to"
            r" (?:continue|view|read|see|access|your account)" + _NOT_TO_READ,
            r"\bplease (?:log|sign) ?in\b" + _NOT_TO_READ,
            r"^you (?:must|need to|have to) (?:be (?:logged|signed)[ -]in|(?:log|sign) ?in)\b" + _NOT_TO_READ,
            r"^(?:registered )?(?:users|members) only\b",
            r"^(?:log|sign) ?in (?:with|through|via) your (?:organi[sz]ation|institution|university|work)",
            r"^forgot(?:ten)? (?:your )?(?:password|account)",
        ),
        "de": (r"^bitte (?:melden sie sich an|einloggen|anmelden)", r"^passwort vergessen"),
        "fr": (r"^(?:veuillez vous connecter|mot de passe oublié)",),
        "es": (r"^(?:inicia sesión para|¿(?:has olvidado|olvidaste) (?:tu|la) contraseña)",),
    }
)
FORM_WORDS = any_of(
    {
        "en": (r"^(?:please )?(?:log|sign)[ -]?in\b", r"\bpassword\b"),
        "de": (r"passwort",),
        "fr": (r"mot de passe",),
        "es": (r"contraseña",),
        "it": (r"password dimenticata",),
        "nl": (r"wachtwoord",),
        "pt": (r"\bsenha\b",),
        "pl": (r"\bhasło\b",),
        "sv": (r"lösenord",),
        "ja": (r"パスワード",),
        "zh": (r"密码",),
        "ru": (r"\bпароль",),
    }
)
SIGN_IN_TITLES = any_of(
    {
        "en": (
            r"(?:please )?(?:log|sign)[ -]?(?:in|on|up)(?: required)?(?: (?:to|with|or) .*)?",
            r"(?:login|authentication|registration) required",
            r"central authentication(?: service)?",
        ),
        "de": (r"anmeld(?:en|ung)(?: erforderlich)?", r"(?:ein)?loggen", r"login"),
        "fr": (r"(?:se )?connexion(?: requise)?", r"s'identifier"),
        "es": (r"iniciar sesión", r"acceso"),
        "it": (r"accedi",),
        "nl": (r"inloggen",),
        "pt": (r"entrar", r"acesso restrito"),
        "pl": (r"zaloguj się", r"logowanie"),
        "sv": (r"logga in",),
        "ja": (r"ログイン",),
        "zh": (r"登录",),
        "ru": (r"вход", r"войти"),
    }
)

_PATH = re.compile(
    r"/(?:log|sign)[-_]?(?:in|on)\b|/(?:sso|saml2?|oauth2?|authorize|auth|cas|shibboleth|idp|wayf)(?:/|$)"
    r"|/session/new|/authwall\b|/(?:anmelden|einloggen|connexion|iniciar-sesion|accedi|inloggen)\b",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?:login|signin|sso|auth|idp|wayf|accounts?|id)\.", re.IGNORECASE)
_LONGEST = 1000
_SHORT_FORM = 600


def is_sign_in(page: Impression) -> bool:
    """Whether it is a form to sign in with, instead of what was asked for."""
    if len(page.content) > _LONGEST:
        return False
    at_door, titled = _is_door(page.url), is_titled(page, SIGN_IN_TITLES)
    said = page.calls_for(SIGN_IN_WORDS)
    if _was_sent_to_a_door(page) and (at_door or titled or said):
        return True
    if page.asks_password:
        return at_door or titled or said or _is_little_but_a_form(page)
    return at_door + titled + said >= 2


def is_registration_wall(page: Impression) -> bool:
    """Whether it says that one reads on, or at all, with an account."""
    return len(page.content) <= _LONGEST and any(_wants_account(call) for call in page.calls)


def _wants_account(call: str) -> bool:
    if ACCOUNT_CONDITIONS.search(call):
        return True
    return says(call, "account", "to_read") and not NOT_FOR_READING.search(call)


def _is_little_but_a_form(page: Impression) -> bool:
    return len(page.shown) < _SHORT_FORM and any(FORM_WORDS.search(line) for line in page.shown.split("\n"))


def _was_sent_to_a_door(page: Impression) -> bool:
    """Whether a redirect ended at a sign-in page, or at one that will send its reader back."""
    if not page.asked or page.asked == page.url:
        return False
    return (_is_door(page.url) and not _is_door(page.asked)) or leads_back(page.url, page.asked)


def _is_door(url: str) -> bool:
    parts = urlsplit(url)
    return bool(_PATH.search(parts.path) or _HOST.match(parts.hostname or ""))


def leads_back(url: str, asked: str) -> bool:
    """True where `url` carries where it is to send its reader back to, as addresses of sign-in pages do."""
    if not asked or url == asked:
        return False
    here, wanted = urlsplit(url), urlsplit(asked)
    targets = [value for _, value in parse_qsl(here.query)]
    if here.hostname == wanted.hostname:
        return len(wanted.path) > 1 and any(wanted.path in target for target in targets)
    return any(urlsplit(target).hostname == wanted.hostname for target in targets if "://" in target)
