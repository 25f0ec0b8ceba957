"""The operator's view of the server: metrics for Prometheus, and a log of one JSON object a line.

Neither holds a question, a token, an address of a caller, or a query string.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from marchwarden.errors import ConfigurationError, how_to_install
from marchwarden.server.service import EXCHANGE, CallRecord, Exchange, Service
from marchwarden.settings import Settings
from marchwarden.text.redaction import Redactor, secrets_of

# Seconds of a call, in which Prometheus counts them: around the limits of the depths, 30, 55 and 180.
BUCKETS_S = (1, 2, 5, 10, 20, 30, 55, 90, 180)
_PATHS = frozenset({"/mcp", "/healthz", "/readyz", "/metrics"})

RequestSeen = Callable[[Scope, int, float], None]


class Metrics:
    """Metrics of one server, with prometheus-client (extra `serve`)."""

    def __init__(self, service: Service, connections: Callable[[], int]) -> None:
        """Raises ConfigurationError where prometheus-client is not installed."""
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        except ImportError as error:
            raise ConfigurationError("metrics need prometheus-client", hint=how_to_install("serve")) from error
        self._registry = CollectorRegistry()
        own: dict[str, Any] = {"registry": self._registry, "namespace": "marchwarden"}
        self._calls = Counter("calls", "Calls that ended, by outcome.", ["outcome"], **own)
        self._seconds = Histogram("call_seconds", "Seconds of calls with a result.", buckets=BUCKETS_S, **own)
        self._tokens = Counter("model_tokens", "Model tokens that calls with a result used.", **own)
        self._requests = Counter("http_requests", "Requests over HTTP.", ["method", "path", "status"], **own)
        Gauge("calls_running", "Calls that run.", **own).set_function(lambda: service.admission.running)
        Gauge("calls_waiting", "Calls that wait for a place.", **own).set_function(lambda: service.admission.waiting)
        Gauge("connections", "Open connections.", **own).set_function(connections)

    def on_call_end(self, record: CallRecord) -> None:
        self._calls.labels(record.outcome).inc()
        if record.outcome in ("answered", "nothing_found"):
            self._seconds.observe(record.seconds)
            self._tokens.inc(record.tokens or 0)

    def on_request(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in ("GET", "POST", "DELETE", "OPTIONS", "HEAD") else "other"
        self._requests.labels(method, _path(scope), str(status)).inc()

    async def respond(self, request: Request) -> Response:
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


async def no_metrics(request: Request) -> Response:
    return PlainTextResponse(f"Metrics need prometheus-client. {how_to_install('serve')}", 501)


class JsonLog:
    """Log of requests and calls on stderr."""

    def __init__(self, settings: Settings) -> None:
        self._redactor = Redactor(secrets_of(settings))
        self._logger = logging.getLogger("marchwarden.operation")
        self._logger.setLevel(logging.INFO)
        self._logger.propagate = False
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        self._logger.handlers = [handler]

    def write(self, event: str, **fields: Any) -> None:
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        known = {name: value for name, value in fields.items() if value is not None}
        self._logger.info(self._redactor.redact(json.dumps({"time": now, "event": event, **known})))

    def on_call_end(self, record: CallRecord) -> None:
        self.write(
            "call",
            trace_id=record.trace_id,
            caller=record.caller,
            outcome=record.outcome,
            seconds=round(record.seconds, 3),
            tokens=record.tokens,
            error=record.error,
        )

    def on_request(self, scope: Scope, status: int, seconds: float) -> None:
        exchange: Exchange | None = scope.get(EXCHANGE)
        caller = exchange.caller.name if exchange and exchange.caller else None
        self.write(
            "request",
            method=scope["method"],
            path=_path(scope),
            status=status,
            seconds=round(seconds, 3),
            caller=caller,
        )


class ObservationMiddleware:
    """Tells of each request once it has ended: its status is 499 where the client left before the answer began."""

    def __init__(self, app: ASGIApp, observers: list[RequestSeen]) -> None:
        self._app = app
        self._observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 499

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, seen)
        finally:
            for observe in self._observers:
                observe(scope, status, time.monotonic() - began)


def _path(scope: Scope) -> str:
    """Return the path where it is one of the server's: others are whatever somebody sent."""
    path = str(scope["path"])
    return path if path in _PATHS else "other"
