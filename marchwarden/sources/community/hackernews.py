"""Hacker News by Algolia's search: discussions through its API, and the pages that they are about.

https://hn.algolia.com/api. What is discussed is a page like any other; its citations name the web as their source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from marchwarden.contract import SourceFilter
from marchwarden.evidence.asking.telling_words import names_in
from marchwarden.http.addresses import web_address
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, FetchOutcome, SearchHit
from marchwarden.reading.html.dates import as_date
from marchwarden.sources.api_client import Api
from marchwarden.sources.api_source import ApiReader, ApiSearch, content_words
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools

# Seconds between two requests: 10,000 an hour are allowed for an address.
_EVERY_S = 0.4
# Results of one request, at most. A guess: the service's own limit is 1,000.
_MAX_RESULTS = 30
# Words of the second search, where the first found nothing. A guess.
_FEWER_WORDS = 3
# Comments from which on a discussion is worth reading. A guess.
_MIN_COMMENTS = 3
_API = "https://hn.algolia.com/api/v1"
_ITEM = re.compile(r"https://news\.ycombinator\.com/item\?id=(\d{1,12})")

_SERVICE = Api("Hacker News", RateRule("hackernews", _EVERY_S))


def open_hackernews(opening: Opening, name: str = "") -> Tools:
    """Return tools that search Hacker News, and read its discussions and the pages that these are about."""
    search = HackerNewsSearch(opening)
    reader = HackerNewsReader(opening, search)
    return Tools(kind="hackernews", search=search, fetcher=reader, address=reader.address)


class HackerNewsSearch(ApiSearch):
    api = _SERVICE

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self.pages: set[str] = set()
        """Normalised addresses of pages elsewhere that were found."""

    async def find(
        self, query: str, max_results: int, source_filter: SourceFilter
    ) -> Sequence[SearchHit | None] | Failure:
        words = content_words(query)
        stories = await self._stories(words or [query], max_results)
        # The service finds what has all of the words; names and long words tell most.
        fewer = names_in(query) or sorted(words, key=len, reverse=True)
        if not stories and len(words) > _FEWER_WORDS:
            stories = await self._stories(fewer[:_FEWER_WORDS], max_results)
        if isinstance(stories, Failure):
            return stories
        hits = [hit for story in stories for hit in _hits(story)]
        self.pages.update(
            page for hit in hits if hit and (page := web_address(hit.url)) and not _ITEM.fullmatch(page)
        )
        return hits

    async def _stories(self, words: Sequence[str], max_results: int) -> list[Any] | Failure:
        most = min(max_results, _MAX_RESULTS)
        asked: dict[str, str | int] = {"query": " ".join(words), "tags": "story", "hitsPerPage": most}
        return await self.listed(f"{_API}/search", asked, "hits")


def _hits(story: Any) -> list[SearchHit | None]:
    """Return the page that a story is about, and its discussion where it has one."""
    if not isinstance(story, dict) or not re.fullmatch(r"\d{1,12}", number := str(story.get("objectID"))):
        return [None]
    title, url, comments = story.get("title"), story.get("url"), story.get("num_comments")
    title = title if isinstance(title, str) else ""
    day = as_date(made) if isinstance(made := story.get("created_at"), str) else None
    # The day is that of the discussion; the page may be years older.
    hits: list[SearchHit | None] = [SearchHit(url, title)] if isinstance(url, str) and url else []
    if not hits or (isinstance(comments, int) and comments >= _MIN_COMMENTS):
        text = story.get("story_text")
        snippet = re.sub(r"<[^>]*>", " ", text) if isinstance(text, str) else ""
        discussion = f"https://news.ycombinator.com/item?id={number}"
        hits.append(SearchHit(discussion, f"{title} (discussion on Hacker News)", snippet, published=day))
    return hits


class HackerNewsReader(ApiReader):
    api = _SERVICE
    profile = "hackernews"

    def __init__(self, opening: Opening, search: HackerNewsSearch) -> None:
        super().__init__(opening)
        self._search = search
        self._pages = opening.fetcher

    def request_for(self, url: str) -> str | None:
        item = _ITEM.fullmatch(url)
        return f"{_API}/items/{item[1]}" if item else None

    def address(self, url: str) -> str | None:
        """Return the normalised address of a discussion, or of a page that the search has found; None for others."""
        found = web_address(url)
        return found if found and (found in self._search.pages or self.request_for(found)) else None

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        asked = web_address(url)
        if asked is None or self.request_for(asked):
            return await super().fetch(url, timeout=timeout, allows=allows)
        outcome = await self._pages.fetch(asked, timeout=timeout, allows=allows)
        if outcome.page is None or outcome.page.source is not None:
            return outcome
        return replace(outcome, page=replace(outcome.page, source="web"))
