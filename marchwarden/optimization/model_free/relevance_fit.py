"""Fits the weights of evidence/relevance.py to labelled questions.

A row pairs an aspect of a question with a window of a page that a search for the question finds. It is positive where
the window overlaps a gold quote or holds an accepted string on a labelled page. The fit is a logistic regression on
standardised features with a strong L2 penalty: a few hundred questions are few, and of the penalties tried between 1
and 100,000 this one ranked best on questions that were not fitted on (evals/reports/passages.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from marchwarden.contract import SourceFilter
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import address, overlaps, says_one_of
from marchwarden.evaluation.scoring.logistic import fit_logistic
from marchwarden.evidence.close_reading import read_closely
from marchwarden.evidence.question import split_question
from marchwarden.evidence.relevance import Features, PageTerms, Relevance, TermRarity, probability
from marchwarden.evidence.windows import Window
from marchwarden.judge.answering import AnswerJudge
from marchwarden.ledger import Aspect
from marchwarden.observations import Page
from marchwarden.programs.parameters import JudgedWeights, MeaningWeights, RelevanceWeights
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.tools import SearchProvider
from marchwarden.text.embedding import Embedder

# Pages of a search, at most: about those that a call reads.
PAGES = 8
# Windows of an aspect, at most: those that share most of its words. A guess.
WINDOWS = 200
# Weight of the squared coefficients beside the loss of all rows, for ranking and for the probability of an answer.
RANKING_PENALTY, ANSWERING_PENALTY = 1000.0, 10.0
# Spread below which a feature is the same in all rows.
_CONSTANT = 1e-9
# Windows of an aspect that rank best and that the probability of an answer is fitted to. A guess.
RANKED_BEST = 8


_Weights = TypeVar("_Weights", bound="RelevanceWeights | JudgedWeights")


@dataclass
class Row:
    question: Question
    page: Page
    window: Window
    aspect: Aspect
    features: Features
    gold: bool


async def rows_of(
    questions: Iterable[Question],
    search: SearchProvider,
    fetcher: Fetcher,
    embedder: Embedder | None,
    judge: AnswerJudge | None = None,
) -> list[Row]:
    """Build the rows of these questions; a page that can't be read has none.

    With a judge, an aspect's rows are the windows that it read.
    """
    rows: list[Row] = []
    known: dict[str, PageTerms | None] = {}
    for question in questions:
        aspects = [Aspect(number=n, text=text) for n, text in enumerate(split_question(question.question), start=1)]
        allowed = SourceFilter(question.constraints.get("source_filter"))
        hits = (await search.search(question.question, max_results=PAGES, source_filter=allowed)).hits
        rarity = TermRarity()
        read: list[tuple[str, int, PageTerms]] = []
        for position, hit in enumerate(hits, start=1):
            if hit.url not in known:
                page = (await fetcher.fetch(hit.url)).page
                known[hit.url] = PageTerms(page) if page else None
            if found := known[hit.url]:
                rarity.add(found.own.values())
                read.append((address(hit.url), position, found))
        relevances = [Relevance(page, aspects, rarity=rarity, position=position) for _, position, page in read]
        compared = read_closely(relevances, aspects, embedder, judge) if embedder else relevances
        for aspect in aspects:
            rows += _rows(question, aspect, [url for url, _, _ in read], relevances, compared)
    return rows


def _rows(
    question: Question,
    aspect: Aspect,
    urls: Sequence[str],
    relevances: Sequence[Relevance],
    closely: Sequence[Relevance],
) -> list[Row]:
    rows: list[Row] = []
    for url, relevance, compared in zip(urls, relevances, closely, strict=True):
        page = relevance.page.page
        quotes = [quote.quote for quote in question.quotes if address(quote.url) == url]
        nuggets = [each for each in question.nuggets if any(address(quote.url) == url for quote in each.evidence)]
        for window in (compared if compared.is_judged(aspect) else relevance).likely(aspect):
            features = compared.features(window, aspect)
            is_gold = any(overlaps(window.text, quote, page.text) for quote in quotes) or any(
                says_one_of(window.text, nugget.answers) for nugget in nuggets
            )
            rows.append(Row(question, page, window, aspect, features, is_gold))

    # About the order in which `likely` chooses, over all pages.
    def share(row: Row) -> float:
        found = row.features
        return found["bm25"] + 1.5 * found["words"] + (found["heading_words"] + found["near_words"]) / 2

    return sorted(rows, key=share, reverse=True)[:WINDOWS]


def fit_weights(rows: Sequence[Row]) -> dict[str, RelevanceWeights | JudgedWeights]:
    """Fit the sets of weights in `Parameters.relevance`, by name; those that the rows can't tell are left out.

    Weights for ranking are fitted to all rows. Those for the probability of an answer are fitted to the windows that
    rank best, since only such are asked for it.
    """
    fitted: dict[str, RelevanceWeights | JudgedWeights] = {}
    for name, form in (("by_words", RelevanceWeights), ("by_meaning", MeaningWeights)):
        usable = [row for row in rows if form is RelevanceWeights or "likeness" in row.features]
        if ranking := _fit(usable, form, penalty=RANKING_PENALTY):
            fitted[f"ranking_{name}"] = ranking
            if answering := _fit(best_of(usable, ranking), form, penalty=ANSWERING_PENALTY):
                fitted[name] = answering
    if by_judge := _fit([row for row in rows if "judged" in row.features], JudgedWeights, penalty=ANSWERING_PENALTY):
        fitted["by_judge"] = by_judge
    return fitted


def best_of(rows: Sequence[Row], ranking: RelevanceWeights | JudgedWeights) -> list[Row]:
    """Return the rows of each aspect that rank best and do not overlap, best first."""
    asked: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        asked.setdefault((row.question.id, row.aspect.number), []).append(row)
    best: list[Row] = []
    for own in asked.values():
        chosen: list[Row] = []
        for row in sorted(own, key=lambda each: -probability(each.features, ranking)):
            if not any(row.page is other.page and row.window.overlaps(other.window) for other in chosen):
                chosen.append(row)
        best += chosen[:RANKED_BEST]
    return best


def _fit(rows: Sequence[Row], form: type[_Weights], *, penalty: float) -> _Weights | None:
    """Fit to standardised features; the weights returned apply to the features as they are, and can be read.

    None where no row is positive, or every one is.
    """
    if len({row.gold for row in rows}) < 2:
        return None
    names = [name for name in form.model_fields if name != "bias"]
    features = np.array([[row.features[name] for name in names] for row in rows])
    gold = np.array([float(row.gold) for row in rows])
    spread = features.std(axis=0)
    spread[spread < _CONSTANT] = 1.0
    found, bias = fit_logistic(features / spread, gold, penalty=penalty)
    values = zip([*names, "bias"], [*(found / spread), bias], strict=True)
    return form(**{name: round(float(value), 3) for name, value in values})
