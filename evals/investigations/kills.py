"""Kill an investigation at random points, resume it, and compare the answer with that of one that was not killed.

    python evals/investigations/kills.py [KILLS]

Three servers over parts of the frozen web run over HTTP; each investigation is a process of its own, which SIGKILL
ends after a random number of lines of its trace, several times in a row. The servers live on, as they would
elsewhere.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from evals.investigations.parts import by_organisation, deal

QUESTION = "Which holds up better in salty soil, beans or beets, and at what salinity does each start to lose yield?"
PARTS, SEED, PORT = 3, 7, 8371
# Seconds that one run may take, at most.
_LONGEST_S = 120


def lines_of(trace: Path) -> list[dict[str, Any]]:
    found = []
    for line in trace.read_bytes().split(b"\n") if trace.is_file() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def said(trace: Path) -> Any:
    result = lines_of(trace)[-1]["result"]
    quoted = [(each["locator"], each["raw_excerpt"], each["researcher"]) for each in result["citations"]]
    return result["answer"], quoted, [each["detail"] for each in result["gaps"]], result["confidence"]


def begin(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def newest(folder: Path, known: set[Path]) -> Path | None:
    """Return the trace of the investigation that writes to a folder now; None while there is none."""
    for path in set(folder.glob("*.jsonl")) - known:
        first = lines_of(path)[:1]
        if first and first[0].get("team"):
            return path
    return None


def main(kills: int) -> int:
    chance = random.Random(SEED)
    program = [sys.executable, "-m", "marchwarden"]
    with tempfile.TemporaryDirectory() as made, ExitStack() as stack:
        folder = Path(made)
        servers: dict[str, Any] = {}
        quiet = {"MARCHWARDEN_MODEL": "extractive", "MARCHWARDEN_SEMANTIC": "0", "MARCHWARDEN_PROGRAM": "none"}
        common = {**os.environ, **quiet, "MARCHWARDEN_OFFLINE": "1"}
        for number, part in enumerate(deal(folder, by_organisation(PARTS), PARTS), start=1):
            port = str(PORT + number)
            own = {**common, "MARCHWARDEN_TRACE_DIR": str(folder / f"traces{number}")}
            serve = [*program, "serve", "--transport", "http", "--port", port, "--web", str(part)]
            process = begin(serve, own)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            servers[f"part{number}"] = {"url": f"http://127.0.0.1:{port}/mcp"}
        team = folder / "team.json"
        team.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        time.sleep(15)
        own = {**common, "MARCHWARDEN_TRACE_DIR": str(folder / "traces")}
        traces = folder / "traces"
        ask = [*program, "investigate", QUESTION, "--team", str(team)]
        begin(ask, own).wait(_LONGEST_S)
        whole = newest(traces, set())
        assert whole, "the investigation left no trace"
        expected, length = said(whole), len(lines_of(whole))
        done, same, asked_again, known = 0, 0, 0, {whole}
        while done < kills:
            running, trace = begin(ask, own), None
            for _ in range(chance.randint(1, 4)):
                until = chance.randrange(1, length)
                ends = time.monotonic() + _LONGEST_S
                while running.poll() is None and time.monotonic() < ends:
                    trace = trace or newest(traces, known)
                    if trace and len(lines_of(trace)) >= until:
                        break
                    time.sleep(0.02)
                if running.poll() is not None:
                    break
                os.kill(running.pid, signal.SIGKILL)
                running.wait()
                done += 1
                if trace is None:
                    break
                running = begin([*program, "investigate", "--resume", trace.stem, "--team", str(team)], own)
            running.wait(_LONGEST_S)
            if trace is None:
                continue
            known.add(trace)
            lines = lines_of(trace)
            finished = {line["rihla"] for line in lines if line["action"] in ("return", "lost")}
            ends_of = [line["rihla"] for line in lines if line["action"] in ("return", "lost")]
            asked_again += len(ends_of) - len(finished)
            agrees = said(trace) == expected if lines[-1]["action"] == "result" else False
            same += agrees
            print(f"{trace.stem}: {'the same answer' if agrees else 'ANOTHER ANSWER'} after {done} kills", flush=True)
        total = len(known) - 1
        print(f"{done} kills of {total} investigations: {same} gave the same answer, {asked_again} rihlas paid twice")
    return 0 if same == total and not asked_again else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50))
