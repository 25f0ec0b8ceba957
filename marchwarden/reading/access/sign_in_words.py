"""What sign-in pages and registration walls say."""

from __future__ import annotations

from marchwarden.reading.access.wall_phrases import any_of

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
