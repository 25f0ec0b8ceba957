"""Things that the sources of one call share: the settings, one transport, one fetcher of pages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import httpx

from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher, live_transport


class SharedTransport(httpx.AsyncBaseTransport):
    """One transport for all sources of a call, closed once: connections, cache and certificates are shared."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._is_closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._inner.aclose()


@dataclass(frozen=True)
class Opening:
    """Things that a source is opened with: the settings, and the transport that it shares with the other sources."""

    settings: Settings
    given: httpx.AsyncBaseTransport | None = None
    """Transport to use in place of the network's: recorded answers."""

    @cached_property
    def transport(self) -> SharedTransport:
        return SharedTransport(self.given or live_transport(self.settings))

    @cached_property
    def fetcher(self) -> Fetcher:
        return Fetcher(self.settings, transport=self.transport)
