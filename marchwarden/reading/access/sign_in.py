"""Sign-in forms in place of the page, and registration walls, which ask for a free account."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from marchwarden.reading.access.page_features import Impression, is_titled, leads_back
from marchwarden.reading.access.vocabulary import any_of, says
from marchwarden.reading.text_lengths import latin_length

_NOT_TO_READ = (
    r"(?! (?:to )?(?:reply|comment|post|vote|answer|add|leave|rate|write|follow|download|submit|edit|ask|save|see)\b)"
)
# Other things that readers pay or sign in for.
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
# Characters of the content, and of all visible text of a form; evals/reading/access measures their effect.
_MAX_CHARS = 1000
_MAX_FORM_CHARS = 600


def is_sign_in(page: Impression) -> bool:
    """True for a sign-in form in place of the page that was asked for."""
    if latin_length(page.content) > _MAX_CHARS:
        return False
    at_form, titled = _is_sign_in_address(page.url), is_titled(page, SIGN_IN_TITLES)
    said = page.calls_for(SIGN_IN_WORDS)
    if at_form or titled or said:
        # A redirect that ends at a sign-in page, or at one that will send its reader back.
        was_redirected = bool(page.asked) and page.asked != page.url
        if was_redirected and ((at_form and not _is_sign_in_address(page.asked)) or leads_back(page.url, page.asked)):
            return True
        return page.asks_password or at_form + titled + said >= 2
    if not page.asks_password or latin_length(page.shown) >= _MAX_FORM_CHARS:
        return False
    return any(FORM_WORDS.search(line) for line in page.shown.split("\n"))


# Sentences that end a teaser, also a long one, and ask for an account before the rest of it.
REST_FOR_ACCOUNT = any_of(
    {
        "en": (
            r"^(?:create|register|sign up|log ?in|sign in)\b.{0,40}\bto (?:continue|keep) reading"
            r"(?: this (?:article|story))?\W*$",
            r"^to (?:continue|keep) reading(?: this (?:article|story))?,? (?:please )?"
            r"(?:create|register|sign up|log ?in|sign in)\b.{0,30}$",
        ),
        "de": (r"^(?:registrier\w+|meld\w+)\b.{0,40}\bum (?:weiterzulesen|weiter zu lesen)\W*$",),
        "fr": (
            r"^(?:créez|inscrivez|connectez)\b.{0,40}\bpour (?:lire la suite|continuer (?:la|votre) lecture)"
            r"(?: de (?:cet |l')article)?\W*$",
        ),
        "es": (r"^(?:regístrate|inicia sesión|crea)\b.{0,40}\bpara (?:seguir|continuar) leyendo\W*$",),
        "it": (r"^(?:registrati|accedi)\b.{0,40}\bper continuare a leggere\W*$",),
        "pt": (r"^(?:cadastre-se|faça login|entre)\b.{0,40}\bpara continuar lendo\W*$",),
        "hi": (r"(?:लॉग ?इन|साइन ?इन|रजिस्टर) (?:करें|कर).{0,20}(?:आगे|पूरा).{0,12}पढ़",),
    }
)
# Characters of a teaser that ends so, and lines in which the sentence stands. Guesses.
_MAX_TEASER_CHARS = 4000
_LAST_LINES = 3


def is_registration_wall(page: Impression) -> bool:
    """True where the page says that it can be read, or read on, with a free account."""
    last = [line.strip() for line in page.main.split("\n") if line.strip()][-_LAST_LINES:]
    if latin_length(page.content) < _MAX_TEASER_CHARS and any(map(REST_FOR_ACCOUNT.search, last)):
        return True
    return latin_length(page.content) <= _MAX_CHARS and any(
        ACCOUNT_CONDITIONS.search(call) or (says(call, "account", "to_read") and not NOT_FOR_READING.search(call))
        for call in page.calls
    )


def _is_sign_in_address(url: str) -> bool:
    parts = urlsplit(url)
    return bool(_PATH.search(parts.path) or _HOST.match(parts.hostname or ""))
