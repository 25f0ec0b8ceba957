"""Corpora: the user's own files, indexed so that a researcher finds them. Each corpus has a folder of its own.

`catalogue.py` records the files, an engine (`engines/`) the words in them; `indexing.py` fills both, and
`corpus_fetcher.py` reads files again.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from marchwarden.corpus.catalogue import DEFAULT_ENGINE, Catalogue, Summary
from marchwarden.corpus.engines.corpus_index import open_index, require_engine
from marchwarden.corpus.hybrid_search import HybridSearch
from marchwarden.corpus.snapshots import fetch_newest, tables_url
from marchwarden.errors import ConfigurationError, StorageError, WrongArgument, reason_of
from marchwarden.settings import DEFAULT_CORPUS, FOLDER_NAME
from marchwarden.sharing.object_store import server_url
from marchwarden.text.embedding import Embedder

CATALOGUE, INDEX = "catalogue.sqlite", "index"


@dataclass(frozen=True)
class Corpus:
    name: str
    folder: Path
    store: str | None = None
    """Address of the object store that has the files of a corpus which was fetched."""

    @property
    def catalogue(self) -> Path:
        return self.folder / CATALOGUE

    @property
    def index(self) -> Path:
        return self.folder / INDEX


def corpora_folder() -> Path:
    """Return the folder into which `marchwarden index` puts corpora."""
    return Path("~/.marchwarden/corpora").expanduser()


def corpus_at(name: str) -> Corpus:
    """Return the corpus of this name, whether it is there or not. Raises WrongArgument for an unusable name."""
    if not FOLDER_NAME.fullmatch(name):
        raise WrongArgument(
            f"{name!r} is not a valid name of a corpus", hint="Letters, digits, - _ and . only, at most 64 of them."
        )
    return Corpus(name, corpora_folder() / name)


def open_corpus(name: str, store: str | None = None) -> Corpus:
    """Return the corpus of this name, fetched from an object store where this machine lacks it.

    `store` is the address of that store; None for none. Raises ConfigurationError where there is no corpus that this
    version can read or its engine is not installed, and StorageError where the store can't be used.
    """
    corpus = corpus_at(name)
    if store is not None:
        # Corpora are those of the server, whoever calls it.
        store = server_url(store)
        corpus = replace(corpus, store=store)
        fetch_newest(corpus.folder, store)
    if not _has_catalogue(corpus):
        there = ", ".join(each.name for each in all_corpora())
        hint = f"Make it: {again(name, 'FOLDER')}" + (f". The corpora are: {there}" if there else "")
        raise ConfigurationError(f"there is no corpus {name}", hint=hint)
    with Catalogue.reading(corpus.catalogue) as catalogue:
        if not catalogue.is_current:
            raise ConfigurationError(
                f"the corpus {name} was indexed by an incompatible version", hint=f"Index it again: {again(name)}"
            )
        if kind := catalogue.kind:
            require_engine(kind.engine)
    return corpus


def again(name: str, folder: str = "") -> str:
    """Return the command that indexes a folder into a corpus; without a folder, those that the corpus knows."""
    named = "" if name == DEFAULT_CORPUS else f" --name {name}"
    return f"marchwarden index {folder}".rstrip() + named


def open_search(corpus: Corpus, embedder: Embedder | None = None) -> HybridSearch:
    """Open a corpus to search it: by meaning too where it has vectors and `embedder` is given.

    Raises ConfigurationError where its engine is not installed or its catalogue can't be read, and ValueError or
    OSError where the index is damaged.
    """
    with Catalogue.reading(corpus.catalogue) as catalogue:
        kind, languages = catalogue.kind, catalogue.languages
    engine = kind.engine if kind else DEFAULT_ENGINE
    index = open_index(engine, corpus.index, tables_url(corpus.store, corpus.name) if corpus.store else None)
    return HybridSearch(index, languages, embedder.query_vector if embedder and kind and kind.has_vectors else None)


def all_corpora() -> list[Corpus]:
    """Return all corpora, in the order of their names, with those that can't be read.

    Raises ConfigurationError where their folder can't be read.
    """
    folder = corpora_folder()
    try:
        corpora = [Corpus(each.name, each) for each in sorted(folder.iterdir())]
    except FileNotFoundError:
        return []
    except OSError as error:
        problem = f"{folder} can't be read: {reason_of(error)}"
        raise ConfigurationError(problem, hint="Check your permissions there.") from error
    return [corpus for corpus in corpora if _has_catalogue(corpus)]


def _has_catalogue(corpus: Corpus) -> bool:
    """Return whether a catalogue is there, or can't be looked for: then opening it fails with the reason."""
    try:
        return stat.S_ISREG(corpus.catalogue.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def problem_of_corpus(name: str) -> str | None:
    """Return why a corpus of this machine can't be searched; None where it can."""
    try:
        open_corpus(name)
    except ConfigurationError as error:
        return str(error)
    return None


def summary_of(corpus: Corpus) -> Summary:
    """Return the figures of a corpus. Raises ConfigurationError where its catalogue can't be read."""
    with Catalogue.reading(corpus.catalogue) as catalogue:
        return catalogue.summary()


def size_of(corpus: Corpus) -> int:
    """Return the bytes that a corpus takes on disk."""
    return sum(file.stat().st_size for file in corpus.folder.rglob("*") if file.is_file())


def remove_corpus(name: str) -> None:
    """Remove a corpus; the files that it is about stay.

    Raises ConfigurationError where there is none, StorageError where it can't be removed.
    """
    corpus = corpus_at(name)
    if not corpus.catalogue.is_file():
        raise ConfigurationError(f"there is no corpus {name}", hint="marchwarden index --list shows those that are.")
    try:
        aside = Path(tempfile.mkdtemp(prefix=".removed-", dir=corpora_folder()))
        corpus.folder.rename(aside / name)  # in one step, so that nobody opens half of it
        shutil.rmtree(aside)
    except OSError as error:
        raise StorageError(f"the corpus {name} can't be removed: {error.strerror or error}") from error
