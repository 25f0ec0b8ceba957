"""Pages that came instead of the page asked for: paywalls, sign-in forms, bot checks, consent pages, "not found".

Such a page is short, and says so in a title, a heading or a short sentence to its reader. An article *about* such
pages is an ordinary page. Each module decides one kind, and holds the words for it.

Own code: no library that we know tells these pages apart. evals/reading/access measures it on labelled pages.
"""

from __future__ import annotations

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.access.bot_check import is_bot_check
from marchwarden.reading.access.consent import is_consent_page
from marchwarden.reading.access.not_found import is_not_found, is_restricted
from marchwarden.reading.access.page_features import Impression
from marchwarden.reading.access.paywall import is_paywalled
from marchwarden.reading.access.sign_in import is_registration_wall, is_sign_in
from marchwarden.reading.access.status import failure_of_status

__all__ = ["Impression", "failure_of_page", "failure_of_status"]

# The order matters: a consent page mentions subscriptions, and a paywall mentions accounts.
_KINDS = (
    (is_bot_check, FailureKind.BOT_WALL, "the site shows the page only after a bot check"),
    (is_consent_page, FailureKind.COOKIE_WALL, "the site shows the page only to readers who accept cookies or pay"),
    (is_sign_in, FailureKind.LOGIN_REQUIRED, "the page is shown only to readers who are signed in"),
    (is_paywalled, FailureKind.PAYWALL, "only a preview can be read without a subscription"),
    (is_registration_wall, FailureKind.LOGIN_REQUIRED, "the page is shown only to readers with an account"),
    (
        is_restricted,
        FailureKind.FORBIDDEN,
        "the site shows the page only in other countries, to adults or in its app",
    ),
    (is_not_found, FailureKind.NOT_FOUND, "the page says that it does not exist"),
)


def failure_of_page(page: Impression, status: int = 200) -> Failure | None:
    """Return the failure that closes or replaces the page; None where it is the page itself.

    With another status than 200 only a bot check is looked for: it says more than the status does.
    """
    kinds = _KINDS if status == 200 else _KINDS[:1]
    return next((Failure(kind, detail) for is_kind, kind, detail in kinds if is_kind(page)), None)
