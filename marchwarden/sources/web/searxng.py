"""Search of the live web with a SearXNG server of the user's own (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

from typing import Any

from marchwarden.contract import SourceFilter
from marchwarden.environment import without_credentials
from marchwarden.errors import ConfigurationError
from marchwarden.http.addresses import web_address
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, FailureKind, plain_line
from marchwarden.sources.api_client import Api, ApiClient, json_of
from marchwarden.sources.api_source import ApiSearch, Found, FoundInPart
from marchwarden.sources.opening import Opening
from marchwarden.sources.web.result_list import hits_of, within_sites

# Seconds between two requests. A guess: the engines behind the server limit it, and it is the user's own.
_EVERY_S = 0.2
# Engines that are named where they failed, at most, and characters of that. Guesses.
_MOST_ENGINES, _MAX_WORDS_CHARS = 5, 200


def open_searxng(opening: Opening) -> SearxngSearch:
    """Return the search. Raises ConfigurationError where there is no address, or it is none of a web server."""
    address = web_address(opening.settings.searxng_url or "")
    if address is None:
        given = without_credentials(opening.settings.searxng_url or "")
        raise ConfigurationError(
            f"MARCHWARDEN_SEARXNG_URL: {given!r} is not a web address",
            hint="Set the address of your server, for example https://search.example.org",
        )
    return SearxngSearch(opening, address)


class SearxngSearch(ApiSearch):
    api = Api("SearXNG", RateRule("searxng", _EVERY_S))

    def __init__(self, opening: Opening, address: str) -> None:
        # The server may be on this machine or in its network. Pages must not: the fetcher keeps its own rules.
        inside = opening.settings.model_copy(update={"allow_private_addresses": True})
        super().__init__(opening, ApiClient(Opening(inside, opening.given), self.api))
        self._address = address.rstrip("/") + "/search"

    async def find(self, query: str, max_results: int, source_filter: SourceFilter) -> Found:
        answer = await self.client.get(self._address, {"q": within_sites(query, source_filter), "format": "json"})
        found = answer if isinstance(answer, Failure) else json_of(answer, self.name)
        if isinstance(found, Failure):
            return found
        hits = hits_of(found, ("results",), self.name, text="content", day="publishedDate")
        if isinstance(hits, Failure):
            return hits
        silent = _silent_engines(found)
        if silent and not hits:
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} has no results, and engines failed: {silent}")
        # The server's engines give as many results as they like.
        hits = hits[:max_results]
        return FoundInPart(hits, f"{self.name} got nothing from these engines: {silent}.") if silent else hits


def _silent_engines(answer: Any) -> str:
    """Return the engines that failed, each with the reason: `google (CAPTCHA), brave (timeout)`."""
    told = answer.get("unresponsive_engines")
    engines = [each for each in (told if isinstance(told, list) else ()) if isinstance(each, list) and each]
    named = (f"{each[0]} ({each[1]})" if len(each) > 1 else str(each[0]) for each in engines[:_MOST_ENGINES])
    return plain_line(", ".join(named), _MAX_WORDS_CHARS)
