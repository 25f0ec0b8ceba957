"""Connections to public addresses only: a name is resolved, what it resolves to is checked, and that is connected to.

Between check and connection no name is asked for again, so a name server can't answer them differently. Certificates
are verified against the name, as ever.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable

import anyio
import httpcore
import httpx
from httpcore import SOCKET_OPTION

from marchwarden.http.addresses import is_public, literal_address


class AddressRefused(Exception):
    """A host that is only to be found at addresses which are not public."""


class CheckedTransport(httpx.AsyncHTTPTransport):
    """httpx's own transport above `CheckedBackend`."""

    def __init__(self, *, allow_private: bool = False, backend: httpcore.AsyncNetworkBackend | None = None) -> None:
        context = httpx.create_ssl_context()
        super().__init__(verify=context)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=50,
            max_keepalive_connections=10,
            keepalive_expiry=15.0,
            network_backend=CheckedBackend(backend or httpcore.AnyIOBackend(), allow_private=allow_private),
        )


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Resolves, checks, then has `backend` connect to one of the checked addresses, trying each in turn."""

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
        addresses = await self._checked(host, port, timeout)
        for address in addresses[:-1]:
            try:
                brief = min(timeout or _ONE_OF_SEVERAL, _ONE_OF_SEVERAL)
                return await self._backend.connect_tcp(address, port, brief, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._backend.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def _checked(self, host: str, port: int, timeout: float | None) -> list[str]:
        addresses = await resolve(host, port, timeout)
        allowed = [address for address in addresses if self._allow_private or _is_public(address)]
        if not allowed:
            raise AddressRefused(f"{host} is at {addresses[0]}, which is not a public address")
        return allowed[:_MOST_ADDRESSES]

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise AddressRefused("sockets of this machine are not read")

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


_ONE_OF_SEVERAL = 2.0
_MOST_ADDRESSES = 4


def _is_public(text: str) -> bool:
    address = literal_address(text)
    return address is not None and is_public(address)


async def resolve(host: str, port: int, timeout: float | None = None) -> list[str]:
    """The addresses of `host`, in the order in which the system would try them. Raises httpcore.ConnectError."""
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
