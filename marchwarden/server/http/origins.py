"""Requests name this server in `Host`, and come from no page of a site that was not declared.

Against DNS rebinding, by which a page in a browser could call a server on this machine or network. The MCP SDK
has such a check. It compares by prefix and case, and refuses a `Host` without a port, as ports 80 and 443 have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from marchwarden.errors import ConfigurationError
from marchwarden.http.addresses import DEFAULT_PORTS
from marchwarden.settings import Settings

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# Paths that load balancers and supervisors ask by the server's number; they tell nothing.
PROBES = frozenset({"/healthz", "/readyz"})


@dataclass(frozen=True)
class Origin:
    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Return an origin as it is compared: in small letters, with its port. Raises ValueError where it is none."""
        parts = urlsplit(text.strip())
        scheme, host = parts.scheme.lower(), parts.hostname
        if scheme not in DEFAULT_PORTS or not host or parts.username or parts.path.strip("/") or parts.query:
            raise ValueError(f"{text!r} is not an origin")
        return cls(scheme, host, parts.port or DEFAULT_PORTS[scheme])

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


class Names:
    """Names that callers may use for this server, and origins whose pages may call it."""

    def __init__(self, hosts: Iterable[str], origins: Iterable[Origin]) -> None:
        self.hosts = LOOPBACK | {host.lower() for host in hosts}
        self.origins = frozenset(origins)

    @classmethod
    def of(cls, settings: Settings, host: str) -> Names:
        """Return the names of a server that listens on `host`. Raises ConfigurationError for what is no origin."""
        declared = declared_origins(settings)
        if settings.server_url is None:
            return cls([host], declared)
        parts = urlsplit(settings.server_url)
        return cls([host, parts.hostname or ""], [*declared, Origin.parse(f"{parts.scheme}://{parts.netloc}")])

    def has_host(self, header: str | None) -> bool:
        """Return whether `Host` names this server, on whatever port: a proxy listens on another one."""
        try:
            parts = urlsplit(f"//{header or ''}")
            return (
                parts.hostname in self.hosts
                and not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
                and (parts.port is None or parts.port >= 0)
            )
        except ValueError:
            return False

    def has_origin(self, header: str) -> bool:
        try:
            origin = Origin.parse(header)
        except ValueError:
            return False
        # A page of this machine may call a server on it.
        return origin in self.origins or (origin.host in LOOPBACK and self.hosts == LOOPBACK)


def declared_origins(settings: Settings) -> list[Origin]:
    """Return the origins that the settings declare. Raises ConfigurationError."""
    try:
        return [Origin.parse(each) for each in (settings.server_origins or "").split(",") if each.strip()]
    except ValueError as error:
        raise ConfigurationError(
            f"MARCHWARDEN_SERVER_ORIGINS: {error}", hint="Origins look like https://app.example.org."
        ) from error


class NamesMiddleware:
    """Refuses requests to other names (421) and from other origins (403)."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if len(hosts) != 1 or not self._names.has_host(hosts[0]):
            await PlainTextResponse("This server has another name.", 421)(scope, receive, send)
        elif not all(self._names.has_origin(origin) for origin in origins):
            await PlainTextResponse("Pages of this origin may not call this server.", 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
