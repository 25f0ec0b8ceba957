"""Find out, in under a second, whether the network can be reached: where it can't, the frozen web answers."""

from __future__ import annotations

import base64
import queue
import socket
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from urllib.parse import unquote, urlsplit

from marchwarden.environment import proxies
from marchwarden.settings import Settings

# Seconds for looking up and reaching one host. A guess: a page that takes longer is no use within a call.
_TIMEOUT_S = 0.8
# Services that are asked first, of two different operators: one may be blocked or down.
HOSTS = (("en.wikipedia.org", 443), ("api.crossref.org", 443))
# Bytes of the first line of a proxy's answer, at most. A guess.
_STATUS_LINE_BYTES = 200


@dataclass(frozen=True)
class _Way:
    """Way to reach one host: over its own address, or over a proxy's."""

    host: str
    port: int
    request: bytes = b""
    """Request for a tunnel, which the proxy must grant; empty where a connection is enough."""


def with_reachable_sources(settings: Settings) -> Settings:
    """Return the settings with `offline` set where live sources are in force by default, and there is no network.

    Blocks for at most _TIMEOUT_S. Sources that the user named are left as they are.
    """
    if settings.source is not None or settings.source_name != "open" or has_network():
        return settings
    return settings.model_copy(update={"offline": True})


def has_network() -> bool:
    """Return whether one of HOSTS accepts a connection, or a proxy grants one to it. Nothing is sent to the hosts."""
    found: queue.SimpleQueue[bool] = queue.SimpleQueue()
    ways = [_way(*each) for each in HOSTS]
    for way in ways:
        # A look-up that hangs is left behind; unlike a pool's threads, this one does not keep a process from ending.
        Thread(target=lambda each: found.put(_is_open(each)), args=(way,), daemon=True).start()
    end = time.monotonic() + _TIMEOUT_S
    with suppress(queue.Empty):
        return any(found.get(timeout=max(0.0, end - time.monotonic())) for _ in ways)
    return False


def _way(host: str, port: int) -> _Way:
    named = proxies()
    proxy = named.get("https") or named.get("all")
    if not proxy or urllib.request.proxy_bypass(host):
        return _Way(host, port)
    with suppress(ValueError):
        parts = urlsplit(proxy)
        own_port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.scheme != "http":
            return _Way(parts.hostname or "", own_port)
        lines = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}"]
        if parts.username is not None:
            password = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            lines.append(f"Proxy-Authorization: Basic {base64.b64encode(password.encode()).decode()}")
        return _Way(parts.hostname or "", own_port, "\r\n".join([*lines, "", ""]).encode())
    return _Way(host, port)


def _is_open(way: _Way) -> bool:
    try:
        with socket.create_connection((way.host, way.port), timeout=_TIMEOUT_S) as connection:
            if not way.request:
                return True
            connection.sendall(way.request)
            return connection.recv(_STATUS_LINE_BYTES).partition(b"\r\n")[0].split(b" ")[1:2] == [b"200"]
    except (OSError, UnicodeError):
        return False
