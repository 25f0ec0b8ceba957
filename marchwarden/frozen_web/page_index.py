"""Tantivy index of listings, on disk or in memory: BM25 over title, text and the words of the address.

text/ranking.py stems the words before tantivy gets them. A query is built from words alone: nothing in it is syntax.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from zlib import crc32

import tantivy

from marchwarden.frozen_web.crawl import Listing, words_of
from marchwarden.judge.thesaurus import is_english_word
from marchwarden.text.ranking import query_terms, query_words, terms_of
from marchwarden.text.spelling import meant_words

# File that is written last: the languages of the listings, and each file's size and checksum.
SEAL = "sealed.json"

# Weights of a match in each field. Guesses.
_BOOSTS = {"title": 2.5, "body": 1.0, "address": 0.5}
# Field of the words as they are written, in which those that a query misspells are looked for.
_WORDS = "words"
# Pages in which the word meant is looked for. A guess.
_PAGES_OF_NEAR_WORDS = 10
# Bytes of memory for the writer. A guess.
_HEAP_BYTES = 30_000_000
_TOKENIZER = "terms"


class PageIndex:
    """Index of listings, made by `build` or `open`. It can be searched from several threads."""

    def __init__(self, index: tantivy.Index, languages: Iterable[str]) -> None:
        index.register_tokenizer(_TOKENIZER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
        self._schema = index.schema
        self._searcher = index.searcher()
        self._languages = sorted(languages)

    @classmethod
    def build(cls, listings: Sequence[Listing], folder: Path | None = None) -> PageIndex:
        """Build an index in the empty `folder` or in memory. Raises OSError or ValueError if it can't be written."""
        index = tantivy.Index(_schema(), path=str(folder) if folder else None)
        cls(index, ())
        writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        for listing in listings:
            body = "\n".join((listing.snippet or "", *listing.sentences))
            title, words, address = terms_of([listing.title, body, words_of(listing.url)], listing.language)
            published = listing.published and listing.published.isoformat()
            fields = [listing.url, listing.title, listing.sentences, listing.snippet, published, listing.language]
            document = tantivy.Document(
                title=" ".join(title),
                body=" ".join(words),
                address=" ".join(address),
                words=" ".join(sorted(set(query_words(f"{listing.title}\n{body}")))),
                listing=json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace"),
            )
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        languages = {listing.language for listing in listings}
        if folder:
            seal = {"languages": sorted(languages), "files": _checksums(folder)}
            (folder / SEAL).write_text(json.dumps(seal), encoding="utf-8")
        return cls(index, languages)

    @classmethod
    def open(cls, folder: Path) -> PageIndex:
        """Open the index in `folder`. Raises OSError or ValueError where there is none, or one that isn't whole."""
        seal = json.loads((folder / SEAL).read_bytes())
        if not isinstance(seal, dict) or seal.get("files") != _checksums(folder):
            raise ValueError(f"{folder} is damaged")
        return cls(tantivy.Index.open(str(folder)), seal["languages"])

    def find(self, query: str) -> Iterator[tuple[float, Listing]]:
        """Yield every listing that has a word of `query`, with its score, best first."""
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.boost_query(term, boost))
            for word in query_terms(query, self._languages)
            for field, boost in _BOOSTS.items()
            for term in [tantivy.Query.term_query(self._schema, field, word, index_option="freq")]
        ]
        limit = self._searcher.num_docs
        if not clauses or not limit:
            return
        found = self._searcher.search(tantivy.Query.boolean_query(clauses), limit=limit, count=False)
        for score, address in found.hits:
            yield score, _listing(self._searcher.doc(address).get_first("listing"))

    def meant(self, query: str) -> dict[str, str]:
        """Return the closest word of the listings for each word of `query` that none of them has, and a
        dictionary neither."""

        def texts_near(word: str, edits: int) -> Iterator[str]:
            near = tantivy.Query.fuzzy_term_query(self._schema, _WORDS, word, distance=edits)
            # Pages with more of the query come first.
            clauses = [(tantivy.Occur.Must, near), *((tantivy.Occur.Should, each) for each in beside)]
            found = self._searcher.search(
                tantivy.Query.boolean_query(clauses), limit=_PAGES_OF_NEAR_WORDS, count=False
            )
            for _, address in found.hits:
                listing = _listing(self._searcher.doc(address).get_first("listing"))
                yield "\n".join((listing.title, listing.snippet or "", *listing.sentences))

        words = list(dict.fromkeys(query_words(query)))
        beside = [tantivy.Query.term_query(self._schema, _WORDS, word, index_option="basic") for word in words]
        return meant_words(words, lambda word: self._has(word) or is_english_word(word), texts_near)

    def _has(self, word: str) -> bool:
        readings = query_terms(word, self._languages)
        return not readings or any(self._searcher.doc_freq(field, term) for term in readings for field in _BOOSTS)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for field in _BOOSTS:
        builder.add_text_field(field, tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_text_field(_WORDS, tokenizer_name=_TOKENIZER, index_option="basic")
    builder.add_bytes_field("listing", stored=True)
    return builder.build()


def _listing(stored: bytes) -> Listing:
    url, title, sentences, snippet, published, language = json.loads(bytes(stored))
    day = date.fromisoformat(published) if published else None
    return Listing(url, title, tuple(sentences), snippet, day, language)


def _checksums(folder: Path) -> dict[str, list[int]]:
    files = (file for file in folder.iterdir() if file.name != SEAL and file.suffix != ".lock")
    bodies = {file.name: file.read_bytes() for file in files}
    return {name: [len(body), crc32(body)] for name, body in bodies.items()}
