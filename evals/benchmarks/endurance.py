"""Mixed calls over HTTP for minutes, without a model: do memory, descriptors, processes and files stay flat?

    python -m evals.benchmarks.endurance --minutes 60 [--clients 4] [--report FILE]

Starts `marchwarden serve` as a process of its own, and clients that ask, cancel, go away, send rubbish and keep
connections half open; calls that crash, hang, fail, talk much or are killed from outside; every few minutes a disk
that takes only a few bytes a file (RLIMIT_FSIZE), and a clock that jumps by hours (the server's time.time).
Samples the server's processes every few seconds. A measure is flat where the slope of its minute medians, with its
95 % interval, stays below what is tolerated in an hour. At the end each answer must have its whole trace.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from evals.benchmarks.server_load import ROOT, Answer, descendants, initialize, post
from marchwarden.errors import TraceError
from marchwarden.trace.reader import read_trace

SERVER = """
import pathlib, signal, sys, time
from marchwarden.server.transports import serve
from marchwarden.settings import Settings
true_time, jump = time.time, [0.0]
time.time = lambda: true_time() + jump[0]
def jumps(*_):
    jump[0] = float(pathlib.Path(sys.argv[1]).read_text())
signal.signal(signal.SIGUSR1, jumps)
serve(Settings(), transport="http", port=0, research="evals.benchmarks.endurance:research",
      announce=lambda url: print(url, file=sys.stderr, flush=True))
