"""Publication of traces in the object store: of a call before its answer is given, and of what waits.

The objects that a trace names go first, the trace last: whoever finds a trace there finds all of it. Each object has
a name that says what is in it, or is the one end of its call, so publishing again does nothing.

    traces/3f/3f2b8c1e-…/trace.jsonl                 a call that has ended
    traces/3f/3f2b8c1e-…/part-000000004711-DIGEST    what there is of one that has not, or that ended twice
    traces/3f/3f2b8c1e-…/trace.jsonl.sig             the signature of either, under its name
    traces/3f/3f2b8c1e-…/check-DIGEST.json           one check of its citations
    objects/ab/….zst                                 pages, texts and programs, as in the content store
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread

from marchwarden.errors import StorageError, TraceError
from marchwarden.files import is_held
from marchwarden.settings import Settings
from marchwarden.sharing.object_store import CALLERS, PATIENT_S, ObjectStore, caller_url, open_store
from marchwarden.sharing.outbox import Outbox, Waiting
from marchwarden.sharing.trace_index import TraceIndex, index_of, trace_index
from marchwarden.store.check_record import read_checks
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import trace_files, whole_line
from marchwarden.trace.standalone_verifier import ENDINGS, signature_of

_log = logging.getLogger(__name__)

TRACE, PART, CHECK = "trace.jsonl", "part-", "check-"
# Seconds that the publication of a call may keep its answer back. A guess.
CALL_S = 5.0
# Seconds that a call may spend on what other calls left in the outbox. A guess.
OTHERS_S = 2.0
# Objects that are sent side by side. A guess.
_AT_ONCE = 8

_HASH = re.compile(rb"sha256:[0-9a-f]{64}")
# A hash in a trace, but for those that chain its lines.
_NAME = re.compile(rb'(?<!"before": )"(sha256:[0-9a-f]{64})"')


@dataclass
class Published:
    """Count of what was done with the traces of a folder."""

    traces: int = 0
    """Number of traces of which the store lacked something."""
    objects: int = 0
    """Number of objects that the store did not have."""
    running: int = 0
    """Number of traces that are being written."""
    left: int = 0
    """Number of traces that are still to be published."""
    unlisted: int = 0
    """Number of traces that are published, and have no row in the index yet."""
    problem: str | None = None
    """The first problem, or the one that ended it, as a sentence; None where there was none."""
    is_cut_short: bool = False
    """True where it ended early, since the store could not be used."""


@asynccontextmanager
async def publishing(
    settings: Settings, trace_id: str, tell: Callable[[str], None] = lambda message: None
) -> AsyncIterator[None]:
    """Publish the trace of a call that is made and written inside, before its answer is given.

    Where that fails, `tell` hears it, and the outbox has the trace. What a cancelled call leaves goes with a later
    one. Raises ConfigurationError before the call where the store is named wrongly.
    """
    if settings.store is None:
        yield
        return
    store = open_store(settings.store)
    index = index_of(settings)
    outbox = Outbox(settings.traces)
    outbox.add(trace_id)
    try:
        yield
    except Exception:
        await anyio.to_thread.run_sync(_publish_call, settings.traces, store, index, trace_id)
        raise
    if not await anyio.to_thread.run_sync(_publish_call, settings.traces, store, index, trace_id):
        # Callers from elsewhere hear it, too, whom the reason would tell where the store is: the outbox has it.
        tell("the trace is not in the store yet, and will be published later")


def _publish_call(folder: Path, store: ObjectStore, index: TraceIndex | None, trace_id: str) -> bool:
    """Publish the trace of a call, and some of what waits. False where it could not be published."""
    trace, outbox = folder / f"{trace_id}.jsonl", Outbox(folder)
    if not trace.is_file() or _is_empty(trace):
        outbox.remove(trace_id)
        return True
    try:
        publish_trace(trace, store, time.monotonic() + CALL_S)
    except (StorageError, TraceError) as error:
        _log.warning("the trace of call %s is not in the store yet: %s", trace_id, error)
        with suppress(StorageError):
            outbox.add(trace_id, str(error))
        return False
    _index(trace, outbox, index, may_wait=True)
    publish_waiting(folder, store, OTHERS_S, index)
    return True


def _index(trace: Path, outbox: Outbox, index: TraceIndex | None, *, may_wait: bool) -> str | None:
    """Write the row of a trace that has been published, and take it from the outbox. Return the reason where it can't
    be written: the outbox keeps it then. With `may_wait`, an index that has just failed or was slow is not asked."""
    try:
        if index is not None and may_wait and index.resting:
            raise StorageError(index.resting)
        if index is not None:
            index.put(trace)
    except StorageError as error:  # the database logs it, once
        with suppress(StorageError):
            outbox.add(trace.stem, str(error), is_published=True)
        return str(error)
    except TraceError:  # it was pruned meanwhile: nothing is left to be listed
        pass
    outbox.remove(trace.stem)
    return None


def publish_waiting(folder: Path, store: ObjectStore, seconds: float, index: TraceIndex | None = None) -> Published:
    """Publish what is in the outbox of a folder, for so many seconds, and index it.

    A problem of the store ends it. One of the index does not: what it lacks is left for later.
    """
    outbox, end, done = Outbox(folder), time.monotonic() + seconds, Published()
    may_wait = math.isfinite(seconds)
    waiting = outbox.waiting()
    for number, each in enumerate(waiting):
        # Looking again at what lacks only its row would cost each call more while the index is down.
        if each.is_published and may_wait and index is not None and index.resting:
            done.unlisted += 1
            continue
        if not _publish(each.trace, outbox, done, index, lambda trace: publish_trace(trace, store, end), may_wait):
            done.left += len(waiting) - number
            break
    return done


def publish_left(folder: Path, url: str, index_url: str | None = None) -> threading.Thread:
    """Begin to publish what is in the outboxes of a server's folder of traces, in a thread, and return that.

    Raises ConfigurationError.
    """
    stores = list(stores_of(folder, url))
    trace_index(index_url, stores[0][1])

    def publish() -> None:
        for each, store in stores:
            done = publish_waiting(each, store, float("inf"), trace_index(index_url, store))
            if done.left:
                _log.warning("%d traces are not in the store yet: %s", done.left, done.problem)
            if done.is_cut_short:
                return

    thread = threading.Thread(target=publish, daemon=True)
    thread.start()
    return thread


def publish_all(
    folder: Path, store: ObjectStore, done: Published | None = None, index: TraceIndex | None = None
) -> Published:
    """Publish every trace of a folder that the store does not have, also those that no outbox knows of; index all.

    It is counted in `done`, which is returned.
    """
    done = done or Published()
    files = trace_files(folder)
    try:
        known = {each.name: each.size for each in store.list("traces")}
    except StorageError as error:
        done.left, done.problem, done.is_cut_short = done.left + len(files), str(error), True
        return done
    outbox = Outbox(folder)
    for number, trace in enumerate(files):
        if not _publish(trace, outbox, done, index, lambda each: publish_trace(each, store, known=known)):
            done.left += len(files) - number
            break
    return done


def unpublished(folder: Path, store: ObjectStore) -> list[Waiting]:
    """Return the traces of a folder that the store lacks, whether or not it was set when they were made.

    Calls that run are left out. Raises StorageError.
    """
    known = {each.name: each.size for each in store.list("traces")}
    outbox = Outbox(folder)
    lacking = [trace for trace in trace_files(folder) if not is_held(trace) and not _is_known(trace, known)]
    return [outbox.find(trace.stem) or Waiting(trace, "") for trace in lacking]


def _is_known(trace: Path, known: Mapping[str, int]) -> bool:
    """Return whether the store has this trace as it is here; False where it can't be read."""
    if _is_empty(trace):
        return True
    folder = folder_of(trace.stem)
    try:
        is_whole = known.get(f"{folder}/{TRACE}") == trace.stat().st_size
        return is_whole or f"{folder}/{part_name(trace.read_bytes())}" in known
    except OSError:
        return False


