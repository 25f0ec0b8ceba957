"""Fits the weights of evidence/relevance.py on the training questions, and prints them with what they separate.

    python evals/fit_relevance.py [--split train]

What a row is, and how it is fitted: marchwarden/optimization/model_free/relevance_fit.py.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import anyio
import numpy as np

from marchwarden.evaluation.labels.questions import load_questions
from marchwarden.evaluation.scoring.aggregates import area_under_roc
from marchwarden.evidence.relevance import probability
from marchwarden.optimization.model_free.relevance_fit import Row, fit_by_meaning, fit_by_words, rows_of
from marchwarden.programs.parameters import RelevanceWeights
from marchwarden.settings import Settings, load_settings, shipped
from marchwarden.sources.source_registry import open_snapshot
from marchwarden.text.embedding import open_embedder


async def rows_of_split(split: str, settings: Settings) -> list[Row]:
    tools = open_snapshot(settings)
    questions = load_questions(shipped("questions") / f"{split}.jsonl")
    rows = await rows_of(questions, tools.search, tools.fetcher, open_embedder(settings))
    await tools.aclose()
    return rows


def tell(title: str, rows: list[Row], fitted: RelevanceWeights) -> None:
    weights = fitted.model_dump()
    scored = [(probability({k: v for k, v in row.features.items() if k in weights}, weights), row) for row in rows]
    area = area_under_roc([(score, row.gold) for score, row in scored])
    best: dict[str, float] = defaultdict(float)
    for score, row in scored:
        best[row.question.id] = max(best[row.question.id], score)
    unanswerable = {row.question.id for row in rows if not row.question.answerable}
    golds = sorted(score for score, row in scored if row.gold)
    print(f"{title}: {len(rows)} rows, {len(golds)} gold, AUROC {area:.3f}")
    print("  gold quantiles", np.round(np.quantile(golds, [0.1, 0.2, 0.3, 0.5]), 2))
    print("  best of unanswerable", sorted(round(best[each], 2) for each in unanswerable))
    for t in (0.3, 0.4, 0.5, 0.6, 0.7):
        picked = [row.gold for score, row in scored if score >= t]
        print(f"   at {t}: precision {np.mean(picked):.2f} recall {sum(picked) / len(golds):.2f} of gold")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--split", default="train")
    given = parser.parse_args()
    settings = load_settings(source="snapshot")
    rows = anyio.run(rows_of_split, given.split, settings)
    by_words, by_meaning = fit_by_words(rows), fit_by_meaning(rows)
    print("by_words =", by_words)
    print("by_meaning =", by_meaning)
    for split in ("train", "dev"):
        others = rows if split == given.split else anyio.run(rows_of_split, split, settings)
        if by_words:
            tell(f"{split}, by words", others, by_words)
        if by_meaning:
            tell(f"{split}, by meaning", [row for row in others if "likeness" in row.features], by_meaning)


if __name__ == "__main__":
    main()
