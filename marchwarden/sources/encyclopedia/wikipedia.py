"""Wikipedia, in the language of the question: MediaWiki finds articles, and the fetcher reads them as pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lxml import html

from marchwarden.contract import SourceFilter
from marchwarden.http.addresses import host_of, web_address
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, FailureKind, SearchHit, plain_line
from marchwarden.sources.api_client import Api, json_of
from marchwarden.sources.api_source import ApiSearch, Found, FoundInPart
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools
from marchwarden.text.ranking import guess_language

if TYPE_CHECKING:
    from marchwarden.stages.stage import Stages

# Results of one request, at most: MediaWiki's own limit is 500.
_MAX_RESULTS = 20
# Seconds between two requests. Wikimedia sets no limit for reading; its etiquette asks for one after another.
_EVERY_S = 0.2
# Characters of a warning. A guess.
_MAX_WARNING_CHARS = 200


def open_wikipedia(opening: Opening, name: str = "") -> Tools:
    """Return tools that search Wikipedia and read its articles."""
    search = WikipediaSearch(opening)
    return Tools(kind="wikipedia", search=search, fetcher=opening.fetcher, address=_address, begin=search.begin)


def _address(url: str) -> str | None:
    found = web_address(url)
    return found if found and host_of(found).endswith(".wikipedia.org") else None


class WikipediaSearch(ApiSearch):
    api = Api("Wikipedia", RateRule("wikipedia", _EVERY_S))
    hosts = ("wikipedia.org",)

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._language: str | None = None

    def begin(self, question: str, stages: Stages, today: date) -> None:
        """Search in the language of the question: a query is often too short to tell."""
        self._language = guess_language(question)

    async def find(self, query: str, max_results: int, source_filter: SourceFilter) -> Found:
        host = f"{self._language or guess_language(query)}.wikipedia.org"
        answer = await self.client.get(
            f"https://{host}/w/api.php",
            {
                "action": "query",
                "list": "search",
                "srsearch": query,
                "srlimit": min(max_results, _MAX_RESULTS),
                "srprop": "snippet",
                # The same search once more tells which pages only list meanings: list=search has no properties.
                "generator": "search",
                "gsrsearch": query,
                "gsrlimit": min(max_results, _MAX_RESULTS),
                "prop": "pageprops",
                "ppprop": "disambiguation",
                "format": "json",
                "formatversion": 2,
            },
        )
        if isinstance(answer, Failure):
            return answer
        found = json_of(answer, self.name)
        if isinstance(found, Failure):
            return found
        # Errors of MediaWiki come with status 200.
        try:
            results = found["query"]["search"]
            pages = found["query"].get("pages")
            # The titles of disambiguation pages.
            lists = {
                page["title"]
                for page in (pages if isinstance(pages, list) else [])
                if isinstance(page, dict)
                and isinstance(page.get("title"), str)
                and "disambiguation" in (page.get("pageprops") or {})
            }
            hits = [
                _hit(host, each) for each in results if not (isinstance(each, dict) and each.get("title") in lists)
            ]
        except (KeyError, TypeError):
            error = found.get("error") if isinstance(found, dict) else None
            info = error.get("info") if isinstance(error, dict) else None
            said = f": {info}" if isinstance(info, str) else ""
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} did not return search results{said}")
        warned = _warnings(found)
        return FoundInPart(hits, f"{self.name} warns of its search: {warned}") if warned else hits


def _warnings(answer: Mapping[str, Any]) -> str:
    """Return what the module `search` warns of: that its time ended, and only a part of the results is there."""
    # https://www.mediawiki.org/wiki/API:Errors_and_warnings, in the form of `formatversion=2` without `errorformat`.
    # CirrusSearch makes a warning of a search whose time ended with some results.
    told = answer.get("warnings")
    module = told.get("search") if isinstance(told, dict) else None
    words = module.get("warnings") if isinstance(module, dict) else None
    return plain_line(words, _MAX_WARNING_CHARS) if isinstance(words, str) else ""


def _hit(host: str, result: object) -> SearchHit | None:
    if not isinstance(result, dict) or not isinstance(title := result.get("title"), str) or not title:
        return None
    snippet = result.get("snippet")
    text = html.fromstring(f"<p>{snippet}</p>").text_content() if isinstance(snippet, str) else ""
    return SearchHit(f"https://{host}/wiki/{quote(title.replace(' ', '_'), safe='()/:,')}", title, text)
