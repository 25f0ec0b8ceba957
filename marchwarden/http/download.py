"""One GET: an answer whose body is cut at a limit while it streams, or one sentence that says why there is none."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from marchwarden.http.addresses import host_of
from marchwarden.http.cache import KEPT_FOR
from marchwarden.http.connection import AddressRefused
from marchwarden.http.decompression import Unreadable, unpacking_of
from marchwarden.http.rate_limits import NotInTime, RetryAfter, retry_after_of
from marchwarden.observations import Failure, FailureKind

# Bytes that are unpacked at a time: httpx's own size of a chunk.
_PIECE_BYTES = 65_536
# Bytes by which a compressed body may be longer than its content: headers and empty blocks. A guess.
_SLACK_BYTES = 65_536

_PROFILE = re.compile(r";\s*profile\s*=\s*(?:\"[^\"]*\"?|[^;]*)", re.IGNORECASE)
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Statuses of gateways whose server may answer a moment later.
_HICCUPS = frozenset({502, 503, 504})
_TRY_AGAIN = _HICCUPS | {429}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """Header lines, with names in lower case."""
    body: bytes
    cookies: httpx.Cookies
    """Cookies that the answer sets."""
    kept_for: float | None = None
    """Seconds since the cache kept the answer; None where it came over the network."""

    @property
    def content_type(self) -> str | None:
        """Content-Type without a profile: a server can't say by which of our readers its page is read."""
        given = self.headers.get("content-type")
        return given and _PROFILE.sub("", given)

    @property
    def location(self) -> str | None:
        """Target of a redirect as the header has it; None where the answer is no redirect."""
        return self.headers.get("location") if self.status in REDIRECTS else None

    @property
    def retry_after(self) -> RetryAfter | None:
        """Time at which the server wants to be asked again (status 429, 502, 503 or 504); None where it names
        none."""
        return retry_after_of(self.headers) if self.status in _TRY_AGAIN else None

    @property
    def try_again_in(self) -> float | None:
        """Seconds until one further try is worth it; None where none is."""
        if asked := self.retry_after:
            return asked.seconds
        return 0.0 if self.status in _HICCUPS and "retry-after" not in self.headers else None


async def download(transport: httpx.AsyncBaseTransport, request: httpx.Request, limit: int) -> Answer:
    """Send one request and return its answer, whose body is cut after `limit` bytes, counted after decompression.

    Raises what httpx raises, AddressRefused, NotInTime and Unreadable.
    """
    # The transport is asked directly: a client would follow redirects and keep cookies by its own rules.
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
    cookies = httpx.Cookies()
    cookies.extract_cookies(response)
    return Answer(
        response.status_code,
        {name.lower(): value for name, value in response.headers.items()},
        bytes(memoryview(body)[:limit]),
        cookies,
        kept_for=response.extensions.get(KEPT_FOR),
    )


async def _decoded(response: httpx.Response, limit: int) -> AsyncIterator[bytes]:
    """Yield about `limit` unpacked bytes of the body at most, and stop as well when as many came over the wire.

    A compressed body that breaks off, though its message is complete, is used as far as it came.
    """
    if response.is_stream_consumed:  # a transport in memory that built its response from content
        yield response.content[:limit]
        return
    unpacking = unpacking_of(response.headers.get("content-encoding", ""), limit)
    taken = 0
    async for piece in response.aiter_raw(_PIECE_BYTES):
        if taken > limit + _SLACK_BYTES or (unpacking and unpacking.has_ended):
            return
        taken += len(piece)
        yield unpacking.feed(piece) if unpacking else piece
    if taken and unpacking and not unpacking.has_begun:
        raise Unreadable("the compressed page ends before any of it can be unpacked")


def failure_of(error: Exception, url: str) -> Failure:
    """Return the kind of an error, with one sentence for people."""
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
        return Failure(FailureKind.BAD_REQUEST, f"no request can be sent to {host}")
    # httpx and httpcore wrap the error of the ssl module in their own.
    is_refused = False
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Failure(FailureKind.NETWORK, f"the certificate of {host} is not valid")
        is_refused = is_refused or isinstance(cause, ConnectionRefusedError)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ProxyError):
        return Failure(FailureKind.NETWORK, f"no connection to {host} through the proxy: {error}")
    if isinstance(error, httpx.ConnectError):
        if is_refused:
            parts = urlsplit(url)  # without its name and password
            port = parts.port or (443 if parts.scheme == "https" else 80)
            return Failure(FailureKind.NETWORK, f"{host} refuses connections at port {port}")
        text = str(error) or "it does not accept one"
        return Failure(
            FailureKind.NETWORK, f"no connection to {host}: {text if len(text) <= 150 else text[:149] + '…'}"
        )
    return Failure(FailureKind.NETWORK, f"the connection to {host} broke")