"""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Seconds that a call may take, and that pass between two samples.
MAX_S, SAMPLE_S = 6.0, 5.0
# Seconds between two full disks, two clock jumps and two kills, and for which a full disk lasts. Guesses.
FULL_EVERY_S, JUMP_EVERY_S, KILL_EVERY_S, FULL_S = 150.0, 100.0, 20.0, 4.0
# Share of the run that is not looked at: caches fill.
WARM_UP = 0.25

# What a client does, and how often.
ACTS = {
    "quick": 8,
    "real": 2,
    "talk": 2,
    "cancel": 3,
    "leave": 3,
    "crash": 2,
    "fail": 1,
    "hang": 1,
    "wrong": 2,
    "rubbish": 3,
    "half open": 3,
    "read": 2,
}


@dataclass(frozen=True)
class Measure:
    name: str
    unit: str
    tolerated: float
    """Growth in an hour that still counts as flat, in the unit. Guesses: of memory, a twentieth of what it has."""


MEASURES = (
    Measure("server memory", "MB", 5.0),
    Measure("memory of all", "MB", 20.0),
    Measure("descriptors", "", 4.0),
    Measure("threads", "", 2.0),
    Measure("processes", "", 2.0),
    Measure("temporary files", "", 2.0),
    Measure("left files", "", 1.0),
)


async def research(request, *, settings, recorder, trace_id, checkpoint=None):  # type: ignore[no-untyped-def]
    """Do what the question says, in a worker; imported only there."""
    from marchwarden.agent.research import research as real
    from marchwarden.trace.events import Finished
    from tests.standins import a_result, started

    act = request.question.split()[0]
    if act == "real":
        return await real(request, settings=settings, recorder=recorder, trace_id=trace_id, checkpoint=checkpoint)
    recorder.record(started(request, settings))
    if act == "talk":
        for number in range(300):
            recorder.progress(f"step {number} {'x' * 500}")
            await asyncio.sleep(0.002)
    elif act == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    elif act == "fail":
        raise RuntimeError("on purpose")
    elif act == "hang":
        while True:
            time.sleep(1)  # noqa: ASYNC251  what never gives way is killed from outside
    else:
        await asyncio.sleep(3.0 if act in ("cancel", "leave") else 0.05)
    result = a_result(trace_id)
    recorder.record(Finished(decision="done", result=result))
    return result


@dataclass
class Run:
    """What was done and seen."""

    port: int
    pid: int
    traces: Path
    temporary: Path
    end: float
    outcomes: Counter[str] = field(default_factory=Counter)
    answered: dict[str, float] = field(default_factory=dict)
    """Times at which calls were answered, by their traces."""
    full: list[tuple[float, float]] = field(default_factory=list)
    samples: list[tuple[float, dict[str, float]]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--samples", type=Path, help="also write all samples there, as JSON")
    parser.add_argument("--log", type=Path, help="also write the server's log there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / "tmp"
        temporary.mkdir()
        clock = Path(folder) / "clock"
        variables = {
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(temporary),
            "MARCHWARDEN_TRACE_DIR": f"{folder}/traces",
            "MARCHWARDEN_SERVER_CALLS": str(given.clients),
            "MARCHWARDEN_MAX_SECONDS": str(MAX_S),
            "MARCHWARDEN_SOURCE": "snapshot",
            "MARCHWARDEN_MODEL": "extractive",
            "MARCHWARDEN_PROGRAM": "none",
        }
        with (
            (Path(folder) / "log").open("wb") as log,
            subprocess.Popen(
                [sys.executable, "-c", SERVER, str(clock)], stderr=subprocess.PIPE, env={**os.environ, **variables}
            ) as server,
        ):
            try:
                assert server.stderr
                port = urlsplit(server.stderr.readline().decode().strip()).port or 0
                copying = copied(server.stderr.fileno(), log.fileno())
                end = time.monotonic() + 60 * given.minutes
                run = Run(port, server.pid, Path(folder) / "traces", temporary, end)
                asyncio.run(load(run, given.clients, random.Random(given.seed), clock))
                server.terminate()
                code = server.wait(timeout=60)
                try:
                    copying.wait(timeout=60)
                except subprocess.TimeoutExpired:
                    # Something that the server started still has its stderr: what was measured is told all the same.
                    run.outcomes["a process outlived the server by a minute"] += 1
                    copying.kill()
            finally:
                server.kill()
        log_lines = Counter(line[:100] for line in (Path(folder) / "log").read_text("utf-8", "replace").splitlines())
        lost = lost_traces(run)
        if given.log:
            given.log.write_bytes((Path(folder) / "log").read_bytes())
    if given.samples:
        given.samples.write_text(json.dumps(run.samples))
    told = report(run, given, lost, code, log_lines)
    print(told)
    if given.report:
        given.report.write_text(told, encoding="utf-8")
    sys.exit(0 if "NOT FLAT" not in told and not lost else 1)


def copied(source: int, target: int) -> subprocess.Popen[bytes]:
    """Copy what the server logs, in a process of its own, so that its pipe never fills."""
    return subprocess.Popen(["cat"], stdin=source, stdout=target)


async def load(run: Run, clients: int, draw: random.Random, clock: Path) -> None:
    await call(run, "quick", "quick")  # what is imported once is not counted
    await call(run, "real", "real What are ideal crops for a garden in Utah?")
    others = [asyncio.create_task(each) for each in (sample(run), kill(run, draw), fill(run), jump(run, clock))]
    await asyncio.gather(*(client(run, random.Random(draw.random())) for _ in range(clients)))
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await asyncio.sleep(15)  # connections that are half open end, and calls that hang are killed
    run.samples.append((time.monotonic(), sizes(run)))


async def client(run: Run, draw: random.Random) -> None:
    while not run.is_over:
        act = draw.choices(list(ACTS), list(ACTS.values()))[0]
        try:
            await asyncio.wait_for(do(run, act, draw), 90.0)
        except asyncio.TimeoutError:
            run.outcomes[f"{act}: no answer in 90 s"] += 1
        except (OSError, KeyError, ValueError, asyncio.IncompleteReadError) as error:
            run.outcomes[f"{act}: {type(error).__name__}"] += 1


async def do(run: Run, act: str, draw: random.Random) -> None:
    if act == "rubbish":
        await rubbish(run, draw)
    elif act == "half open":
        _, writer = await asyncio.open_connection("127.0.0.1", run.port)
        writer.write(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: 99\r\n\r\n{" if draw.random() < 0.5 else b"G"
        )
        await asyncio.sleep(draw.random() * 2)
        writer.close()
        run.outcomes["half open: done"] += 1
    elif act == "leave":
        # One in ten never ends its session, which the server then keeps for half an hour (45 kB).
        async with a_session(run, ends=draw.random() > 0.1) as session:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(post(run.port, body_of("leave"), session), 0.2 + draw.random())
        run.outcomes["leave: left"] += 1
    elif act == "cancel":
        async with a_session(run) as session:
            waiting = asyncio.create_task(post(run.port, body_of("cancel"), session))
            await asyncio.sleep(0.2 + draw.random())
            notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            await post(run.port, notice, session)
            await asyncio.wait([waiting], timeout=10)
            waiting.cancel()
        run.outcomes["cancel: cancelled"] += 1
    elif act == "wrong":
        wrong = draw.choice(({"question": ""}, {}, {"question": "x" * 10_000}, {"question": "a", "depth": "abysmal"}))
        async with a_session(run) as session:
            answer = await post(run.port, body_of("wrong", wrong), session)
        run.outcomes[f"wrong: HTTP {answer.status}"] += 1
    elif act == "read":
        uri = f"trace://{draw.choice(list(run.answered))}" if run.answered else "trace://none"
        message = {"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": uri}}
        async with a_session(run) as session:
            answer = await post(run.port, message, session)
        run.outcomes[f"read: HTTP {answer.status}"] += 1
    else:
        question = f"{act} What are ideal crops for a garden in Utah?" if act == "real" else act
        await call(run, act, question)


async def call(run: Run, act: str, question: str) -> None:
    async with a_session(run) as session:
        answer = await post(run.port, body_of(question), session)
    trace_id = trace_of(answer)
    if "structuredContent" in answer.text and trace_id:
        run.answered[trace_id] = time.monotonic()
        run.outcomes[f"{act}: answered"] += 1
    elif '"isError":true' in answer.text:
        run.outcomes[f"{act}: told as failed"] += 1
    else:
        run.outcomes[f"{act}: HTTP {answer.status}"] += 1


@contextlib.asynccontextmanager
async def a_session(run: Run, *, ends: bool = True) -> AsyncIterator[dict[str, str]]:
    """Open a session, and end it as clients should where it `ends`."""
    session = await initialize(run.port)
    yield session
    if ends:
        _, writer = await asyncio.open_connection("127.0.0.1", run.port)
        lines = ["DELETE /mcp HTTP/1.1", f"host: 127.0.0.1:{run.port}", "connection: close"]
        writer.write("\r\n".join([*lines, *(f"{name}: {value}" for name, value in session.items()), "", ""]).encode())
        await writer.drain()
        writer.close()


def body_of(question: str, arguments: dict[str, object] | None = None) -> dict[str, object]:
    given = arguments if arguments is not None else {"question": question}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "research", "arguments": given}}


def trace_of(answer: Answer) -> str | None:
    """Return the trace id of a result; the text of an answer is a stream of events."""
    for line in answer.text.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return str(json.loads(line.removeprefix("data: "))["result"]["structuredContent"]["trace_id"])
    return None


async def rubbish(run: Run, draw: random.Random) -> None:
    """Send what is no request, or a hostile one."""
    deep = b'{"jsonrpc": "2.0", "id": 1, "method": ' + b"[" * 50_000
    bodies = (
        deep,
        b"\xff" * 1000,
        b"[]",
        b'{"jsonrpc":"1.0","id":1}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        b"{" * 100,
    )
    kinds: tuple[Callable[[], bytes], ...] = (
        lambda: draw.randbytes(2000),
        lambda: b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        lambda: b"POST /mcp HTTP/1.1\r\nHost: evil.example\r\ncontent-length: 2\r\n\r\n{}",
        lambda: posted(draw.choice(bodies)),
        lambda: b"DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nmcp-session-id: none\r\nconnection: close\r\n\r\n",
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", run.port)
    try:
        writer.write(draw.choice(kinds)())
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(reader.read(-1), 2.0)
    finally:
        writer.close()
    run.outcomes["rubbish: sent"] += 1


def posted(body: bytes) -> bytes:
    head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\naccept: application/json, text/event-stream\r\n"
    return f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


# What happens to the server


async def kill(run: Run, draw: random.Random) -> None:
    """Kill a worker every now and then."""
    while not run.is_over:
        await asyncio.sleep(KILL_EVERY_S)
        if workers := [each for each in descendants(run.pid) if is_worker(each)]:
            with contextlib.suppress(OSError):
                os.kill(draw.choice(workers), signal.SIGKILL)
                run.outcomes["a worker was killed"] += 1


def is_worker(pid: int) -> bool:
    """True of a process that was forked for a call: it has a parent that itself is no server."""
    with contextlib.suppress(OSError):
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
        return b"forkserver" in Path(f"/proc/{parent}/cmdline").read_bytes()
    return False


async def fill(run: Run) -> None:
    """Let the server's own process write no file beyond a few bytes, for a while."""
    while not run.is_over:
        await asyncio.sleep(FULL_EVERY_S)
        soft, hard = resource.prlimit(run.pid, resource.RLIMIT_FSIZE)
        began = time.monotonic()
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (700, hard))
        await asyncio.sleep(FULL_S)
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (soft, hard))
        # A call that began just before may end just after.
        run.full.append((began, time.monotonic() + MAX_S))
        run.outcomes["the disk was full"] += 1


