"""Answers that a server lets us keep, across calls (RFC 9111, by hishel), in a file of bounded size.

What is kept is the body as it came over the wire: it is unpacked, limited, hashed and stored like any other. Its
address, the source filter and robots.txt are checked before the cache is asked. Freshness is only what a server says:
where it says nothing, a kept page is asked for again under its ETag or Last-Modified.
"""

from __future__ import annotations

from pathlib import Path

import anyio
import httpx

MOST_BYTES = 256 * 1024 * 1024
"""Size of the file; what was used least recently goes first."""
SECONDS_KEPT = 30 * 24 * 3600.0
"""How long an answer is kept at most, fresh or not."""

KEEP_AT_MOST = "keep_at_most"
"""The extension of a request that says for how many seconds its answer may be kept, where that is less."""

KEPT_FOR = "kept_for"
"""The extension of an answer from the cache: seconds since its server gave it, or said that it still stands."""

_CAME = "came"
"""The extension that collects what came over the network for a request."""
_FORMAT = 2
"""Part of the file's name: hishel's major version, each of which reads its own files only."""


def cache_file(folder: Path, *, private: bool) -> Path:
    """Two files: what was read while private addresses were allowed is not shown to a call that may not read them."""
    return folder / "http" / f"pages-{_FORMAT}{'-private' * private}.sqlite"


class CacheTransport(httpx.AsyncBaseTransport):
    """Answers from `file` where RFC 9111 lets it, and asks `inner` where not; requests with cookies pass it by.

    A file that can't be read or written is logged, and the page is read without it.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, file: Path, *, largest: int, most: int = MOST_BYTES) -> None:
        """`largest`: bytes of an answer that is kept; `most`: of all together."""
        from hishel import AsyncSqliteStorage, CacheOptions
        from hishel.httpx import AsyncCacheTransport

        storage = AsyncSqliteStorage(
            database_path=file, max_size=most, max_stream_size=largest, default_ttl=SECONDS_KEPT
        )
        self._inner = inner
        self._cached = AsyncCacheTransport(_AsTheServerSays(inner), storage, CacheOptions(shared=False))

    async def aclose(self) -> None:
        await self._cached.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if "cookie" in request.headers:
            return await self._inner.handle_async_request(request)
        request.extensions["caching"] = {"ttl": request.extensions.get(KEEP_AT_MOST, SECONDS_KEPT)}
        response = await self._ask_cached(request)
        if not response.extensions["caching"]["from_cache"]:
            return response
        body = await _kept_body(response)
        if body is None:
            return await self._inner.handle_async_request(request)
        status = response.extensions["caching"]
        kept_for = 0.0 if status["revalidated"] else float(response.headers.get("age", 0))
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=httpx.ByteStream(body),
            extensions={KEPT_FOR: kept_for},
        )

    async def _ask_cached(self, request: httpx.Request) -> httpx.Response:
        """hishel drops the server's answer unclosed where it is interrupted between that and its file."""
        came: list[httpx.Response] = []
        request.extensions[_CAME] = came
        try:
            return await self._cached.handle_async_request(request)
        except BaseException:
            with anyio.CancelScope(shield=True):
                for each in came:
                    await each.aclose()
            raise


async def _kept_body(response: httpx.Response) -> bytes | None:
    """None where another process removed it while it was read."""
    try:
        return b"".join([piece async for piece in response.aiter_raw()])
    except RuntimeError:
        return None
    finally:
        await response.aclose()


class _AsTheServerSays(httpx.AsyncBaseTransport):
    """Keeps the cache from guessing how long an answer stays fresh, and from keeping what it could not use again."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        request.extensions[_CAME].append(response)
        if response.status_code != 304 and not _says_how_long(response.headers):
            said = response.headers.get("cache-control")
            rule = "no-cache" if response.status_code == 200 and _has_validator(response.headers) else "no-store"
            response.headers["cache-control"] = f"{said}, {rule}" if said else rule
        return response


def _says_how_long(headers: httpx.Headers) -> bool:
    return "expires" in headers or "max-age" in headers.get("cache-control", "").lower()


def _has_validator(headers: httpx.Headers) -> bool:
    return "etag" in headers or "last-modified" in headers
