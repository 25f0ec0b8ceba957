"""Find out, in under a second, whether the network can be reached: where it can't, the frozen web answers."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from urllib.parse import urlsplit

from marchwarden.http.proxies import proxies
from marchwarden.settings import Settings

# Seconds for looking up and reaching one host. A guess: a page that takes longer is no use within a call.
_TIMEOUT_S = 0.8
# Services that are asked first, of two different operators: one may be blocked or down.
HOSTS = (("en.wikipedia.org", 443), ("api.crossref.org", 443))


def with_reachable_sources(settings: Settings) -> Settings:
    """Return the settings with `offline` set where live sources are in force by default, and there is no network.

    Blocks for at most _TIMEOUT_S. Sources that the user named are left as they are.
    """
    if settings.source is not None or settings.source_name != "open" or has_network():
        return settings
    return settings.model_copy(update={"offline": True})


def has_network() -> bool:
    """Return whether one of HOSTS, or the proxy before them, accepts a connection. Nothing is sent."""
    hosts: Sequence[tuple[str, int]] = HOSTS
    named = proxies()
    if proxy := named.get("https") or named.get("all"):
        parts = urlsplit(proxy)
        with suppress(ValueError):
            hosts = [(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))]
    threads = ThreadPoolExecutor(len(hosts))
    try:
        tries = [threads.submit(_accepts, *each) for each in hosts]
        with suppress(TimeoutError):
            return any(each.result() for each in as_completed(tries, timeout=_TIMEOUT_S))
        return False
    finally:
        # A look-up that hangs is left behind.
        threads.shutdown(wait=False, cancel_futures=True)


def _accepts(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_TIMEOUT_S):
            return True
    except (OSError, UnicodeError):
        return False
