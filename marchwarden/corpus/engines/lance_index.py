"""The Lance index of a corpus: tables of immutable files, which are searched in the object store too.

One table has the parts with their words, another one the chunks with their vectors. A table has versions; the file
`lance.json` says which ones a reader opens. It is replaced in one step at each commit, so that both tables and a
removal with what replaces it become visible together, and a killed writer leaves the last commit.

The package is pylance, the library below lancedb: importing lancedb takes 1.5 s of CPU in each process, this one 0.2.
"""

from __future__ import annotations

import heapq
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import lance
import numpy as np
import pyarrow as pa
from lance.query import BooleanQuery, MatchQuery, Occur

from marchwarden.corpus.documents import Part
from marchwarden.corpus.engines.corpus_index import BOOSTS, Found, key_of, read_hit
from marchwarden.errors import DETAIL_CHARS, StorageError
from marchwarden.files import write_whole
from marchwarden.sharing.object_store import VARIABLE, reason_of

_RECORD = "lance.json"
_WORDS = "words"
_VECTOR_NUMBERS = 384
_PARTS = pa.schema(
    [("file", pa.string()), *((each, pa.string()) for each in (*BOOSTS, _WORDS)), ("hit", pa.binary())]
)
_CHUNKS = pa.schema(
    [("file", pa.string()), ("hit", pa.binary()), ("vector", pa.list_(pa.float16(), _VECTOR_NUMBERS))]
)
# Words are stemmed before they come here, and separated by blanks: the engine changes nothing.
_WORDS_AS_THEY_ARE = {
    "base_tokenizer": "whitespace",
    "max_token_length": None,
    "lower_case": False,
    "stem": False,
    "remove_stop_words": False,
    "ascii_folding": False,
    "with_position": False,
}
# Candidates by each field for each hit, and the fewest. Guesses.
_CANDIDATES, _LEAST_CANDIDATES = 5, 200
# Vectors from which they get an index; fewer are all compared. A guess.
_INDEXED_VECTORS = 50_000
# Lists of the index of vectors that are read for a query. A guess.
_LISTS_READ = 20
# Candidates of the index that are compared exactly, for each hit. A guess.
_REFINED = 10
# Files in one condition of a removal. A guess.
_REMOVED_AT_ONCE = 1_000
# Time for which a reader may go on with the version that it opened. A guess, well over a research call's.
_KEPT_FOR = timedelta(hours=1)
# Bytes of the caches of a process, for indexes and for metadata: Lance's own limits are 6 GB and 1 GB. A guess.
_INDEX_CACHE_BYTES, _METADATA_CACHE_BYTES = 500_000_000, 100_000_000
# Limits of requests to an object store: seconds, and times that one is made again. Lance's own are 180 s and 10
# times. Guesses.
_PATIENCE = {
    "connect_timeout": "3s",
    "timeout": "10s",
    "client_max_retries": "2",
    "client_retry_timeout": "10",
}
# A place in Lance's own source, at the end of its messages.
_PLACE_IN_SOURCE = re.compile(r",? ?/\S+\.rs:\d.*", re.DOTALL)


