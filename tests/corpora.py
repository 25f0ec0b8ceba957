"""Small corpora for tests: a folder of files, indexed in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from marchwarden.corpus.corpora import Corpus, corpus_at
from marchwarden.corpus.indexing import IndexReport, index_files


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, body in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body if isinstance(body, bytes) else body.encode())
    return folder


def index(*paths: Path, name: str = "default") -> IndexReport:
    return index_files(corpus_at(name), list(paths), jobs=0)


def corpus_of(folder: Path, files: Mapping[str, str | bytes], name: str = "default") -> Corpus:
    index(write(folder, files), name=name)
    return corpus_at(name)
