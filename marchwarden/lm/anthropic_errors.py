"""The Anthropic SDK's errors, and its HTTP client's, as the lm15 errors that DSPy's retry policy knows."""

from __future__ import annotations

import re
from typing import Any

import anthropic
import httpx2
from dspy import lm15

from marchwarden.http.rate_limits import retry_after_of
from marchwarden.lm.prompt import TOO_LONG

PROVIDER = "anthropic"

_NO_CREDIT = re.compile(r"credit balance", re.IGNORECASE)


def to_lm15(error: Exception) -> Any:
    """The lm15 error that `error` amounts to; `error` itself where it is no failure of the service."""
    if isinstance(error, lm15.LM15Error):
        return error
    if isinstance(error, anthropic.APIStatusError):
        message = error.api_message or error.message
        kind = _BY_TYPE.get(str(error.type)) or _BY_STATUS.get(error.status_code)
        if kind is None:
            kind = lm15.InvalidRequestError if 400 <= error.status_code < 500 else lm15.ServerError
        if kind is lm15.InvalidRequestError and TOO_LONG.search(message):
            kind = lm15.ContextLengthError
        elif kind is lm15.InvalidRequestError and _NO_CREDIT.search(message):
            kind = lm15.BillingError
        return kind(
            message,
            provider=PROVIDER,
            provider_code=str(error.type) if error.type else None,
            # An error can come inside a stream that began with 200, which is no status of an error.
            status=error.status_code if error.status_code >= 400 else None,
            request_id=error.request_id,
            retry_after=_retry_after(error.response.headers),
        )
    if isinstance(error, (anthropic.APITimeoutError, httpx2.TimeoutException)):
        return lm15.TimeoutError("the model service did not answer in time", provider=PROVIDER)
    if isinstance(error, (anthropic.APIConnectionError, httpx2.HTTPError)):
        return lm15.TransportError("the connection to the model service failed", provider=PROVIDER)
    if isinstance(error, anthropic.CredentialsError):
        return lm15.NotConfiguredError(str(error), provider=PROVIDER)
    if isinstance(error, (anthropic.AnthropicError, ValueError)):  # an answer that is not in the API's format
        return lm15.ServerError("the model service sent something unreadable", provider=PROVIDER)
    return error


_BY_TYPE: dict[str, Any] = {
    "authentication_error": lm15.AuthError,
    "permission_error": lm15.AuthError,
    "billing_error": lm15.BillingError,
    "rate_limit_error": lm15.RateLimitError,
    "overloaded_error": lm15.ServerError,
    "api_error": lm15.ServerError,
    "timeout_error": lm15.TimeoutError,
    "not_found_error": lm15.UnsupportedModelError,
    "request_too_large": lm15.ContextLengthError,
    "invalid_request_error": lm15.InvalidRequestError,
}

_BY_STATUS: dict[int, Any] = {
    401: lm15.AuthError,
    402: lm15.BillingError,
    403: lm15.AuthError,
    404: lm15.UnsupportedModelError,
    408: lm15.TimeoutError,
    413: lm15.ContextLengthError,
    429: lm15.RateLimitError,
    504: lm15.TimeoutError,
}


def _retry_after(headers: Any) -> float | None:
    """Return the seconds to wait, from milliseconds, seconds or an HTTP date (RFC 9110, 10.2.3); None for none."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    if (seconds := _number(headers.get("retry-after"))) is not None:  # fractions too, which the RFC does not know
        return seconds
    asked = retry_after_of(headers)
    return asked.seconds if asked else None


def _number(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value is not None else None
    except ValueError:
        return None
