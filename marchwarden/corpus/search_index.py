"""The tantivy index of a corpus: BM25 over the text of its documents and, with less weight, their names.

Words are stemmed by ranking.py before tantivy sees them, and a query is made of words alone: nothing in it is syntax.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path

import tantivy

from marchwarden.corpus.documents import Part
from marchwarden.text.ranking import query_terms, query_words, terms
from marchwarden.text.spelling import meant_words

# Weights of a word in a document's text and in its name. A guess.
_BOOSTS = {"text": 1.0, "name": 0.6}
_TOKENIZER = "terms"
# Field of the words as they are written, in which those that a query misspells are looked for.
_WORDS = "words"
# Stretches in which the word meant is looked for. A guess.
_STRETCHES_OF_NEAR_WORDS = 10
# Bytes of the writer's buffer. A guess, well above the 15 MB that tantivy wants for each thread.
_HEAP_BYTES = 60_000_000


@dataclass(frozen=True)
class Found:
    """A document, by the stretch of it that fits a query best."""

    score: float
    locator: str
    title: str
    sentences: tuple[str, ...]
    published: date | None
    language: str


class CorpusWriter:
    """A writer of the index; there can be one at a time."""

    def __init__(self, folder: Path) -> None:
        """Raises ValueError where another process writes, OSError where the folder can't be written."""
        folder.mkdir(parents=True, exist_ok=True)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("file", tokenizer_name="raw", index_option="basic")
        for field in _BOOSTS:
            builder.add_text_field(field, tokenizer_name=_TOKENIZER, index_option="freq")
        builder.add_text_field(_WORDS, tokenizer_name=_TOKENIZER, index_option="basic")
        builder.add_bytes_field("hit", stored=True)
        self._index = tantivy.Index(builder.build(), path=str(folder))
        _register(self._index)
        self._writer = self._index.writer(heap_size=_HEAP_BYTES, num_threads=1)

    def clear(self) -> None:
        self._writer.delete_all_documents()

    def add(self, path: str, parts: Iterable[Part]) -> None:
        for part in parts:
            self._writer.add_document(
                tantivy.Document(
                    file=_key(path), text=part.text_terms, name=part.name_terms, words=part.words, hit=part.stored
                )
            )

    def remove(self, path: str) -> None:
        self._writer.delete_documents_by_term("file", _key(path))

    def commit(self) -> None:
        self._writer.commit()

    def close(self) -> None:
        """Wait until the written segments are merged; to be called after the last commit."""
        self._writer.wait_merging_threads()


class CorpusIndex:
    """An open index; it can be searched from several threads, and while it is written."""

    def __init__(self, folder: Path, languages: Iterable[str]) -> None:
        """Raises ValueError or OSError where there is none, or a damaged one."""
        index = tantivy.Index.open(str(folder))
        _register(index)
        self._schema = index.schema
        self._searcher = index.searcher()
        self._languages = sorted(languages)

    def find(self, query: str, most: int) -> Iterator[Found]:
        """Yield the documents that have a word of `query`, best first, at most `most`, each once."""
        uses = Counter(terms(query))
        words = query_terms(query, self._languages)
        if not words:
            return
        clauses = []
        for word in words:
            for field, boost in _BOOSTS.items():
                term = tantivy.Query.term_query(self._schema, field, word, index_option="freq")
                # A word counts as often as the query says it: what a long question repeats is what it is about.
                weighted = tantivy.Query.boost_query(term, boost * uses.get(word, 1))
                clauses.append((tantivy.Occur.Should, weighted))
        seen: set[str] = set()
        limit = 2 * most  # several stretches of one document may be among the best
        found = self._searcher.search(tantivy.Query.boolean_query(clauses), limit=limit, count=False)
        for score, address in found.hits:
            each = _found(score, bytes(self._searcher.doc(address).get_first("hit")))
            if each.locator not in seen and len(seen) < most:
                seen.add(each.locator)
                yield each

    def meant(self, query: str) -> dict[str, str]:
        """Return the closest word of the documents for each word of `query` that none of them has."""

        def texts_near(word: str, edits: int) -> Iterator[str]:
            near = tantivy.Query.fuzzy_term_query(self._schema, _WORDS, word, distance=edits)
            for score, address in self._searcher.search(near, limit=_STRETCHES_OF_NEAR_WORDS, count=False).hits:
                found = _found(score, bytes(self._searcher.doc(address).get_first("hit")))
                yield from (found.title, *found.sentences)

        return meant_words(query_words(query), self._has, texts_near)

    def _has(self, word: str) -> bool:
        readings = query_terms(word, self._languages)
        return not readings or any(self._searcher.doc_freq(field, term) for term in readings for field in _BOOSTS)


def _found(score: float, stored: bytes) -> Found:
    locator, title, sentences, published, language = json.loads(stored)
    day = date.fromisoformat(published) if published else None
    return Found(score, locator, title, tuple(sentences), day, language)


def _register(index: tantivy.Index) -> None:
    # tantivy does not store tokenizers with an index: each one that is opened needs them again.
    index.register_tokenizer(_TOKENIZER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())


def _key(path: str) -> str:
    # A hash, so that any path, also one that is no UTF-8, makes a plain term.
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:32]
