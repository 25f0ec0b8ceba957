"""One GET: an answer whose body is cut at a limit while it streams, or one sentence for why there is none."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import httpx

from marchwarden.http.addresses import host_of
from marchwarden.http.cache import KEPT_FOR
from marchwarden.http.connection import AddressRefused
from marchwarden.http.decompression import Unreadable, unpacking_of
from marchwarden.http.rate_limits import NotInTime, RetryAfter, retry_after_of
from marchwarden.observations import Failure, FailureKind

_PIECE = 65_536
"""Bytes that are unpacked at a time."""
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
    except Unreadable:
        if response.is_success:  # of others the status says what there is to know
            raise
    finally:
        await response.aclose()
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(
        response.status_code,
        headers,
        bytes(memoryview(body)[:limit]),
        _cookies(response),
        kept_for=response.extensions.get(KEPT_FOR),
    )


def _cookies(response: httpx.Response) -> httpx.Cookies:
    cookies = httpx.Cookies()
    cookies.extract_cookies(response)
    return cookies


async def _decoded(response: httpx.Response, limit: int) -> AsyncIterator[bytes]:
    """At most about `limit` bytes of the body, unpacked; it ends too where as much came over the wire.

    Of a body that breaks off while its message does not, what came is used, as of one that is cut at the limit.
    """
    if response.is_stream_consumed:  # a transport in memory that built its response from content
        yield response.content[:limit]
        return
    unpacking = unpacking_of(response.headers.get("content-encoding", ""), limit)
    taken = 0
    async for piece in response.aiter_raw(_PIECE):
        if taken > limit + _SLACK or (unpacking and unpacking.has_ended):
            return
        taken += len(piece)
        yield unpacking.feed(piece) if unpacking else piece
    if taken and unpacking and not unpacking.has_begun:
        raise Unreadable("the page is compressed, and breaks off before anything of it can be unpacked")


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
