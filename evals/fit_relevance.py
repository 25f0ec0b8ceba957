"""Fits the weights of evidence/relevance.py, and prints them with how well they rank on questions not fitted on.

    python evals/fit_relevance.py --fit shipped:train --fit QUESTIONS.jsonl,WEB --judge shipped:dev ...

A set is a split of the shipped questions, or a file of labelled questions and the frozen web that they are over.
The weights in programs/parameters.py were fitted on the shipped train questions and on 75 questions over real pages
(web pages of seven kinds, saved in January 2026), each row counting the same. What a row is, and how it is fitted:
marchwarden/optimization/model_free/relevance_fit.py.
"""

from __future__ import annotations

import argparse
import pickle
from collections import defaultdict
from pathlib import Path

import anyio
import numpy as np

from marchwarden.evaluation.labels.questions import load_questions
from marchwarden.evaluation.scoring.aggregates import area_under_roc
from marchwarden.evidence.relevance import probability
from marchwarden.optimization.model_free.relevance_fit import Row, best_of, fit_weights, rows_of
from marchwarden.programs.parameters import RelevanceWeights
from marchwarden.settings import load_settings, shipped
from marchwarden.sources.source_registry import open_tools
from marchwarden.text.embedding import open_embedder


async def rows_of_set(name: str) -> list[Row]:
    """Return the rows of a set as the command line names it."""
    file, _, web = name.partition(",")
    if file.startswith("shipped:"):
        questions, settings = shipped("questions") / f"{file[8:]}.jsonl", load_settings(source="snapshot")
    else:
        questions, settings = Path(file), load_settings(source="snapshot", web=Path(web))
    tools = open_tools(settings.model_copy(update={"source": "snapshot"}))
    rows = await rows_of(load_questions(questions), tools.search, tools.fetcher, open_embedder(settings), tools.judge)
    await tools.aclose()
    return rows


def tell(title: str, rows: list[Row], ranking: RelevanceWeights, answering: RelevanceWeights) -> None:
    """Print how the best windows of each aspect rank, and what their probabilities are worth."""
    asked: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in best_of(rows, ranking):
        asked[row.question.id, row.aspect.number].append(row)
    answerable = [own for own in asked.values() if own[0].question.answerable]
    held = " ".join(
        f"{np.mean([any(row.gold for row in own[:most]) for own in answerable]):.3f}" for most in (1, 2, 3, 5)
    )
    first = [
        max(((probability(row.features, answering), row.gold) for row in own), key=lambda each: each[0])
        for own in asked.values()
    ]
    told, right = np.mean([score for score, _ in first]), np.mean([gold for _, gold in first])
    whole = [
        (max(probability(row.features, answering) for row in own), own[0].question.answerable)
        for own in asked.values()
    ]
    print(
        f"{title}: a gold window among the best 1, 2, 3, 5: {held}; the likeliest is right {right:.2f}, "
        f"told {told:.2f}, AUROC {area_under_roc(first):.3f}; answerable or not, AUROC {area_under_roc(whole):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="append", required=True, help="set to fit on; may be repeated")
    parser.add_argument("--judge", action="append", default=[], help="set to judge on; may be repeated")
    parser.add_argument(
        "--keep", type=Path, help="folder that keeps the rows of each set, so that they are made once"
    )
    given = parser.parse_args()

    def rows(name: str) -> list[Row]:
        kept = given.keep and given.keep / f"{name.replace('/', '_')}.pickle"
        if kept and kept.exists():
            found: list[Row] = pickle.loads(kept.read_bytes())
            return found
        made = anyio.run(rows_of_set, name)
        if kept:
            kept.write_bytes(pickle.dumps(made))
        return made

    fitted_on = [row for name in given.fit for row in rows(name)]
    fitted = fit_weights(fitted_on)
    for name, weights in fitted.items():
        print(f"{name}: {type(weights).__name__} = {weights!r}")
    for name in given.judge:
        for form in ("by_words", "by_meaning"):
            judged = [row for row in rows(name) if form == "by_words" or "likeness" in row.features]
            if form in fitted:
                tell(f"{name}, {form}", judged, fitted[f"ranking_{form}"], fitted[form])


if __name__ == "__main__":
    main()
