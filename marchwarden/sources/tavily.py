"""Search of the live web with Tavily, through its official client; whatever the service does becomes a failure.

A 429 or a 5xx is tried once more, and only where waiting for it is short: the loop has other queries to go on with.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError
from marchwarden.evidence.question import as_query
from marchwarden.http.addresses import organisation_of
from marchwarden.observations import Failure, FailureKind, SearchHit, SearchOutcome
from marchwarden.settings import Settings

if TYPE_CHECKING:
    from tavily import AsyncTavilyClient

RESULT_LIMIT = 20
TIMEOUT = 15.0
"""Seconds for one search, without the wait before a second try."""
PATIENCE = 2.0
"""Seconds to wait, at most, before the second try; a `retry-after` beyond it means none."""

_ADDRESS = "https://api.tavily.com"
_PAUSE = 0.5
_PASSING = frozenset({429, 500, 502, 503, 504})


class TavilySearch:
    """Raises ConfigurationError on creation where no key is set, or the service's address is none."""

    name = "tavily"

    def __init__(self, settings: Settings, *, timeout: float = TIMEOUT) -> None:
        if settings.tavily_api_key is None:
            raise ConfigurationError(
                "Searching the web needs TAVILY_API_KEY, which is not set",
                hint="Get a key at https://app.tavily.com and put it into .env, or use --source snapshot.",
            )
        self._key = settings.tavily_api_key.get_secret_value().strip()
        self._address = settings.tavily_base_url or _ADDRESS
        if not _is_web_address(self._address):
            raise ConfigurationError(
                f"MARCHWARDEN_TAVILY_BASE_URL: {self._address} is not a web address",
                hint=f"Leave it unset for {_ADDRESS}.",
            )
        self._timeout = timeout
        self._http: httpx.AsyncClient | None = None

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """As the protocol says. A longer query is cut to 400 characters, between words."""
        began = time.monotonic()
        asked = as_query(query)
        found = await self._ask(asked, min(max_results, RESULT_LIMIT), source_filter) if asked else _EMPTY_QUERY
        seconds = time.monotonic() - began
        if isinstance(found, Failure):
            return SearchOutcome(asked, self.name, failure=found, seconds=seconds)
        hits = [hit for hit in found if source_filter.allows(urlsplit(hit.url).hostname or "")]
        return SearchOutcome(asked, self.name, tuple(hits[:max_results]), seconds=seconds)

    async def aclose(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    @cached_property
    def _client(self) -> AsyncTavilyClient:
        from tavily import AsyncTavilyClient

        self._http = _OnceMore(base_url=self._address, headers={"user-agent": "marchwarden"})
        return AsyncTavilyClient(api_key=self._key, client=self._http, api_base_url=self._address)

    async def _ask(self, query: str, max_results: int, source_filter: SourceFilter) -> list[SearchHit] | Failure:
        try:
            answer = await self._client.search(
                query,
                search_depth="basic",
                max_results=max_results,
                include_domains=_domains(source_filter.include),
                exclude_domains=_domains(source_filter.exclude),
                timeout=self._timeout,
            )
            return list(_hits(answer["results"]))
        except Exception as error:  # the client lets through what httpx, json and its own slips raise
            return self._failure(error)

    def _failure(self, error: Exception) -> Failure:
        from tavily import errors

        says = self._said(error)
        match error:
            case errors.InvalidAPIKeyError():
                return Failure(FailureKind.BAD_KEY, f"the search service refuses the key{says}")
            case errors.UsageLimitExceededError():
                return Failure(FailureKind.RATE_LIMITED, f"the search service received too many requests{says}")
            case errors.ForbiddenError() if "limit" in says:  # 432 and 433, which the client doesn't tell from 403
                return Failure(FailureKind.RATE_LIMITED, f"the search plan's limit is used up{says}")
            case errors.ForbiddenError():
                return Failure(FailureKind.BAD_KEY, f"the search service refuses the request{says}")
            case errors.BadRequestError():
                return Failure(FailureKind.BAD_REQUEST, f"the search service rejects the query{says}")
            case errors.TimeoutError():
                return Failure(FailureKind.TIMEOUT, f"the search service did not answer within {self._timeout:g} s")
            case httpx.HTTPStatusError():
                return _of_status(error.response.status_code)
            case httpx.LocalProtocolError() | UnicodeEncodeError():
                return Failure(FailureKind.BAD_KEY, "the search key contains characters that are not allowed")
            case httpx.HTTPError():
                return Failure(
                    FailureKind.NETWORK, f"the search service could not be reached ({type(error).__name__})"
                )
            case _:
                return Failure(FailureKind.SERVICE_DOWN, "the search service did not return search results")

    def _said(self, error: Exception) -> str:
        """The service's own words, on one line and without the key."""
        words = " ".join(str(error).replace(self._key, "…").split())[:200]
        return f": {words}" if words else ""


_EMPTY_QUERY = Failure(FailureKind.BAD_REQUEST, "the query is empty")


def _domains(names: list[str]) -> list[str] | None:
    """A domain covers its subdomains there too; all of a public suffix (`gov`, `ac.uk`) is asked for as `*.gov`."""
    return [f"*.{name}" if _is_public_suffix(name) else name for name in names] or None


def _is_public_suffix(name: str) -> bool:
    return "." not in name or organisation_of(f"any.{name}") == f"any.{name}"


def _of_status(status: int) -> Failure:
    if status >= 500:
        return Failure(FailureKind.SERVICE_DOWN, f"the search service is down (HTTP {status})")
    return Failure(FailureKind.BAD_REQUEST, f"the search service rejects the request (HTTP {status})")


def _hits(results: list[dict[str, Any]]) -> Iterator[SearchHit]:
    for each in results:
        url = str(each.get("url") or "")
        if _is_web_address(url):
            yield SearchHit(
                url=url,
                title=str(each.get("title") or url),
                snippet=str(each.get("content") or ""),
                score=float(each.get("score") or 0.0),
                published=_day(each.get("published_date")),
            )


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _day(text: object) -> date | None:
    """The service dates news as RFC 5322 has it; ISO dates are met as well."""
    if not isinstance(text, str):
        return None
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return read(text).date()
        except ValueError:
            continue
    return None


class _OnceMore(httpx.AsyncClient):
    """Sends a request a second time where the first answer was a passing failure and the wait is short.

    A 429 without `retry-after` is not repeated: nothing says that the limit is about to lift.
    """

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        answer = await super().send(request, **options)
        wait = _wait_after(answer)
        if wait is None:
            return answer
        await answer.aclose()
        await asyncio.sleep(wait)
        return await super().send(request, **options)


def _wait_after(answer: httpx.Response) -> float | None:
    """Seconds until a second try, None for none."""
    if answer.status_code not in _PASSING:
        return None
    says = answer.headers.get("retry-after")
    if says is None:
        return None if answer.status_code == 429 else _PAUSE
    wait = float(says) if says.isdecimal() else PATIENCE + 1  # a date there means minutes
    return wait if wait <= PATIENCE else None
