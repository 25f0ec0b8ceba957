"""The tantivy index of a corpus, the default: a folder of segments, and vectors in a file of their own beside them.

tantivy has no vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import tantivy

from marchwarden.corpus.documents import Part
from marchwarden.corpus.engines.corpus_index import BOOSTS, Found, key_of, read_hit
from marchwarden.corpus.engines.vector_file import VectorReader, VectorWriter

_VECTORS = "vectors.sqlite"
_TOKENIZER = "terms"
# Field of the words as they are written, in which those that a query misspells are looked for.
_WORDS = "words"
# Bytes of the writer's buffer. A guess, well above the 15 MB that tantivy wants for each thread.
_HEAP_BYTES = 60_000_000


class TantivyWriter:
    def __init__(self, folder: Path, *, has_vectors: bool) -> None:
        """Raises ValueError where it is damaged, OSError where the folder can't be written."""
        folder.mkdir(parents=True, exist_ok=True)
        self.is_new = not (folder / "meta.json").is_file() or (has_vectors and not (folder / _VECTORS).is_file())
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("file", tokenizer_name="raw", index_option="basic")
        for field in BOOSTS:
            builder.add_text_field(field, tokenizer_name=_TOKENIZER, index_option="freq")
        builder.add_text_field(_WORDS, tokenizer_name=_TOKENIZER, index_option="basic")
        builder.add_bytes_field("hit", stored=True)
        self._index = tantivy.Index(builder.build(), path=str(folder))
        _register(self._index)
        self._writer = self._index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        self._vectors = VectorWriter(folder / _VECTORS) if has_vectors else None

    def clear(self) -> None:
        self._writer.delete_all_documents()
        if self._vectors:
            self._vectors.clear()

    def add(self, path: str, parts: Iterable[Part]) -> None:
        key = key_of(path)
        for part in parts:
            self._writer.add_document(
                tantivy.Document(
                    file=key, text=part.text_terms, name=part.name_terms, words=part.words, hit=part.stored
                )
            )
            if self._vectors:
                self._vectors.add(key, part.chunks)

    def remove(self, path: str) -> None:
        self._writer.delete_documents_by_term("file", key_of(path))
        if self._vectors:
            self._vectors.remove(key_of(path))

    def commit(self) -> None:
        self._writer.commit()
        if self._vectors:
            self._vectors.commit()

    def close(self) -> None:
        self._writer.wait_merging_threads()
        if self._vectors:
            self._vectors.close()


class TantivyIndex:
    def __init__(self, folder: Path) -> None:
        index = tantivy.Index.open(str(folder))
        _register(index)
        self._schema = index.schema
        self._searcher = index.searcher()
        self._vectors = VectorReader(folder / _VECTORS) if (folder / _VECTORS).is_file() else None

    def find_words(self, uses: Mapping[str, int], most: int) -> list[Found]:
        clauses = []
        for word, times in uses.items():
            for field, boost in BOOSTS.items():
                term = tantivy.Query.term_query(self._schema, field, word, index_option="freq")
                clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(term, boost * times)))
        return self._hits(tantivy.Query.boolean_query(clauses), most)

    def find_near(self, vector: bytes, most: int) -> list[Found]:
        return [read_hit(*each) for each in self._vectors.find(vector, most)] if self._vectors else []

    def has_any(self, terms: Collection[str]) -> bool:
        return any(self._searcher.doc_freq(field, term) for term in terms for field in BOOSTS)

    def find_misspelt(self, word: str, edits: int, most: int, beside: Collection[str]) -> list[Found]:
        clauses = [(tantivy.Occur.Must, tantivy.Query.fuzzy_term_query(self._schema, _WORDS, word, distance=edits))]
        for other in beside:
            term = tantivy.Query.term_query(self._schema, _WORDS, other, index_option="basic")
            clauses.append((tantivy.Occur.Should, term))
        return self._hits(tantivy.Query.boolean_query(clauses), most)

    def _hits(self, query: tantivy.Query, most: int) -> list[Found]:
        found = self._searcher.search(query, limit=most, count=False)
        return [read_hit(score, bytes(self._searcher.doc(address).get_first("hit"))) for score, address in found.hits]


def open_writer(folder: Path, *, has_vectors: bool) -> TantivyWriter:
    return TantivyWriter(folder, has_vectors=has_vectors)


def open_index(folder: Path, tables: str | None) -> TantivyIndex:
    return TantivyIndex(folder)


def _register(index: tantivy.Index) -> None:
    # tantivy does not store tokenizers with an index: each one that is opened needs them again.
    index.register_tokenizer(_TOKENIZER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
