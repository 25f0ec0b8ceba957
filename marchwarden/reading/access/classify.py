"""Pages that are not the page that was asked for: paywalls, sign-in forms, checks, consent pages, "not found".

A page must both be short and say so of itself, in a title, a heading or a short sentence to its reader; an article
*about* such pages is an ordinary page. One module decides one kind, with the words for it beside it.
"""

from __future__ import annotations

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.access.bot_check import is_bot_check
from marchwarden.reading.access.consent import is_consent_page
from marchwarden.reading.access.not_found import is_not_found, is_restricted
from marchwarden.reading.access.page_features import Impression
from marchwarden.reading.access.paywall import is_paywalled
from marchwarden.reading.access.sign_in import is_registration_wall, is_sign_in
from marchwarden.reading.access.status import wall_of_status

__all__ = ["Impression", "wall_of_page", "wall_of_status"]

_WALLS = (
    (is_bot_check, FailureKind.BOT_WALL, "the site wants a check that a person is reading before it shows the page"),
    (is_consent_page, FailureKind.COOKIE_WALL, "the site shows the page only to who accepts cookies, or pays"),
    (is_sign_in, FailureKind.LOGIN_REQUIRED, "the page is shown to signed-in readers only"),
    (is_paywalled, FailureKind.PAYWALL, "only a teaser can be read without a subscription"),
    (is_registration_wall, FailureKind.LOGIN_REQUIRED, "the page is shown to readers with an account only"),
    (
        is_restricted,
        FailureKind.FORBIDDEN,
        "the site shows the page in other countries, to adults or in its app only",
    ),
    (is_not_found, FailureKind.NOT_FOUND, "the server answers with a page that says there is no such page"),
)
"""In the order in which they are asked: a consent page mentions subscriptions, and a paywall accounts."""


def wall_of_page(page: Impression, status: int = 200) -> Failure | None:
    """What closes or replaces the page, None where it is the page itself.

    With another status than 200 only a bot check is looked for: it says more than the status does.
    """
    walls = _WALLS if status == 200 else _WALLS[:1]
    return next((Failure(kind, detail) for is_wall, kind, detail in walls if is_wall(page)), None)
