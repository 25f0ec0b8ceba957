"""Many calls at once over HTTP, without a model: how many are answered, how fast, and what the server itself costs.

    python evals/benchmarks/server_load.py [--calls 1000] [--seconds 0.05 | --frozen] [--running 4] [--queue 40]
        [--retry]

Starts `marchwarden serve` as a process of its own, with workers that answer after --seconds, or that research the
frozen web. Each client opens a session, calls once, and reads its answer; with --retry one that is refused asks again
after the time that it is told. Prints the outcomes, p50 and p99 of the answered and of the refused, the greatest
memory and number of processes, a worker's share of memory, and the CPU time of the server's own process for a call.
What one request of each kind costs it: server_share.py.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

ROOT = Path(__file__).parents[2]
SERVER = """
import sys
from marchwarden.server.transports import serve
from marchwarden.settings import Settings
serve(Settings(), transport="http", port=0, research=sys.argv[1],
      announce=lambda url: print(url, file=sys.stderr, flush=True))
"""
ACCEPT = {"accept": "application/json, text/event-stream"}
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


async def research(request, *, settings, recorder, trace_id, checkpoint=None):  # type: ignore[no-untyped-def]
    """Answer after a while, in a worker; imported only there."""
    from marchwarden.trace.events import Finished
    from tests.standins import a_result, started

    recorder.record(started(request, settings))
    recorder.progress("working")
    await asyncio.sleep(float(request.question.split()[1]))
    result = a_result(trace_id)
    recorder.record(Finished(decision="done", result=result))
    return result


@dataclass
class Seen:
    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    memory_mb: float = 0.0
    share_mb: dict[int, float] = field(default_factory=dict)
    """Greatest share of memory of each process but the server's own, by its id."""
    processes: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--frozen", action="store_true")
    parser.add_argument("--question", default="What are ideal crops for a garden in Utah?", help="with --frozen")
    parser.add_argument("--running", type=int, default=4)
    parser.add_argument("--queue", type=int, default=40)
    parser.add_argument("--retry", action="store_true")
    given = parser.parse_args()
    under_load(given)


def under_load(given: argparse.Namespace) -> None:
    variables = {
        "PYTHONPATH": str(ROOT),
        "MARCHWARDEN_SERVER_CALLS": str(given.running),
        "MARCHWARDEN_SERVER_QUEUE": str(given.queue),
        "MARCHWARDEN_SERVER_CONNECTIONS": "5000",
        "MARCHWARDEN_SOURCE": "snapshot",
        "MARCHWARDEN_MODEL": "extractive",
        "MARCHWARDEN_PROGRAM": "none",
    }
    research = "marchwarden.agent.research:research" if given.frozen else "evals.benchmarks.server_load:research"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **variables, "MARCHWARDEN_TRACE_DIR": folder}
        command = [sys.executable, "-c", SERVER, research]
        with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as server:
            try:
                assert server.stderr
                port = urlsplit(server.stderr.readline().decode().strip()).port or 0
                asyncio.run(measure(port, server.pid, given))
            finally:
                server.terminate()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


async def post(port: int, body: object, headers: dict[str, str]) -> Answer:
    """Send one request over a connection of its own. httpx looks through all its connections for each: with 1,000 of
    them it was the client that was measured."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        sent = json.dumps(body).encode()
        own = {"host": f"127.0.0.1:{port}", "content-type": "application/json", "content-length": str(len(sent))}
        head = {**ACCEPT, **own, "connection": "close", **headers}
        lines = ["POST /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        writer.write("\r\n".join(lines).encode() + sent)
        received = (await reader.read(-1)).decode("utf-8", "replace")
    finally:
        writer.close()
    top, _, text = received.partition("\r\n\r\n")
    first, *rest = top.split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in rest if ": " in line)
    return Answer(int(first.split()[1]) if first else 0, fields, text)


async def measure(port: int, pid: int, given: argparse.Namespace) -> None:
    question = given.question if given.frozen else f"sleep {given.seconds}"
    await one_call(port, question, Seen(), retry=True)  # what is imported once is not counted
    seen = Seen()
    watching = asyncio.create_task(watch(pid, seen))
    cpu, began = cpu_seconds(pid), time.perf_counter()
    await asyncio.gather(*(one_call(port, question, seen, retry=given.retry) for _ in range(given.calls)))
    took, used = time.perf_counter() - began, cpu_seconds(pid) - cpu
    watching.cancel()
    each = given.question if given.frozen else f"{given.seconds:g} s each"
    print(f"{given.calls} calls at once, {given.running} run, {given.queue} wait, {each}")
    print(
        f"answered {len(seen.answered)} in {took:.1f} s ({len(seen.answered) / took:.1f}/s): {spread(seen.answered)}"
    )
    print(f"refused {len(seen.refused)}: {spread(seen.refused)}; failures: {dict(seen.failures) or 'none'}")
    print(f"memory {seen.memory_mb:.0f} MB in {seen.processes} processes at most")
    print(f"share of a worker: {statistics.median(seen.share_mb.values()):.0f} MB (median of their greatest)")
    print(f"CPU of the server's own process: {1000 * used / given.calls:.1f} ms a call, of all kinds")


async def one_call(port: int, question: str, seen: Seen, *, retry: bool) -> None:
    began = time.perf_counter()
    try:
        session = await initialize(port)
        while True:
            answer = await post(port, call(question), session)
            if answer.status != httpx.codes.SERVICE_UNAVAILABLE:
                break
            if not retry:
                seen.refused.append(time.perf_counter() - began)
                return
            await asyncio.sleep(float(answer.headers["retry-after"]))
        if "structuredContent" in answer.text:
            seen.answered.append(time.perf_counter() - began)
        elif "the server is busy" in answer.text:
            seen.refused.append(time.perf_counter() - began)
        else:
            seen.failures[answer.text[-120:]] += 1
    except (OSError, KeyError) as error:
        seen.failures[type(error).__name__] += 1


async def initialize(port: int) -> dict[str, str]:
    parameters = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "load", "version": "0"},
    }
    opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters}
    answer = await post(port, opening, {})
    return {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}


def call(question: str) -> dict[str, object]:
    arguments = {"question": question}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "research", "arguments": arguments}}


async def watch(pid: int, seen: Seen) -> None:
    while True:
        shares = {each: proportional_mb(each) for each in (pid, *descendants(pid))}
        seen.processes = max(seen.processes, len(shares))
        seen.memory_mb = max(seen.memory_mb, sum(shares.values()))
        del shares[pid]
        for each, share in shares.items():
            seen.share_mb[each] = max(share, seen.share_mb.get(each, 0.0))
        await asyncio.sleep(0.5)


def descendants(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                children += [int(each) for each in (task / "children").read_text().split()]
    return children + [each for child in children for each in descendants(child)]


def proportional_mb(pid: int) -> float:
    """Return a process's share of memory in MB: pages that several have are divided among them."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1000
    return 0.0


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process by its own clock: /proc counts in hundredths, too coarse for a call."""
    return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid has it on Linux, which Python lacks


def spread(seconds: list[float]) -> str:
    if len(seconds) < 2:
        return "p50 and p99 need two"
    cuts = statistics.quantiles(seconds, n=100)
    return f"p50 {statistics.median(seconds):.2f} s, p99 {cuts[98]:.2f} s"


if __name__ == "__main__":
    main()
