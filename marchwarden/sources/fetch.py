"""Fetching one page under limits: robots.txt, redirects, size, time, addresses. The transport is passed in.

A fetch never raises for what the world does: its outcome carries the page or the failure.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType

import anyio
import httpx
from anyio import to_thread
from typing_extensions import Self

from marchwarden.http import robots_rules
from marchwarden.http.addresses import host_of, join_url, normalise_url, refusal
from marchwarden.http.cache import KEEP_AT_MOST, CacheTransport, cache_file
from marchwarden.http.connection import AddressRefused, CheckedTransport
from marchwarden.http.decompression import ENCODINGS, Unreadable
from marchwarden.http.download import Answer, download, failure_of
from marchwarden.http.rate_limits import CRAWL_DELAY, NotInTime, PoliteTransport, seconds_left
from marchwarden.http.robots import PRODUCT_TOKEN, SECONDS_KEPT, Robots, RobotsFile
from marchwarden.observations import Failure, FailureKind, FetchOutcome, Page, content_hash
from marchwarden.reading.page import read_page, refresh_target
from marchwarden.settings import Settings

MOST_REDIRECTS = 10
_SECONDS_FOR_AN_ANSWER = 1.0
"""What is left of a fetch's time after a wait that a server asked for, at least."""
MOST_ROBOTS_REDIRECTS = 5

_WORLD = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, AddressRefused, NotInTime, Unreadable)
_RESET = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
_OTHER_SCHEME = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)

_log = logging.getLogger(__name__)


@dataclass
class _Visit:
    """How far one fetch has come: what its outcome is made of, whenever it ends."""

    asked: str
    url: str
    allows: Callable[[str], bool]
    """Which hosts the caller lets us ask."""
    redirects: list[str] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    """Addresses with the cookies that were sent there: a site may send us back after it has set one."""
    hosts: set[str] = field(default_factory=set)
    """That were asked for the page."""
    cookies: httpx.Cookies = field(default_factory=httpx.Cookies)
    answer: Answer | None = None
    page: Page | None = None

    def outcome(self, failure: Failure | None, seconds: float) -> FetchOutcome:
        known = FetchOutcome(
            url=self.asked, final_url=self.url, redirects=tuple(self.redirects), failure=failure, seconds=seconds
        )
        if self.answer is None:
            return known
        body = self.answer.body
        return replace(
            known,
            status=self.answer.status,
            content_type=self.answer.content_type,
            content_hash=content_hash(body) if body else None,
            content_length=len(body),
            body=body,
            page=self.page if failure is None else None,
            kept_for=self.answer.kept_for,
        )


