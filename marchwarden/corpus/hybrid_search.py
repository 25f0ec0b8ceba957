"""Search of a corpus, whatever engine keeps its index: by words, and by meaning too where the corpus has vectors.

Own code beside the fusion that lancedb has: it is twelve lines, and the same for an engine that has none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from marchwarden.corpus.engines.corpus_index import CorpusIndex, Found
from marchwarden.judge.thesaurus import is_english_word
from marchwarden.text.ranking import query_terms, query_words, terms
from marchwarden.text.spelling import meant_words

# Stretches in which the word meant is looked for. A guess.
_STRETCHES_OF_NEAR_WORDS = 10
# Documents of each list that are fused, at least. A guess.
_FUSED = 50
# Constant of reciprocal rank fusion, as its authors have it (Cormack, Clarke and Büttcher 2009).
_RANK_CONSTANT = 60

# A function that returns the vector of a query.
Embed = Callable[[str], bytes]


class HybridSearch:
    """Search that can be used from several threads; raises ValueError or OSError where the index is damaged."""

    def __init__(self, index: CorpusIndex, languages: Iterable[str], embed: Embed | None = None) -> None:
        """Make a search; without `embed`, by words alone."""
        self._index = index
        self._languages = sorted(languages)
        self._embed = embed

    def find(self, query: str, most: int) -> list[Found]:
        """Return the documents that fit `query`, best first, at most `most`, each once, by its best stretch.

        By words alone, they have a word of it. Else two lists are fused by ranks; the score is that of the fusion.
        """
        if self._embed is None:
            return self._by_words(query, most)
        depth = max(most, _FUSED)
        by_words = self._by_words(query, depth)
        by_meaning: list[Found] = []
        if query.strip():
            by_meaning = list(_each_once(self._index.find_near(self._embed(query), 2 * depth)))[:depth]
        return fused([by_words, by_meaning])[:most]

    def _by_words(self, query: str, most: int) -> list[Found]:
        said = Counter(terms(query))
        # A word counts as often as the query says it: what a long question repeats is what it is about.
        uses = {word: said.get(word, 1) for word in query_terms(query, self._languages)}
        # Several stretches of one document may be among the best.
        return list(_each_once(self._index.find_words(uses, 2 * most)))[:most] if uses else []

    def meant(self, query: str) -> dict[str, str]:
        """Return the closest word of the documents for each word of `query` that none of them has, and a
        dictionary neither."""

        def texts_near(word: str, edits: int) -> Iterator[str]:
            for found in self._index.find_misspelt(word, edits, _STRETCHES_OF_NEAR_WORDS, words):
                yield "\n".join((found.title, *found.sentences))

        def is_known(word: str) -> bool:
            readings = query_terms(word, self._languages)
            return not readings or self._index.has_any(readings) or is_english_word(word)

        words = list(dict.fromkeys(query_words(query)))
        return meant_words(words, is_known, texts_near)


def fused(lists: Iterable[list[Found]]) -> list[Found]:
    """Return the documents of several lists, best first, by reciprocal rank fusion; of each the stretch that stands
    highest in a list."""
    scores: dict[str, float] = defaultdict(float)
    best: dict[str, tuple[int, Found]] = {}
    for found in lists:
        for rank, each in enumerate(found, start=1):
            scores[each.locator] += 1 / (_RANK_CONSTANT + rank)
            if each.locator not in best or rank < best[each.locator][0]:
                best[each.locator] = (rank, each)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return [replace(best[locator][1], score=score) for locator, score in ranked]


def _each_once(found: Iterable[Found]) -> Iterator[Found]:
    seen: set[str] = set()
    for each in found:
        if each.locator not in seen:
            seen.add(each.locator)
            yield each
