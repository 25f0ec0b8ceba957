"""The server over HTTP as an ASGI application, and its process: listen, serve, drain."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Any

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, request_response
from starlette.types import ASGIApp

from marchwarden.errors import ConfigurationError
from marchwarden.server.http.connections import Connections
from marchwarden.server.http.door import IDLE_S, SESSIONS, Door
from marchwarden.server.http.event_store import SessionEvents
from marchwarden.server.http.free_memory import EVERY_S, give_back
from marchwarden.server.http.observation import JsonLog, Metrics, ObservationMiddleware, RequestSeen, no_metrics
from marchwarden.server.http.origins import Names, NamesMiddleware, declared_origins
from marchwarden.server.service import Service
from marchwarden.sharing.index_database import open_database

PATH = "/mcp"
# Seconds that a connection without a request is kept. A guess, longer than most proxies' pause.
KEEP_ALIVE_S = 30
# Seconds for open streams to end after that. A guess.
CLOSE_S = 1

# An address as it was written: clients compare an issuer as a string (RFC 8414, 3.3), and pydantic would add a slash
# to one without a path.
_AS_WRITTEN = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))

logger = logging.getLogger(__name__)


def http_app(
    server: Server[Any],
    service: Service,
    host: str,
    connections: Callable[[], int] = lambda: 0,
    most_sessions: int = SESSIONS,
    idle_s: float = IDLE_S,
) -> Starlette:
    """Return the application of a server that listens on `host`. Raises ConfigurationError."""
    settings = service.settings
    events = SessionEvents()
    manager = StreamableHTTPSessionManager(
        server,
        stateless=settings.server_stateless,
        event_store=None if settings.server_stateless else events,
        session_idle_timeout=None if settings.server_stateless else idle_s,
    )
    observers: list[RequestSeen] = []
    if settings.server_log == "json":
        log = JsonLog(settings)
        service.on_call_end.append(log.on_call_end)
        observers.append(log.on_request)
    respond = no_metrics
    try:
        metrics = Metrics(service, connections)
    except ConfigurationError as error:
        logger.info("%s", error)
    else:
        service.on_call_end.append(metrics.on_call_end)
        observers.append(metrics.on_request)
        respond = metrics.respond

    endpoint: ASGIApp = Door(manager.handle_request, service, events, most_sessions, idle_s)
    metrics_endpoint: Any = respond
    routes: list[Route] = [Route("/healthz", _alive), Route("/readyz", partial(_ready, service))]
    middleware = [
        Middleware(ObservationMiddleware, observers=observers),
        Middleware(NamesMiddleware, names=Names.of(settings, host)),
    ]
    if origins := declared_origins(settings):
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=[str(each) for each in origins],
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["*"],
                expose_headers=["mcp-session-id", "www-authenticate", "retry-after"],
            )
        )
    if service.callers.are_known:
        scopes = (settings.server_scopes or "").split()
        is_resource = settings.server_issuer and settings.server_url
        resource = _AS_WRITTEN.validate_python(settings.server_url) if is_resource else None
        metadata = build_resource_metadata_url(resource) if resource else None
        endpoint = RequireAuthMiddleware(endpoint, scopes, metadata)
        metrics_endpoint = RequireAuthMiddleware(request_response(respond), [], metadata)
        middleware.append(Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(_Verifier(service))))
        if resource and settings.server_issuer:
            routes += create_protected_resource_routes(
                resource_url=resource,
                authorization_servers=[_AS_WRITTEN.validate_python(settings.server_issuer)],
                scopes_supported=scopes or None,
            )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    routes += [Route(PATH, endpoint), Route("/metrics", metrics_endpoint)]
    app = Starlette(routes=routes, middleware=middleware, lifespan=lifespan)
    app.state.events = events
    return app


class _Verifier:
    """The callers that the service knows now: they can be read anew while it runs."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def verify_token(self, token: str) -> AccessToken | None:
        return await self._service.callers.verify_token(token)


async def _alive(request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _ready(service: Service, request: Request) -> Response:
    """Answer 200 where a call would be taken now, 503 where it would be refused."""
    refused = service.admission.refusal()
    if refused is None:
        return PlainTextResponse("ready\n" + _without_index(service))
    return PlainTextResponse("not ready\n", 503, headers={"retry-after": str(refused.retry_after)})


def _without_index(service: Service) -> str:
    """Return a line about an index of traces that can't be used: calls are answered all the same."""
    given = service.settings.trace_index
    if given is None or service.settings.store is None:
        return ""
    database = open_database(given.get_secret_value())
    database.check_later()
    return f"{database.problem}\n" if database.problem else ""


class _Runner(uvicorn.Server):
    """uvicorn's server, which wakes once a second instead of ten times, since each waking of a process that sleeps
    costs as much as thirty steps of a busy loop. It gives free memory back now and then."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told = anyio.Event()

    async def main_loop(self) -> None:
        next_time = anyio.current_time() + EVERY_S
        # At 0 it also sets the date of answers.
        while not await self.on_tick(0):
            with anyio.move_on_after(1):
                await self.told.wait()
            if anyio.current_time() >= next_time:
                give_back()
                next_time = anyio.current_time() + EVERY_S


async def serve_http(
    server: Server[Any],
    service: Service,
    listener: socket.socket,
    host: str,
    announce: Callable[[str], None] | None,
    leave: anyio.Event,
) -> None:
    """Serve until `leave` is set. Raises ConfigurationError where the settings can't be used."""
    connections = Connections(service.settings.server_connections)
    app = http_app(server, service, host, lambda: len(connections))
    config = uvicorn.Config(
        app,
        http=connections.protocol,  # type: ignore[arg-type]  # uvicorn calls it as it would call the class
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",  # a connection that became a WebSocket would leave the count of connections
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=CLOSE_S,
    )
    runner = _Runner(config)
    runner.capture_signals = nullcontext  # type: ignore[assignment, method-assign]  # they are watched elsewhere

    async def until_told() -> None:
        await leave.wait()
        runner.should_exit = True
        runner.told.set()

    if announce:
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{listener.getsockname()[1]}{PATH}")
    async with anyio.create_task_group() as group:
        group.start_soon(until_told)
        await runner.serve(sockets=[listener])
        group.cancel_scope.cancel()
