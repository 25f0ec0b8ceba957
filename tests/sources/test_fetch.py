"""Fetching one page: what the world does comes back as an outcome, whatever it is."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import brotli
import httpx
import pytest
import zstandard

from marchwarden.observations import FailureKind, FetchOutcome, content_hash
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher, user_agent
from tests.reading.pages import article, gzipped, html, pdf

pytestmark = pytest.mark.anyio

SITE = "https://example.org"


class Body(httpx.AsyncByteStream):
    """A body that comes in pieces, counted as they are taken."""

    def __init__(self, *pieces: bytes, delay: float = 0.0, breaks: Exception | None = None) -> None:
        self.pieces = pieces
        self.delay = delay
        self.breaks = breaks
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            await asyncio.sleep(self.delay)
            self.taken += 1
            yield piece
        if self.breaks:
            raise self.breaks


def answer(
    body: bytes | Body = b"", status: int = 200, content_type: str = "text/html", **headers: str
) -> httpx.Response:
    stream = body if isinstance(body, Body) else Body(body)
    named = {"Content-Type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx.Response(
        status, headers=[(name.encode(), value.encode()) for name, value in named.items()], stream=stream
    )


def to(location: str, status: int = 302, **headers: str) -> httpx.Response:
    return answer(status=status, Location=location, **headers)


Reply = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response | Awaitable[httpx.Response]]


class World(httpx.AsyncBaseTransport):
    """Answers by address; a list of replies is used one by one. An unknown address is 404."""

    def __init__(self, replies: dict[str, Reply | list[Reply]]) -> None:
        self.replies = replies
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies.get(str(request.url), answer(status=404))
        if isinstance(reply, list):
            reply = reply.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, httpx.Response):
            return reply
        made = reply(request)
        return made if isinstance(made, httpx.Response) else await made

    @property
    def asked(self) -> list[str]:
        return [str(request.url) for request in self.requests if request.url.path != "/robots.txt"]


async def fetch(
    world: dict[str, Reply | list[Reply]] | World,
    url: str = f"{SITE}/a",
    timeout: float | None = None,
    **options: object,
) -> FetchOutcome:
    transport = world if isinstance(world, World) else World(world)
    async with Fetcher(Settings(**options), transport=transport) as fetcher:  # type: ignore[arg-type]
        return await fetcher.fetch(url, timeout=timeout)


def kind(outcome: FetchOutcome) -> FailureKind | None:
    assert (outcome.page is None) is (outcome.failure is not None)
    return outcome.failure.kind if outcome.failure else None


# A page


async def test_a_page_comes_with_all_that_the_trace_wants_to_know() -> None:
    outcome = await fetch({f"{SITE}/a": answer(article(), content_type="text/html; charset=utf-8")})
    assert kind(outcome) is None
    assert outcome.page is not None
    assert outcome.page.title == "Garden crops"
    assert (outcome.url, outcome.final_url, outcome.redirects) == (f"{SITE}/a", f"{SITE}/a", ())
    assert (outcome.status, outcome.content_type) == (200, "text/html; charset=utf-8")
    assert outcome.content_hash == content_hash(article()) == outcome.page.content_hash
    assert outcome.content_length == len(article()) == len(outcome.body)
    assert outcome.seconds > 0


async def test_an_address_is_fetched_in_its_one_spelling() -> None:
    world = World({f"{SITE}/wiki/Utah_(state)": answer(article())})
    outcome = await fetch(world, "HTTPS://user:word@EXAMPLE.org:443/wiki/./Utah_(state)?utm_source=x#top")
    assert kind(outcome) is None
    assert outcome.url == f"{SITE}/wiki/Utah_(state)"
    assert world.requests[-1].headers.get("authorization") is None


async def test_requests_name_us_and_how_to_reach_the_operator() -> None:
    world = World({f"{SITE}/a": answer(article())})
    await fetch(world, contact="ops@example.com (night)\r\nX-Evil: 1")
    agents = {request.headers["user-agent"] for request in world.requests}
    assert len(agents) == 1
    assert agents.pop().startswith("marchwarden/")
    assert world.requests[0].headers["accept-encoding"] == "gzip, deflate, br, zstd"
    assert user_agent("ops@example.com (night)\r\n").endswith(" (+ops@example.comnight)")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("not an address", FailureKind.BAD_REQUEST),
        ("https://", FailureKind.BAD_REQUEST),
        ("ftp://example.org/", FailureKind.REFUSED_ADDRESS),
        ("file:///etc/passwd", FailureKind.REFUSED_ADDRESS),
        ("http://127.0.0.1/", FailureKind.REFUSED_ADDRESS),
        ("http://0x7f.1/", FailureKind.REFUSED_ADDRESS),
        ("http://[::ffff:10.0.0.1]/", FailureKind.REFUSED_ADDRESS),
        ("http://169.254.169.254/latest/", FailureKind.REFUSED_ADDRESS),
        ("http://localhost:8080/", FailureKind.REFUSED_ADDRESS),
        ("https://example.org:25/", FailureKind.REFUSED_ADDRESS),
    ],
)
async def test_what_may_not_be_read_is_never_asked_for(url: str, expected: FailureKind) -> None:
    world = World({})
    assert kind(await fetch(world, url)) is expected
    assert world.requests == []


# Redirects


async def test_redirects_are_followed_and_remembered() -> None:
    outcome = await fetch(
        {
            f"{SITE}/a": to("/b?utm_medium=x#y", 301),
            f"{SITE}/b": to("//www.example.org/ü", 308),
            "https://www.example.org/%C3%BC": answer(
                html("<p>Moved</p>", '<meta http-equiv="refresh" content="0;url=/c">')
            ),
            "https://www.example.org/c": answer(article()),
        }
    )
    assert kind(outcome) is None
    assert outcome.final_url == "https://www.example.org/c"
    assert outcome.redirects == (f"{SITE}/b", "https://www.example.org/%C3%BC", "https://www.example.org/c")
    assert outcome.page is not None
    assert outcome.page.url == outcome.final_url


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/admin",
        "http://[::1]/",
        "http://2130706433/",
        "http://192.168.1.1/",
        "http://metadata.google.internal/",
        "file:///etc/passwd",
        "https://example.org:6379/",
    ],
)
async def test_every_hop_is_checked_before_it_is_asked(target: str) -> None:
    world = World({f"{SITE}/a": to("/b"), f"{SITE}/b": to(target)})
    assert kind(await fetch(world)) is FailureKind.REFUSED_ADDRESS
    assert world.asked == [f"{SITE}/a", f"{SITE}/b"]


async def test_a_page_cannot_send_us_to_a_private_address_either() -> None:
    page = html("<p>Moved</p>", '<meta http-equiv="refresh" content="0; url=http://10.0.0.1/">')
    assert kind(await fetch({f"{SITE}/a": answer(page)})) is FailureKind.REFUSED_ADDRESS


async def test_a_circle_and_an_endless_chain_end() -> None:
    circle = await fetch({f"{SITE}/a": to("/b"), f"{SITE}/b": to("/a")})
    assert kind(circle) is FailureKind.REDIRECT_LOOP
    chain: dict[str, Reply | list[Reply]] = {f"{SITE}/{n}": to(f"/{n + 1}") for n in range(50)}
    world = World(chain)
    outcome = await fetch(world, f"{SITE}/0")
    assert kind(outcome) is FailureKind.REDIRECT_LOOP
    assert len(world.asked) == 11


async def test_a_site_may_send_us_back_once_it_has_set_a_cookie() -> None:
    def page(request: httpx.Request) -> httpx.Response:
        if "seen=1" in request.headers.get("cookie", ""):
            return answer(article())
        return to("/a", Set_Cookie="seen=1; Path=/")

    world = World({f"{SITE}/a": page})
    async with Fetcher(Settings(), transport=world) as fetcher:
        assert kind(await fetcher.fetch(f"{SITE}/a")) is None
        world.requests.clear()
        await fetcher.fetch(f"{SITE}/a")
    assert "cookie" not in world.requests[0].headers, "the next fetch knows nothing of the cookies of this one"


async def test_a_redirect_to_nowhere_is_a_bad_request() -> None:
    assert kind(await fetch({f"{SITE}/a": to("http://exa mple/")})) is FailureKind.BAD_REQUEST
    assert kind(await fetch({f"{SITE}/a": answer(status=302)})) is FailureKind.SERVER_ERROR


async def test_a_redirect_to_a_sign_in_page_is_a_login_wall() -> None:
    form = html("<h1>Welcome</h1><p>Members area</p><form><input type='password'></form>")
    outcome = await fetch({f"{SITE}/a": to("/login?next=/a"), f"{SITE}/login?next=/a": answer(form)})
    assert kind(outcome) is FailureKind.LOGIN_REQUIRED


# robots.txt


async def test_robots_txt_is_asked_once_and_followed_on_each_hop() -> None:
    world = World(
        {
            f"{SITE}/robots.txt": answer(b"User-agent: *\nDisallow: /closed", content_type="text/plain"),
            f"{SITE}/a": answer(article()),
            f"{SITE}/b": to("/closed/c"),
        }
    )
    async with Fetcher(Settings(), transport=world) as fetcher:
        outcomes = await asyncio.gather(*(fetcher.fetch(f"{SITE}/{path}") for path in ("a", "b", "closed/d")))
    assert [kind(outcome) for outcome in outcomes] == [
        None,
        FailureKind.ROBOTS_DISALLOWED,
        FailureKind.ROBOTS_DISALLOWED,
    ]
    assert sorted(world.asked) == [f"{SITE}/a", f"{SITE}/b"]
    assert len(world.requests) == 3


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        (answer(status=503), FailureKind.ROBOTS_DISALLOWED),
        (httpx.ConnectError("refused"), FailureKind.NETWORK),
        (to("http://127.0.0.1/robots.txt"), FailureKind.REFUSED_ADDRESS),
        (to("mailto:us"), None),
        (to("/robots.txt"), None),
        (answer(status=404), None),
    ],
)
async def test_an_origin_without_a_readable_robots_txt(robots: Reply, expected: FailureKind | None) -> None:
    def fresh(request: httpx.Request) -> httpx.Response:
        if isinstance(robots, Exception):
            raise robots
        assert isinstance(robots, httpx.Response)
        return httpx.Response(robots.status_code, headers=robots.headers, stream=Body(b""))

    assert kind(await fetch({f"{SITE}/robots.txt": fresh, f"{SITE}/a": answer(article())})) is expected


async def test_a_robots_txt_that_moved_is_followed() -> None:
    rules = answer(b"User-agent: marchwarden\nDisallow: /", content_type="text/plain")
    outcome = await fetch(
        {f"{SITE}/robots.txt": to("https://www.example.org/r.txt"), "https://www.example.org/r.txt": rules}
    )
    assert kind(outcome) is FailureKind.ROBOTS_DISALLOWED


async def test_a_robots_txt_sends_us_to_no_host_that_the_filter_excludes() -> None:
    world = World({f"{SITE}/robots.txt": to("https://closed.example.com/robots.txt")})
    async with Fetcher(Settings(), transport=world) as fetcher:
        outcome = await fetcher.fetch(f"{SITE}/a", allows=lambda host: host == "example.org")
    assert kind(outcome) is FailureKind.REFUSED_ADDRESS
    assert [request.url.host for request in world.requests] == ["example.org"]


async def test_five_redirects_of_a_robots_txt_are_followed_and_no_more() -> None:
    def chain(length: int) -> World:
        moved: dict[str, Reply | list[Reply]] = {
            f"https://r{n}.example/r": to(f"https://r{n + 1}.example/r") for n in range(1, length)
        }
        closed = {f"https://r{length}.example/r": answer(b"User-agent: *\nDisallow: /", content_type="text/plain")}
        first = {f"{SITE}/robots.txt": to("https://r1.example/r"), f"{SITE}/a": answer(article())}
        return World({**first, **moved, **closed})

    assert kind(await fetch(chain(5))) is FailureKind.ROBOTS_DISALLOWED
    assert kind(await fetch(chain(6))) is None


# Limits


async def test_a_huge_body_is_cut_while_it_streams() -> None:
    body = Body(article(), *[b"<p>More words of the endless page.</p>" * 100] * 1000)
    outcome = await fetch({f"{SITE}/a": answer(body)}, max_page_bytes=20_000)
    assert kind(outcome) is None
    assert len(outcome.body) == outcome.content_length == 20_000
    assert body.taken < 20


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_what_counts_is_the_size_after_decompression(encoding: str) -> None:
    bomb = article() + b"<p>bomb</p>" * 5_000_000
    packed = gzipped(bomb) if encoding == "gzip" else zlib.compress(bomb)
    outcome = await fetch({f"{SITE}/a": answer(packed, Content_Encoding=encoding)}, max_page_bytes=50_000)
    assert outcome.body == bomb[:50_000]


@pytest.mark.parametrize(
    ("body", "encoding", "expected"),
    [
        (gzipped(article()), "x-gzip", None),
        (zlib.compress(article())[2:-4], "deflate", None),
        (article(), "identity", None),
        (brotli.compress(article()), "br", None),
        (zstandard.ZstdCompressor().compress(article()), "zstd", None),
        (gzipped(article()[:2000]) + gzipped(article()[2000:]), "gzip", None),
        (article(), "utf-8", None),
        (article(), "br", FailureKind.SERVER_ERROR),
        (gzipped(article())[:8], "gzip", FailureKind.SERVER_ERROR),
        (b"not compressed", "gzip", FailureKind.SERVER_ERROR),
        (gzipped(article())[:50] + b"\xff" * 500, "gzip", FailureKind.SERVER_ERROR),
    ],
)
async def test_compressed_bodies(body: bytes, encoding: str, expected: FailureKind | None) -> None:
    outcome = await fetch({f"{SITE}/a": answer(body, Content_Encoding=encoding)})
    assert kind(outcome) is expected
    assert outcome.body == (b"" if expected else article())


@pytest.mark.parametrize("encoding", ["gzip", "br", "compress"])
async def test_a_broken_body_hides_neither_a_redirect_nor_what_the_status_says(encoding: str) -> None:
    packed = {"Content_Encoding": encoding}
    sent_on = answer(b"Moved to b", 301, Location="/b", **packed)
    assert kind(await fetch({f"{SITE}/a": sent_on, f"{SITE}/b": answer(article())})) is None
    assert kind(await fetch({f"{SITE}/a": answer(b"Not here", 404, **packed)})) is FailureKind.NOT_FOUND


async def test_time_is_limited_over_all_hops_together() -> None:
    async def slow(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.06)
        return to(f"/{int(request.url.path[1:]) + 1}")

    world = World({f"{SITE}/{n}": slow for n in range(20)})
    outcome = await fetch(world, f"{SITE}/0", fetch_timeout=0.2)
    assert kind(outcome) is FailureKind.TIMEOUT
    assert outcome.seconds < 1
    assert 1 < len(world.asked) < 6


async def test_a_trickling_body_times_out_by_the_shorter_limit() -> None:
    outcome = await fetch({f"{SITE}/a": answer(Body(*[b"<p>x"] * 100, delay=0.05))}, timeout=0.15, fetch_timeout=9)
    assert kind(outcome) is FailureKind.TIMEOUT
    assert outcome.seconds < 1


async def test_cancellation_passes_through() -> None:
    async def never(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        raise AssertionError

    task = asyncio.create_task(fetch({f"{SITE}/a": never}))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# Retries and failures


@pytest.mark.parametrize(
    ("replies", "expected", "asked"),
    [
        ([httpx.ReadError("reset"), answer(article())], None, 2),
        ([httpx.RemoteProtocolError("closed"), httpx.ReadError("reset")], FailureKind.NETWORK, 2),
        ([answer(Body(b"<p>half", breaks=httpx.ReadError("reset"))), answer(article())], None, 2),
        ([answer(status=503, Retry_After="0"), answer(article())], None, 2),
        ([answer(status=502), answer(article())], None, 2),
        ([answer(status=504), answer(status=504)], FailureKind.SERVER_ERROR, 2),
        ([answer(status=503, Retry_After="120")], FailureKind.SERVER_ERROR, 1),
        ([answer(status=503, Retry_After="soon")], FailureKind.SERVER_ERROR, 1),
        (
            [
                answer(status=503, Date="Fri, 27 Nov 2026 10:00:00 GMT", Retry_After="Fri, 27 Nov 2026 10:00:00 GMT"),
                answer(article()),
            ],
            None,
            2,
        ),
        (
            [answer(status=503, Date="Fri, 27 Nov 2026 10:00:00 GMT", Retry_After="Fri, 27 Nov 2026 10:01:00 GMT")],
            FailureKind.SERVER_ERROR,
            1,
        ),
        ([answer(status=500)], FailureKind.SERVER_ERROR, 1),
        ([answer(status=429, Retry_After="0"), answer(article())], None, 2),
        ([answer(status=429, Retry_After="0"), answer(status=429, Retry_After="0")], FailureKind.RATE_LIMITED, 2),
        ([answer(status=429, Retry_After="120")], FailureKind.RATE_LIMITED, 1),
        ([answer(status=429)], FailureKind.RATE_LIMITED, 1),
        ([httpx.ConnectError("refused")], FailureKind.NETWORK, 1),
        ([httpx.ReadTimeout("slow")], FailureKind.TIMEOUT, 1),
        ([httpx.InvalidURL("odd")], FailureKind.BAD_REQUEST, 1),
    ],
)
async def test_one_more_try_only_where_it_may_help(
    replies: list[Reply], expected: FailureKind | None, asked: int
) -> None:
    def again(reply: Reply) -> Reply:
        if not isinstance(reply, httpx.Response):
            return reply
        stream = reply.stream
        assert isinstance(stream, Body)
        return httpx.Response(
            reply.status_code, headers=reply.headers, stream=Body(*stream.pieces, breaks=stream.breaks)
        )

    world = World({f"{SITE}/a": [again(reply) for reply in replies]})
    outcome = await fetch(world)
    assert kind(outcome) is expected
    assert len(world.asked) == asked
    if outcome.failure:
        assert outcome.failure.detail


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Retry_After": "120"}, "in 2 minutes"),
        ({"Retry_After": "Fri, 27 Nov 2099 10:01:00 GMT"}, "at 2099-11-27 10:01:00 UTC"),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_a_pause_that_is_longer_than_the_time_left_is_named(
    status: int, headers: dict[str, str], words: str
) -> None:
    outcome = await fetch({f"{SITE}/a": answer(status=status, **headers)})
    assert outcome.failure is not None
    assert outcome.failure.detail.endswith(f"try again {words}")
    assert outcome.status == status
    assert outcome.seconds < 5


async def test_a_failure_keeps_the_body_that_came_with_it() -> None:
    outcome = await fetch({f"{SITE}/a": answer(b"<h1>Gone</h1>", 410)})
    assert kind(outcome) is FailureKind.NOT_FOUND
    assert (outcome.status, outcome.body, outcome.content_hash) == (
        410,
        b"<h1>Gone</h1>",
        content_hash(b"<h1>Gone</h1>"),
    )


async def test_a_pdf_under_a_wrong_type_is_read() -> None:
    outcome = await fetch({f"{SITE}/a": answer(pdf(["Peas grow in March."]))})
    assert outcome.page is not None
    assert [passage.text for passage in outcome.page.passages] == ["Peas grow in March."]


async def test_a_transport_in_memory_may_answer_with_whole_content() -> None:
    transport = httpx.MockTransport(
        lambda request: (
            httpx.Response(200, html=article().decode()) if request.url.path == "/a" else httpx.Response(404)
        )
    )
    async with Fetcher(Settings(max_page_bytes=100_000), transport=transport) as fetcher:
        assert kind(await fetcher.fetch(f"{SITE}/a")) is None


# Over real sockets


class _Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            return self._send(404, b"")
        if self.path == "/reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.close_connection = True
            return self.connection.close()
        if self.path == "/slow":
            time.sleep(0.4)
            self.close_connection = True
            return self.connection.close()
        return self._send(200, article())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_a_page_over_a_real_connection() -> None:
    with served() as site:
        async with Fetcher(Settings(allow_private_addresses=True, fetch_timeout=5)) as fetcher:
            outcome = await fetcher.fetch(f"{site}/a")
            assert outcome.page is not None
            assert len(outcome.page.passages) == 4
            assert kind(await fetcher.fetch(f"{site}/reset")) is FailureKind.NETWORK
            assert kind(await fetcher.fetch(f"{site}/slow", timeout=0.2)) is FailureKind.TIMEOUT
        async with Fetcher(Settings()) as strict:
            assert kind(await strict.fetch(f"{site}/a")) is FailureKind.REFUSED_ADDRESS


async def test_a_host_that_does_not_listen_is_a_network_failure() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with Fetcher(Settings(allow_private_addresses=True)) as fetcher:
        outcome = await fetcher.fetch(f"http://127.0.0.1:{port}/")
    assert kind(outcome) is FailureKind.NETWORK


async def test_a_certificate_that_cannot_be_verified_is_said_so() -> None:
    invalid = httpx.ConnectError("certificate verify failed")
    invalid.__cause__ = ssl.SSLCertVerificationError("self-signed certificate")
    outcome = await fetch({f"{SITE}/a": invalid})
    assert outcome.failure is not None
    assert outcome.failure.detail == "the certificate of example.org is not valid"


async def test_a_host_that_is_not_allowed_is_not_asked_for_anything_not_even_its_robots_file() -> None:
    asked: list[str] = []

    def world(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        if request.url.path == "/robots.txt":
            return httpx.Response(404)
        return httpx.Response(301, headers={"location": "https://closed.example.org/page"})

    async with Fetcher(Settings(), transport=httpx.MockTransport(world)) as fetcher:
        outcome = await fetcher.fetch("https://open.example.com/", allows=lambda host: host.endswith(".com"))
    assert set(asked) == {"open.example.com"}
    assert outcome.failure is not None
    assert "closed.example.org" in outcome.failure.detail
