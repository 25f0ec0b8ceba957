"""Servers that would fill memory, time or disk, over real connections: the limits hold."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import brotli
import pytest
import zstandard

from marchwarden.observations import FailureKind, FetchOutcome
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from tests.http.loopback import Asked, Write, loopback, response
from tests.reading.pages import article, gzipped

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
LIMIT = 200_000
MOST_SENT = 5_000_000
"""Bytes that a server gets rid of at most: what we read, and what lies in the buffers of two sockets."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


class Endless:
    """Sends `start`, then `piece` for ever, and counts."""

    def __init__(self, start: bytes, piece: bytes, pause: float = 0.0) -> None:
        self.start, self.piece, self.pause = start, piece, pause
        self.sent = 0

    async def __call__(self, asked: Asked, write: Write) -> None:
        await write(self.start)
        while True:
            await write(self.piece)
            self.sent += len(self.piece)
            await asyncio.sleep(self.pause)


async def fetch(
    reply: bytes | Callable[[Asked, Write], Awaitable[None]], timeout: float = 3, path: str = "/a"
) -> FetchOutcome:
    settings = Settings(allow_private_addresses=True, max_page_bytes=LIMIT, fetch_timeout=timeout)
    async with loopback({path: reply}) as site, Fetcher(settings) as fetcher:
        return await fetcher.fetch(f"{site.url}/a")


def kind(outcome: FetchOutcome) -> FailureKind | None:
    return outcome.failure.kind if outcome.failure else None


ZIPPED = HEAD + b"Content-Encoding: gzip\r\n\r\n"
BROTLI = HEAD + b"Content-Encoding: br\r\n\r\n"
ZSTD = HEAD + b"Content-Encoding: zstd\r\n\r\n"
WORDS = b"<p>More words of the endless page.</p>" * 1700
EMPTY_BLOCKS = b"\x00\x00\x00\xff\xff" * 13_000
"""Stored blocks of deflate that hold nothing."""
EMPTY_ZSTD = zstandard.FRAME_HEADER + b"\0\x58"
"""A stream of zstd that begins; blocks of it that hold nothing are three zero bytes."""


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (HEAD + b"\r\n" + article(), WORDS),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\n%s\r\n" % (len(WORDS), WORDS)),
        (HEAD + b"Content-Length: 99999999999\r\n\r\n" + article(), WORDS),
        (ZIPPED + gzipped(article()), b"what follows the end" * 3000),
        (ZIPPED + gzipped(article()), gzipped(b"a further member" * 3000)),
        (ZIPPED + gzipped(article(), 0)[:-8], gzipped(WORDS)),
        (ZIPPED + b"\x1f\x8b\x08\x08\0\0\0\0\0\x03", b"a name that does not end" * 3000),
        (ZIPPED + b"\x1f\x8b\x08\0\0\0\0\0\0\x03", EMPTY_BLOCKS),
        (ZIPPED, gzipped(b"") * 3000),
        (ZSTD, zstd(b"") * 5000),
        (ZSTD, zstd(WORDS)),
        (ZSTD + zstd(article()), b"what follows the end" * 3000),
        (ZSTD + EMPTY_ZSTD, bytes(60_000)),
        (BROTLI + brotli.compress(article()), b"what follows the end" * 3000),
    ],
    ids=[
        *("plain", "chunked", "announced", "after-gzip", "members", "broken", "gzip-name", "empty-blocks"),
        *("empty-members", "empty-frames", "frames", "after-zstd", "empty-zstd", "after-brotli"),
    ],
)
async def test_a_body_that_does_not_end_is_read_up_to_the_limit(start: bytes, piece: bytes) -> None:
    server = Endless(start, piece)
    outcome = await fetch(server, timeout=60)
    assert kind(outcome) in (None, FailureKind.NO_TEXT, FailureKind.SERVER_ERROR)
    assert outcome.seconds < 50, "it ended by its size, not by its time"
    assert len(outcome.body) <= LIMIT
    assert server.sent < MOST_SENT


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-Filler: " + b"a" * 9000 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-Filler: ", b"a" * 9000),
        (b"", b"a" * 9000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a" * 9000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Trailer: " + b"a" * 9000 + b"\r\n"),
    ],
    ids=["headers", "header", "status", "chunk-header", "trailers"],
)
async def test_a_head_that_does_not_end_is_a_broken_answer(start: bytes, piece: bytes) -> None:
    server = Endless(start, piece)
    outcome = await fetch(server, timeout=8)
    assert kind(outcome) is FailureKind.NETWORK
    assert outcome.seconds < 5
    assert server.sent < 2 * MOST_SENT, "of two tries"


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (HEAD + b"\r\n" + article(), b" "),
        (b"HTTP/1.1 200 OK\r\n", b"X: 1\r\n"),
        (b"", b"H"),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
        (ZIPPED + b"\x1f\x8b\x08\0\0\0\0\0\0\x03", b"\0\0\0\xff\xff"),
        (ZSTD + EMPTY_ZSTD, b"\0\0\0"),
    ],
    ids=["body", "headers", "status", "hints", "chunks", "empty-blocks", "empty-zstd"],
)
async def test_what_comes_in_drops_ends_with_the_time(start: bytes, piece: bytes) -> None:
    outcome = await fetch(Endless(start, piece, pause=0.01), timeout=0.5)
    assert kind(outcome) is FailureKind.TIMEOUT
    assert outcome.seconds < 1.5


