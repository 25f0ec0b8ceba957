"""Frozen web: pages and a manifest in a folder, and the httpx transport that serves them in place of the network.

data/web/README.md describes the format; `--web DIR` reads any such folder. Search is in sources/snapshot_search.py,
reading of pages in reading/page.py.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from marchwarden.errors import ConfigurationError
from marchwarden.http.addresses import normalise_url
from marchwarden.http.download import REDIRECTS
from marchwarden.settings import shipped

MANIFEST = "manifest.jsonl"
_HINT = (
    "A frozen web is a folder with a manifest.jsonl; MARCHWARDEN_WEB or --web names it, unset means the shipped one."
)
# Bytes that are read at once. A guess.
_CHUNK_BYTES = 65_536


@dataclass(frozen=True)
class FrozenPage:
    """One line of the manifest: the answer to a GET of `url`, and facts that a search engine knows."""

    url: str
    """Normalised address, as a fetch requests it."""
    spelling: str
    """Address as the manifest has it; of two spellings of one address, the normalised one is served."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    """File with the bytes of the body; None for an answer without one."""
    published: date | None = None
    delay_s: float = 0.0
    """Seconds until the answer comes."""
    redirect: str | None = None
    """Absolute or relative target."""
    title: str | None = None
    snippet: str | None = None
    """Text that a search engine shows of a page that it has read, but that we can't."""
    topic: str | None = None
    note: str | None = None
    """Purpose of the page, for maintainers."""

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def content_type(self) -> str | None:
        return next((value for name, value in self.headers.items() if name.lower() == "content-type"), None)

    def body(self) -> bytes:
        return self.file.read_bytes() if self.file else b""


def manifest_hash(folder: Path) -> str | None:
    """Return the hash of a frozen web's manifest; None for the shipped web, and where there is no manifest."""
    if folder == shipped("web"):
        return None
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()[:16]
    except OSError:
        return None


class FrozenWeb:
    """Pages of a folder by their URLs. Bodies stay on disk until they are requested."""

    def __init__(self, folder: Path, pages: Mapping[str, FrozenPage], fingerprint: str) -> None:
        self.folder = folder
        self.pages = pages
        self.fingerprint = fingerprint
        """Hash that changes with the manifest, and with the size or the time of a page's file."""
        self.hosts = frozenset(page.host for page in pages.values())

    @classmethod
    def load(cls, folder: Path) -> FrozenWeb:
        """Load a folder. Raises ConfigurationError with file and line where it is not a frozen web."""
        manifest = folder / MANIFEST
        try:
            lines = manifest.read_bytes()
        except OSError as error:
            raise ConfigurationError(f"{manifest}: {error.strerror or error}", hint=_HINT) from None
        pages: dict[str, FrozenPage] = {}
        spellings: set[str] = set()
        seen = hashlib.sha256(lines)
        for number, line in enumerate(lines.splitlines(), start=1):
            if line.strip():
                page = _read_line(line, folder, f"{manifest}, line {number}", seen)
                if page.spelling in spellings:
                    raise _broken(f"{manifest}, line {number}", f"{page.spelling} is there a second time")
                spellings.add(page.spelling)
                if page.url not in pages or page.spelling == page.url:
                    pages[page.url] = page
        if not pages:
            raise _broken(str(manifest), "it names no page")
        return cls(folder, pages, seen.hexdigest())

    def page(self, url: str) -> FrozenPage | None:
        try:
            return self.pages.get(url) or self.pages.get(normalise_url(url))
        except ValueError:
            return None


def _broken(where: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"{where}: {what}", hint=_HINT)