def _is_empty(trace: Path) -> bool:
    """Return whether there is nothing to publish: the file of a call that is about to hold it, or was killed then."""
    try:
        return trace.stat().st_size == 0
    except OSError:
        return False


def _publish(
    trace: Path,
    outbox: Outbox,
    done: Published,
    index: TraceIndex | None,
    send: Callable[[Path], int],
    may_wait: bool = False,
) -> bool:
    """Publish and index one trace, and count it. False where the store can't be used."""
    if is_held(trace):
        done.running += 1
        return True
    if _is_empty(trace):
        return True
    try:
        sent = send(trace)
    except TraceError as error:  # the others can still be published
        done.left, done.problem = done.left + 1, str(error)
        return True
    except StorageError as error:
        done.problem, done.is_cut_short = str(error), True
        with suppress(StorageError):
            outbox.add(trace.stem, str(error))
        return False
    done.traces, done.objects = done.traces + (sent > 0), done.objects + sent
    if problem := _index(trace, outbox, index, may_wait=may_wait):
        done.unlisted, done.problem = done.unlisted + 1, done.problem or problem
    return True


def stores_of(folder: Path, url: str) -> Iterator[tuple[Path, ObjectStore]]:
    """Yield the folder of traces and those of a server's callers, each with its store, for work nobody waits for.

    Raises ConfigurationError.
    """
    yield folder, ObjectStore(url, request_s=PATIENT_S)
    for each in sorted((folder / CALLERS).glob("*")):
        if each.is_dir():
            yield each, ObjectStore(caller_url(url, each.name), request_s=PATIENT_S)


