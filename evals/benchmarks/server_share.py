"""CPU time of the server's own process for one request, by kind of request and by transport; no model.

    python -m evals.benchmarks.server_share [--requests 100] [--warm-up 20] [--only KIND ...] [--profile FOLDER]

Starts `marchwarden serve` over HTTP (with sessions, and stateless) and over stdio, and sends requests one after the
other. What the processes of calls use is not counted, nor what the client does. --profile writes what cProfile saw of
the server's main thread, which makes the server itself slower: its times are for comparing functions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from evals.benchmarks.server_load import ACCEPT, ROOT, cpu_seconds, proportional_mb

SERVER = """
import cProfile, sys, time
from marchwarden.server.transports import serve
from marchwarden.settings import Settings
transport, research, profile = sys.argv[1:]
profiler = cProfile.Profile(time.thread_time) if profile else None
def announce(url):
    print(url, file=sys.stderr, flush=True)
    if profiler:
        profiler.enable()
if profiler and transport == "stdio":
    profiler.enable()
serve(Settings(), transport=transport, research=research, **({"port": 0} if transport == "http" else {}),
      announce=announce)
if profiler:
    profiler.disable()
    profiler.dump_stats(profile)
"""
QUICK = "evals.benchmarks.server_load:research"
REAL = "marchwarden.agent.research:research"
QUESTION = "What are ideal crops for a garden in Utah?"
MODERN = "2026-07-28"

Send = Callable[[dict[str, object]], Awaitable[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--warm-up", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=list(MEASURES), choices=list(MEASURES))
    parser.add_argument("--profile", type=Path)
    given = parser.parse_args()
    if given.profile:
        given.profile.mkdir(parents=True, exist_ok=True)
    for name in given.only:
        transport, stateless, research, measured = MEASURES[name]
        profile = str(given.profile / f"{name.replace(' ', '-')}.prof") if given.profile else ""
        with tempfile.TemporaryDirectory() as folder:
            variables = {
                "PYTHONPATH": str(ROOT),
                "MARCHWARDEN_TRACE_DIR": f"{folder}/traces",
                "MARCHWARDEN_SERVER_CALLS": "1",
                "MARCHWARDEN_SERVER_QUEUE": "0",
                "MARCHWARDEN_SERVER_STATELESS": str(stateless).lower(),
                "MARCHWARDEN_SOURCE": "snapshot",
                "MARCHWARDEN_MODEL": "extractive",
                "MARCHWARDEN_PROGRAM": "none",
            }
            server = subprocess.Popen(
                [sys.executable, "-c", SERVER, transport, research, profile],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if transport == "http" else None,
                env={**os.environ, **variables},
            )
            try:
                asyncio.run(measured(name, server, given))
            finally:
                server.terminate()
                server.wait(timeout=30)


async def over_http(
    name: str,
    server: subprocess.Popen[bytes],
    given: argparse.Namespace,
    *,
    request: str,
    version: str = "2025-11-25",
) -> None:
    assert server.stderr
    port = urlsplit(server.stderr.readline().decode().strip()).port
    url = f"http://127.0.0.1:{port}/mcp"
    async with httpx.AsyncClient(headers=ACCEPT, timeout=60) as client:

        async def send(message: dict[str, object], session: dict[str, str] | None = None) -> httpx.Response:
            return await client.post(url, json=message, headers=session or {})

        async def open_session() -> dict[str, str]:
            answer = await send(INITIALIZE)
            headers = {"mcp-protocol-version": "2025-11-25"}
            if given_id := answer.headers.get("mcp-session-id"):
                headers["mcp-session-id"] = given_id
            await send(INITIALIZED, headers)
            return headers

        async def with_session() -> None:
            """Open a session, call, and end it, as a client that asks one question does."""
            headers = await open_session()
            expect(request, (await send(body(request), headers)).text)
            await client.delete(url, headers=headers)

        session = {"mcp-protocol-version": version}
        if version == MODERN:
            sent = body(request)
            session |= {"mcp-method": str(sent["method"])}
            if sent["method"] == "tools/call":
                session |= {"mcp-name": "research"}
        else:
            session = await open_session()
        number = 0

        async def one() -> None:
            nonlocal number
            number += 1
            if request.startswith("session"):
                await with_session()
            elif request == "initialize":
                await open_session()
            else:
                expect(request, (await send(body(request, number, version), session)).text)

        holding = None
        if request == "busy":
            holding = asyncio.create_task(send(body("hold", 1_000_000), session))
            await asyncio.sleep(1.5)
        await count(name, server.pid, one, given)
        if holding:
            holding.cancel()


async def over_stdio(name: str, server: subprocess.Popen[bytes], given: argparse.Namespace, *, request: str) -> None:
    assert server.stdin
    assert server.stdout
    number = 0

    def exchange(message: dict[str, object]) -> str:
        assert server.stdin
        assert server.stdout
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        while "id" in message:
            line = server.stdout.readline()
            if json.loads(line).get("id") == message["id"]:
                return line.decode()
        return ""

    exchange(INITIALIZE)
    exchange(INITIALIZED)

    async def one() -> None:
        nonlocal number
        number += 1
        expect(request, exchange(body(request, number)))

    await count(name, server.pid, one, given)


async def count(name: str, pid: int, one: Callable[[], Awaitable[None]], given: argparse.Namespace) -> None:
    for _ in range(given.warm_up):
        await one()
    memory, began = proportional_mb(pid), cpu_seconds(pid)
    for _ in range(given.requests):
        await one()
    used, grown = cpu_seconds(pid) - began, proportional_mb(pid) - memory
    print(f"{name}: {1000 * used / given.requests:.2f} ms of CPU; memory {memory:.1f} MB, +{grown:.1f}", flush=True)


def body(request: str, number: int = 1, version: str = "2025-11-25") -> dict[str, object]:
    arguments: dict[str, object] = {"question": QUESTION}
    if request in ("quick", "session", "busy"):
        arguments = {"question": "sleep 0"}
    elif request == "hold":
        arguments = {"question": "sleep 20"}
    elif request == "wrong":
        arguments = {}
    params: dict[str, object] = {}
    method = {"list": "tools/list", "ping": "ping"}.get(request, "tools/call")
    if method == "tools/call":
        params = {"name": "research", "arguments": arguments}
        if request != "busy":
            params["_meta"] = {"progressToken": number}
    if version == MODERN:
        meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def expect(request: str, answer: str) -> None:
    """Raise ValueError for an answer that is not of its kind: it would measure something else."""
    wanted = {
        "list": '"outputSchema"',
        "ping": '"result"',
        "busy": "the server is busy",
        "wrong": '"isError":true',
    }.get(request, '"structuredContent"')
    if wanted not in answer:
        raise ValueError(f"not an answer to {request}: {answer[-300:]}")


INITIALIZE: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "share", "version": "0"},
    },
}
INITIALIZED: dict[str, object] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def _http(request: str, *, version: str = "2025-11-25"):  # type: ignore[no-untyped-def]
    async def measured(name: str, server: subprocess.Popen[bytes], given: argparse.Namespace) -> None:
        await over_http(name, server, given, request=request, version=version)

    return measured


def _stdio(request: str):  # type: ignore[no-untyped-def]
    async def measured(name: str, server: subprocess.Popen[bytes], given: argparse.Namespace) -> None:
        await over_stdio(name, server, given, request=request)

    return measured


MEASURES = {
    "frozen": ("http", False, REAL, _http("frozen")),
    "frozen stdio": ("stdio", False, REAL, _stdio("frozen")),
    "quick": ("http", False, QUICK, _http("quick")),
    "quick stateless": ("http", True, QUICK, _http("quick")),
    "quick 2026": ("http", False, QUICK, _http("quick", version=MODERN)),
    "quick stdio": ("stdio", False, QUICK, _stdio("quick")),
    "session and quick": ("http", False, QUICK, _http("session")),
    "session and frozen": ("http", False, REAL, _http("session frozen")),
    "busy": ("http", False, QUICK, _http("busy")),
    "wrong": ("http", False, QUICK, _http("wrong")),
    "list": ("http", False, QUICK, _http("list")),
    "list stdio": ("stdio", False, QUICK, _stdio("list")),
    "ping": ("http", False, QUICK, _http("ping")),
    "initialize": ("http", False, QUICK, _http("initialize")),
}

if __name__ == "__main__":
    main()
