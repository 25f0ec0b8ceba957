"""Longest silence of a server's event loop while many calls run: what every other caller waits for.

    python -m evals.benchmarks.loop_silence [--calls 50] [--running 8] [--pages 10]

Runs calls side by side in workers, without sockets. Each stores pages and ends at once, so that its trace is brought
to the disk; a task that wakes every 2 ms takes the time of the loop's silences.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from uuid import uuid4

import anyio

from marchwarden.contract import ResearchRequest
from marchwarden.server.worker import research_in_worker, warm_up
from marchwarden.settings import Settings, load_settings

BEAT_S = 0.002
PAGE_BYTES = 20_000


async def research(request, *, settings, recorder, trace_id, checkpoint=None):  # type: ignore[no-untyped-def]
    """Store pages, name them in the trace, and end; imported in workers only."""
    from marchwarden.trace.events import Finished
    from tests.sharing.calls import fetched
    from tests.standins import a_result, started

    recorder.record(started(request, settings))
    for _ in range(int(request.question.split()[1])):
        recorder.record(fetched(settings.traces, os.urandom(PAGE_BYTES)))
    result = a_result(trace_id)
    recorder.record(Finished(decision="done", result=result))
    return result


async def measure(calls: int, running: int, pages: int, settings: Settings) -> None:
    silences: list[float] = []
    places = asyncio.Semaphore(running)

    async def beat() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(BEAT_S)
            now = time.perf_counter()
            silences.append(now - last - BEAT_S)
            last = now

    async def call() -> None:
        async with places:
            await research_in_worker(
                ResearchRequest(question=f"store {pages} pages"),
                settings=settings,
                trace_id=str(uuid4()),
                on_progress=lambda message: None,
                research="evals.benchmarks.loop_silence:research",
            )

    warm_up(settings)
    await call()
    beating = asyncio.create_task(beat())
    began = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(calls)))
    took = time.perf_counter() - began
    beating.cancel()
    worst = sorted(silences)[-5:]
    print(
        f"{calls} calls of {pages} pages, {running} at once, in {took:.1f} s: longest silence "
        f"{1000 * worst[-1]:.0f} ms (then {', '.join(f'{1000 * each:.0f}' for each in reversed(worst[:-1]))}), "
        f"p99 {1000 * statistics.quantiles(silences, n=100)[98]:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--running", type=int, default=8)
    parser.add_argument("--pages", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(model="extractive", source="snapshot", program="none", trace_dir=Path(folder))
        anyio.run(measure, given.calls, given.running, given.pages, settings)


if __name__ == "__main__":
    main()
