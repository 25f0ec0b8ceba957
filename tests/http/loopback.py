"""A web server on this machine, written in bytes: it can answer what no well-behaved one would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.reading.pages import article


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    """Names in lower case."""


Write: TypeAlias = Callable[[bytes], Awaitable[None]]
Reply: TypeAlias = "bytes | Callable[[Asked, Write], Awaitable[None]]"


def response(
    body: bytes = b"", status: int = 200, content_type: str = "text/html; charset=utf-8", **headers: str
) -> bytes:
    """A whole answer, after which the connection ends."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body


@dataclass
class LoopbackSite:
    """Answers by path; the last of a list of replies again and again. Without a reply: robots.txt 404, else a page."""

    replies: dict[str, Reply | list[Reply]]
    asked: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    port: int = 0
    errors: list[BaseException] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [each.path for each in self.asked if each.path != "/robots.txt"]

    def _reply(self, path: str) -> Reply:
        reply = self.replies.get(path)
        if isinstance(reply, list):
            return reply.pop(0) if len(reply) > 1 else reply[0]
        if reply is None:
            return response(status=404) if path == "/robots.txt" else response(article())
        return reply

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def write(piece: bytes) -> None:
            writer.write(piece)
            await writer.drain()

        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = (line.partition(":") for line in head[1:] if line)
            asked = Asked(head[0].split(" ")[1], {name.lower(): value.strip() for name, _, value in fields})
            self.asked.append(asked)
            reply = self._reply(asked.path)
            await (write(reply) if isinstance(reply, bytes) else reply(asked, write))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the reader had enough
        except Exception as error:  # a fault of the test itself
            self.errors.append(error)
        finally:
            self.at_once -= 1
            writer.close()


@asynccontextmanager
async def loopback(replies: dict[str, Reply | list[Reply]] | None = None) -> AsyncIterator[LoopbackSite]:
    site = LoopbackSite(replies or {})
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await server.wait_closed()
    assert site.errors == []
