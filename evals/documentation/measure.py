"""Asks 132 questions over the documentation of six projects, and says how often the answer quotes what answers.

    python evals/documentation/measure.py FOLDER [--only NAME ...] [--words]

FOLDER has the documentation of each project in a folder of its own, as the table in evals/reports/passages.md says:
none of it is part of this project. questions.jsonl has 22 questions for each, written from reading the documentation
alone, as people ask who don't know its words; two of them it does not answer. `gold`: strings of which one, quoted,
answers; `all`: strings that answer together. White space, marks of markup and letter case don't count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from marchwarden.api import index, research_sync
from marchwarden.contract import ResearchResult, SourceFilter
from marchwarden.evaluation.scoring.aggregates import area_under_roc
from marchwarden.evidence.windows import windows
from marchwarden.settings import load_settings
from marchwarden.sources.source_registry import open_tools
from marchwarden.text.ranking import rank

QUESTIONS = Path(__file__).parent / "questions.jsonl"
# Windows that the baseline may quote: an answer quotes about as much.
BASELINE_WINDOWS = 3
PAGES = 8


def bare(text: str) -> str:
    return re.sub(r"[\s|`*_]+", "", text).lower()


def answers(question: dict[str, Any], quotes: list[str]) -> bool:
    """Return whether one of the quotes answers, or all that is asked for stands in them together."""
    told = [bare(quote) for quote in quotes]
    together = question.get("all", [])
    return any(bare(gold) in quote for gold in question["gold"] for quote in told) or (
        bool(together) and all(any(bare(part) in quote for quote in told) for part in together)
    )


async def bm25_windows(question: str, corpus: str) -> list[str]:
    """Return the best windows by BM25 of the pages that the search finds: the baseline."""
    tools = open_tools(load_settings(source=corpus))
    hits = (await tools.search.search(question, max_results=PAGES, source_filter=SourceFilter(None))).hits
    pages = [(await tools.fetcher.fetch(hit.url)).page for hit in hits]
    await tools.aclose()
    texts = [window.text for page in pages if page for window in windows(page, page.passages)]
    scores = rank(question, texts)
    best: list[str] = []
    for _, text in sorted(zip(scores, texts, strict=True), key=lambda each: -each[0]):
        if not any(text in other or other in text for other in best):
            best.append(text)
    return best[:BASELINE_WINDOWS]


def main() -> None:
    import anyio

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", help="these projects")
    parser.add_argument("--words", action="store_true", help="without the embedding model")
    given = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    os.environ["HOME"] = tempfile.mkdtemp()  # corpora and caches of these runs alone
    settings = {"model": "extractive", "semantic": not given.words}
    for project in given.only or dict.fromkeys(question["project"] for question in questions):
        corpus = f"corpus:{project}"
        index(given.folder / project, name=project)
        told: Counter[str] = Counter()
        sure: list[tuple[float, bool]] = []
        for question in (each for each in questions if each["project"] == project):
            result: ResearchResult = research_sync(question["question"], settings={**settings, "source": corpus})
            quotes = [citation.raw_excerpt for citation in result.citations]
            if not question["gold"]:
                told["unanswerable"] += 1
                told["abstained"] += not quotes
                sure += [(result.confidence, False)] if quotes else []
                continue
            told["answerable"] += 1
            told["found"] += answers(question, quotes)
            told["found first"] += answers(question, quotes[:1])
            told["answered"] += bool(quotes)
            told["BM25 found"] += answers(question, anyio.run(bm25_windows, question["question"], corpus))
            sure += [(result.confidence, answers(question, quotes))] if quotes else []
        print(project, dict(told), f"AUROC of confidence {area_under_roc(sure):.3f}", flush=True)


if __name__ == "__main__":
    main()
