"""Failures that an HTTP status alone means."""

from __future__ import annotations

from marchwarden.observations import Failure, FailureKind


def failure_of_status(status: int) -> Failure | None:
    """The failure that an HTTP status alone means; None for 2xx."""
    if 200 <= status < 300:
        return None
    kind = _BY_STATUS.get(status)
    if kind is None:
        kind = FailureKind.SERVER_ERROR if status >= 500 or status < 400 else FailureKind.BAD_REQUEST
    return Failure(kind, f"{_BY_KIND[kind]} (HTTP status {status})")


_BY_STATUS = {
    401: FailureKind.FORBIDDEN,
    402: FailureKind.PAYWALL,
    403: FailureKind.FORBIDDEN,
    404: FailureKind.NOT_FOUND,
    407: FailureKind.FORBIDDEN,
    408: FailureKind.TIMEOUT,
    410: FailureKind.NOT_FOUND,
    429: FailureKind.RATE_LIMITED,
    451: FailureKind.FORBIDDEN,
    999: FailureKind.BOT_WALL,
}
_BY_KIND = {
    FailureKind.FORBIDDEN: "the server refuses access to the page",
    FailureKind.PAYWALL: "the page requires payment",
    FailureKind.NOT_FOUND: "the page does not exist",
    FailureKind.TIMEOUT: "the server timed out",
    FailureKind.RATE_LIMITED: "the server limits the number of requests",
    FailureKind.BOT_WALL: "the server blocks automated access",
    FailureKind.SERVER_ERROR: "the server failed to return the page",
    FailureKind.BAD_REQUEST: "the server rejects the request",
}
