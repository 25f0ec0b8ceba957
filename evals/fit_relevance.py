"""Fits the weights of stages/relevance.py on the training questions, and prints them with what they separate.

    python evals/fit_relevance.py [--split train] [--positives 5]

A row is a passage of a page that a search for the question finds, or that is labelled, for one of its aspects; it is
positive where it overlaps a gold quote or holds an accepted string on a labelled page. Logistic regression with
an L2 penalty of 1, positives weighted, since there is one among about fifty.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass

import anyio
import numpy as np

from marchwarden.contract import SourceFilter
from marchwarden.embedding import open_embedder
from marchwarden.evaluation.check import read_pages
from marchwarden.evaluation.questions import Question, load_questions
from marchwarden.evaluation.reductions import area_under_roc
from marchwarden.evaluation.scoring_text import address, overlaps, says_one_of
from marchwarden.ledger import Aspect
from marchwarden.observations import Page, Passage
from marchwarden.researchers.snapshot import open_tools
from marchwarden.settings import Settings, load_settings, shipped
from marchwarden.stages.plan import split_question
from marchwarden.stages.relevance import Features, Relevance, candidates, probability

PAGES = 6
UNANSWERABLE = 3.0
"""What a passage counts that must not be taken for an answer, though nothing better is there."""


@dataclass
class Row:
    question: Question
    page: Page
    passage: Passage
    aspect: Aspect
    features: Features
    gold: bool = False


async def pages_of(question: Question, settings: Settings) -> list[str]:
    """What a search for the question and its aspects finds, and what is labelled."""
    tools = open_tools(settings)
    found = {address(url) for url in question.pages}
    allowed = SourceFilter(question.constraints.get("source_filter"))
    for query in split_question(question.question):
        outcome = await tools.search.search(query, max_results=PAGES, source_filter=allowed)
        found |= {address(hit.url) for hit in outcome.hits}
    await tools.aclose()
    return sorted(found)


def is_gold(question: Question, page: Page, passage: Passage, url: str) -> bool:
    quotes = [quote.quote for quote in question.quotes if address(quote.url) == url]
    if any(overlaps(passage.text, quote, page.text) for quote in quotes):
        return True
    nuggets = [each for each in question.nuggets if any(address(quote.url) == url for quote in each.evidence)]
    return any(says_one_of(passage.text, nugget.answers) for nugget in nuggets)


async def rows_of(split: str, settings: Settings) -> list[Row]:
    rows: list[Row] = []
    embedder = open_embedder(settings)
    known: dict[str, Page] = {}
    for question in load_questions(shipped("questions") / f"{split}.jsonl"):
        urls = await pages_of(question, settings)
        known.update(await read_pages(set(urls) - set(known), settings))
        aspects = [Aspect(number=n, text=text) for n, text in enumerate(split_question(question.question), start=1)]
        for url in urls:
            if url not in known:
                continue
            page = known[url]
            chosen = candidates(page, aspects)
            alike = {}
            if embedder:
                similar = embedder.likeness([each.text for each in aspects], [each.text for each in chosen])
                alike = {
                    (aspect.number, passage.number): similar[a][p]
                    for a, aspect in enumerate(aspects)
                    for p, passage in enumerate(chosen)
                }
            relevance = Relevance(page, aspects, alike)
            for passage in page.passages[:150]:
                gold = is_gold(question, page, passage, url)
                best: Row | None = None
                for aspect in aspects:
                    features = relevance.features(passage, aspect)
                    if features is None:
                        continue
                    row = Row(question, page, passage, aspect, features)
                    rows.append(row)
                    if best is None or features["words"] > best.features["words"]:
                        best = row
                if gold and best:
                    best.gold = True
    return rows


def fit(rows: list[Row], names: list[str], positives: float) -> Features:
    """Weights by Newton's method; features are not standardised, so that they can be read."""
    x = np.array([[row.features[name] for name in names] + [1.0] for row in rows])
    y = np.array([float(row.gold) for row in rows])
    unanswerable = np.array([not row.question.answerable for row in rows])
    weight = np.where(y > 0, positives, np.where(unanswerable, UNANSWERABLE, 1.0))
    w = np.zeros(len(names) + 1)
    penalty = np.eye(len(w))
    penalty[-1, -1] = 0
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (weight * (y - p)) - penalty @ w
        hessian = (x * (weight * p * (1 - p) + 1e-9)[:, None]).T @ x + penalty
        step = np.linalg.solve(hessian, gradient)
        w += step
        if np.abs(step).max() < 1e-8:
            break
    return {name: round(float(value), 3) for name, value in zip([*names, "bias"], w, strict=True)}


def tell(title: str, rows: list[Row], weights: Features) -> None:
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
    parser.add_argument("--positives", type=float, default=5.0)
    given = parser.parse_args()
    settings = load_settings(source="snapshot")
    rows = anyio.run(rows_of, given.split, settings)
    names = [name for name in rows[0].features if name != "likeness"]
    without = fit(rows, names, given.positives)
    alike = [row for row in rows if "likeness" in row.features]
    with_likeness = fit(alike, [*names, "likeness"], given.positives) if alike else {}
    print("WEIGHTS_WITHOUT_LIKENESS =", without)
    print("WEIGHTS =", with_likeness)
    for split in ("train", "dev"):
        others = rows if split == given.split else anyio.run(rows_of, split, settings)
        tell(f"{split}, without likeness", others, without)
        if with_likeness:
            tell(f"{split}, with likeness", [row for row in others if "likeness" in row.features], with_likeness)


if __name__ == "__main__":
    main()
