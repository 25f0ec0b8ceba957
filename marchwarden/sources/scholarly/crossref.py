"""Crossref, the registry of most DOIs: works with their abstracts, notices and links (https://www.crossref.org/documentation)."""

from __future__ import annotations

from urllib.parse import quote

from marchwarden.http.download import Answer
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure
from marchwarden.reading.services.scholarly.crossref_works import crossref_items
from marchwarden.reading.services.scholarly.work_records import WorkRecord
from marchwarden.sources.api_client import Api, ApiClient
from marchwarden.sources.opening import Opening
from marchwarden.sources.scholarly.scholarly_api import ScholarlyApi, email_of
from marchwarden.text.works import doi_of, is_doi_address

_API = "https://api.crossref.org/works"
# The public pool allows 5 requests a second, that of callers who name an address 10 (header x-rate-limit-limit).
_RULE = RateRule("crossref", 0.2)


class CrossrefSearch(ScholarlyApi):
    api = Api("Crossref", _RULE)
    profile = "crossref"
    has_notices = True

    def __init__(self, opening: Opening, client: ApiClient | None = None) -> None:
        super().__init__(opening, client)
        self._mail = email_of(opening.settings.contact)

    async def ask(self, query: str, max_results: int) -> Answer | Failure:
        # Works without an abstract could not be quoted where their publisher closes them.
        parameters: dict[str, str | int] = {
            "query.bibliographic": query,
            "rows": max_results,
            "filter": "has-abstract:true",
        }
        return await self.client.get(_API, {**parameters, **({"mailto": self._mail} if self._mail else {})})

    def records(self, body: bytes) -> list[WorkRecord] | None:
        return crossref_items(body)

    def request_for(self, url: str) -> str | None:
        doi = doi_of(url) if is_doi_address(url) else None
        # arXiv registers its DOIs elsewhere.
        return f"{_API}/{quote(doi.lower(), safe='')}" if doi and not doi.startswith("10.48550/") else None
