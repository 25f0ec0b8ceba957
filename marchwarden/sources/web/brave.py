"""Search of the live web with Brave's API (https://api.search.brave.com, its own index)."""

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

# Results of one request, at most: the service's own limit.
_MAX_RESULTS = 20
# Seconds between two requests: the free plan allows one a second.
_EVERY_S = 1.0


def open_brave(opening: Opening) -> BraveSearch:
    """Return the search. Raises ConfigurationError where there is no key."""
    key = opening.settings.brave_api_key
    if key is None:
        raise ConfigurationError("Searching with Brave needs BRAVE_API_KEY, which is not set")
    api = Api("Brave", BraveSearch.api.rule, {"X-Subscription-Token": key.get_secret_value().strip()})
    return BraveSearch(opening, ApiClient(opening, api))


class BraveSearch(ApiSearch):
    api = Api("Brave", RateRule("brave", _EVERY_S))

    async def find(
        self, query: str, max_results: int, source_filter: SourceFilter
    ) -> Sequence[SearchHit | None] | Failure:
        answer = await self.client.get(
            "https://api.search.brave.com/res/v1/web/search",
            {"q": within_sites(query, source_filter), "count": min(max_results, _MAX_RESULTS)},
        )
        found = answer if isinstance(answer, Failure) else json_of(answer, self.name)
        if isinstance(found, Failure):
            return found
        return hits_of(found, ("web", "results"), self.name, text="description", day="page_age")
