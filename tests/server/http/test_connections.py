"""Connections that send nothing, or a head that never ends, keep nobody else out."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress

import anyio
import anyio.abc
import anyio.lowlevel
import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from marchwarden.server.http.connections import HAS_HTTPTOOLS, HEAD_BYTES, Connections

pytestmark = pytest.mark.anyio


async def _hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


async def _slow(request: Request) -> PlainTextResponse:
    await anyio.sleep(0.4)
    return PlainTextResponse("slow")


async def _measure(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def _tell_field(request: Request) -> PlainTextResponse:
    return PlainTextResponse(repr(request.headers["x-told"]))


@pytest.fixture(params=["h11", "httptools"])
def uses_httptools(request: pytest.FixtureRequest) -> bool:
    if request.param == "httptools" and not HAS_HTTPTOOLS:
        pytest.skip("httptools is not installed")
    return bool(request.param == "httptools")


@asynccontextmanager
async def served(connections: Connections, *routes: Route) -> AsyncIterator[tuple[str, int]]:
    app = Starlette(
        routes=[Route("/", _hello), Route("/slow", _slow), Route("/measure", _measure, methods=["POST"]), *routes]
    )
    config = uvicorn.Config(app, http=connections.protocol, log_config=None, timeout_graceful_shutdown=1)  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [listener])
            yield listener.getsockname()
            server.should_exit = True


async def test_a_thousand_half_open_connections_leave_room_for_a_request(uses_httptools: bool) -> None:
    connections = Connections(most=50, head_s=30, uses_httptools=uses_httptools)
    async with served(connections) as address:
        with ExitStack() as opened:
            for number in range(300):
                one = opened.enter_context(socket.create_connection(address))
                if number % 2:
                    one.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
                if number % 20 == 0:
                    await anyio.sleep(0.005)
            async with httpx.AsyncClient() as client:
                answer = await client.get(f"http://127.0.0.1:{address[1]}/")
            assert answer.text == "hello"
            assert len(connections) <= 50


async def test_a_head_that_never_ends_is_cut_off_and_a_slow_answer_is_not(uses_httptools: bool) -> None:
    connections = Connections(most=50, head_s=0.1, uses_httptools=uses_httptools)

    async def drip(idle: anyio.abc.SocketStream) -> None:
        while True:
            await idle.send(b"G")
            await anyio.sleep(0.02)

    async with (
        served(connections) as address,
        await anyio.connect_tcp(*address) as idle,
        httpx.AsyncClient() as client,
    ):
        assert (await client.get(f"http://127.0.0.1:{address[1]}/slow")).text == "slow"
        with anyio.fail_after(5), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await drip(idle)


async def test_with_every_connection_at_work_a_new_one_is_closed(uses_httptools: bool) -> None:
    connections = Connections(most=1, head_s=5, uses_httptools=uses_httptools)
    at_work, may_end = anyio.Event(), anyio.Event()

    async def busy(request: Request) -> PlainTextResponse:
        at_work.set()
        await may_end.wait()
        return PlainTextResponse("done")

    async with (
        served(connections, Route("/busy", busy)) as address,
        httpx.AsyncClient(timeout=60) as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(client.get, f"http://127.0.0.1:{address[1]}/busy")
        await at_work.wait()
        async with await anyio.connect_tcp(*address) as other:
            with anyio.fail_after(30), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await other.receive()
        may_end.set()


LINE = b"X-Filling: " + b"a" * 989 + b"\r\n"


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n" + LINE * 1000 + b"\r\n", id="many lines"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"a" * 1_000_000 + b"\r\n\r\n", id="a long line"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"a" * 1_000_000, id="a line without an end"),
        pytest.param(b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", id="a long address"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"a" * 1_000_000 + b": b\r\n\r\n", id="a long name"),
        pytest.param(
            b"POST /measure HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Long: "
            + b"a" * 1_000_000,
            id="a line behind the body",
        ),
    ],
)
async def test_a_head_of_a_megabyte_is_refused(uses_httptools: bool, head: bytes) -> None:
    connections = Connections(most=50, head_s=30, uses_httptools=uses_httptools)
    answer = b""
    async with served(connections) as address, await anyio.connect_tcp(*address) as client:
        with anyio.fail_after(30), suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            # A part at a time, as a network brings it.
            for start in range(0, len(head), 8192):
                await client.send(head[start : start + 8192])
                await anyio.lowlevel.checkpoint()
            while True:
                answer += await client.receive()
    # Where the rest was still on its way, the answer may be lost with the connection.
    assert answer[:12] in (b"", b"HTTP/1.1 400")


async def test_a_head_of_usual_length_and_a_long_body_are_taken(uses_httptools: bool) -> None:
    connections = Connections(most=50, head_s=30, uses_httptools=uses_httptools)
    async with served(connections) as address, httpx.AsyncClient() as client:
        for _ in range(3):
            answer = await client.post(
                f"http://127.0.0.1:{address[1]}/measure",
                content=b"b" * 1_000_000,
                headers={"x-filling": "a" * (HEAD_BYTES - 1000)},
            )
            assert answer.text == "1000000"


async def test_white_space_around_a_value_is_none_of_it(uses_httptools: bool) -> None:
    connections = Connections(most=50, uses_httptools=uses_httptools)
    route, answer = Route("/told", _tell_field), b""
    async with served(connections, route) as address, await anyio.connect_tcp(*address) as client:
        await client.send(b"GET /told HTTP/1.1\r\nHost: a\r\nX-Told: \t a b \t \r\nConnection: close\r\n\r\n")
        with anyio.fail_after(30), suppress(anyio.EndOfStream):
            while True:
                answer += await client.receive()
    assert answer.endswith(b"'a b'")
