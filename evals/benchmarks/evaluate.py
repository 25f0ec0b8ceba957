"""How long it takes to score 180 questions with `extractive`, and whether that grows linearly with their number.

    python evals/benchmarks/evaluate.py [--questions 180] [--jobs 2]

Cold: with nothing in the cache folder (the search index is built, every candidate is embedded). Warm: once more. Then
a third of the questions, warm: seconds a question should be the same.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

import anyio

from marchwarden.evaluation.labels.questions import SPLITS, Question, load_questions
from marchwarden.evaluation.runs.run import start_run
from marchwarden.evaluation.runs.runner import ask_all, info_of
from marchwarden.settings import EXTRACTIVE, Settings, load_settings, shipped
from marchwarden.text import embedding


def timed(name: str, questions: list[Question], settings: Settings, jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = start_run(Path(folder) / "run", info_of(questions, settings, name="benchmark", jobs=jobs))
        began = time.perf_counter()
        anyio.run(partial(ask_all, run, questions, settings, jobs=jobs))
        seconds = time.perf_counter() - began
        failed = sum(record.result is None for record in run.records)
    each = 1000 * seconds / len(questions)
    print(f"{name:16} {len(questions):4} questions {seconds:7.1f} s {each:6.0f} ms each, {failed} failed", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=180)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    every = [each for split in SPLITS for each in load_questions(shipped("questions") / f"{split}.jsonl")]
    questions = every[: given.questions]
    for semantic in (False, True) if embedding.is_installed() else (False,):
        name = "meaning" if semantic else "words"
        with tempfile.TemporaryDirectory() as cache:
            settings = load_settings(
                source="snapshot", model=EXTRACTIVE, semantic=semantic, program="none", cache_dir=cache
            )
            timed(f"{name}, cold", questions, settings, given.jobs)
            timed(f"{name}, warm", questions, settings, given.jobs)
            timed(f"{name}, a third", questions[: len(questions) // 3], settings, given.jobs)


if __name__ == "__main__":
    main()
