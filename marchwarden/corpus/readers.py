"""Read files side by side, in processes of their own: a file that crashes or stalls its reader is only a failure."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from multiprocessing.connection import wait

from marchwarden.corpus.chunks import with_vectors
from marchwarden.corpus.documents import MOST_BYTES, Prepared, prepare_file, prepare_lines
from marchwarden.corpus.walk import read_bytes
from marchwarden.logs import unheard_interrupts
from marchwarden.observations import ContentHash, content_hash

# Seconds for one file, or some lines of one. A guess.
SECONDS = 120
# Bytes of address space of a reader. A guess.
_MEMORY_BYTES = 4_000_000_000
# Tasks that wait for each reader, so that none is idle. A guess.
_AHEAD = 4


@dataclass(frozen=True)
class Task:
    """A file to read, or, where `body` is given, whole lines of one."""

    path: str
    modified: date | None
    known: ContentHash | None = None
    """Hash that the file had before; None for a new file."""
    body: bytes | None = None
    first: int = 1
    """Number of the first line of `body`, from 1."""
    start: int = 0
    """Byte of the file at which `body` begins."""
    has_vectors: bool = False
    """True where each chunk of what is read gets a vector."""


def prepared(tasks: Iterable[Task], jobs: int) -> Iterator[tuple[Task, Prepared]]:
    """Yield each task with its result, in order. `jobs` is the number of processes; 0 reads in this one,
    unprotected."""
    if jobs < 1:
        for task in tasks:
            read = _prepare(task)
            yield task, with_vectors(read) if task.has_vectors else read
        return
    todo = iter(tasks)
    waiting: deque[tuple[Task, Future[Prepared]]] = deque()
    while True:
        with _pool(jobs) as pool:
            try:
                yield from _in_order(pool, todo, waiting, _AHEAD * jobs)
                return
            except BrokenProcessPool:
                pass
        # A reader died, and took the pool with it: which file it was shows when each is read alone.
        yield from _one_by_one(waiting)


def _in_order(
    pool: ProcessPoolExecutor, todo: Iterator[Task], waiting: deque[tuple[Task, Future[Prepared]]], ahead: int
) -> Iterator[tuple[Task, Prepared]]:
    """Yield results in the order of the tasks. Raises BrokenProcessPool, with all that is not done left in
    `waiting`."""
    for task in todo:
        waiting.append((task, Future()))  # should submitting fail, the task is not lost
        waiting[-1] = (task, _submitted(pool, task))
        if len(waiting) >= ahead:
            yield _next(waiting)
    while waiting:
        yield _next(waiting)


def _submitted(pool: ProcessPoolExecutor, task: Task) -> Future[Prepared]:
    with unheard_interrupts():  # it may start a reader
        return pool.submit(_prepare_in_time, task)


def _next(waiting: deque[tuple[Task, Future[Prepared]]]) -> tuple[Task, Prepared]:
    task, future = waiting[0]
    result = future.result()
    waiting.popleft()
    return task, result


def _one_by_one(waiting: deque[tuple[Task, Future[Prepared]]]) -> Iterator[tuple[Task, Prepared]]:
    """Read the tasks that were under way when a reader died, each in a process of its own.

    The file that kills its reader again is the one to blame.
    """
    while waiting:
        task, future = waiting.popleft()
        if future.done() and future.exception() is None:
            yield task, future.result()
            continue
        with _pool(1) as pool:
            try:
                yield task, _submitted(pool, task).result()
            except BrokenProcessPool:
                yield task, Prepared(failure=f"reading it crashed, or took more than {SECONDS} seconds")


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Start readers, and end them, whatever they are doing, where the block is left by an exception."""
    spawned = multiprocessing.get_context("spawn")  # a fork would copy the threads of the index
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=spawned, initializer=_begin)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        pool.shutdown(cancel_futures=True)
        raise


# In a reader's process


def _begin() -> None:
    """Set up a reader's process: it ignores Ctrl-C, ends with its parent, and has a limit on its memory."""

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    except (ImportError, OSError, ValueError):  # not on this system: then without a limit
        pass


def _prepare_in_time(task: Task) -> Prepared:
    """Prepare a task within SECONDS, or die; its vectors take the time that they take."""
    alarm = getattr(signal, "alarm", lambda seconds: None)  # Windows has none
    # The signal is not caught, so that it ends the process in whatever library it is.
    alarm(SECONDS)
    try:
        read = _prepare(task)
    finally:
        alarm(0)
    return with_vectors(read) if task.has_vectors else read


def _prepare(task: Task) -> Prepared:
    """Read the file or the lines of a task; whatever goes wrong is a failure of that file."""
    try:
        if task.body is not None:
            return prepare_lines(task.path, task.first, task.start, task.body, task.modified)
        body = read_bytes(task.path, MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            return Prepared(failure=f"it is larger than {MOST_BYTES // 1_000_000} MB")
        if task.known is not None and content_hash(body) == task.known:
            return Prepared(hash=task.known, is_known=True)
        return prepare_file(task.path, body, task.modified)
    except OSError as error:
        return Prepared(failure=str(error.strerror or error))
    except Exception as error:  # a parser stumbled over this one file: the others are still to be read
        return Prepared(failure=f"its format can't be read ({type(error).__name__})")
