"""Proxies that the environment names (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY), for pages.

A proxy resolves names itself, so that only the address in the URL is checked on the way through one (addresses.py).
"""

from __future__ import annotations

import urllib.request
from urllib.parse import urlsplit

import httpx

from marchwarden.environment import proxies
from marchwarden.errors import ConfigurationError
from marchwarden.http.certificates import tls_context

# As in connection.py.
_LIMITS = httpx.Limits(max_connections=50, max_keepalive_connections=10, keepalive_expiry=15.0)


class ProxiedTransport(httpx.AsyncBaseTransport):
    """Send a request through the proxy of its scheme, and over `direct` where there is none for its host."""

    def __init__(self, direct: httpx.AsyncBaseTransport) -> None:
        """Raises ConfigurationError, which names the variable, for a proxy that can't be used."""
        self._direct = direct
        self._proxies: dict[str, tuple[str, httpx.AsyncBaseTransport]] = {}
        for scheme, address in proxies().items():
            context = tls_context()
            variable = f"{scheme.upper()}_PROXY"
            try:
                transport = httpx.AsyncHTTPTransport(verify=context, proxy=address, limits=_LIMITS)
            except (ValueError, ImportError, httpx.InvalidURL) as error:
                raise ConfigurationError(
                    f"{variable} can't be used: {error}",
                    hint=f"Correct {variable}, for example http://127.0.0.1:3128",
                ) from None
            # Without the user and the password that the address may hold.
            self._proxies[scheme] = urlsplit(address).hostname or variable, transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        found = self._proxies.get(request.url.scheme) or self._proxies.get("all")
        if found is None or urllib.request.proxy_bypass(request.url.host):
            return await self._direct.handle_async_request(request)
        host, transport = found
        try:
            return await transport.handle_async_request(request)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise httpx.ProxyError(f"the proxy {host} can't be reached") from error

    async def aclose(self) -> None:
        await self._direct.aclose()
        for _, transport in self._proxies.values():
            await transport.aclose()
