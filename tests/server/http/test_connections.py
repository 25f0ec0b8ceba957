"""Connections that send nothing, or a head that never ends, keep nobody else out."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

import anyio
import anyio.abc
import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from marchwarden.server.http.connections import Connections

pytestmark = pytest.mark.anyio


async def _hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


async def _slow(request: Request) -> PlainTextResponse:
    await anyio.sleep(0.4)
    return PlainTextResponse("slow")


@asynccontextmanager
async def served(connections: Connections, *routes: Route) -> AsyncIterator[tuple[str, int]]:
    app = Starlette(routes=[Route("/", _hello), Route("/slow", _slow), *routes])
    config = uvicorn.Config(app, http=connections.protocol, log_config=None, timeout_graceful_shutdown=1)  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [listener])
            yield listener.getsockname()
            server.should_exit = True


async def test_a_thousand_half_open_connections_leave_room_for_a_request() -> None:
    connections = Connections(most=50, head_s=30)
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


async def test_a_head_that_never_ends_is_cut_off_and_a_slow_answer_is_not() -> None:
    connections = Connections(most=50, head_s=0.1)

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


async def test_with_every_connection_at_work_a_new_one_is_closed() -> None:
    connections = Connections(most=1, head_s=5)
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