def _read_line(line: bytes, folder: Path, where: str, seen: hashlib._Hash) -> FrozenPage:
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("not a JSON object")
        page = _page(fields, folder)
        if page.file is not None:
            state = page.file.stat()
            seen.update(f"{state.st_size} {state.st_mtime_ns}\n".encode())
    except UnicodeDecodeError:
        raise _broken(where, "not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _broken(where, f"not JSON ({error.msg}, column {error.colno})") from None
    except KeyError as error:
        raise _broken(where, f"{error.args[0]} is missing") from None
    except OSError as error:
        raise _broken(where, f"{fields['file']}: {error.strerror or error}") from None
    except (ValueError, TypeError) as error:
        raise _broken(where, str(error)) from None
    return page


def _page(fields: dict[str, Any], folder: Path) -> FrozenPage:
    """Return the page of a line. Raises KeyError with a missing field's name, ValueError or TypeError."""
    published = _text(fields, "published")
    spelling = _text(fields, "url")
    if not spelling:
        raise KeyError("url")
    file = _text(fields, "file")
    if file and (".." in file.split("/") or file.startswith("/") or "\\" in file or ":" in file):
        raise ValueError(f"{file} lies outside the folder")
    page = FrozenPage(
        url=normalise_url(spelling),
        spelling=spelling,
        status=_number(fields, "status", int, 200),
        headers=_headers(fields.get("headers")),
        file=folder / file if file else None,
        published=date.fromisoformat(published) if published else None,
        delay_s=float(_number(fields, "delay_s", (int, float), 0)),
        redirect=_text(fields, "redirect"),
        title=_text(fields, "title"),
        snippet=_text(fields, "snippet"),
        topic=_text(fields, "topic"),
        note=_text(fields, "note"),
    )
    if not 100 <= page.status <= 599 or page.delay_s < 0:
        raise ValueError("status must be an HTTP status, and delay_s not negative")
    if page.redirect and page.status not in REDIRECTS:
        raise ValueError(f"redirect goes with a status of {sorted(REDIRECTS)}, not {page.status}")
    return page


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} must be text")
    return value or None


def _number(fields: dict[str, Any], name: str, kind: type | tuple[type, ...], default: int) -> Any:
    value = fields.get(name, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number")
    return value


def _headers(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise ValueError("headers must be an object of texts")
    return value


class FrozenWebTransport(httpx.AsyncBaseTransport):
    """Transport that answers from a manifest: 404 for an unknown page of a known host; unknown hosts do not resolve.

    A page's delay takes real time, up to the request's read timeout; then httpx.ReadTimeout is raised.
    """

    def __init__(self, web: FrozenWeb) -> None:
        self._web = web

    def serves(self, host: str) -> bool:
        return host in self._web.hosts

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not self.serves(request.url.raw_host.decode("ascii")):
            raise httpx.ConnectError(f"{request.url.host} does not resolve", request=request)
        if request.method not in ("GET", "HEAD"):
            return httpx.Response(405, headers={"allow": "GET, HEAD"}, request=request)
        page = self._web.page(str(request.url))
        if page is None:
            body = b"<!doctype html><title>404 Not Found</title><h1>Not Found</h1>"
            return httpx.Response(404, headers={"content-type": "text/html"}, content=body, request=request)
        timeout_s = request.extensions.get("timeout", {}).get("read")
        if timeout_s is not None and page.delay_s > timeout_s:
            await asyncio.sleep(timeout_s)
            raise httpx.ReadTimeout(f"no answer within {timeout_s:g} s", request=request)
        if page.delay_s:
            await asyncio.sleep(page.delay_s)
        headers = httpx.Headers(dict(page.headers))
        if page.redirect:
            headers.setdefault("location", page.redirect)
        headers.setdefault("content-length", str(page.file.stat().st_size if page.file else 0))
        stream = _FileStream(None if request.method == "HEAD" else page.file)
        return httpx.Response(page.status, headers=headers, stream=stream, request=request)


class _FileStream(httpx.AsyncByteStream):
    """Bytes of a file in chunks, so that a reader can stop in the middle of a huge page."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._file is None:
            return
        with self._file.open("rb") as body:
            while chunk := body.read(_CHUNK_BYTES):
                yield chunk