def folder_of(trace_id: str) -> str:
    """Return the folder of a trace in the store."""
    return f"traces/{trace_id[:2]}/{trace_id}"


def object_name(key: str) -> str:
    """Return the name in the store of what is stored under a hash."""
    digest = key.removeprefix("sha256:")
    return f"objects/{digest[:2]}/{digest[2:]}.zst"


def names_in(trace: bytes) -> list[str]:
    """Return the hashes of what a trace has in the content store.

    Those are the ones that its seal vouches for; where it has no seal, all that it names.
    """
    sealed = (_last_line(trace) or {}).get("objects")
    if isinstance(sealed, list):
        return [key for key in sealed if isinstance(key, str) and _HASH.fullmatch(key.encode("utf-8", "replace"))]
    return sorted({name.decode("ascii") for name in _NAME.findall(trace)})


def last_action(trace: bytes) -> str | None:
    """Return the action of a trace's last line; None where that is torn or no line."""
    return (_last_line(trace) or {}).get("action")


def _last_line(trace: bytes) -> dict[str, Any] | None:
    body, end = trace.rstrip(b"\n"), trace[-1:]
    return whole_line(body.rpartition(b"\n")[2]) if end == b"\n" else None


def part_name(trace: bytes) -> str:
    """Return the name of a trace that has not ended, which says its length in bytes and its hash."""
    return f"{PART}{len(trace):012d}-{hashlib.sha256(trace).hexdigest()}"


def publish_trace(
    trace: Path, store: ObjectStore, end: float = float("inf"), known: Mapping[str, int] | None = None
) -> int:
    """Publish a trace with all that goes with it; return the number of objects that the store did not have.

    `end` is the time, of time.monotonic, after which no object is sent any more; `known` has the sizes of the store's
    traces by their names: what is there is not sent. Raises TraceError where the trace can't be read, and
    StorageError.
    """
    try:
        body = trace.read_bytes()
    except OSError as error:
        raise TraceError(f"{trace} can't be read: {error.strerror or error}") from error
    folder, created = folder_of(trace.stem), 0

    def create(name: str, content: bytes) -> int:
        if known is not None and name in known:
            return 0
        if time.monotonic() > end:
            raise StorageError("the store took too long")
        return store.create(name, content)

    has_trace = known is not None and _is_known(trace, known)
    if not has_trace:
        content = Store(trace.parent / "store")

        def create_object(key: str) -> int:
            packed = content.get_packed(key)
            return create(object_name(key), packed) if packed is not None else 0

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            created += sum(threads.map(create_object, names_in(body)))
    name, part = f"{folder}/{TRACE}", f"{folder}/{part_name(body)}"
    has_ended = last_action(body) in ENDINGS
    with suppress(FileNotFoundError):
        signature = signature_of(trace).read_bytes()
        # A call may have ended before, and gone on: each signature belongs to one of its ends.
        is_first = has_ended and store.get(name) in (None, body)
        created += create(f"{name if is_first else part}.sig", signature)
    for check in read_checks(trace):
        checked = json.dumps(check, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
        created += create(f"{folder}/{CHECK}{hashlib.sha256(checked).hexdigest()}.json", checked)
    if has_ended:
        if create(name, body):
            return created + 1
        if has_trace or store.get(name) == body:
            return created
    return created + create(part, body)
