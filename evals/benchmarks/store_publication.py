"""How long the publication of a call holds its answer back: several processes publish calls in one S3 server at once.

    python -m evals.benchmarks.store_publication [--processes 2] [--calls 50] [--pages 12] [--shared 0.5]

Each call read so many pages of 20 kB, and a share of them are pages that every process reads. The server is moto's,
in a process of its own on the loopback: its time is in the figures. Prints wall time and CPU of a call, and whether
each object was created once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from marchwarden.sharing.object_store import ObjectStore, open_store
from marchwarden.sharing.publication import publish_trace
from marchwarden.trace.events import Finished
from tests.sharing.calls import a_trace, fetched
from tests.sharing.s3_server import BUCKET, s3_server
from tests.standins import a_result

PAGE_BYTES = 20_000


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--processes", type=int, default=2)
    arguments.add_argument("--calls", type=int, default=50, help="calls of each process")
    arguments.add_argument("--pages", type=int, default=12)
    arguments.add_argument("--shared", type=float, default=0.5, help="share of the pages that every process reads")
    given = arguments.parse_args()
    with s3_server() as port, tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}",
            AWS_ALLOW_HTTP="true",
            AWS_REGION="us-east-1",
            AWS_ACCESS_KEY_ID="key",
            AWS_SECRET_ACCESS_KEY="secret",
        )
        url = f"s3://{BUCKET}/run"
        orders = [
            (Path(folder) / str(number), url, number, given.calls, given.pages, given.shared)
            for number in range(given.processes)
        ]
        with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
            done = pool.starmap(publish, orders)
        there = sum(1 for each in ("traces", "objects") for _ in ObjectStore(url).list(each))
    report([wall for walls, _, _ in done for wall in walls], sum(cpu for _, cpu, _ in done), done, there)


def publish(
    folder: Path, url: str, number: int, calls: int, pages: int, shared: float
) -> tuple[list[float], float, int]:
    """Return the seconds of each publication, the seconds of CPU of all, and the number of objects created."""
    every, own = random.Random(0), random.Random(number + 1)
    traces = []
    for _ in range(calls):
        chosen = [(every if place < pages * shared else own).randbytes(PAGE_BYTES) for place in range(pages)]
        trace_id = str(uuid4())
        events = [fetched(folder, page) for page in chosen]
        traces.append(
            a_trace(folder, *events, Finished(decision="done", result=a_result(trace_id)), trace_id=trace_id)
        )
    store, walls, created, cpu = open_store(url), [], 0, time.process_time()
    for trace in traces:
        began = time.monotonic()
        created += publish_trace(trace, store)
        walls.append(time.monotonic() - began)
    return walls, time.process_time() - cpu, created


def report(walls: Sequence[float], cpu: float, done: Sequence[tuple[list[float], float, int]], there: int) -> None:
    ordered = sorted(walls)
    created = sum(count for _, _, count in done)
    print(f"{len(walls)} calls of {len(done)} processes")
    print(
        f"wall time of a call: p50 {statistics.median(ordered):.3f} s, p99 {ordered[int(len(ordered) * 0.99)]:.3f} s"
    )
    print(f"CPU of a call: {1000 * cpu / len(walls):.1f} ms")
    print(f"objects: {there} in the store, created {created} times")


if __name__ == "__main__":
    main()
