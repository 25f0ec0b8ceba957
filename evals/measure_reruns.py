"""Asks labelled questions, makes each call again from its trace, and counts the re-runs that gave the same result.

    python evals/measure_reruns.py --limit 100                             without a model
    python evals/measure_reruns.py --limit 10 --model openai/NAME --traces DIR --ask   with one (MARCHWARDEN_API_BASE)
    python evals/measure_reruns.py --limit 10 --model openai/NAME --traces DIR --again the same, its server stopped

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
from marchwarden.settings import EXTRACTIVE, Settings, load_settings, shipped
from marchwarden.trace.reader import read_trace


async def ask(given: argparse.Namespace, settings: Settings) -> list[Path]:
    """Ask questions that are evenly spaced over all splits, and return the traces."""
    folder = shipped("questions")
    every = [each for split in SPLITS for each in load_questions(folder / f"{split}.jsonl")]
    traces = []
    for question in evenly_spaced(every, given.limit):
        constraints = dict(question.constraints) if question.constraints else {}
        if given.budget:
            constraints["token_budget"] = given.budget
        result = await research(
            question.question, question.context, question.depth, constraints or None, settings=settings
        )
        traces.append(settings.traces / f"{result.trace_id}.jsonl")
    return traces


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--model", default=EXTRACTIVE)
    parser.add_argument("--budget", type=int, help="Token budget of each call. Default: the question's own.")
    parser.add_argument("--traces", type=Path, help="Folder to keep the traces in. Default: a temporary one.")
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--ask", action="store_true", help="Ask only, and keep the traces.")
    parts.add_argument("--again", action="store_true", help="Make the calls of the kept traces again.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="marchwarden-") as temporary:
        traces = given.traces or Path(temporary)
        settings = load_settings(model=given.model, source="snapshot", trace_dir=traces)
        began = time.process_time()
        asked = sorted(traces.glob("*.jsonl")) if given.again else await ask(given, settings)
        between = time.process_time()
        if given.ask:
            print(f"{len(asked)} asked; their traces are in {traces}")
            return 0
        same, seen = 0, Counter[str]()
        for path in asked:
            trace = read_trace(path)
            again = await rerun(trace, settings, Exchange())
            seen.update(str(line.get("action")) for line in trace.raw)
            is_same = again.is_same and not again.lacks
            same += is_same
            if not is_same or again.first:
                fields = ", ".join(f"{each.field} ({each.change})" for each in again.differences)
                step = f"step {again.first.step}" if again.first else "no step"
                print(
                    f"{trace.trace_id}: {fields or 'the same result'}; {step}; {'; '.join(again.lacks)}", flush=True
                )
        size = sum(file.stat().st_size for file in traces.rglob("*") if file.is_file())
    count = max(1, len(asked))
    print(f"{same} of {count} the same; model {given.model}; {size / count / 1000:.0f} kB a call with its pages")
    print(
        f"CPU seconds a call: {(between - began) / count:.2f}, again: {(time.process_time() - between) / count:.2f}"
    )
    print(", ".join(f"{number} {action}" for action, number in sorted(seen.items())))
    return int(same < count)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
