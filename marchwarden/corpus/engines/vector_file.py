"""Vectors of a corpus whose engine has none: one SQLite file, read whole, and each vector compared with a query's.

Own code beside an index of nearest neighbours, which would be one more dependency: evals/reports/corpora.md has the
times, and the number of vectors from which an engine with such an index is better.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.corpus.documents import Chunk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SCHEMA = """
CREATE TABLE IF NOT EXISTS chunks (
    number INTEGER PRIMARY KEY, file TEXT NOT NULL, hit BLOB NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS files ON chunks (file);
"""


class VectorWriter:
    """The file, open to write. Raises ValueError where it can't be written, as tantivy does."""

    def __init__(self, path: Path) -> None:
        with _told():
            self._db = sqlite3.connect(path, timeout=10)
            # As the catalogue: readers and the writer do not block each other.
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_SCHEMA)

    def clear(self) -> None:
        with _told():
            self._db.execute("DELETE FROM chunks")

    def add(self, key: str, chunks: Iterable[Chunk]) -> None:
        with _told():
            rows = ((key, chunk.stored, chunk.vector) for chunk in chunks)
            self._db.executemany("INSERT INTO chunks (file, hit, vector) VALUES (?, ?, ?)", rows)

    def remove(self, key: str) -> None:
        with _told():
            self._db.execute("DELETE FROM chunks WHERE file = ?", (key,))

    def commit(self) -> None:
        with _told():
            self._db.commit()

    def close(self) -> None:
        self._db.close()


class VectorReader:
    """All vectors of the file, in memory: 1.5 kB each. Raises ValueError where it is damaged."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        self._address = f"{path.absolute().as_uri()}?mode=ro"
        with _told(), closing(sqlite3.connect(self._address, uri=True, timeout=10)) as db:
            rows = db.execute("SELECT number, vector FROM chunks").fetchall()
        self._numbers = [number for number, _ in rows]
        joined = np.frombuffer(b"".join(vector for _, vector in rows), dtype=np.float16).astype(np.float32)
        self._vectors: NDArray[np.float32] = joined.reshape(len(rows), -1) if rows else joined

    def find(self, vector: bytes, most: int) -> list[tuple[float, bytes]]:
        """Return the similarity (cosine) and what is stored of the nearest ones, nearest first."""
        import numpy as np

        if not self._numbers:
            return []
        similar = self._vectors @ np.frombuffer(vector, dtype=np.float16).astype(np.float32)
        most = min(most, len(similar))
        nearest = np.argpartition(similar, -most)[-most:]
        nearest = nearest[np.argsort(-similar[nearest])]
        found = []
        with _told(), closing(sqlite3.connect(self._address, uri=True, timeout=10)) as db:
            for each in nearest.tolist():
                row = db.execute("SELECT hit FROM chunks WHERE number = ?", (self._numbers[each],)).fetchone()
                if row:  # else its file was removed a moment ago
                    found.append((float(similar[each]), row[0]))
        return found


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise ValueError(f"its vectors: {error}") from error
