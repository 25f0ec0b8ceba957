"""Unpaywall: where an open copy of a closed paper lies (https://unpaywall.org/products/api)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from marchwarden.http.addresses import web_address
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure
from marchwarden.sources.api_client import Api, ApiClient
from marchwarden.sources.opening import Opening
from marchwarden.sources.scholarly.scholarly_api import email_of

# Unpaywall allows 100,000 requests a day. A guess.
_RULE = RateRule("unpaywall", 0.1)


class OpenCopies:
    """Look-up of open copies. Unpaywall asks each caller for an e-mail address: without one nothing is asked."""

    def __init__(self, opening: Opening) -> None:
        self._client = ApiClient(opening, Api("Unpaywall", _RULE))
        self._mail = email_of(opening.settings.contact)

    async def of(self, doi: str, *, timeout: float | None = None) -> tuple[str, ...]:
        """Return the addresses of a work's open copies, best first; none where they are unknown."""
        if self._mail is None:
            return ()
        url = f"https://api.unpaywall.org/v2/{quote(doi, safe='/')}"
        answer = await self._client.get(url, {"email": self._mail}, timeout=timeout)
        return () if isinstance(answer, Failure) else open_copies_of(answer.body)


def open_copies_of(body: bytes) -> tuple[str, ...]:
    """Return the addresses in an answer of Unpaywall, best first; none where it is no answer."""
    try:
        answer: Any = json.loads(body)
        locations = [answer["best_oa_location"], *answer["oa_locations"]]
        urls = [location[name] for location in locations if location for name in ("url_for_pdf", "url")]
    except (ValueError, RecursionError, KeyError, TypeError):
        return ()
    found = (web_address(url) for url in urls if isinstance(url, str))
    return tuple(dict.fromkeys(url for url in found if url))
