"""Asks labelled questions, makes each call again from its trace, and counts the re-runs that gave the same result.

    python evals/measure_reruns.py --limit 100                             without a model
    python evals/measure_reruns.py --limit 10 --model openai/NAME          with one (MARCHWARDEN_API_BASE)

The questions are evenly spaced over all splits of the shipped set. It prints a line for each that differs, and exits
with 1 where one does.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from marchwarden.agent.rerun_call import Exchange, rerun
from marchwarden.api import research
from marchwarden.evaluation.labels.questions import SPLITS, evenly_spaced, load_questions
from marchwarden.settings import EXTRACTIVE, load_settings, shipped
from marchwarden.trace.reader import read_trace


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--model", default=EXTRACTIVE)
    parser.add_argument("--traces", type=Path, help="Folder to keep the traces in. Default: a temporary one.")
    asked = parser.parse_args()
    folder = shipped("questions")
    every = [each for split in SPLITS for each in load_questions(folder / f"{split}.jsonl")]
    chosen = evenly_spaced(every, asked.limit)
    same, seen = 0, Counter[str]()
    seconds = {"call": 0.0, "rerun": 0.0}
    with tempfile.TemporaryDirectory(prefix="marchwarden-") as temporary:
        traces = asked.traces or Path(temporary)
        settings = load_settings(model=asked.model, source="snapshot", trace_dir=traces)
        for question in chosen:
            began = time.process_time()
            result = await research(
                question.question, question.context, question.depth, question.constraints or None, settings=settings
            )
            between = time.process_time()
            trace = read_trace(traces / f"{result.trace_id}.jsonl")
            again = await rerun(trace, settings, Exchange())
            seconds["call"] += between - began
            seconds["rerun"] += time.process_time() - between
            seen.update(str(line.get("action")) for line in trace.raw)
            same += again.is_same and not again.lacks
            if not again.is_same or again.lacks or again.first:
                fields = ", ".join(f"{each.field} ({each.change})" for each in again.differences)
                step = f"step {again.first.step}" if again.first else "no step"
                print(f"{question.id}: {fields or 'the same result'}; {step}; {'; '.join(again.lacks)}", flush=True)
        size = sum(file.stat().st_size for file in traces.rglob("*") if file.is_file())
    count = len(chosen)
    print(f"{same} of {count} the same; model {asked.model}; {size / count / 1000:.0f} kB a call with its pages")
    print(f"CPU seconds a call: {seconds['call'] / count:.2f}, again: {seconds['rerun'] / count:.2f}")
    print(", ".join(f"{number} {action}" for action, number in sorted(seen.items())))
    return int(same < count)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
