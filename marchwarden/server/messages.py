"""Messages that the MCP SDK would leave without an answer, and the errors that JSON-RPC has for them.

The SDK drops what it can't read as a message. Whoever sent it with an id would wait for ever.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from marchwarden.trace.standalone_verifier import is_too_deep

# Bytes of one message from a client. A guess: the longest request that the contract allows has 20,000.
MAX_LINE_BYTES = 4_000_000

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
# Codes for calls that were not begun, from those that MCP leaves to servers.
SERVER_BUSY, ALLOWANCE_SPENT = -32010, -32011


def screened(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the messages of a line, each with whether it goes to the server; one that doesn't is an error to send.

    A batch (MCP 2025-03-26) is taken apart: each of its requests is answered by itself.
    """
    if not line.strip():
        return
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        is_cut = len(line.encode("utf-8", "replace")) >= MAX_LINE_BYTES
        problem = f"the message is longer than {MAX_LINE_BYTES:,} bytes" if is_cut else "the message is not JSON"
        yield _error(None, PARSE_ERROR, problem), False
        return
    if not isinstance(read, list):
        fault = _fault(read)
        yield (line, True) if fault is None else (_error(_id_of(read), INVALID_REQUEST, fault), False)
        return
    if not read:
        yield _error(None, INVALID_REQUEST, "the batch is empty"), False
    for each in read:
        fault = _fault(each)
        yield (json.dumps(each), True) if fault is None else (_error(_id_of(each), INVALID_REQUEST, fault), False)


def read_body(body: bytes) -> tuple[Any, Any | None]:
    """Return the message of an HTTP request, and the answer to one that the server would leave its ids unanswered in.

    That is an error, or those of a batch, which is not taken apart here; None where the server can answer the
    message, or where it asks none. The message is None where it is not JSON.
    """
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return None, _said(None, PARSE_ERROR, "the message is not JSON")
    return read, _refused(read)


def _refused(read: Any) -> Any | None:
    if isinstance(read, list):
        alone = "batches are not taken over HTTP: send each message by itself"
        asked = [each for each in read if not isinstance(each, dict) or "id" in each]
        said = [_said(_id_of(each), INVALID_REQUEST, _fault(each) or alone) for each in asked]
        return said or _said(None, INVALID_REQUEST, alone if read else "the batch is empty")
    fault = _fault(read)
    return None if fault is None else _said(_id_of(read), INVALID_REQUEST, fault)


def _fault(message: Any) -> str | None:
    """Return why a message that asks for an answer can't get one from the server; None where it can, or asks none."""
    if not isinstance(message, dict):
        return "the message is not an object"
    if "id" not in message or ("method" not in message and ("result" in message or "error" in message)):
        return None
    if is_too_deep(message):
        return "the message is nested too deeply"
    identifier, params = message["id"], message.get("params")
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc must be "2.0"'
    if isinstance(identifier, bool) or not isinstance(identifier, (int, str)):
        return "id must be an integer or a string"
    if not isinstance(message.get("method"), str):
        return "method must be a string"
    if params is not None and not isinstance(params, dict):
        return "params must be an object"
    return None


def _id_of(message: Any) -> Any:
    """Return the id to answer to: as it came, where JSON-RPC lets an id be so; else None."""
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, float) and not math.isfinite(found):
        return None
    return found if isinstance(found, (int, float, str)) and not isinstance(found, bool) else None


def _error(identifier: Any, code: int, message: str) -> str:
    return json.dumps(_said(identifier, code, message))


def _said(identifier: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}
