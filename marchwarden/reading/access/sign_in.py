"""Sign-in forms in place of the page, and walls that ask for an account that costs nothing."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from marchwarden.reading.access.door_addresses import leads_back
from marchwarden.reading.access.page_features import Impression, is_titled
from marchwarden.reading.access.sign_in_words import (
    ACCOUNT_CONDITIONS,
    FORM_WORDS,
    NOT_FOR_READING,
    SIGN_IN_TITLES,
    SIGN_IN_WORDS,
)
from marchwarden.reading.access.vocabulary import says

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
