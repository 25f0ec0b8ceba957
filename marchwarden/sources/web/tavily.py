"""Search of the live web with Tavily, through its official client. Every error of the service becomes a failure.

A request that got a 429 or a 5xx is sent once more where the wait is short; the loop has other queries meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import httpx

from marchwarden.contract import SourceFilter
from marchwarden.environment import without_credentials
from marchwarden.errors import ConfigurationError
from marchwarden.evidence.question import as_query
from marchwarden.http.addresses import MAX_URL_CHARS, organisation_of
from marchwarden.observations import Failure, FailureKind, SearchHit, SearchOutcome, plain_line
from marchwarden.settings import Settings
from marchwarden.sources.opening import Opening
from marchwarden.sources.web.result_list import error_told

if TYPE_CHECKING:
    from tavily import AsyncTavilyClient

# Results that the service returns for one request, at most: its own limit.
RESULT_LIMIT = 20
# Seconds for one search from its request to the last byte of its answer. A guess.
TIMEOUT_S = 15.0
# Share of the call's time left that one search may take, so that a hang is told and the rest goes on. A guess.
MAX_TIME_SHARE = 0.5
# Bytes of an answer. A guess: twenty results with long snippets have 60,000.
MAX_ANSWER_BYTES = 2_000_000
# Seconds to wait before the second try, at most; after a longer `retry-after` there is none. A guess.
MAX_WAIT_S = 2.0

_ADDRESS = "https://api.tavily.com"
# Seconds before the second try where the service names none. A guess.
_PAUSE_S = 0.5
_TEMPORARY_STATUSES = frozenset({429, 500, 502, 503, 504})
# Characters of a date. A guess: RFC 5322 needs 31.
_MAX_DATE_CHARS = 80
# Scores above are none: JSON has integers that no float holds. The service's own are 0 to 1.
_MAX_SCORE = 1e9
_EMPTY_QUERY = Failure(FailureKind.BAD_REQUEST, "the query is empty")
_NO_RESULTS = Failure(FailureKind.SERVICE_DOWN, "Tavily did not return search results")


def open_tavily(opening: Opening) -> TavilySearch:
    """Return the search. Raises ConfigurationError where there is no key, or the address is bad."""
    return TavilySearch(opening.settings)


class TavilySearch:
    """Search with Tavily. Raises ConfigurationError on creation where the key is missing or the address is bad."""

    name = "tavily"

    def __init__(self, settings: Settings, *, timeout: float = TIMEOUT_S) -> None:
        if settings.tavily_api_key is None:
            raise ConfigurationError(
                "Searching the web needs TAVILY_API_KEY, which is not set",
                hint="Get a key at https://app.tavily.com and put it into .env, or use --source snapshot.",
            )
        self._key = settings.tavily_api_key.get_secret_value().strip()
        self._address = settings.tavily_base_url or _ADDRESS
        if not _is_web_address(self._address):
            raise ConfigurationError(
                f"MARCHWARDEN_TAVILY_BASE_URL: {without_credentials(self._address)} is not a web address",
                hint=f"Leave it unset for {_ADDRESS}.",
            )
        self._timeout = timeout
        self._http: httpx.AsyncClient | None = None

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the hits for `query`. A query of more than 400 characters is cut between words."""
        began = time.monotonic()
        asked = as_query(query)
        found = await self._ask(asked, min(max_results, RESULT_LIMIT), source_filter) if asked else _EMPTY_QUERY
        seconds = time.monotonic() - began
        if isinstance(found, Failure):
            return SearchOutcome(asked, self.name, failure=found, seconds=seconds)
        read = [_hit(each) for each in found]
        malformed = read.count(None)
        if found and malformed == len(found):
            return SearchOutcome(asked, self.name, failure=_NO_RESULTS, seconds=seconds, malformed=malformed)
        hits = [hit for hit in read if hit and source_filter.allows(urlsplit(hit.url).hostname or "")]
        return SearchOutcome(asked, self.name, tuple(hits[:max_results]), seconds=seconds, malformed=malformed)

    async def aclose(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    @cached_property
    def _client(self) -> AsyncTavilyClient:
        from tavily import AsyncTavilyClient

        self._http = _RetryingClient(base_url=self._address, headers={"user-agent": "marchwarden"})
        return AsyncTavilyClient(api_key=self._key, client=self._http, api_base_url=self._address)

    async def _ask(self, query: str, max_results: int, source_filter: SourceFilter) -> list[Any] | Failure:
        """Return the results as they were sent, or the failure."""
        left_s = anyio.current_effective_deadline() - anyio.current_time()
        limit_s = min(self._timeout, max(0.0, MAX_TIME_SHARE * left_s))
        try:
            # The client's own limit is for each read, which an answer that trickles in never reaches.
            with anyio.fail_after(limit_s):
                answer = await self._client.search(
                    query,
                    search_depth="basic",
                    max_results=max_results,
                    include_domains=_domains(source_filter.include),
                    exclude_domains=_domains(source_filter.exclude),
                    timeout=self._timeout,
                )
        except TimeoutError:
            return Failure(FailureKind.TIMEOUT, f"Tavily did not answer within {limit_s:.3g} s")
        # The client lets errors of httpx and json through, and errors of its own making.
        except Exception as error:
            return self._failure(error)
        results = answer["results"]
        if not results and (said := error_told(answer)) is not None:
            return Failure(FailureKind.SERVICE_DOWN, f"Tavily reports an error{self._said(said)}")
        return results if isinstance(results, list) else _NO_RESULTS

    def _failure(self, error: Exception) -> Failure:
        from tavily import errors

        says = self._said(error)
        match error:
            case _TooLarge():
                return Failure(FailureKind.SERVICE_DOWN, str(error))
            case errors.InvalidAPIKeyError():
                return Failure(FailureKind.BAD_KEY, f"Tavily refuses the key{says}")
            case errors.UsageLimitExceededError():
                return Failure(FailureKind.RATE_LIMITED, f"Tavily received too many requests{says}")
            # The client raises the same error for 403, and for 432 and 433, which mean a limit.
            case errors.ForbiddenError() if "limit" in says:
                return Failure(FailureKind.RATE_LIMITED, f"the search plan's limit is used up{says}")
            case errors.ForbiddenError():
                return Failure(FailureKind.BAD_KEY, f"Tavily refuses the request{says}")
            case errors.BadRequestError():
                return Failure(FailureKind.BAD_REQUEST, f"Tavily rejects the query{says}")
            case errors.TimeoutError():
                return Failure(FailureKind.TIMEOUT, f"Tavily did not answer within {self._timeout:g} s")
            case httpx.HTTPStatusError() if (status := error.response.status_code) >= 500:
                return Failure(FailureKind.SERVICE_DOWN, f"Tavily is down (HTTP {status})")
            case httpx.HTTPStatusError():
                # No query mends it: the plan has ended, or the address is not the service's.
                where = "" if self._address == _ADDRESS else "; check MARCHWARDEN_TAVILY_BASE_URL"
                refused = f"Tavily rejects the request (HTTP {error.response.status_code}){where}"
                return Failure(FailureKind.SERVICE_DOWN, refused)
            case httpx.LocalProtocolError() | UnicodeEncodeError():
                return Failure(FailureKind.BAD_KEY, "the search key contains characters that are not allowed")
            case httpx.HTTPError():
                return Failure(FailureKind.NETWORK, f"Tavily could not be reached ({type(error).__name__})")
            case _:
                return _NO_RESULTS

    def _said(self, error: object) -> str:
        """Return the service's own words on one line and without the key, behind a colon."""
        if isinstance(error, dict):
            error = error.get("message") or error.get("error") or ""
        # Cut before the key is looked for, and once more behind it: an error of many MB is not searched whole.
        words = plain_line(str(error)[:10_000].replace(self._key, "…"), 200)
        return f": {words}" if words else ""


def _domains(names: list[str]) -> list[str] | None:
    """Return the domains in the service's form; None for no filter."""
    # There too a domain covers its subdomains. Only a public suffix (`gov`, `ac.uk`) needs a star: `*.gov`.
    domains = []
    for name in names:
        is_public_suffix = "." not in name or organisation_of(f"any.{name}") == f"any.{name}"
        domains.append(f"*.{name}" if is_public_suffix else name)
    return domains or None


def _hit(result: object) -> SearchHit | None:
    """Return one result as a hit; None where it has no address that can be read."""
    url = result.get("url") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(url, str) or not _is_web_address(url):
        return None
    title, snippet, score = result.get("title"), result.get("content"), result.get("score")
    # A field of another type than the service documents is missing; the page can be read all the same.
    return SearchHit(
        url=without_credentials(url),
        title=title if isinstance(title, str) else url,
        snippet=snippet if isinstance(snippet, str) else "",
        score=float(score) if isinstance(score, (int, float)) and abs(score) < _MAX_SCORE else 0.0,
        published=_day(result.get("published_date")),
    )


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return len(url) <= MAX_URL_CHARS and parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _day(text: object) -> date | None:
    """Return the day of a date in the form of RFC 5322 or ISO 8601; None for anything else."""
    if not isinstance(text, str) or len(text) > _MAX_DATE_CHARS:
        return None
    # The service writes dates of news as RFC 5322 has them, and sometimes ISO dates.
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return read(text).date()
        except (ValueError, OverflowError):
            continue
    return None


class _TooLarge(httpx.HTTPError):
    pass


class _RetryingClient(httpx.AsyncClient):
    """Client that sends a request a second time where the failure is temporary and the wait is short.

    It raises _TooLarge for an answer of more than MAX_ANSWER_BYTES, which it stops reading there.
    """

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        answer = await self._send_once(request, **options)
        if answer.status_code not in _TEMPORARY_STATUSES:
            return answer
        says = answer.headers.get("retry-after")
        if says is None:
            # A 429 without `retry-after` is not repeated: nothing says that the limit ends soon.
            wait = MAX_WAIT_S + 1 if answer.status_code == 429 else _PAUSE_S
        else:
            # A date there means minutes.
            wait = float(says) if says.isdecimal() else MAX_WAIT_S + 1
        if wait > MAX_WAIT_S:
            return answer
        await asyncio.sleep(wait)
        return await self._send_once(request, **options)

    async def _send_once(self, request: httpx.Request, **options: Any) -> httpx.Response:
        answer = await super().send(request, **{**options, "stream": True})
        body = bytearray()
        try:
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > MAX_ANSWER_BYTES:
                    raise _TooLarge(f"Tavily sends more than {MAX_ANSWER_BYTES / 1e6:g} MB")
        finally:
            await answer.aclose()
        # The body is unpacked, so that headers which say how it was packed would be wrong.
        kept = {name: answer.headers[name] for name in ("content-type", "retry-after") if name in answer.headers}
        return httpx.Response(answer.status_code, headers=kept, content=bytes(body), request=request)
