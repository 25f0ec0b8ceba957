"""Search of the live web with Exa's API (https://api.exa.ai)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, SearchHit
from marchwarden.sources.api_client import Api, ApiClient, json_of
from marchwarden.sources.api_source import ApiSearch
from marchwarden.sources.opening import Opening
from marchwarden.sources.web.result_list import hits_of

# Results of one request, at most. A guess: more cost more.
_MAX_RESULTS = 20
# Seconds between two requests. The service allows several a second.
_EVERY_S = 0.2
# Characters of each page's text that come with it, as a snippet. A guess.
_SNIPPET_CHARS = 500


def open_exa(opening: Opening) -> ExaSearch:
    """Return the search. Raises ConfigurationError where there is no key."""
    key = opening.settings.exa_api_key
    if key is None:
        raise ConfigurationError("Searching with Exa needs EXA_API_KEY, which is not set")
    api = Api("Exa", ExaSearch.api.rule, {"x-api-key": key.get_secret_value().strip()})
    return ExaSearch(opening, ApiClient(opening, api))


class ExaSearch(ApiSearch):
    api = Api("Exa", RateRule("exa", _EVERY_S))

    async def find(
        self, query: str, max_results: int, source_filter: SourceFilter
    ) -> Sequence[SearchHit | None] | Failure:
        asked: dict[str, Any] = {
            "query": query,
            "numResults": min(max_results, _MAX_RESULTS),
            "contents": {"text": {"maxCharacters": _SNIPPET_CHARS}},
        }
        # The service refuses both in one request.
        if source_filter.include:
            asked["includeDomains"] = list(source_filter.include)
        elif source_filter.exclude:
            asked["excludeDomains"] = list(source_filter.exclude)
        answer = await self.client.post("https://api.exa.ai/search", asked)
        found = answer if isinstance(answer, Failure) else json_of(answer, self.name)
        if isinstance(found, Failure):
            return found
        return hits_of(found, ("results",), self.name, text="text", day="publishedDate")
