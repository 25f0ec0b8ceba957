"""Search of the live web with Serper's API (https://serper.dev, Google's results)."""

from __future__ import annotations

from collections.abc import Sequence

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, SearchHit
from marchwarden.sources.api_client import Api, ApiClient, json_of
from marchwarden.sources.api_source import ApiSearch
from marchwarden.sources.opening import Opening
from marchwarden.sources.web.result_list import hits_of, within_sites

# Results of one request, at most. A guess: more than ten cost two requests.
_MAX_RESULTS = 10
# Seconds between two requests. The service allows several a second.
_EVERY_S = 0.2


def open_serper(opening: Opening) -> SerperSearch:
    """Return the search. Raises ConfigurationError where there is no key."""
    key = opening.settings.serper_api_key
    if key is None:
        raise ConfigurationError("Searching with Serper needs SERPER_API_KEY, which is not set")
    api = Api("Serper", SerperSearch.api.rule, {"X-API-KEY": key.get_secret_value().strip()})
    return SerperSearch(opening, ApiClient(opening, api))


class SerperSearch(ApiSearch):
    api = Api("Serper", RateRule("serper", _EVERY_S))

    async def find(
        self, query: str, max_results: int, source_filter: SourceFilter
    ) -> Sequence[SearchHit | None] | Failure:
        asked = {"q": within_sites(query, source_filter), "num": min(max_results, _MAX_RESULTS)}
        answer = await self.client.post("https://google.serper.dev/search", asked)
        found = answer if isinstance(answer, Failure) else json_of(answer, self.name)
        if isinstance(found, Failure):
            return found
        return hits_of(found, ("organic",), self.name, address="link", text="snippet", day="date")
