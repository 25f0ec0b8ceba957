"""Fill a corpus: read the new and changed files under its roots, remove those that are gone.

Index and catalogue are committed together every few seconds, the index first. A run that is killed in between leaves
documents that the catalogue does not know; their file counts as new in the next run, which removes them before it
reads it. So a run can end at any moment, and the next one goes on from there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from marchwarden.corpus.catalogue import DEFAULT_ENGINE, Catalogue, FileRecord, IndexKind, state_of
from marchwarden.corpus.corpora import Corpus
from marchwarden.corpus.documents import JSON_LINES, LONGEST_LINE_BYTES, Prepared, day_of, kind_of
from marchwarden.corpus.engines.corpus_index import IndexWriter, open_writer, require_engine
from marchwarden.corpus.readers import Task, prepared
from marchwarden.corpus.snapshots import is_fetched
from marchwarden.corpus.walk import Walk, open_ordinary, walk
from marchwarden.errors import ConfigurationError, StorageError, require_package
from marchwarden.files import make_private_folder
from marchwarden.observations import ContentHash
from marchwarden.text.embedding import MODEL

# Seconds between commits: as much work as a killed run may lose. A guess.
COMMIT_SECONDS = 10.0
# Lines, and bytes, of a .jsonl file that are read together: enough to outweigh the hand-over to a process. A guess.
_LINES, _CHUNK_BYTES = 400, 2_000_000
# The hash of a file that could not be read.
_UNREAD = ContentHash("")

# A function that is told the files done, the files in all, and the documents read.
Tell = Callable[[int, int, int], None]


@dataclass
class IndexReport:
    """The outcome of an indexing run."""

    name: str
    added: int = 0
    """Number of new files."""
    changed: int = 0
    """Number of files with other content than before."""
    unchanged: int = 0
    """Number of files that are as before."""
    removed: int = 0
    """Number of files that are gone."""
    unreadable: int = 0
    """Number of files of which nothing could be read; they count as nothing else, however often they are tried."""
    documents: int = 0
    """Number of documents in the corpus after the run."""
    files: int = 0
    """Number of files in the corpus after the run."""
    failed: dict[str, str] = field(default_factory=dict)
    """Paths that could not be read, with the reasons; of a .jsonl file it may be some lines only."""
    others: int = 0
    """Number of files of kinds that can't be indexed."""
    links: int = 0
    """Number of links, which are not followed."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Files, links and folders that were passed over, with the reasons; the first 10,000."""
    roots: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Roots that are not there now; their files stay indexed."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Wanted:
    """Kind of index that is asked for."""

    engine: str | None = None
    """Name of the engine; None for the one that the corpus has, or else the default."""
    vectors: bool = False
    """True where it must have vectors; False for what the corpus has, or else none."""


def index_files(
    corpus: Corpus, paths: list[Path], *, jobs: int, wanted: Wanted | None = None, tell: Tell = lambda *_: None
) -> IndexReport:
    """Index the files under `paths`, or, with none, under all roots that the corpus knows.

    Raises ConfigurationError where it came from the object store, or has another kind of index than is asked for;
    StorageError where it can't be written, also because another process writes it. A KeyboardInterrupt passes
    through; what was read until then is kept.
    """
    began = time.monotonic()
    wanted = wanted or Wanted()
    if is_fetched(corpus.folder):
        raise ConfigurationError(
            f"the corpus {corpus.name} came from the object store",
            hint=f"Index it on the machine that has its files, or remove it here: marchwarden index --remove "
            f"{corpus.name}",
        )
    if wanted.engine:
        require_engine(wanted.engine)
    if wanted.vectors:
        require_package(MODEL, "A corpus with vectors")
    try:
        make_private_folder(corpus.folder)  # what is in it may be private
        # The lock is let go of when its holder dies.
        with FileLock(corpus.folder / "writing.lock", timeout=0), Catalogue.writing(corpus.catalogue) as catalogue:
            kind = _kind(corpus.name, catalogue.kind, wanted)
            writer = _writer(corpus, catalogue, kind)
            report = _Run(corpus, catalogue, writer, tell).index(paths, jobs)
    except Timeout:
        raise StorageError(
            f"another `marchwarden index` is already working on the corpus {corpus.name}",
            hint="Wait until it has finished.",
        ) from None
    except OSError as error:
        raise StorageError(f"{corpus.folder} can't be written: {error.strerror or error}") from error
    report.seconds = time.monotonic() - began
    return report


