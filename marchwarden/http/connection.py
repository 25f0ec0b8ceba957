"""Connections to public addresses only: resolve a name, check its addresses, and connect to one of them.

Private addresses can be allowed; the metadata services of clouds never are.

The name is resolved once for check and connection, so a name server can't answer them differently (DNS rebinding).
Certificates are verified against the name, as usual.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable

import anyio
import httpcore
import httpx
from httpcore import SOCKET_OPTION

from marchwarden.http.certificates import tls_context
from marchwarden.http.special_addresses import is_metadata, is_public, literal_address

# A guess: an address that doesn't answer in two seconds costs less than the page, and the next one may answer.
_TIMEOUT_OF_ONE_ADDRESS_S = 2.0
# A guess: trying all addresses of a big site would take the time of other pages.
_MAX_ADDRESSES = 4


class AddressRefused(Exception):
    """A host has no address that may be connected to."""


class CheckedTransport(httpx.AsyncHTTPTransport):
    """httpx's own transport above `CheckedBackend`; httpx itself takes no network backend."""

    def __init__(self, *, allow_private: bool = False, backend: httpcore.AsyncNetworkBackend | None = None) -> None:
        """Raises ConfigurationError where the environment names certificates that are not there."""
        context = tls_context()
        super().__init__(verify=context)
        # 50 connections and 15 seconds are guesses: one call reads a few dozen pages of different hosts.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=50,
            max_keepalive_connections=10,
            keepalive_expiry=15.0,
            network_backend=CheckedBackend(backend or httpcore.AnyIOBackend(), allow_private=allow_private),
        )


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Network backend that resolves a host, checks its addresses, and has `backend` connect to them in turn."""

    def __init__(self, backend: httpcore.AsyncNetworkBackend, *, allow_private: bool = False) -> None:
        self._backend = backend
        self._allow_private = allow_private

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        found = await resolve(host, port, timeout)
        addresses = [
            text
            for text in found
            if (checked := literal_address(text)) is not None
            and (is_public(checked) or (self._allow_private and not is_metadata(checked)))
        ][:_MAX_ADDRESSES]
        if not addresses:
            wanted = "is never read" if self._allow_private else "is not a public address"
            raise AddressRefused(f"{host} is at {found[0]}, which {wanted}")
        for address in addresses[:-1]:
            try:
                brief = min(timeout or _TIMEOUT_OF_ONE_ADDRESS_S, _TIMEOUT_OF_ONE_ADDRESS_S)
                return await self._backend.connect_tcp(address, port, brief, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._backend.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise AddressRefused("sockets of this machine are not read")

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


async def resolve(host: str, port: int, timeout: float | None = None) -> list[str]:
    """Return the addresses of `host`, in the order in which the system would try them.

    Raises httpcore.ConnectError where there are none, and ConnectTimeout after `timeout` seconds (None: no limit).
    """
    try:
        with anyio.fail_after(timeout):
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(f"looking up {host} took too long") from error
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"there is no host {host}") from error
    addresses = list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
    if not addresses:
        raise httpcore.ConnectError(f"there is no host {host}")
    return addresses