async def jump(run: Run, clock: Path) -> None:
    """Let the server's clock jump by hours."""
    hours = 0.0
    while not run.is_over:
        await asyncio.sleep(JUMP_EVERY_S)
        hours = -5.0 if hours > 0 else 7.0
        await asyncio.to_thread(clock.write_text, str(3600 * hours))
        os.kill(run.pid, signal.SIGUSR1)
        run.outcomes["the clock jumped"] += 1


# What is measured


async def sample(run: Run) -> None:
    while not run.is_over:
        run.samples.append((time.monotonic(), await asyncio.to_thread(sizes, run)))
        await asyncio.sleep(SAMPLE_S)


def sizes(run: Run) -> dict[str, float]:
    family = [run.pid, *descendants(run.pid)]
    lasting = [each for each in family if not is_worker(each)]
    return {
        "server memory": resident_mb(run.pid),
        "memory of all": sum(map(resident_mb, lasting)),
        "descriptors": sum(map(descriptors, lasting)),
        "threads": float(len(list(Path(f"/proc/{run.pid}/task").iterdir()))),
        "processes": float(len(lasting)),
        "temporary files": float(sum(len(files) for _, _, files in os.walk(run.temporary))),
        # Files that were being written aside when their writer was killed.
        "left files": float(sum(1 for each in run.traces.rglob(".*") if each.is_file())),
        "traces": float(len(list(run.traces.glob("*.jsonl")))),
        "workers": float(len(family) - len(lasting)),
    }


