"""One GET: an answer whose body is cut at a limit while it streams, or one sentence for why there is none."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import httpx

from marchwarden.observations import Failure, FailureKind
from marchwarden.tools.addresses import host_of
from marchwarden.tools.connection import AddressRefused
from marchwarden.tools.http_cache import KEPT_FOR
from marchwarden.tools.politeness import NotInTime, RetryAfter, retry_after_of

ENCODINGS = "gzip, deflate"
"""What we take: decompressed piece by piece, so that a small body can't become a huge one."""

_READ = frozenset({"identity", "", "gzip", "x-gzip", "deflate"})
_SLACK = 65_536
"""Bytes by which a compressed body may be longer than what it holds: headers, blocks that hold nothing."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HICCUPS = frozenset({502, 503, 504})
_TRY_AGAIN = _HICCUPS | {429}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    cookies: httpx.Cookies
    """That it sets."""
    cut: bool = False
    """Whether there was more of the body than the limit."""
    kept_for: float | None = None
    """Seconds for which it lay in the cache; None where it came over the network."""

    @property
    def content_type(self) -> str | None:
        return self.headers.get("content-type")

    @property
    def location(self) -> str | None:
        """Where the answer sends us instead."""
        return self.headers.get("location") if self.status in _REDIRECTS else None

    @property
    def retry_after(self) -> RetryAfter | None:
        """When the server wants to be asked again, where it says so of itself (429, or a gateway's hiccup)."""
        return retry_after_of(self.headers) if self.status in _TRY_AGAIN else None

    @property
    def try_again_in(self) -> float | None:
        """Seconds after which one further try is worth it; None where none is."""
        if asked := self.retry_after:
            return asked.seconds
        return 0.0 if self.status in _HICCUPS and "retry-after" not in self.headers else None


class Unreadable(Exception):
    """The body came in an encoding that we didn't ask for, or is broken."""


async def download(transport: httpx.AsyncBaseTransport, request: httpx.Request, limit: int) -> Answer:
    """Raises what httpx raises, AddressRefused, NotInTime and Unreadable. `limit` counts bytes after decompression.

    The transport is asked directly: a client would read more into an answer (redirects, cookies) than we want.
    """
    response = await transport.handle_async_request(request)
    response.request = request
    try:
        body = bytearray()
        async for piece in _decoded(response, limit + 1):
            body += piece
            if len(body) > limit:
                break
    finally:
        await response.aclose()
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(
        response.status_code,
        headers,
        bytes(body[:limit]),
        _cookies(response),
        cut=len(body) > limit,
        kept_for=response.extensions.get(KEPT_FOR),
    )


def _cookies(response: httpx.Response) -> httpx.Cookies:
    cookies = httpx.Cookies()
    cookies.extract_cookies(response)
    return cookies


async def _decoded(response: httpx.Response, limit: int) -> AsyncIterator[bytes]:
    """At most about `limit` bytes of the body, decompressed; it ends too where as much came over the wire."""
    if response.is_stream_consumed:  # a transport in memory that built its response from content
        yield response.content[:limit]
        return
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in _READ:
        raise Unreadable(f"the page is compressed as {encoding[:40]!a}, which was not asked for")
    inflater = None if encoding in ("identity", "") else _Inflater(limit)
    taken = 0
    async for piece in response.aiter_raw():
        if taken > limit + _SLACK or (inflater and inflater.ended):
            return
        taken += len(piece)
        yield inflater.feed(piece) if inflater else piece


class _Inflater:
    def __init__(self, limit: int) -> None:
        self._left = limit
        self._stream = zlib.decompressobj(wbits=47)  # gzip or zlib, whichever it is
        self._begun = False

    @property
    def ended(self) -> bool:
        """Whether the compressed body is over, whatever else is sent after it."""
        return self._stream.eof

    def feed(self, piece: bytes) -> bytes:
        if self._left <= 0:
            return b""
        try:
            found = self._inflated(piece)
        except zlib.error:
            raise Unreadable("the page is compressed, and broken") from None
        self._begun = True
        self._left -= len(found)
        return found

    def _inflated(self, piece: bytes) -> bytes:
        try:
            return self._stream.decompress(piece, self._left)
        except zlib.error:
            if self._begun:
                raise
            self._stream = zlib.decompressobj(wbits=-15)  # "deflate" without its header, as some servers send it
            return self._stream.decompress(piece, self._left)


def failure_of(error: Exception, url: str) -> Failure:
    """One sentence for what kept an answer from coming."""
    host = host_of(url)
    if isinstance(error, AddressRefused):
        return Failure(FailureKind.REFUSED_ADDRESS, str(error))
    if isinstance(error, NotInTime):
        return Failure(FailureKind.RATE_LIMITED, str(error))
    if isinstance(error, Unreadable):
        return Failure(FailureKind.SERVER_ERROR, str(error))
    if isinstance(error, httpx.TimeoutException):
        return Failure(FailureKind.TIMEOUT, f"{host} did not answer in time")
    if isinstance(error, httpx.InvalidURL):
        return Failure(FailureKind.BAD_REQUEST, f"{host} is not a host that can be asked")
    if _caused_by(error, ssl.SSLCertVerificationError):
        return Failure(FailureKind.NETWORK, f"the certificate of {host} is not valid")
    if isinstance(error, httpx.ConnectError):
        return Failure(FailureKind.NETWORK, f"no connection to {host}: {_shortened(error)}")
    return Failure(FailureKind.NETWORK, f"the connection to {host} broke")


def _caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False


def _shortened(error: Exception) -> str:
    text = str(error) or "it does not accept one"
    return text if len(text) <= 150 else text[:149] + "…"
