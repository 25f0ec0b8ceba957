"""The catalogue of a corpus: its files with their hashes, and which could not be read. One SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from marchwarden.errors import ConfigurationError, StorageError
from marchwarden.observations import ContentHash
from marchwarden.text.embedding import MODEL

# Raise it when the same files are read, or indexed, in another way: corpora made before are then made anew.
VERSION = 8

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS roots (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS languages (code TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, state TEXT NOT NULL, hash TEXT NOT NULL, documents INTEGER NOT NULL, failure TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lines (
    path TEXT NOT NULL, line INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, hash TEXT NOT NULL,
    PRIMARY KEY (path, line)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kept (hash TEXT PRIMARY KEY, page BLOB NOT NULL);
"""

DEFAULT_ENGINE = "tantivy"

_FINISHED = "DELETE FROM facts WHERE name = 'unfinished'"


@dataclass(frozen=True)
class IndexKind:
    """Kind of index that a corpus has, for as long as it lasts."""

    engine: str
    """Name of the engine (corpus_index.py)."""
    has_vectors: bool


@dataclass(frozen=True)
class FileRecord:
    """One file as it was indexed."""

    path: str
    """Absolute path of the file, without links in it."""
    state: str
    """Size, times and inode of the file, see `state_of`: the same ones mean the same content."""
    hash: ContentHash
    documents: int
    failure: str | None = None
    """Reason for which nothing of the file, or not all of it, is in the index."""


@dataclass(frozen=True)
class LineRecord:
    """One document of a file that holds a document a line."""

    line: int
    """Number of the line, from 1."""
    start: int
    """Byte of the file at which the line begins."""
    length: int
    """Bytes of the line, without its end."""
    hash: ContentHash


@dataclass(frozen=True)
class Summary:
    """Figures of a corpus."""

    roots: tuple[str, ...]
    files: int
    """Number of files that are indexed."""
    documents: int
    unreadable: int
    """Number of files that could not be read."""
    engine: str
    """Name of the engine that keeps the index."""
    vectors: bool
    """True where documents are searched by meaning too."""


def state_of(stat: os.stat_result) -> str:
    """Return a text that changes whenever the file's content does."""
    # No writer can set st_ctime, the time of the last change of status.
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {stat.st_ino}"


