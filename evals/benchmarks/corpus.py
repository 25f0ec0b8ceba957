"""How fast a corpus is indexed and searched: made-up documents, whose words are as frequent as words are (Zipf).

    python evals/benchmarks/corpus.py [--documents 1000 10000 100000] [--jobs 2] [--queries 300]

Each number of documents is a corpus of its own, of one .jsonl file. A query is four to nine words as a question has
them, frequent ones included, and gets ten hits with their best sentences, as a research call asks for them.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from itertools import accumulate
from pathlib import Path

import anyio

from marchwarden.contract import SourceFilter
from marchwarden.corpus.corpora import Corpus, size_of
from marchwarden.corpus.indexing import index_files
from marchwarden.sources.corpus_search import CorpusSearch

# fmt: off
_FREQUENT = [
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on", "not",
    "he", "his", "but", "at", "are", "this", "have", "from", "or", "had", "an", "they", "which", "one", "you", "were",
    "all", "her", "she", "there", "would", "their", "we", "him", "been", "has", "when", "who", "will", "more", "no",
    "if", "out", "so", "said", "what", "up", "its", "about", "than", "into", "them", "can", "only", "other", "new",
    "some", "could", "time", "these", "two", "may", "then", "do", "first", "any", "my", "now", "such", "like", "our",
    "over",
]
# fmt: on
_SYLLABLES = [consonant + vowel for consonant in "bcdfghklmnp" for vowel in "aeio"]
_VOCABULARY = 80_000


def vocabulary(chance: random.Random) -> list[str]:
    """The most frequent word first."""
    rare = ("".join(chance.choices(_SYLLABLES, k=chance.randint(2, 5))) for _ in range(_VOCABULARY))
    return list(dict.fromkeys([*_FREQUENT, *rare]))


class Language:
    def __init__(self, seed: int = 0) -> None:
        self._chance = random.Random(seed)
        self._words = vocabulary(self._chance)
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self._words))))  # Mandelbrot's form

    def words(self, count: int) -> list[str]:
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)

    def text(self) -> str:
        """About 180 words, in sentences; some much longer, most shorter."""
        sentences = max(1, int(self._chance.lognormvariate(2.1, 0.6)))
        return " ".join(
            " ".join(self.words(self._chance.randint(8, 30))).capitalize() + "." for _ in range(sentences)
        )

    def document(self, number: int) -> str:
        title = " ".join(self.words(5)).capitalize()
        return json.dumps({"id": f"document {number}", "title": title, "text": self.text()})

    def query(self) -> str:
        return " ".join(self.words(self._chance.randint(4, 9))) + "?"


async def seconds_of(search: CorpusSearch, queries: list[str]) -> list[float]:
    """Of each query, the fastest first; the first ones, which open the index, are not counted."""
    everything = SourceFilter(None)
    for query in queries[:20]:
        await search.search(query, max_results=10, source_filter=everything)
    found = [await search.search(query, max_results=10, source_filter=everything) for query in queries]
    return sorted(outcome.seconds for outcome in found)


def measured(language: Language, documents: int, jobs: int, queries: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "documents.jsonl"
        with file.open("w", encoding="utf-8") as out:
            out.writelines(language.document(number) + "\n" for number in range(documents))
        corpus = Corpus("benchmark", Path(name) / "corpus")
        began = time.perf_counter()
        report = index_files(corpus, [file], jobs=jobs)
        seconds = time.perf_counter() - began
        assert report.documents == documents, report
        began = time.perf_counter()
        index_files(corpus, [], jobs=jobs)
        again = time.perf_counter() - began
        took = anyio.run(seconds_of, CorpusSearch(corpus), [language.query() for _ in range(queries)])
        p50, p99 = (1000 * took[int(share * (len(took) - 1))] for share in (0.5, 0.99))
        megabytes = (file.stat().st_size / 1e6, size_of(corpus) / 1e6)
    return (
        f"{documents:>9,} documents {megabytes[0]:7.1f} MB  index {megabytes[1]:7.1f} MB in {seconds:6.1f} s, "
        f"{documents / seconds:6.0f} a second; again {again:4.1f} s  query p50 {p50:5.1f} ms  p99 {p99:5.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--queries", type=int, default=300)
    given = parser.parse_args()
    language = Language()
    for documents in given.documents:
        print(measured(language, documents, given.jobs, given.queries), flush=True)


if __name__ == "__main__":
    main()
