"""Removal of old traces and of what only they name in the store, and figures of what is kept.

An object of the store stays as long as any file beside the traces names it: a trace in its steps, in the list that
its seal vouches for, or as the program that a re-run needs.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import chain
from pathlib import Path

from marchwarden.errors import StorageError, TraceError
from marchwarden.files import is_left_behind
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import TraceSummary, list_traces, read_trace

_NAME = re.compile(rb"sha256:[0-9a-f]{64}")
# Seconds for which what was written last is left alone: a call that runs may be about to name it. The longest call
# takes three minutes by default; the rest is a guess.
_RUNNING_S = 3600.0


@dataclass(frozen=True)
class Pruned:
    """Traces and objects that were removed, or would be."""

    traces: list[TraceSummary]
    kept: int
    """Number of traces that stay."""
    objects: int
    """Number of pages, texts and other objects of the store that nothing names any more."""
    bytes: int
    """Bytes of all files that were removed."""


@dataclass(frozen=True)
class Kept:
    """Figures of a trace folder and its store."""

    traces: dict[str, int]
    """Number of traces by ending: answered, nothing found, failed, cancelled, unfinished."""
    trace_bytes: int
    oldest: datetime | None
    newest: datetime | None
    objects: int
    """Number of pages, texts and other objects in the store."""
    object_bytes: int
    """Bytes of the store's files, which are compressed."""
    unnamed: int
    """Number of objects that no trace names: the next `prune` removes them."""
    unnamed_bytes: int
    readable_by_others: int
    """Number of files and folders that other users of the machine may read."""


def prune(folder: Path, age: timedelta, *, keep_cited: bool, dry_run: bool) -> Pruned:
    """Remove the traces of calls that began longer than `age` ago, and each object of the store that is then unnamed.

    `keep_cited` keeps traces whose result cites something. Calls that may still run stay. Raises StorageError.
    """
    traces = list_traces(folder)
    before = datetime.now(timezone.utc) - age
    old = [each for each in traces if _is_old(each, before)]
    if keep_cited:
        old = [each for each in old if not _cites(each.path)]
    try:
        # A trace's file, and those beside it that are named after it, such as its signature.
        named = (file for each in old for file in each.path.parent.glob(f"{each.trace_id}.*"))
        gone = [file for file in named if file.is_file()]
        sizes, objects = 0, 0
        # Traces first: where this is interrupted, objects without a trace are left, and never a trace without them.
        for file in chain(gone, _unnamed(folder, without=gone)):
            with suppress(FileNotFoundError):  # another process that prunes was quicker
                size = file.stat().st_size
                if not dry_run:
                    file.unlink()
                sizes, objects = sizes + size, objects + (file not in gone and not is_left_behind(file))
    except OSError as error:
        raise StorageError(
            f"{error.filename or folder} can't be removed: {error.strerror or error}",
            hint="Correct the permissions of the folder; the same command goes on from there.",
        ) from error
    return Pruned(old, len(traces) - len(old), objects, sizes)


def figures(folder: Path) -> Kept:
    """Return the figures of a trace folder. Raises StorageError where it can't be read."""
    traces = list_traces(folder)
    times = [each.started for each in traces if each.started]
    store = Store(folder / "store")
    try:
        stored = [state.st_size for file in store.files() if (state := _state(file))]
        unnamed = [state.st_size for file in _unnamed(folder) if (state := _state(file))]
        # On Windows the mode says nothing about other users.
        everything = [folder, *folder.rglob("*")] if folder.is_dir() and os.name == "posix" else []
        states = (_state(path) for path in everything)
        readable = sum(bool(state.st_mode & 0o044) for state in states if state and not stat.S_ISLNK(state.st_mode))
    except OSError as error:
        raise StorageError(f"{error.filename or folder} can't be read: {error.strerror or error}") from error
    return Kept(
        traces=dict(Counter(each.ending for each in traces)),
        trace_bytes=sum(each.size for each in traces),
        oldest=min(times, default=None),
        newest=max(times, default=None),
        objects=len(stored),
        object_bytes=sum(stored),
        unnamed=len(unnamed),
        unnamed_bytes=sum(unnamed),
        readable_by_others=readable,
    )


def _cites(trace: Path) -> bool:
    """Return whether the result of a trace cites anything; one that holds nothing, or is gone, has no result."""
    try:
        result = read_trace(trace).written_result
    except TraceError:
        return False
    return bool(result and result.citations)


def _is_old(summary: TraceSummary, before: datetime) -> bool:
    try:
        written = summary.path.stat().st_mtime
    except OSError:
        return False
    if summary.outcome == "unfinished" and time.time() - written < _RUNNING_S:
        return False
    return (summary.started or datetime.fromtimestamp(written, timezone.utc)) < before


def _unnamed(folder: Path, without: Collection[Path] = ()) -> Iterator[Path]:
    """Yield the store's files that no file of the folder names, those in `without` left aside.

    Young files stay: a call that runs may be about to name them.
    """
    store = Store(folder / "store")
    named: set[str] = set()
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.is_file() and file not in without:
            with suppress(FileNotFoundError):
                named.update(name.decode() for name in _NAME.findall(file.read_bytes()))
    for file in store.files():
        if store.key_of(file) not in named and (state := _state(file)) and time.time() - state.st_mtime > _RUNNING_S:
            yield file


def _state(file: Path) -> os.stat_result | None:
    """Return the state of a file; None where it is gone, as those are that a process writes aside. Raises OSError."""
    try:
        return file.lstat()
    except FileNotFoundError:
        return None
