"""Retrieval from the object store: traces and objects that this machine lacks, checked by their hashes and kept here.

After that, everything reads the folder of traces as though the call had been made here.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from marchwarden.errors import ConfigurationError, StorageError, TraceError
from marchwarden.files import is_held, make_private_folder, write_whole
from marchwarden.settings import Settings
from marchwarden.sharing.object_store import Listed, ObjectStore, open_store
from marchwarden.sharing.publication import CHECK, PART, TRACE, folder_of, last_action, names_in, object_name
from marchwarden.store.check_record import keep_checks, read_checks
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import find_trace, trace_files
from marchwarden.trace.standalone_verifier import ENDINGS, SEAL, signature_of

_log = logging.getLogger(__name__)

# Traces that are fetched at once, the newest first. A guess: 1,000 of 100 kB are 100 MB.
MOST_TRACES = 1_000
# Objects that are fetched side by side. A guess.
_AT_ONCE = 8

# Start of the name of an empty trace.
_NOTHING = f"{PART}{0:012d}-"

_TRACE_NAME = re.compile(r"^traces/[0-9a-f]{2}/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/(trace\.jsonl|part-.+)$")


def find_shared_trace(folder: Path, store: ObjectStore, prefix: str) -> Path:
    """Return the trace whose id begins with `prefix`, here or else in the store, with all that it names.

    Raises TraceError, with a hint, where there is no such trace or more than one, and StorageError.
    """
    try:
        path = find_trace(folder, prefix)
    except TraceError as error:
        wanted = prefix.strip().lower()
        if any(path.stem.startswith(wanted) for path in trace_files(folder)) or not re.match("[0-9a-f]{2}", wanted):
            raise
        found = sorted({each for each in _by_id(store.list(f"traces/{wanted[:2]}")) if each.startswith(wanted)})
        if not found:
            raise TraceError(f"{error}, nor in the store", hint=error.hint) from None
        if len(found) > 1:
            raise TraceError(
                f"{len(found)} traces in the store begin with {prefix!r}: {', '.join(found[:5])}",
                hint="Give more of the id.",
            ) from None
        path = folder / f"{found[0]}.jsonl"
    fetch_trace(folder, store, path.stem)
    fetch_objects(path, store)
    return path


def fetch_trace(folder: Path, store: ObjectStore, trace_id: str) -> bool:
    """Fetch a trace with its signature and checks, unless it is here and has ended. False where there is none.

    One that is here and has not ended is replaced by one that goes on from it. Raises TraceError where what the store
    has is damaged, and StorageError.
    """
    path = folder / f"{trace_id}.jsonl"
    here = path.read_bytes() if path.is_file() else b""
    if here and (last_action(here) in ENDINGS or is_held(path)):
        return True
    found = list(store.list(folder_of(trace_id)))
    names = {each.name.rpartition("/")[2] for each in found}
    # Several are there where a call was killed or went on after its end: a result counts most, then the length.
    named = [each for each in sorted(names) if each == TRACE or (each.startswith(PART) and not each.endswith(".sig"))]
    # Earlier versions published the empty file of a call that was about to begin, which says nothing.
    named = [each for each in named if not each.startswith(_NOTHING)]
    versions = {name: body for name in named if (body := _whole(store, trace_id, name))}
    if named and not versions:
        raise TraceError(f"the trace {trace_id} is damaged in the store")
    name, body = max(
        versions.items(), key=lambda each: (last_action(each[1]) == "result", len(each[1])), default=("", b"")
    )
    if len(body) > len(here) and body.startswith(here):
        _write(path, body)
        if f"{name}.sig" in names and (signature := store.get(f"{folder_of(trace_id)}/{name}.sig")):
            _write(signature_of(path), signature)
        with suppress(OSError):
            # When the store got it, so that lists by age tell the same everywhere.
            time = max(each.written for each in found).timestamp()
            os.utime(path, (time, time))
    if here or versions:
        known = read_checks(path)
        checks = {json.dumps(each, sort_keys=True): each for each in known}
        for name in sorted(each for each in names if each.startswith(CHECK)):
            with suppress(ValueError):
                check = json.loads(store.get(f"{folder_of(trace_id)}/{name}") or b"")
                checks.setdefault(json.dumps(check, sort_keys=True), check)
        if len(checks) > len(known):
            keep_checks(path, sorted(checks.values(), key=lambda each: str(each.get("checked"))))
    return bool(here or versions)


def fetch_objects(trace: Path, store: ObjectStore) -> None:
    """Fetch what a trace names and this machine lacks, as far as the store has it whole. Raises StorageError."""
    content = Store(trace.parent / "store")

    def fetch(key: str) -> None:
        _fetch_object(content, store, key)

    missing = [key for key in names_in(trace.read_bytes()) if not content.has(key)]
    if missing:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(fetch, missing))


def fetch_object(settings: Settings, key: str) -> bool:
    """Fetch what the object store has under a hash; False where there is no store, or where it has nothing whole.

    Raises ConfigurationError and StorageError.
    """
    return settings.store is not None and _fetch_object(Store(settings.store_folder), open_store(settings.store), key)


def _fetch_object(content: Store, store: ObjectStore, key: str) -> bool:
    packed = store.get(object_name(key))
    if packed is None:
        return False
    is_whole = content.put_packed(key, packed)
    if not is_whole:
        _log.warning("%s is damaged in the store", key)
    return is_whole


def fetch_new_traces(settings: Settings) -> bool:
    """Fetch the newest traces that this machine lacks, and return whether there were any. A problem is logged."""
    if settings.store is None:
        return False
    try:
        return fetch_missing_traces(settings.traces, open_store(settings.store))[0] > 0
    except (ConfigurationError, StorageError) as error:
        _log.warning("traces of other machines are missing: %s", error)
        return False


def fetch_call(settings: Settings, trace_id: str) -> bool:
    """Fetch a trace and all that it names, where there is an object store. Return whether the trace is here then.

    Raises ConfigurationError, StorageError, and TraceError where what the store has is damaged.
    """
    path = settings.traces / f"{trace_id}.jsonl"
    if settings.store is not None:
        store = open_store(settings.store)
        if fetch_trace(settings.traces, store, trace_id):
            fetch_objects(path, store)
    return path.is_file()


def fetch_missing_traces(folder: Path, store: ObjectStore, most: int = MOST_TRACES) -> tuple[int, int]:
    """Fetch the newest traces that this machine lacks, without their objects.

    Return how many came, and how many are still missing.

    Raises StorageError. What is damaged in the store is left out.
    """
    here = {path.stem for path in trace_files(folder)}
    times = _by_id(store.list("traces"))
    missing = sorted((each for each in times if each not in here), key=lambda each: times[each], reverse=True)

    def fetch(trace_id: str) -> bool:
        try:
            return fetch_trace(folder, store, trace_id)
        except TraceError as error:
            _log.warning("%s", error)
            return False

    if not missing:
        return 0, 0
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        came = sum(threads.map(fetch, missing[:most]))
    return came, len(missing) - came


def _by_id(listed: Iterable[Listed]) -> dict[str, datetime]:
    """Return when each trace was written last, by its id."""
    times: dict[str, datetime] = {}
    for each in listed:
        if found := _TRACE_NAME.match(each.name):
            times[found[1]] = max(each.written, times.get(found[1], datetime.min.replace(tzinfo=timezone.utc)))
    return times


def _whole(store: ObjectStore, trace_id: str, name: str) -> bytes | None:
    """Return a trace from the store; None where it is not what its seal or its name says."""
    body = store.get(f"{folder_of(trace_id)}/{name}")
    if body is None:
        return None
    if name.startswith(PART):
        return body if hashlib.sha256(body).hexdigest() == name.rpartition("-")[2] else None
    head, mark, seal = body.rpartition(SEAL)
    # Earlier versions sealed nothing.
    is_sealed = not mark or seal.strip() == f'"sha256:{hashlib.sha256(head).hexdigest()}"}}'.encode()
    return body if is_sealed and last_action(body) in ENDINGS else None


def _write(path: Path, body: bytes) -> None:
    try:
        make_private_folder(path.parent)
        write_whole(path, body, private=True)
    except OSError as error:
        raise StorageError(f"{path} can't be written: {error.strerror or error}") from error
