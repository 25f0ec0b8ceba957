"""Cache of answers across calls (RFC 9111, by hishel), in a file of bounded size.

The body is kept as it came over the wire; afterwards it is unpacked, limited, hashed and stored like any other. The
address, the source filter and robots.txt are checked before the cache is asked. Only the server's own headers make an
answer fresh: without them a kept page is asked for again under its ETag or Last-Modified.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import anyio
import httpx

from marchwarden.files import make_private_file

# Bytes of the file; what was used least recently is dropped first. A guess.
MOST_BYTES = 256 * 1024 * 1024
# Seconds after which an answer is dropped, fresh or not. A guess: 30 days.
SECONDS_KEPT = 30 * 24 * 3600.0

# Name of a request's extension: seconds for which its answer may be kept, where that is less.
KEEP_AT_MOST = "keep_at_most"

# Name of an answer's extension, set by the cache: seconds since the server sent or confirmed it.
KEPT_FOR = "kept_for"

# Name of a request's extension: the answers that came over the network for it.
_CAME = "came"
# Part of the file's name: hishel's major version, each of which reads its own files only.
_FORMAT = 2


def cache_file(folder: Path, *, private: bool) -> Path:
    """Return the cache's file; pages read while private addresses were allowed are kept apart from the others."""
    return folder / "http" / f"pages-{_FORMAT}{'-private' * private}.sqlite"


class CacheTransport(httpx.AsyncBaseTransport):
    """Answers from `file` where RFC 9111 lets it, and asks `inner` where not; requests with cookies pass it by.

    A file that can't be read or written is logged, and the page is read without it.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, file: Path, *, largest: int, most: int = MOST_BYTES) -> None:
        """`largest`: bytes of one answer that is kept at most; `most`: bytes of the whole file."""
        from hishel import AsyncSqliteStorage, CacheOptions
        from hishel.httpx import AsyncCacheTransport

        with suppress(OSError):
            make_private_file(file)  # SQLite gives the files beside it the same permissions
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
        # hishel doesn't close the server's answer where it is interrupted before it has written it to its file.
        came: list[httpx.Response] = []
        request.extensions[_CAME] = came
        try:
            response = await self._cached.handle_async_request(request)
        except BaseException:
            with anyio.CancelScope(shield=True):
                for each in came:
                    await each.aclose()
            raise
        if not response.extensions["caching"]["from_cache"]:
            return response
        body = None
        try:
            body = b"".join([piece async for piece in response.aiter_raw()])
        except RuntimeError:
            pass  # another process removed it from the cache while it was read
        finally:
            await response.aclose()
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


class _AsTheServerSays(httpx.AsyncBaseTransport):
    """Transport that keeps the cache from guessing a lifetime, and from keeping answers that it could not use
    again."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        request.extensions[_CAME].append(response)
        headers = response.headers
        said = headers.get("cache-control", "")
        has_lifetime = "expires" in headers or "max-age" in said.lower()
        if response.status_code != 304 and not has_lifetime:
            has_validator = "etag" in headers or "last-modified" in headers
            rule = "no-cache" if response.status_code == 200 and has_validator else "no-store"
            headers["cache-control"] = f"{said}, {rule}" if said else rule
        return response
