"""Questions on a Dask cluster: what a question costs the caller, the scheduler and the workers.

    python -m evals.benchmarks.cluster [--real 12] [--replayed 400] [--workers 2]

Starts a scheduler and workers on the loopback. First it asks shipped questions without a model, and takes the CPU
time of the workers' processes with their calls. Then the workers answer at once, with the result, trace and pages of
one of these calls: so the caller's and the scheduler's shares are measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from evals.benchmarks.server_load import CLOCK_TICKS, ROOT
from marchwarden.contract import ResearchRequest
from marchwarden.evaluation.labels.questions import load_questions
from marchwarden.evaluation.runs.runner import scored
from marchwarden.execution.cluster_call import Answer, SetUp, order_of, run_order
from marchwarden.execution.dask_cluster import DaskCluster, open_cluster
from marchwarden.settings import Settings, load_settings, shipped

REPLAY = "evals.benchmarks.cluster:replay"
KEPT = "MARCHWARDEN_BENCHMARK_ANSWER"


def replay(order: str) -> Answer:
    """Return the answer that was kept before, at once; runs on a worker."""
    folder = Path(os.environ[KEPT])
    objects = {file.stem: file.read_bytes() for file in folder.glob("*.object")}
    kept = json.loads((folder / "answer.json").read_text())
    return {**kept, "trace": (folder / "trace").read_bytes(), "objects": objects}  # type: ignore[typeddict-item]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--real", type=int, default=12)
    parser.add_argument("--replayed", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        os.environ |= {KEPT: str(Path(folder) / "kept"), "MARCHWARDEN_TRACE_DIR": f"{folder}/traces"}
        Path(os.environ[KEPT]).mkdir()
        file = Path(folder) / "scheduler.json"
        scheduler = stack.enter_context(
            dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        )
        while not file.exists():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        places = ("--nthreads", "1", "--no-dashboard", "--local-directory", folder)
        workers = [stack.enter_context(dask("worker", address, *places)) for _ in range(given.workers)]
        asyncio.run(measure(address, scheduler, workers, given))


async def measure(address: str, scheduler: int, workers: list[int], given: argparse.Namespace) -> None:
    settings = load_settings(source="snapshot", model="extractive", program="none")
    settings = settings.model_copy(update={"trace_dir": Path(os.environ["MARCHWARDEN_TRACE_DIR"])})
    questions = load_questions(shipped("questions") / "dev.jsonl")
    async with open_cluster(address) as cluster:
        await ask(cluster, [questions[0].request] * (2 * given.workers), settings)  # what is imported once
        before, began = sum(map(family_cpu, workers)), time.perf_counter()
        traces = await ask(cluster, [each.request for each in questions[: given.real]], settings)
        took, used = time.perf_counter() - began, sum(map(family_cpu, workers)) - before
        print(
            f"{given.real} real questions in {took:.1f} s; {used / given.real:.2f} s of CPU a question on the workers"
        )
    sent = await asyncio.to_thread(keep, questions[0].request, settings)
    began = time.process_time()
    for trace_id, question in zip(traces, questions, strict=False):
        scored(question, None, None, trace_id, 1.0, settings)
    print(f"scoring: {1000 * (time.process_time() - began) / len(traces):.1f} ms of CPU a question (eval only)")
    async with open_cluster(address, call=REPLAY) as cluster:
        requests = [questions[0].request] * given.replayed
        before, own, began = family_cpu(scheduler), time.process_time(), time.perf_counter()
        await ask(cluster, requests, settings)
        took = time.perf_counter() - began
        caller, there = time.process_time() - own, family_cpu(scheduler) - before
    print(
        f"{given.replayed} replayed questions in {took:.1f} s ({given.replayed / took:.0f}/s); of CPU a question "
        f"{1000 * caller / given.replayed:.1f} ms for the caller, {1000 * there / given.replayed:.1f} ms for the "
        f"scheduler; an answer has {sent / 1000:.0f} kB"
    )


async def ask(cluster: DaskCluster, requests: list[ResearchRequest], settings: Settings) -> list[str]:
    """Ask all, so many side by side as `ask --file` does; return the ids of the traces."""
    left, traces = iter(requests), []

    async def work() -> None:
        for request in left:
            trace_id = str(uuid4())
            await cluster.research(request, settings, trace_id)
            traces.append(trace_id)

    await asyncio.gather(*(work() for _ in range(cluster.jobs)))
    return traces


def keep(request: ResearchRequest, settings: Settings) -> int:
    """Make one call here, and keep its answer for `replay`; return the bytes of that."""
    answer = run_order(order_of(request, SetUp.of(settings), str(uuid4())))
    folder = Path(os.environ[KEPT])
    (folder / "answer.json").write_text(json.dumps({name: answer[name] for name in ("result", "seconds")}))  # type: ignore[literal-required]
    (folder / "trace").write_bytes(answer["trace"])
    for key, body in answer["objects"].items():
        (folder / f"{key}.object").write_bytes(body)
    return sum(file.stat().st_size for file in folder.iterdir())


@contextmanager
def dask(program: str, *arguments: str) -> Iterator[int]:
    """Start a process of Dask, yield its id, and end it with all that it started."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def family_cpu(pid: int) -> float:
    """Return the CPU seconds of a process and its descendants, also of those that have ended and were waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    used = sum(map(int, fields[11:15])) / CLOCK_TICKS
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            used += sum(family_cpu(int(each)) for each in (task / "children").read_text().split())
    return used


if __name__ == "__main__":
    main()