class LanceWriter:
    def __init__(self, folder: Path, *, has_vectors: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._schemas = {"parts": _PARTS, **({"chunks": _CHUNKS} if has_vectors else {})}
        self._removed: set[str] = set()
        # By the kind of table, then by file.
        self._rows: dict[str, dict[str, list[tuple[object, ...]]]] = {kind: {} for kind in self._schemas}
        self.is_new = not (folder / _RECORD).is_file()
        with _told():
            if self.is_new:
                self.clear()
            else:
                self._tables = {kind: self._at(name, version) for kind, name, version in _recorded(folder)}

    def _at(self, name: str, version: int) -> lance.LanceDataset:
        table = _open(self._folder / name, version)
        # Files that are cut off or gone are noticed now, and the caller makes the index anew. Without a session,
        # nothing is taken from caches.
        fresh = lance.dataset(self._folder / name, version=version)
        fresh.validate()
        for column in {*BOOSTS, _WORDS}.intersection(fresh.schema.names):
            fresh.scanner(columns=["_score"], full_text_query=MatchQuery("a", column), limit=1).to_table()
        if table.latest_version != version:  # a run was killed before its commit was whole
            table.restore()
        return table

    def clear(self) -> None:
        with _told():
            (self._folder / _RECORD).unlink(missing_ok=True)
            for table in self._folder.glob("*.lance"):
                shutil.rmtree(table)
            # Names of their own: in the object store, a table of the same name would be mistaken for this one.
            self._tables = {
                kind: lance.write_dataset(
                    schema.empty_table(), self._folder / f"{kind}-{uuid4().hex}.lance", session=_session()
                )
                for kind, schema in self._schemas.items()
            }
            for column in (*BOOSTS, _WORDS):
                self._tables["parts"].create_scalar_index(column, "INVERTED", **_WORDS_AS_THEY_ARE)
        self._removed, self._rows = set(), {kind: {} for kind in self._schemas}

    def add(self, path: str, parts: Iterable[Part]) -> None:
        key = key_of(path)
        for part in parts:
            row = (key, part.text_terms, part.name_terms, part.words, part.stored)
            self._rows["parts"].setdefault(key, []).append(row)
            if part.chunks:
                rows = self._rows["chunks"].setdefault(key, [])
                rows.extend((key, chunk.stored, chunk.vector) for chunk in part.chunks)

    def remove(self, path: str) -> None:
        key = key_of(path)
        self._removed.add(key)
        for rows in self._rows.values():
            rows.pop(key, None)

    def commit(self) -> None:
        removed = sorted(self._removed)
        with _told():
            for kind, table in self._tables.items():
                for at in range(0, len(removed), _REMOVED_AT_ONCE):
                    keys = ", ".join(f"'{key}'" for key in removed[at : at + _REMOVED_AT_ONCE])
                    table.delete(f"file IN ({keys})")
                if rows := [row for of_file in self._rows[kind].values() for row in of_file]:
                    table.insert(_columns(rows, self._schemas[kind]))
            self._record()
        self._removed, self._rows = set(), {kind: {} for kind in self._schemas}

    def close(self) -> None:
        with _told():
            for kind, table in self._tables.items():
                if kind == "chunks" and table.count_rows() >= _INDEXED_VECTORS and not table.has_index:
                    # About as many lists as there are vectors in one, as is usual.
                    lists = round(table.count_rows() ** 0.5)
                    table.create_index("vector", "IVF_PQ", metric="cosine", num_partitions=lists, num_sub_vectors=48)
                table.optimize.optimize_indices()
            self._record()
            for table in self._tables.values():
                table.cleanup_old_versions(older_than=_KEPT_FOR)

    def _record(self) -> None:
        now = {kind: [Path(table.uri).name, table.version] for kind, table in self._tables.items()}
        write_whole(self._folder / _RECORD, json.dumps(now).encode())


class LanceIndex:
    def __init__(self, folder: Path, tables: str | None) -> None:
        """Raises StorageError where the tables are in the object store, and it can't be read."""
        with _told():
            recorded = _recorded(folder)
            is_here = all((folder / name).is_dir() for _, name, _ in recorded)
            if not is_here and tables is None:
                raise ValueError("its tables are not there")
        self._told = _told if is_here else _told_of_store
        with self._told():
            self._tables = {
                kind: _open(folder / name if is_here else f"{tables}/{name}", version)
                for kind, name, version in recorded
            }

    def find_words(self, uses: Mapping[str, int], most: int) -> list[Found]:
        text = " ".join(term for term, times in uses.items() for _ in range(times))
        # Each field's best are found, and their scores added: a query of both at once scores every document that has
        # a word, which takes 75 ms in a million of them, and this takes 9.
        scores: dict[int, float] = defaultdict(float)
        for field, boost in BOOSTS.items():
            query = MatchQuery(text, field, boost=boost)
            for row in self._rows(query, max(_LEAST_CANDIDATES, _CANDIDATES * most), ["_score"]):
                scores[row["_rowid"]] += row["_score"]
        best = heapq.nlargest(most, scores, key=scores.__getitem__)
        if not best:
            return []
        with self._told():
            wanted = f"_rowid IN ({', '.join(map(str, best))})"
            found = self._tables["parts"].scanner(columns=["hit"], filter=wanted, with_row_id=True).to_table()
            hits = {row["_rowid"]: row["hit"] for row in found.to_pylist()}
        return [read_hit(scores[each], hits[each]) for each in best]

    def find_near(self, vector: bytes, most: int) -> list[Found]:
        if "chunks" not in self._tables:
            return []
        nearest = {
            "column": "vector",
            "q": np.frombuffer(vector, dtype=np.float16),
            "k": most,
            "metric": "cosine",
            "nprobes": _LISTS_READ,
            "refine_factor": _REFINED,
        }
        with self._told():
            found = self._tables["chunks"].scanner(columns=["hit", "_distance"], nearest=nearest).to_table()
            return [read_hit(1 - row["_distance"], row["hit"]) for row in found.to_pylist()]

    def has_any(self, terms: Collection[str]) -> bool:
        text = " ".join(terms)
        return any(self._rows(MatchQuery(text, field), 1, ["_score"]) for field in BOOSTS)

    def find_misspelt(self, word: str, edits: int, most: int, beside: Collection[str]) -> list[Found]:
        near = (Occur.MUST, MatchQuery(word, _WORDS, fuzziness=edits))
        query = BooleanQuery([near, *((Occur.SHOULD, MatchQuery(other, _WORDS)) for other in beside)])
        return [read_hit(row["_score"], row["hit"]) for row in self._rows(query, most, ["hit", "_score"])]

    def _rows(self, query: MatchQuery | BooleanQuery, most: int, columns: list[str]) -> list[dict[str, Any]]:
        with self._told():
            found = self._tables["parts"].scanner(
                columns=columns, full_text_query=query, limit=most, with_row_id=True
            )
            rows: list[dict[str, Any]] = found.to_table().to_pylist()
        return rows


def open_writer(folder: Path, *, has_vectors: bool) -> LanceWriter:
    return LanceWriter(folder, has_vectors=has_vectors)


def open_index(folder: Path, tables: str | None) -> LanceIndex:
    return LanceIndex(folder, tables)


@cache
def _session() -> lance.Session:
    return lance.Session(index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES)


def _open(place: Path | str, version: int) -> lance.LanceDataset:
    return lance.dataset(place, version=version, session=_session(), storage_options=_PATIENCE)


def _recorded(folder: Path) -> list[tuple[str, str, int]]:
    """Return kind, name and version of each table, as of the last commit. Raises ValueError and OSError."""
    return [(kind, name, version) for kind, (name, version) in json.loads((folder / _RECORD).read_bytes()).items()]


def _columns(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    arrays = []
    for field, values in zip(schema, zip(*rows, strict=True), strict=True):
        if field.name == "vector":
            numbers = pa.array(np.frombuffer(b"".join(values), dtype=np.float16))
            arrays.append(pa.FixedSizeListArray.from_arrays(numbers, _VECTOR_NUMBERS))
        else:
            arrays.append(pa.array(values, type=field.type))
    return pa.table(arrays, schema=schema)


@contextmanager
def _told() -> Iterator[None]:
    """Tell what goes wrong in the tables as ValueError, by its first line."""
    try:
        yield
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = _PLACE_IN_SOURCE.sub("", str(error).split("\n", 1)[0])
        raise ValueError(f"Lance: {reason[:DETAIL_CHARS]}") from error


@contextmanager
def _told_of_store() -> Iterator[None]:
    """Tell what goes wrong with tables in the object store as StorageError."""
    try:
        with _told():
            yield
    except ValueError as error:
        reason = reason_of(error) or "the index of the corpus there can't be read"
        raise StorageError(f"{VARIABLE}: {reason}") from error