def _kind(name: str, known: IndexKind | None, wanted: Wanted) -> IndexKind:
    """Return the kind of index of a corpus. Raises ConfigurationError where it can't be as is asked for."""
    kind = known or IndexKind(wanted.engine or DEFAULT_ENGINE, wanted.vectors)
    require_engine(kind.engine)
    if wanted.engine not in (None, kind.engine) or (wanted.vectors and not kind.has_vectors):
        has = f"is kept by {kind.engine}, {'with' if kind.has_vectors else 'without'} vectors"
        raise ConfigurationError(
            f"the corpus {name} {has}: this can't be changed after a corpus is made",
            hint=f"Use another --name, or remove the corpus: marchwarden index --remove {name}",
        )
    if kind.has_vectors:
        require_package(MODEL, "A corpus with vectors")
    return kind


def _writer(corpus: Corpus, catalogue: Catalogue, kind: IndexKind) -> IndexWriter:
    """Open an index that fits the catalogue: a lost or damaged one is begun anew, as is one of another version."""
    try:
        writer = open_writer(kind.engine, corpus.index, has_vectors=kind.has_vectors)
    except ValueError:
        shutil.rmtree(corpus.index)
        writer = open_writer(kind.engine, corpus.index, has_vectors=kind.has_vectors)
    if writer.is_new or not catalogue.is_current:
        writer.clear()
        catalogue.begin_anew()
    catalogue.kind = kind
    return writer


@dataclass
class _Lines:
    """Progress of a .jsonl file, which is read in pieces."""

    path: str
    state: str
    before: FileRecord | None
    """Record of an earlier run; None where the file is new."""
    given: int = 0
    """Number of pieces given to readers."""
    done: int = 0
    """Number of pieces that were read."""
    documents: int = 0
    failure: str | None = None
    hash: ContentHash | None = None
    """Hash of the whole file; None until all pieces were given to readers."""


