"""Fetching one page under limits: robots.txt, redirects, size, time, addresses. The transport is passed in.

A fetch raises no error of the network or of a server: its outcome carries the page or the failure.
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
from marchwarden.http.proxies import ProxiedTransport
from marchwarden.http.rate_limits import CRAWL_DELAY, NotInTime, PoliteTransport, seconds_left
from marchwarden.http.robots import PRODUCT_TOKEN, SECONDS_KEPT, Robots, RobotsFile
from marchwarden.http.shared_rates import SharedRateTransport
from marchwarden.observations import Failure, FailureKind, FetchOutcome, Page, content_hash
from marchwarden.reading.page import read_page, refresh_target
from marchwarden.settings import Settings

# Redirects of one page. A guess: half of what the Fetch standard lets browsers follow.
MOST_REDIRECTS = 10
# RFC 9309 asks crawlers to follow at least five redirects of a robots.txt.
MOST_ROBOTS_REDIRECTS = 5
# Seconds that must be left for the answer after a wait that a server asked for. A guess.
MIN_ANSWER_S = 1.0

NETWORK_ERRORS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, AddressRefused, NotInTime, Unreadable)
RESET = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
_OTHER_SCHEME = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)

_log = logging.getLogger(__name__)


@dataclass
class _Visit:
    """State of one fetch. Its outcome is made from this, whenever the fetch ends."""

    asked: str
    url: str
    allows: Callable[[str], bool]
    """Return whether the caller allows requests to a host."""
    redirects: list[str] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    """Addresses with the cookies that were sent there: a site may redirect back after it has set one."""
    hosts: set[str] = field(default_factory=set)
    """Hosts that have had a request for this page."""
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
    """Fetcher of pages for one research call. It keeps robots.txt answers for as long as it lives."""

    def __init__(
        self, settings: Settings, *, transport: httpx.AsyncBaseTransport | None = None, revalidate: bool = False
    ) -> None:
        """Fetch over the network, or over `transport` in its place.

        With `revalidate`, a server is asked about each kept page, also where it called that page fresh.

        With a `transport` no name is resolved, so that only an address in the URL itself can be refused; and there is
        no pause between requests, since they burden nobody.
        """
        self._settings = settings
        self._transport = transport or live_transport(settings)
        self._headers = {
            "User-Agent": user_agent(settings.contact),
            "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5",
            "Accept-Language": "en;q=0.9,*;q=0.5",
            "Accept-Encoding": ENCODINGS,
        }
        if revalidate:
            self._headers["Cache-Control"] = "no-cache"
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
        """Return the page at `url` or the failure, within `timeout` seconds (the setting fetch_timeout at most).

        A host that is not allowed gets no request, not even after a redirect. Only cancellation passes through.
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
            try:
                stopped = await self._follow(visit)
            except NETWORK_ERRORS as error:
                failure = failure_of(error, visit.url)
            else:
                # Assigned once the page is read, so that a timeout while it is read stays a timeout.
                failure = stopped or await self._read(visit)
        return visit.outcome(failure, time.monotonic() - started)

    async def _follow(self, visit: _Visit) -> Failure | None:
        """Follow redirects until an answer is a page's. Each address is checked before its request."""
        while True:
            visit.answer = None
            visit.seen.add(_place(visit))
            if not visit.allows(host_of(visit.url)):
                return Failure(FailureKind.REFUSED_ADDRESS, f"the source filter excludes {host_of(visit.url)}")
            refused = refusal(visit.url, allow_private=self._settings.allow_private_addresses)
            if failure := refused or await self._robots.refusal(visit.url, visit.allows):
                return failure
            # A redirect within a host is the same page still, and waits for no crawl delay.
            delay_s = 0.0 if host_of(visit.url) in visit.hosts else self._robots.crawl_delay(visit.url)
            visit.hosts.add(host_of(visit.url))
            visit.answer = await self._get(
                visit.url, self._settings.max_page_bytes, {CRAWL_DELAY: delay_s}, visit.cookies
            )
            target = _redirect_target(visit.answer, visit.url)
            if target is None or isinstance(target, Failure):
                return target
            visit.url = target
            visit.redirects.append(target)
            if _place(visit) in visit.seen:
                return Failure(FailureKind.REDIRECT_LOOP, f"the page redirects in a loop, back to {target}")
            if len(visit.redirects) > MOST_REDIRECTS:
                return Failure(FailureKind.REDIRECT_LOOP, f"the page redirects more than {MOST_REDIRECTS} times")

    async def _get(
        self, url: str, limit: int, extensions: dict[str, float], cookies: httpx.Cookies | None = None
    ) -> Answer:
        """Send a GET, and a second one where the connection was reset, or where the server asks for a short wait."""
        # The second try belongs to the same page, so that no crawl delay comes before it.
        again = {**extensions, CRAWL_DELAY: 0.0}
        try:
            answer = await self._get_once(url, limit, extensions, cookies)
        except RESET:
            return await self._get_once(url, limit, again, cookies)
        wait = answer.try_again_in
        if wait is None or (wait and wait + MIN_ANSWER_S > seconds_left()):
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
        # A parser may fail on one page in any way; the other pages are still to be read.
        except Exception:
            _log.exception("reading %s failed", visit.url)
            return Failure(FailureKind.NO_TEXT, "the page could not be parsed")
        if isinstance(found, Page):
            visit.page = found
            return None
        retry = answer.retry_after
        if retry is None or found.kind not in (FailureKind.RATE_LIMITED, FailureKind.SERVER_ERROR):
            return found
        return replace(found, detail=f"{found.detail}; try again {retry.words}")

    async def _read_robots(self, url: str, allows: Callable[[str], bool]) -> RobotsFile | Failure:
        """Return the robots.txt at `url`, after redirects. Too many redirects mean that there is none (RFC 9309)."""
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
        except NETWORK_ERRORS as error:
            return failure_of(error, url)
        except ValueError:
            pass  # redirected to something that is no web address: there is no robots.txt
        return RobotsFile(404)


def live_transport(settings: Settings) -> httpx.AsyncBaseTransport:
    """Return a transport to public addresses only, with pauses between requests to a host.

    It uses the environment's proxies, and has a cache unless the settings turn that off. Raises ConfigurationError
    for a proxy that can't be used.
    """
    private = settings.allow_private_addresses
    direct = ProxiedTransport(CheckedTransport(allow_private=private))
    network = PoliteTransport(SharedRateTransport(direct, settings.caches / "rates"))
    if not settings.http_cache:
        return network
    return CacheTransport(network, cache_file(settings.caches, private=private), largest=settings.max_page_bytes)


def _place(visit: _Visit) -> tuple[str, str]:
    return visit.url, "; ".join(sorted(f"{cookie.name}={cookie.value}" for cookie in visit.cookies.jar))


def _redirect_target(answer: Answer, url: str) -> str | Failure | None:
    """Return the address that the answer redirects to, by its header or by its page; None for no redirect."""
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


def user_agent(contact: str | None = None) -> str:
    """Return `marchwarden/0.1.0 (+https://…)`: our product token, then how to reach the person who runs it."""
    try:
        number = version("marchwarden")
    except PackageNotFoundError:
        number = "0"
    reach = re.sub(r"[^\x21-\x7e]|[()]", "", contact or "")
    return f"{PRODUCT_TOKEN}/{number}" + (f" (+{reach})" if reach else "")
