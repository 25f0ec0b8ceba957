"""Stored pages and texts as resources, `content://sha256:…`, for callers that check what a result quotes.

Only what a trace of this server names is given out.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from marchwarden.errors import TraceError
from marchwarden.settings import Settings
from marchwarden.store.content_store import Store

CONTENT_MEDIA_TYPE = "application/octet-stream"
# Traces that are looked through, the newest first: callers ask right after their call. A guess.
_TRACES_SEARCHED = 1_000
_URI = re.compile(r"^content://(sha256:[0-9a-f]{64})$")

TEMPLATE = types.ResourceTemplate(
    uri_template="content://{content_hash}",
    name="content",
    title="Stored page or text",
    description="Bytes of a page, or of the text extracted from it, under the hash that a trace names them by.",
    mime_type=CONTENT_MEDIA_TYPE,
)


def is_content(uri: str) -> bool:
    return uri.startswith("content://")


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
    named = key.encode("ascii")
    for path in sorted(settings.traces.glob("*.jsonl"), key=_age)[:_TRACES_SEARCHED]:
        try:
            if named in path.read_bytes():
                return Store(settings.store).get(key)
        except (OSError, TraceError):
            continue
    return None


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0