class _Run:
    def __init__(self, corpus: Corpus, catalogue: Catalogue, writer: IndexWriter, tell: Tell) -> None:
        self._catalogue = catalogue
        self._writer = writer
        self._has_vectors = catalogue.kind is not None and catalogue.kind.has_vectors
        self._tell = tell
        self._report = IndexReport(corpus.name)
        # Documents that were read.
        self._read = 0
        self._committed = time.monotonic()
        # Files given to readers, and files in all.
        self._count_files = (0, 0)
        # States of the files that are being read, by their paths.
        self._states: dict[str, str] = {}
        self._lines: dict[str, _Lines] = {}

    def index(self, paths: list[Path], jobs: int) -> IndexReport:
        report = self._report
        self._broke_off = self._catalogue.is_unfinished
        if not paths:
            # A missing folder stays a root: it may be on a disk that isn't mounted. So may a file whose folder is
            # missing. A file alone that is gone is forgotten.
            for root in map(Path, self._catalogue.roots):
                if self._catalogue.file(str(root)) and not root.exists() and root.parent.is_dir():
                    self._forget(str(root))
                    self._catalogue.remove_root(str(root))
                    report.removed += 1
        roots = paths or list(map(Path, self._catalogue.roots))
        report.missing = tuple(str(root) for root in roots if not root.exists())
        there = [root for root in roots if root.exists()]
        self._catalogue.add_roots(os.path.realpath(root) for root in there)
        found = walk(there)
        report.failed, report.others, report.links = dict(found.refused), found.others, found.links
        report.skipped = found.skipped
        self._catalogue.is_unfinished = True
        self._catalogue.commit()
        try:
            folders = [os.path.realpath(root) for root in there]
            for path in self._catalogue.paths():
                below = any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
                if below and path not in found.files:
                    self._forget(path)
                    report.removed += 1
            for number, (task, result) in enumerate(prepared(self._tasks(found), jobs)):
                self._take(task, result)
                if number % 50 == 0 and time.monotonic() - self._committed > COMMIT_SECONDS:
                    self._commit()
            self._tell(*self._count_files, self._read)
            self._catalogue.is_unfinished = False
            self._catalogue.drop_kept()
            self._commit()
            self._writer.close()
        except KeyboardInterrupt:
            self._commit()
            raise
        except ValueError as error:  # engines raise it for all that goes wrong on the disk
            raise StorageError(
                f"the index can't be written: {error}", hint="Check whether the disk is full."
            ) from error
        summary = self._catalogue.summary()
        report.roots, report.files, report.documents = summary.roots, summary.files, summary.documents
        return report

    # Files to read

    def _tasks(self, found: Walk) -> Iterator[Task]:
        """Yield a task for each file that is new or changed, and keep the record of each other one.

        Tasks are taken a few files before their results come.
        """
        for number, (path, stat) in enumerate(found.files.items()):
            self._count_files = (number, len(found.files))
            self._tell(*self._count_files, self._read)
            record, state = self._catalogue.file(path), state_of(stat)
            if record and record.state == state:
                self._keep(record)
            elif kind_of(path) == JSON_LINES:
                yield from self._tasks_of_lines(path, state, record, day_of(stat.st_mtime))
            else:
                self._states[path] = state
                known = record.hash if record else None
                yield Task(path, day_of(stat.st_mtime), known=known, has_vectors=self._has_vectors)
        self._count_files = (len(found.files), len(found.files))

    def _tasks_of_lines(
        self, path: str, state: str, record: FileRecord | None, modified: date | None
    ) -> Iterator[Task]:
        lines = self._lines[path] = _Lines(path, state, record)
        try:
            if record:
                whole = sha256()
                with open_ordinary(path) as file:
                    while piece := file.read(_CHUNK_BYTES):
                        whole.update(piece)
                if record.hash == "sha256:" + whole.hexdigest():
                    del self._lines[path]
                    return self._keep(replace(record, state=state))
            self._forget(path)
            seen = sha256()
            for first, start, body, too_long in _pieces(path, seen):
                if too_long:
                    lines.failure = (
                        lines.failure or f"line {first} is longer than {LONGEST_LINE_BYTES // 1_000_000} MB"
                    )
                else:
                    lines.given += 1
                    yield Task(path, modified, None, body, first, start, self._has_vectors)
            lines.hash = ContentHash("sha256:" + seen.hexdigest())
        except OSError as error:
            lines.failure, lines.hash, lines.state = str(error.strerror or error), _UNREAD, ""
        self._end_if_done(lines)

    # Results of reading

    def _take(self, task: Task, result: Prepared) -> None:
        """Put the result of a task into index and catalogue."""
        if task.body is not None:
            lines = self._lines[task.path]
            self._add(task.path, result)
            self._catalogue.put_lines(task.path, result.lines)
            lines.done += 1
            lines.documents += result.documents
            lines.failure = lines.failure or result.failure
            return self._end_if_done(lines)
        record, state = self._catalogue.file(task.path), self._states.pop(task.path)
        if record and result.is_known:
            return self._keep(replace(record, state=state))
        self._forget(task.path)
        self._add(task.path, result)
        if result.hash is None:  # its bytes could not be had: the next run tries again
            state = ""
        now = FileRecord(task.path, state, result.hash or _UNREAD, result.documents, result.failure)
        self._count(record, now)
        self._put(now)
        if result.hash and result.kept:
            self._catalogue.keep_page(result.hash, result.kept)
        return None

    def _end_if_done(self, lines: _Lines) -> None:
        """Put the record of a .jsonl file once all of its pieces were given out and read."""
        if lines.hash is not None and lines.done == lines.given:
            del self._lines[lines.path]
            now = FileRecord(lines.path, lines.state, lines.hash, lines.documents, lines.failure)
            self._count(lines.before, now)
            self._put(now)

    def _add(self, path: str, result: Prepared) -> None:
        self._writer.add(path, result.parts)
        self._catalogue.add_languages({part.language for part in result.parts})
        self._read += result.documents
        self._tell(*self._count_files, self._read)

    def _put(self, record: FileRecord) -> None:
        self._catalogue.put_file(record)
        if record.failure:
            self._report.failed[record.path] = record.failure

    def _keep(self, record: FileRecord) -> None:
        self._count(record, record)
        self._put(record)

    def _count(self, before: FileRecord | None, now: FileRecord) -> None:
        report = self._report
        if not now.documents:
            report.unreadable += 1
        elif not before or not before.documents:
            report.added += 1
        elif before.hash == now.hash:
            report.unchanged += 1
        else:
            report.changed += 1

    def _forget(self, path: str) -> None:
        """Remove a file from index and catalogue."""
        # The index holds nothing of a file that the catalogue doesn't know, unless a run was broken off.
        if self._broke_off or self._catalogue.file(path):
            self._writer.remove(path)
            self._catalogue.remove_file(path)

    def _commit(self) -> None:
        self._writer.commit()
        self._catalogue.commit()
        self._committed = time.monotonic()


def _pieces(path: str, seen: hashlib._Hash) -> Iterator[tuple[int, int, bytes, bool]]:
    """Yield whole lines of a file, some at a time: (number of the first, byte where it begins, lines, is too long).

    A line that is too long comes alone and without its text. `seen` is fed with all of the file.
    """
    first, start, number, at = 1, 0, 0, 0
    held: list[bytes] = []
    with open_ordinary(path) as file:
        while line := file.readline(LONGEST_LINE_BYTES + 1):
            seen.update(line)
            number += 1
            is_too_long = len(line) > LONGEST_LINE_BYTES
            if held and (is_too_long or len(held) >= _LINES or at - start > _CHUNK_BYTES):
                yield first, start, b"".join(held), False
                held, first, start = [], number, at
            at += len(line)
            if not is_too_long:
                held.append(line)
                continue
            while not line.endswith(b"\n") and (line := file.readline(LONGEST_LINE_BYTES)):
                seen.update(line)
                at += len(line)
            yield number, start, b"", True
            first, start = number + 1, at
    if held:
        yield first, start, b"".join(held), False
