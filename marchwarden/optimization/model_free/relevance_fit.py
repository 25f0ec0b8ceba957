"""Fits the weights of evidence/relevance.py to labelled questions.

A row pairs an aspect of a question with a passage of a page that a search finds, or that is labelled. It is positive
where the passage overlaps a gold quote or holds an accepted string on a labelled page. The fit is a logistic
regression with an L2 penalty of 1. Positives are weighted, since about one row in fifty is positive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from marchwarden.contract import SourceFilter
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import address, overlaps, says_one_of
from marchwarden.evaluation.scoring.logistic import fit_logistic
from marchwarden.evidence.question import split_question
from marchwarden.evidence.relevance import Features, Relevance, likeness
from marchwarden.ledger import Aspect
from marchwarden.observations import Page, Passage
from marchwarden.programs.parameters import MeaningWeights, RelevanceWeights
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.search_provider import SearchProvider
from marchwarden.text.embedding import Embedder

# Pages of a search, at most. A guess.
PAGES = 6
# Passages of a page, at most. A guess.
PASSAGES = 150
# Weight of a passage that answers, where others weigh 1. A guess.
POSITIVE = 5.0
# Weight of a passage of a question without an answer: it must not be taken for one, though nothing better is there.
# A guess.
UNANSWERABLE = 3.0


@dataclass
class Row:
    question: Question
    page: Page
    passage: Passage
    aspect: Aspect
    features: Features
    gold: bool = False

    @property
    def weight(self) -> float:
        if self.gold:
            return POSITIVE
        return 1.0 if self.question.answerable else UNANSWERABLE


async def rows_of(
    questions: Iterable[Question], search: SearchProvider, fetcher: Fetcher, embedder: Embedder | None
) -> list[Row]:
    """Build the rows of these questions; a page that can't be read has none."""
    rows: list[Row] = []
    for question in questions:
        aspects = [Aspect(number=n, text=text) for n, text in enumerate(split_question(question.question), start=1)]
        # The pages that a search for the question's aspects finds, and those that are labelled.
        urls = {address(url) for url in question.pages}
        allowed = SourceFilter(question.constraints.get("source_filter"))
        for query in split_question(question.question):
            outcome = await search.search(query, max_results=PAGES, source_filter=allowed)
            urls |= {address(hit.url) for hit in outcome.hits}
        for url in sorted(urls):
            page = (await fetcher.fetch(url)).page
            if page:
                rows += _rows(question, page, url, aspects, embedder)
    return rows


def _rows(
    question: Question, page: Page, url: str, aspects: Sequence[Aspect], embedder: Embedder | None
) -> list[Row]:
    alike = likeness(embedder, page, aspects) if embedder else {}
    relevance = Relevance(page, aspects, alike)
    rows = []
    for passage in page.passages[:PASSAGES]:
        own = [
            Row(question, page, passage, aspect, features)
            for aspect in aspects
            if (features := relevance.features(passage, aspect)) is not None
        ]
        if own and _is_gold(question, page, passage, url):
            max(own, key=lambda row: row.features["words"]).gold = True
        rows += own
    return rows


def _is_gold(question: Question, page: Page, passage: Passage, url: str) -> bool:
    quotes = [quote.quote for quote in question.quotes if address(quote.url) == url]
    if any(overlaps(passage.text, quote, page.text) for quote in quotes):
        return True
    nuggets = [each for each in question.nuggets if any(address(quote.url) == url for quote in each.evidence)]
    return any(says_one_of(passage.text, nugget.answers) for nugget in nuggets)


def fit_by_words(rows: Sequence[Row]) -> RelevanceWeights | None:
    """Fit the weights without similarity in meaning; None where no row is positive, or every one is."""
    names = [name for name in RelevanceWeights.model_fields if name != "bias"]
    found = _fit(rows, names)
    return RelevanceWeights.model_validate(found) if found else None


def fit_by_meaning(rows: Sequence[Row]) -> MeaningWeights | None:
    """Fit the weights of passages that were compared in meaning; None where none was, or all are of one kind."""
    names = [name for name in MeaningWeights.model_fields if name != "bias"]
    found = _fit([row for row in rows if "likeness" in row.features], names)
    return MeaningWeights.model_validate(found) if found else None


def _fit(rows: Sequence[Row], names: Sequence[str]) -> Mapping[str, float] | None:
    # Features are not standardised, so that the weights can be read.
    if len({row.gold for row in rows}) < 2:
        return None
    features = np.array([[row.features[name] for name in names] for row in rows])
    gold = np.array([float(row.gold) for row in rows])
    weights = np.array([row.weight for row in rows])
    found, bias = fit_logistic(features, gold, weights, penalty=1.0)
    return {name: round(float(value), 3) for name, value in zip([*names, "bias"], [*found, bias], strict=True)}
