"""Stored pages and texts as resources, `content://sha256:…`, for callers that check what a result quotes.

Only what a trace of this server names is given out.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from marchwarden.errors import ConfigurationError, StorageError, TraceError
from marchwarden.settings import Settings
from marchwarden.sharing.retrieval import fetch_new_traces, fetch_object
from marchwarden.store.content_store import Store

CONTENT_MEDIA_TYPE = "application/octet-stream"
# Traces that are looked through, the newest first: callers ask right after their call. A guess: 1,000 of 100 kB are
# read in 0.1 s.
_TRACES_SEARCHED = 1_000
_URI = re.compile(r"^content://(sha256:[0-9a-f]{64})$")

CONTENT_TEMPLATE = types.ResourceTemplate(
    uri_template="content://{content_hash}",
    name="content",
    title="Stored page or text",
    description="Bytes of a page, or of the text extracted from it, under the hash that a trace names them by.",
    mime_type=CONTENT_MEDIA_TYPE,
)


async def read_content(settings: Settings, uri: str) -> types.ReadResourceResult:
    """Return stored bytes. Raises MCPError where the URI is no hash, or no trace of this server names it."""
    found = _URI.match(uri)
    if found is None:
        raise MCPError(types.INVALID_PARAMS, "stored content is content://sha256:…, with 64 digits", {"uri": uri})
    body = await anyio.to_thread.run_sync(_named_content, settings, found[1])
    if body is None:
        raise MCPError(types.INVALID_PARAMS, f"no trace of this server names {found[1]}", {"uri": uri})
    blob = base64.b64encode(body).decode("ascii")
    contents = types.BlobResourceContents(uri=uri, mime_type=CONTENT_MEDIA_TYPE, blob=blob)
    return types.ReadResourceResult(contents=[contents])


def _named_content(settings: Settings, key: str) -> bytes | None:
    return next((body for _ in traces_naming(settings, key) if (body := stored_content(settings, key))), None)


def stored_content(settings: Settings, key: str) -> bytes | None:
    """Return what is stored under a hash, here or in the object store; None where it is missing or damaged."""
    store = Store(settings.store_folder)
    with suppress(TraceError):
        return store.get(key)
    with suppress(ConfigurationError, StorageError, TraceError):
        if settings.store is not None and fetch_object(settings, key):
            return store.get(key)
    return None


def traces_naming(settings: Settings, key: str) -> Iterator[bytes]:
    """Yield the traces that a hash is in, the newest first; then those that only the object store had."""
    seen: set[Path] = set()
    yield from _traces_here(settings.traces, key, seen)
    if fetch_new_traces(settings):
        yield from _traces_here(settings.traces, key, seen)


def _traces_here(folder: Path, key: str, seen: set[Path]) -> Iterator[bytes]:
    named = key.encode("ascii")
    for path in sorted(folder.glob("*.jsonl"), key=_age)[:_TRACES_SEARCHED]:
        if path in seen:
            continue
        seen.add(path)
        try:
            body = path.read_bytes()
        except OSError:
            continue
        if named in body:
            yield body


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0
