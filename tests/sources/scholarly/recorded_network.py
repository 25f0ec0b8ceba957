"""A network of recorded answers: each address answers what was recorded, all others 404; it notes what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import httpx

from tests.reading.services.recorded_answers import answer

Given: TypeAlias = bytes | httpx.Response
_TYPES = {".xml": "application/xml", ".json": "application/json", ".txt": "text/plain"}


def recorded(name: str) -> httpx.Response:
    """The recorded answer in a file of tests/cassettes/scholarly."""
    kind = next(kind for ending, kind in _TYPES.items() if name.endswith(ending))
    return httpx.Response(200, content=answer(name), headers={"content-type": kind})


def web_page(markup: str) -> httpx.Response:
    return httpx.Response(200, content=markup.encode(), headers={"content-type": "text/html; charset=utf-8"})


@dataclass
class RecordedNetwork(httpx.AsyncBaseTransport):
    answers: Mapping[str, httpx.Response]
    """Answers by host and beginning of the path; the longest one counts."""
    asked: list[httpx.URL] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/robots.txt":
            return httpx.Response(404)
        self.asked.append(request.url)
        place = f"{request.url.host}{request.url.path}"
        found = max((name for name in self.answers if place.startswith(name)), key=len, default=None)
        if found is None:
            return httpx.Response(404)
        given = self.answers[found]
        return httpx.Response(given.status_code, content=given.content, headers=given.headers)

    def hosts(self) -> list[str]:
        return [url.host for url in self.asked]
