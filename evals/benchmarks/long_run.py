"""What many calls leave behind in one server: memory, descriptors, processes and temporary files (Linux).

python evals/benchmarks/long_run.py [--calls 40] [--every 10]; 300 calls show a slow leak, and take some minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters, stdio_client

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.questions import QUESTIONS

PROC = Path("/proc")


@dataclass(frozen=True)
class Held:
    """What the server and the processes below it hold at one moment, when no call runs."""

    processes: int
    megabytes: float
    """Proportional set size: pages that processes share count once."""
    descriptors: int
    temporary: int
    """Number of files and folders in the server's folder for temporary files."""

    def __str__(self) -> str:
        return (
            f"{self.processes} processes  {self.megabytes:7.1f} MB  {self.descriptors:4} descriptors  "
            f"{self.temporary} temporary files"
        )


def held(temporary: Path) -> Held:
    below = descendants(os.getpid())
    kilobytes = descriptors = 0
    for process in below:
        try:
            rollup = (PROC / str(process) / "smaps_rollup").read_text()
            kilobytes += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
            descriptors += len(list((PROC / str(process) / "fd").iterdir()))
        except OSError:
            continue  # it ended meanwhile
    return Held(len(below), kilobytes / 1024, descriptors, len(list(temporary.rglob("*"))))


def descendants(process: int) -> list[int]:
    """Return the processes below one, also those of a process that ended meanwhile."""
    parents: dict[int, int] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, level = [], {process}
    while level:
        level = {child for child, parent in parents.items() if parent in level}
        found += level
    return found


async def measure(calls: int, every: int, traces: Path, temporary: Path) -> None:
    environment = {
        **os.environ,
        "MARCHWARDEN_MODEL": "extractive",
        "MARCHWARDEN_SOURCE": "snapshot",
        "MARCHWARDEN_TRACE_DIR": str(traces),
        "TMPDIR": str(temporary),
    }
    server = StdioServerParameters(command=sys.executable, args=["-m", "marchwarden", "serve"], env=environment)
    async with Client(stdio_client(server)) as client:
        first = None
        for number in range(1, calls + 1):
            await client.call_tool("research", {"question": QUESTIONS[number % len(QUESTIONS)]})
            if number % every == 0 or number == calls:
                await anyio.sleep(1.0)  # the call's process has ended by then
                now = held(temporary)
                first = first or now
                print(f"after {number:4} calls  {now}", flush=True)
        assert first is not None
        print(
            f"from the first row to the last: {now.megabytes - first.megabytes:+.1f} MB, "
            f"{now.descriptors - first.descriptors:+} descriptors, {now.processes - first.processes:+} processes, "
            f"{now.temporary - first.temporary:+} temporary files"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--every", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        traces, temporary = Path(folder) / "traces", Path(folder) / "tmp"
        temporary.mkdir()
        anyio.run(measure, options.calls, options.every, traces, temporary)


if __name__ == "__main__":
    main()
