"""Measures what `extractive` reaches on the sample of evals/floors.json, and writes it there.

    python evals/measure_floors.py

To be run when labels or pages have changed, or when a change is meant to raise a floor; the diff shows what moved.
"""

from __future__ import annotations

import json
import math
import tempfile
from functools import partial
from pathlib import Path

import anyio

from marchwarden.evaluation.labels.gate import GATED
from marchwarden.evaluation.labels.questions import SPLITS, Question, load_questions
from marchwarden.evaluation.runs.run import labels_fingerprint, pages_fingerprint, start_run
from marchwarden.evaluation.runs.runner import ask_all, info_of
from marchwarden.evaluation.scoring.metrics import BY_NAME
from marchwarden.settings import EXTRACTIVE, load_settings, shipped
from marchwarden.text import embedding

FLOORS = Path(__file__).parent / "floors.json"
SAMPLE = (
    "utah-garden-02",
    "utah-garden-08",
    "utah-garden-10",
    "vitamin-d-01",
    "mars-rovers-04",
    "crispr-09",
    "marathon-04",
    "marathon-06",
    "history-of-ai-05",
    "law-03",
    "bread-07",
    "whales-09",
)
"""Every kind and gap category at least once; none of test."""
SOME = ("marathon-04", "marathon-06", "history-of-ai-05", "whales-09")
"""Of the sample: three quick ones that meaning answers otherwise than words do, and one for another researcher."""
SET_UPS = {"words": (SAMPLE, False), "meaning": (SAMPLE, True), "meaning_of_some": (SOME, True)}


def measured(questions: list[Question], semantic: bool) -> dict[str, float]:
    settings = load_settings(source="snapshot", model=EXTRACTIVE, semantic=semantic, program="none")
    with tempfile.TemporaryDirectory() as folder:
        run = start_run(Path(folder) / "run", info_of(questions, settings, name="floors"))
        anyio.run(partial(ask_all, run, questions, settings, jobs=2))
        figures = run.figures()
    return {name: _rounded(name, value) for name in GATED if (value := figures[name]) is not None}


def _rounded(name: str, value: float) -> float:
    """To three decimals, on the side that the value itself passes."""
    round_ = math.ceil if BY_NAME[name].better == "lower" else math.floor
    return round_(value * 1000) / 1000


def main() -> None:
    by_id = {
        question.id: question
        for split in SPLITS
        for question in load_questions(shipped("questions") / f"{split}.jsonl")
    }
    questions = [by_id[each] for each in SAMPLE]
    floors = {
        name: measured([by_id[each] for each in ids], semantic)
        for name, (ids, semantic) in SET_UPS.items()
        if not semantic or embedding.is_installed()
    }
    told = {
        "questions": list(SAMPLE),
        "some": list(SOME),
        "labels": labels_fingerprint(questions),
        "pages": pages_fingerprint(shipped("web")),
        "floors": floors,
    }
    FLOORS.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(floors, indent=2))


if __name__ == "__main__":
    main()