class Catalogue:
    """The catalogue, opened. It can be read while another process writes it; changes are kept by `commit`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    @classmethod
    @contextmanager
    def reading(cls, path: Path) -> Iterator[Catalogue]:
        """Open a catalogue to read it. Raises ConfigurationError where it is damaged or may not be read."""
        name = path.parent.name
        try:
            db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10, check_same_thread=False)
        except sqlite3.Error as error:
            raise ConfigurationError(
                f"the corpus {name} can't be read: {error}", hint=f"Check your permissions in {path.parent}."
            ) from error
        try:
            yield cls(db)
        except sqlite3.Error as error:
            raise ConfigurationError(
                f"the corpus {name} is damaged: {error}",
                hint=f"marchwarden index --remove {name}, then index its folders again.",
            ) from error
        finally:
            db.close()

    @classmethod
    @contextmanager
    def writing(cls, path: Path) -> Iterator[Catalogue]:
        """Open a catalogue to write it, and make it where it isn't there. Raises StorageError."""
        try:
            db = sqlite3.connect(path, timeout=10)
            try:
                # With a write-ahead log, readers and the writer do not block each other; NORMAL then loses the last
                # commits in a power cut, but never damages the file.
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=NORMAL")
                db.executescript(_SCHEMA)
                yield cls(db)
            finally:
                db.close()
        except sqlite3.Error as error:
            raise StorageError(
                f"{path} can't be written: {error}",
                hint="Check your permissions there, and whether the disk is full.",
            ) from error

    def commit(self) -> None:
        self._db.commit()

    def rollback(self) -> None:
        self._db.rollback()

    # Of the whole

    @property
    def is_current(self) -> bool:
        found = self._db.execute("SELECT value FROM facts WHERE name = 'version'").fetchone()
        return found is not None and found[0] == str(VERSION)

    def begin_anew(self) -> None:
        """Forget all files and lines, but keep the roots."""
        for table in ("files", "lines", "languages", "kept"):
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("INSERT OR REPLACE INTO facts VALUES ('version', ?)", (str(VERSION),))

    @property
    def kind(self) -> IndexKind | None:
        """Kind of index; None before the first run has chosen one."""
        facts = dict(self._db.execute("SELECT name, value FROM facts"))
        # Corpora that were made before there was a choice don't tell their engine.
        engine = facts.get("engine", DEFAULT_ENGINE if "version" in facts else None)
        return IndexKind(engine, facts.get("vectors") == MODEL) if engine else None

    @kind.setter
    def kind(self, kind: IndexKind) -> None:
        facts = [("engine", kind.engine), ("vectors", MODEL if kind.has_vectors else "")]
        self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts)

    @property
    def is_unfinished(self) -> bool:
        """True while a run is at work, and after one that was broken off."""
        return self._db.execute("SELECT 1 FROM facts WHERE name = 'unfinished'").fetchone() is not None

    @is_unfinished.setter
    def is_unfinished(self, yes: bool) -> None:
        self._db.execute("INSERT OR REPLACE INTO facts VALUES ('unfinished', '')" if yes else _FINISHED)

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(path for (path,) in self._db.execute("SELECT path FROM roots ORDER BY path"))

    def add_roots(self, paths: Iterable[str]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO roots VALUES (?)", [(path,) for path in paths])

    def remove_root(self, path: str) -> None:
        self._db.execute("DELETE FROM roots WHERE path = ?", (path,))

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(code for (code,) in self._db.execute("SELECT code FROM languages"))

    def add_languages(self, codes: Collection[str]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO languages VALUES (?)", [(code,) for code in codes])

    def summary(self) -> Summary:
        """Count the files and documents."""
        files, documents, unreadable = self._db.execute(
            "SELECT COUNT(*), COALESCE(SUM(documents), 0), COALESCE(SUM(documents = 0), 0) FROM files"
        ).fetchone()
        kind = self.kind or IndexKind(DEFAULT_ENGINE, has_vectors=False)
        return Summary(self.roots, files - unreadable, documents, unreadable, kind.engine, kind.has_vectors)

    # Of one file

    def file(self, path: str) -> FileRecord | None:
        row = self._db.execute("SELECT * FROM files WHERE path = ?", (path,)).fetchone()
        return FileRecord(*row) if row else None

    def line(self, path: str, line: int) -> LineRecord | None:
        found = self._db.execute(
            "SELECT line, start, length, hash FROM lines WHERE path = ? AND line = ?", (path, line)
        ).fetchone()
        return LineRecord(*found) if found else None

    def paths(self) -> list[str]:
        return [path for (path,) in self._db.execute("SELECT path FROM files ORDER BY path")]

    def put_file(self, record: FileRecord) -> None:
        row = (record.path, record.state, record.hash, record.documents, record.failure)
        self._db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", row)

    def put_lines(self, path: str, lines: Iterable[LineRecord]) -> None:
        rows = [(path, each.line, each.start, each.length, each.hash) for each in lines]
        self._db.executemany("INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?, ?)", rows)

    def kept_page(self, content: ContentHash) -> bytes | None:
        """Return the page that was kept of a file with this hash, packed; None where none was."""
        found = self._db.execute("SELECT page FROM kept WHERE hash = ?", (content,)).fetchone()
        return found[0] if found else None

    def keep_page(self, content: ContentHash, page: bytes) -> None:
        self._db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (content, page))

    def drop_kept(self) -> None:
        """Remove the pages that were kept of files that are in the catalogue no longer."""
        self._db.execute("DELETE FROM kept WHERE hash NOT IN (SELECT hash FROM files)")

    def remove_file(self, path: str) -> None:
        self._db.execute("DELETE FROM files WHERE path = ?", (path,))
        self._db.execute("DELETE FROM lines WHERE path = ?", (path,))