@pytest.mark.parametrize("encoding", ["compress", "dcb", "gzip, gzip", "gzip, br", "zstd, " * 500 + "gzip"])
async def test_encodings_that_were_not_asked_for_are_not_unpacked(encoding: str) -> None:
    outcome = await fetch(response(gzipped(bytes(5_000_000), 1), Content_Encoding=encoding))
    assert kind(outcome) is FailureKind.SERVER_ERROR
    assert outcome.body == b""
    assert outcome.failure
    assert len(outcome.failure.detail) < 200


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", partial(gzipped, level=1)),
    "deflate": ("deflate", zlib.compress),
    "bare-deflate": ("deflate", lambda bomb: zlib.compress(bomb)[2:-4]),
    "brotli": ("br", partial(brotli.compress, quality=1)),
    "zstd": ("zstd", zstd),
}


@pytest.mark.parametrize("name", PACKED)
async def test_a_bomb_unfolds_to_the_limit(name: str) -> None:
    encoding, pack = PACKED[name]
    outcome = await fetch(response(pack(article() + b" " * 20_000_000), Content_Encoding=encoding))
    assert kind(outcome) is None
    assert len(outcome.body) == LIMIT


@pytest.mark.parametrize("name", PACKED)
async def test_a_compressed_body_that_breaks_off_is_read_as_far_as_it_came(name: str) -> None:
    encoding, pack = PACKED[name]
    noise = random.Random(3).randbytes(300_000).hex().encode()
    outcome = await fetch(response(pack(article() + b"<p>" + noise)[:-1000], Content_Encoding=encoding))
    assert kind(outcome) is None
    assert outcome.body.startswith(article())


@pytest.mark.parametrize(
    "reply",
    [
        HEAD + b"Content-Length: 99999\r\n\r\n" + article(),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n" % (len(article()), article()),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nnot a number\r\n" + article(),
        HEAD + b"Content-Length: 5\r\nContent-Length: 99999\r\n\r\n" + article(),
        HEAD + b"Content-Length: -5\r\n\r\n" + article(),
    ],
    ids=["too-short", "no-last-chunk", "no-chunk", "two-lengths", "negative"],
)
async def test_a_body_that_is_not_as_long_as_its_message_says_is_a_broken_answer(reply: bytes) -> None:
    assert kind(await fetch(reply)) is FailureKind.NETWORK


async def test_a_body_that_is_longer_than_its_message_says_ends_where_it_says() -> None:
    length = b"Content-Length: %d\r\n\r\n" % len(article())
    assert (await fetch(HEAD + length + article() + WORDS)).body == article()


PAGE_OF_50_MB = """
import asyncio, json, resource, sys
import httpx
from marchwarden.http.connection import CheckedTransport
from marchwarden.http.download import download
from tests.http.loopback import loopback

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1024**2)

async def large(asked, write):
    await write(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n")
    for _ in range(500):
        await write(b"<p>Peas climb up." * 6_000)

async def main():
    transport = CheckedTransport(allow_private=True)
    async with loopback({"/large": large}) as site:
        await download(transport, httpx.Request("GET", site.url), 10_000_000)
        before = peak()
        answer = await download(transport, httpx.Request("GET", f"{site.url}/large"), 10_000_000)
    await transport.aclose()
    print(json.dumps([len(answer.body), peak() - before]))

asyncio.run(main())
"""


async def test_a_page_of_50_megabytes_takes_little_more_memory_than_its_limit() -> None:
    ran = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", PAGE_OF_50_MB], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    length, grown = json.loads(ran.stdout)
    assert length == 10_000_000
    assert grown < 50, "megabytes"


async def test_a_robots_txt_that_does_not_end_is_read_up_to_its_limit() -> None:
    server = Endless(HEAD + b"\r\nUser-agent: *\nDisallow: /a\n", b"# more\n" * 1000)
    outcome = await fetch(server, timeout=8, path="/robots.txt")
    assert kind(outcome) is FailureKind.ROBOTS_DISALLOWED
    assert server.sent < MOST_SENT
