"""Python memory that sessions leave in a server over HTTP, once they are ended: a leak, or the allocator's?

    python -m evals.benchmarks.session_memory [--kind answered|wrong|worker|crash|cancel] [--sessions 40]

The server is in this process, without a socket; its workers are real. Prints bytes a session (tracemalloc, which
counts its own snapshot too: about 26 kB in all), the types of which more objects are left (gc), and where the most
memory was allocated.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import tracemalloc
from collections import Counter
from functools import partial
from pathlib import Path

import httpx

from marchwarden.server.worker import research_in_worker, warm_up
from marchwarden.settings import Settings
from tests.server.http.serving import URL, a_client, an_app, call, initialize, message, research

CANCELLED = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
WORKERS = {
    "worker": "evals.benchmarks.server_load:research",
    "crash": "evals.benchmarks.endurance:research",
    "cancel": "evals.benchmarks.endurance:research",
}
CALLS = {
    "answered": call("sleep 0"),
    "wrong": message("tools/call", 1, name="research", arguments={}),
    "worker": call("sleep 0"),
    "crash": call("crash"),
    "cancel": call("cancel"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=list(CALLS), default="answered")
    parser.add_argument("--sessions", type=int, default=40)
    given = parser.parse_args()
    asyncio.run(measure(given.kind, given.sessions))


async def measure(kind: str, sessions: int) -> None:
    answer = partial(research_in_worker, research=WORKERS[kind]) if kind in WORKERS else research
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(trace_dir=Path(folder))
        warm_up(settings)
        async with an_app(settings, research=answer) as app, a_client(app) as client:
            for _ in range(sessions // 4):
                await one(client, kind)
            tracemalloc.start(5)
            for _ in range(8):
                await one(client, kind)
            gc.collect()
            before, types = tracemalloc.take_snapshot(), Counter(type(each).__name__ for each in gc.get_objects())
            memory, _ = tracemalloc.get_traced_memory()
            for _ in range(sessions):
                await one(client, kind)
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - memory
            left = Counter(type(each).__name__ for each in gc.get_objects()) - types
            print(f"{kind}: {grown / sessions:.0f} bytes for each of {sessions} sessions; {left.most_common(8)}")
            for place in tracemalloc.take_snapshot().compare_to(before, "traceback")[:6]:
                print(place.size_diff, place.count_diff, " <- ".join(str(each) for each in reversed(place.traceback)))


async def one(client: httpx.AsyncClient, kind: str) -> None:
    session = await initialize(client)
    asked = asyncio.create_task(client.post(URL, json=CALLS[kind], headers=session))
    if kind == "cancel":
        await asyncio.sleep(0.3)
        await client.post(URL, json=CANCELLED, headers=session)
    await asked
    await client.delete(URL, headers=session)


if __name__ == "__main__":
    main()