class Fetcher:
    """Fetches pages for one research call; robots.txt answers are kept for as long as it lives."""

    def __init__(self, settings: Settings, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """With `transport` given, that is the world: names are not resolved, so only what a URL itself says of its
        address can be refused; and nobody is behind it whom requests could burden."""
        self._settings = settings
        self._transport = transport or live_transport(settings)
        self._headers = _headers(settings.contact)
        self._robots = Robots(self._read_robots)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def fetch(
        self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool] = lambda host: True
    ) -> FetchOutcome:
        """The page at `url`, or what kept us from it, within `timeout` seconds (the setting fetch_timeout at most).

        No host that is not allowed is asked, on whatever way it is come to. Only cancellation passes through.
        """
        started = time.monotonic()
        try:
            asked = normalise_url(url)
        except ValueError as error:
            return FetchOutcome(url=url, final_url=url, failure=_not_an_address(url, error))
        limit = min(timeout if timeout is not None else self._settings.fetch_timeout, self._settings.fetch_timeout)
        visit = _Visit(asked, asked, allows)
        failure: Failure | None = Failure(FailureKind.TIMEOUT, f"the page did not arrive within {limit:.3g} seconds")
        with anyio.move_on_after(limit):
            failure = await self._visit(visit)
        return visit.outcome(failure, time.monotonic() - started)

    async def _visit(self, visit: _Visit) -> Failure | None:
        try:
            failure = await self._follow(visit)
        except _WORLD as error:
            return failure_of(error, visit.url)
        return failure or await self._read(visit)

    async def _follow(self, visit: _Visit) -> Failure | None:
        """Go where the answers send us until one is a page's; each address is checked before it is asked."""
        while True:
            visit.answer = None
            visit.seen.add(_place(visit))
            if not visit.allows(host_of(visit.url)):
                return Failure(FailureKind.REFUSED_ADDRESS, f"the source filter excludes {host_of(visit.url)}")
            if failure := await self._refusal(visit):
                return failure
            asked_with = {CRAWL_DELAY: self._crawl_delay(visit)}
            visit.answer = await self._get(visit.url, self._settings.max_page_bytes, asked_with, visit.cookies)
            target = _sent_on_to(visit.answer, visit.url)
            if target is None or isinstance(target, Failure):
                return target
            visit.url = target
            visit.redirects.append(target)
            if _place(visit) in visit.seen:
                return Failure(FailureKind.REDIRECT_LOOP, f"the page redirects in a loop, back to {target}")
            if len(visit.redirects) > MOST_REDIRECTS:
                return Failure(FailureKind.REDIRECT_LOOP, f"the page redirects more than {MOST_REDIRECTS} times")

    async def _refusal(self, visit: _Visit) -> Failure | None:
        refused = refusal(visit.url, allow_private=self._settings.allow_private_addresses)
        return refused or await self._robots.refusal(visit.url, visit.allows)

    def _crawl_delay(self, visit: _Visit) -> float:
        """Seconds since the last page of the host; none for a redirect within it, which is the same page still."""
        host = host_of(visit.url)
        if host in visit.hosts:
            return 0.0
        visit.hosts.add(host)
        return self._robots.crawl_delay(visit.url)

    async def _get(
        self, url: str, limit: int, extensions: dict[str, float], cookies: httpx.Cookies | None = None
    ) -> Answer:
        """One GET, and one more where the connection was reset, or the server may answer within the time left.

        The second try belongs to the first: the delay between pages does not lie before it.
        """
        again = {**extensions, CRAWL_DELAY: 0.0}
        try:
            answer = await self._get_once(url, limit, extensions, cookies)
        except _RESET:
            return await self._get_once(url, limit, again, cookies)
        wait = answer.try_again_in
        if wait is None or (wait and wait + _SECONDS_FOR_AN_ANSWER > seconds_left()):
            return answer
        await anyio.sleep(wait)
        return await self._get_once(url, limit, again, cookies)

    async def _get_once(
        self, url: str, limit: int, extensions: dict[str, float], cookies: httpx.Cookies | None
    ) -> Answer:
        request = httpx.Request("GET", url, headers=self._headers, cookies=cookies, extensions=dict(extensions))
        answer = await download(self._transport, request, limit)
        if cookies is not None:
            cookies.update(answer.cookies)
        return answer

    async def _read(self, visit: _Visit) -> Failure | None:
        assert visit.answer is not None
        answer = visit.answer
        asked = visit.asked if visit.redirects else ""
        read = partial(
            read_page,
            answer.body,
            url=visit.url,
            content_type=answer.content_type,
            status=answer.status,
            asked=asked,
        )
        try:
            found = await to_thread.run_sync(read, abandon_on_cancel=True)
        except Exception:  # a parser stumbled over this one page: the others are still to be read
            _log.exception("reading %s failed", visit.url)
            return Failure(FailureKind.NO_TEXT, "the page could not be parsed")
        if isinstance(found, Failure):
            return _naming_when(found, answer)
        visit.page = found
        return None

    async def _read_robots(self, url: str, allows: Callable[[str], bool]) -> RobotsFile | Failure:
        """The answer for a robots.txt, redirects followed; too many of them mean that there is none (RFC 9309)."""
        try:
            for _ in range(MOST_ROBOTS_REDIRECTS + 1):
                if not allows(host_of(url)):
                    return Failure(FailureKind.REFUSED_ADDRESS, f"the source filter excludes {host_of(url)}")
                if failure := refusal(url, allow_private=self._settings.allow_private_addresses):
                    return failure
                answer = await self._get(url, robots_rules.MOST_BYTES, {KEEP_AT_MOST: SECONDS_KEPT})
                if answer.location is None:
                    return RobotsFile(answer.status, answer.body)
                url = join_url(url, answer.location)
        except _WORLD as error:
            return failure_of(error, url)
        except ValueError:
            pass  # sent on to something that is no web address: there is no robots.txt
        return RobotsFile(404)


def live_transport(settings: Settings) -> httpx.AsyncBaseTransport:
    """The network: public addresses only, each host asked no more than it wants, and not for what can be kept."""
    private = settings.allow_private_addresses
    network = PoliteTransport(CheckedTransport(allow_private=private))
    if not settings.http_cache:
        return network
    return CacheTransport(network, cache_file(settings.caches, private=private), largest=settings.max_page_bytes)


def _naming_when(failure: Failure, answer: Answer) -> Failure:
    """The failure of a status, with the moment at which the server wants to be asked again."""
    asked = answer.retry_after
    if asked is None or failure.kind not in (FailureKind.RATE_LIMITED, FailureKind.SERVER_ERROR):
        return failure
    return replace(failure, detail=f"{failure.detail}; it asks to be called again {asked.words}")


def _place(visit: _Visit) -> tuple[str, str]:
    return visit.url, "; ".join(sorted(f"{cookie.name}={cookie.value}" for cookie in visit.cookies.jar))


def _sent_on_to(answer: Answer, url: str) -> str | Failure | None:
    """Where the answer sends us, by its header or by its page; None where it is what was asked for."""
    if answer.location is not None:
        try:
            return join_url(url, answer.location)
        except ValueError as error:
            return _not_an_address(answer.location, error)
    if answer.status == 200:
        return refresh_target(answer.body, url=url, content_type=answer.content_type)
    return None


def _not_an_address(url: str, error: ValueError) -> Failure:
    other_scheme = _OTHER_SCHEME.match(url) is not None
    return Failure(FailureKind.REFUSED_ADDRESS if other_scheme else FailureKind.BAD_REQUEST, str(error))


def _headers(contact: str | None) -> dict[str, str]:
    return {
        "User-Agent": user_agent(contact),
        "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5",
        "Accept-Language": "en;q=0.9,*;q=0.5",
        "Accept-Encoding": ENCODINGS,
    }


def user_agent(contact: str | None = None) -> str:
    """`marchwarden/0.1.0 (+https://…)`: our product token first, then how to reach whoever runs it."""
    try:
        number = version("marchwarden")
    except PackageNotFoundError:
        number = "0"
    reach = re.sub(r"[^\x21-\x7e]|[()]", "", contact or "")
    return f"{PRODUCT_TOKEN}/{number}" + (f" (+{reach})" if reach else "")