def resident_mb(pid: int) -> float:
    """Return the memory of a process in MB, with what it shares: its share of that changes with the workers."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES / 1e6
    return 0.0


def descriptors(pid: int) -> int:
    with contextlib.suppress(OSError):
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return 0


def lost_traces(run: Run) -> list[str]:
    """Return the answers whose trace is not whole, those of a full disk aside."""
    lost = []
    for trace_id, at in run.answered.items():
        if any(began <= at <= end for began, end in run.full):
            continue
        try:
            outcome = read_trace(run.traces / f"{trace_id}.jsonl").outcome
        except TraceError:
            outcome = "unfinished"
        if outcome != "finished":
            lost.append(trace_id)
    return lost


@dataclass(frozen=True)
class Slope:
    """Growth in an hour, with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


def slope_of(points: list[tuple[float, float]]) -> Slope:
    """Return the slope of minute medians by least squares. Points are (hours, value)."""
    minutes: dict[int, list[float]] = {}
    for hours, value in points:
        minutes.setdefault(int(60 * hours), []).append(value)
    xs, ys = [each / 60 for each in minutes], [statistics.median(each) for each in minutes.values()]
    if len(xs) < 4:
        return Slope(math.nan, -math.inf, math.inf)
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    left = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in zip(xs, ys, strict=True)) / (len(xs) - 2)
    # Student's t for 95 % with few degrees of freedom, as a series in 1/n (Hill 1970, first two terms).
    free = len(xs) - 2
    t = 1.96 + 2.37 / free + 2.82 / free**2
    error = t * math.sqrt(left / spread)
    return Slope(slope, slope - error, slope + error)


def report(run: Run, given: argparse.Namespace, lost: list[str], code: int, log: Counter[str]) -> str:
    began = run.samples[0][0]
    during, after = run.samples[:-1], run.samples[-1][1]
    steady = [(at, seen) for at, seen in during if at - began >= WARM_UP * 60 * given.minutes]
    lines = [
        f"{given.minutes:g} minutes, {given.clients} clients; the first {100 * WARM_UP:.0f} % are not counted",
        "",
        "| measure | at 1/4 | at the end | idle after | growth in an hour (95 %) | tolerated | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in MEASURES:
        slope = slope_of([((at - began) / 3600, seen[each.name]) for at, seen in steady])
        verdict = "flat" if slope.high < each.tolerated else "NOT FLAT" if slope.low > each.tolerated else "open"
        first, last, idle = (seen[each.name] for seen in (steady[0][1], steady[-1][1], after))
        lines.append(
            f"| {each.name}{f' ({each.unit})' if each.unit else ''} | {first:.0f} | {last:.0f} | {idle:.0f} "
            f"| {slope.value:+.1f} ({slope.low:+.1f} to {slope.high:+.1f}) | {each.tolerated:g} | {verdict} |"
        )
    lines += ["", f"Answers: {len(run.answered)}; without a whole trace: {len(lost)}; traces: {after['traces']:.0f}."]
    lines += [f"Workers that were left when all clients had gone: {after['workers']:.0f}. Exit status: {code}.", ""]
    lines += [f"- {name}: {count}" for name, count in sorted(run.outcomes.items())]
    lines += ["", "Lines of the log, by their beginning:", ""]
    lines += [f"- {count} × `{line}`" for line, count in log.most_common(12)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
