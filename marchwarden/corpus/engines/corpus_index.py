"""Protocols of a corpus's index, and the engines that can keep one.

An engine gets terms that are stemmed already (ranking.py), and vectors that are made already (chunks.py): it scores,
and stores what a hit is made of. `hybrid_search.py` makes a search of it that is the same for all engines.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from marchwarden.corpus.documents import Part
from marchwarden.errors import WrongArgument, require_package

# Weights of a word in a document's text and in its name. A guess.
BOOSTS = {"text": 1.0, "name": 0.6}


@dataclass(frozen=True)
class Found:
    """A stretch of a document that fits a query."""

    score: float
    locator: str
    title: str
    sentences: tuple[str, ...]
    published: date | None
    language: str


class IndexWriter(Protocol):
    """A writer of an index; there is one at a time. What is not committed is not there for readers.

    Methods raise ValueError or OSError where the disk fails.
    """

    is_new: bool
    """True where there was no index to go on with."""

    def clear(self) -> None: ...

    def add(self, path: str, parts: Iterable[Part]) -> None: ...

    def remove(self, path: str) -> None:
        """Remove all parts of a file."""

    def commit(self) -> None: ...

    def close(self) -> None:
        """Order what was written for quick searches; to be called after the last commit."""


class CorpusIndex(Protocol):
    """An open index; it can be searched from several threads, and while it is written.

    Methods raise ValueError or OSError where it is damaged, StorageError where the object store can't be read.
    """

    def find_words(self, uses: Mapping[str, int], most: int) -> list[Found]:
        """Return the stretches with a term of `uses`, by BM25; a term counts as often as its use says."""

    def find_near(self, vector: bytes, most: int) -> list[Found]:
        """Return the stretches whose vectors are nearest to `vector`, nearest first; none without vectors."""

    def has_any(self, terms: Collection[str]) -> bool:
        """Return whether a document has one of the terms."""

    def find_misspelt(self, word: str, edits: int, most: int, beside: Collection[str]) -> list[Found]:
        """Return stretches with a word, as it is written, that is at most so many edits from `word`.

        Those that have more of the words `beside` it come first.
        """


@dataclass(frozen=True)
class Engine:
    module: str
    package: str


ENGINES = {
    "tantivy": Engine("tantivy_index", "tantivy"),
    "lance": Engine("lance_index", "lance"),
}


class _Module(Protocol):
    def open_writer(self, folder: Path, *, has_vectors: bool) -> IndexWriter: ...

    def open_index(self, folder: Path, tables: str | None) -> CorpusIndex: ...


def require_engine(name: str) -> None:
    """Raise WrongArgument for an unknown engine, and ConfigurationError for one whose package is not installed."""
    if name not in ENGINES:
        raise WrongArgument(f"there is no engine {name}", hint=f"Engines are {', '.join(ENGINES)}.")
    require_package(ENGINES[name].package, f"A corpus in {name}")


def open_writer(engine: str, folder: Path, *, has_vectors: bool) -> IndexWriter:
    """Open the index in a folder to write it, and make it where there is none.

    Raises ValueError where the one there is damaged, and OSError where the folder can't be written.
    """
    return _module(engine).open_writer(folder, has_vectors=has_vectors)


def open_index(engine: str, folder: Path, tables: str | None = None) -> CorpusIndex:
    """Open the index in a folder to search it. Raises ValueError or OSError where there is none, or a damaged one.

    `tables` is the address of the folder in the object store that has what was not fetched (a path where the store is
    a folder); None where all is here.
    """
    return _module(engine).open_index(folder, tables)


def _module(engine: str) -> _Module:
    require_engine(engine)
    return cast(_Module, import_module(f"{__package__}.{ENGINES[engine].module}"))


# For engines


def read_hit(score: float, stored: bytes) -> Found:
    """Return a hit from what is stored of a part or a chunk."""
    locator, title, sentences, published, language = json.loads(stored)
    day = date.fromisoformat(published) if published else None
    return Found(score, locator, title, tuple(sentences), day, language)


def key_of(path: str) -> str:
    """Return the key of a file: a hash, so that any path, also one that is no UTF-8, makes a plain term."""
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:32]
