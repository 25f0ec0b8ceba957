"""How long a question takes: the whole `marchwarden ask` command, and a call to a server that is already warm.

python evals/benchmarks/ask.py [--commands 5] [--calls 20]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters, stdio_client

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.questions import QUESTIONS

COMMAND = [sys.executable, "-m", "marchwarden"]


def environment(folder: str) -> dict[str, str]:
    own = {"MARCHWARDEN_MODEL": "extractive", "MARCHWARDEN_SOURCE": "snapshot", "MARCHWARDEN_TRACE_DIR": folder}
    return {**os.environ, **own}


def commands(count: int, folder: str) -> tuple[list[float], list[float]]:
    """Seconds of each whole command, by the clock and of CPU (of the processes that it waits for: on Linux also
    of the one in which the call runs); the first, which may build the search index, is not counted."""
    seconds, cpu = [], []
    for question in QUESTIONS[: count + 1]:
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*COMMAND, "ask", question], env=environment(folder), check=False, capture_output=True)
        seconds.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return seconds[1:], cpu[1:]


async def calls(count: int, folder: str) -> list[float]:
    """Seconds of each call through one stdio server; the first is not counted."""
    seconds = []
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "serve"], env=environment(folder))
    async with Client(stdio_client(server)) as client:
        for number in range(count + 1):
            started = time.perf_counter()
            await client.call_tool("research", {"question": QUESTIONS[number % len(QUESTIONS)]})
            seconds.append(time.perf_counter() - started)
    return seconds[1:]


def row(name: str, seconds: list[float]) -> str:
    return f"{name:34} median {statistics.median(seconds):6.3f} s   min {min(seconds):.3f}   max {max(seconds):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--commands", type=int, default=5)
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds, cpu = commands(options.commands, folder)
        print(row(f"ask, whole command ({options.commands})", seconds))
        print(row(f"ask, CPU ({options.commands})", cpu))
        print(row(f"research, warm server ({options.calls})", anyio.run(calls, options.calls, folder)))


if __name__ == "__main__":
    main()
