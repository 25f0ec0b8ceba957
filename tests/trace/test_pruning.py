"""What is old is removed, and nothing that a kept trace names."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from marchwarden.errors import StorageError
from marchwarden.files import write_whole
from marchwarden.store.content_store import Store
from marchwarden.trace.pruning import Pruned, figures, prune
from marchwarden.trace.standalone_verifier import signature_of
from marchwarden.trace.writer import TraceWriter
from tests.trace.samples import BODY, TEXT, a_result, a_whole_call, started

OLD, CITED, NEW = [f"{digit * 8}-0d4a-4e5b-9c6d-7a8b9c0d1e2f" for digit in "123"]
AGE = timedelta(days=90)


def record(folder: Path, trace_id: str, *, days: float, program: bytes = b"", cites: bool = False) -> Path:
    """A call of some days ago whose trace names the page of the samples and a program of its own."""
    store = Store(folder / "store")
    program_hash = store.put(program or trace_id.encode())
    store.put(BODY)
    store.put(TEXT.encode())
    *events, last = a_whole_call()
    events[0] = started(trace_id[:4]).model_copy(update={"program_hash": program_hash})
    result = a_result(trace_id=trace_id) if cites else a_result(trace_id=trace_id, answer="Nothing.", citations=[])
    last = last.model_copy(update={"result": result})
    with TraceWriter(folder, trace_id) as writer:
        for event in (*events, last):
            writer.record(event)
    written = writer.path.read_text("utf-8")
    then = time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86_400))
    writer.path.write_text(written.replace(time.strftime("%Y-%m-%d", time.gmtime()), then), "utf-8")
    return writer.path


def grown_old(folder: Path) -> None:
    """Nothing was stored in the last hour."""
    for file in (folder / "store").rglob("*.zst"):
        os.utime(file, (0, 0))


@pytest.mark.parametrize("dry_run", [True, False])
def test_old_traces_go_with_what_only_they_name(tmp_path: Path, dry_run: bool) -> None:
    old, new = record(tmp_path, OLD, days=100), record(tmp_path, NEW, days=80)
    signature_of(old).write_text("signed")
    grown_old(tmp_path)
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    store = Store(tmp_path / "store")
    program = next(file for file in store.files() if store.get(store.key_of(file)) == OLD.encode())
    gone = {old, signature_of(old), program}
    size = sum(file.stat().st_size for file in gone)

    pruned = prune(tmp_path, AGE, keep_cited=False, dry_run=dry_run)
    assert [each.trace_id for each in pruned.traces] == [OLD]
    assert (pruned.kept, pruned.objects, pruned.bytes) == (1, 1, size)
    left = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert left == (files if dry_run else files - gone)
    assert new in left


def test_an_answer_that_cites_something_can_be_kept(tmp_path: Path) -> None:
    record(tmp_path, OLD, days=100)
    record(tmp_path, CITED, days=100, cites=True)
    pruned = prune(tmp_path, AGE, keep_cited=True, dry_run=False)
    assert [each.trace_id for each in pruned.traces] == [OLD]
    assert [each.trace_id for each in prune(tmp_path, AGE, keep_cited=False, dry_run=True).traces] == [CITED]


def test_what_a_damaged_trace_names_stays(tmp_path: Path) -> None:
    path = record(tmp_path, NEW, days=1)
    path.write_bytes(path.read_bytes().replace(b"{", b"", 3)[:-40])
    grown_old(tmp_path)
    assert prune(tmp_path, AGE, keep_cited=False, dry_run=False).objects == 0
    assert figures(tmp_path).objects == 3


def test_what_a_running_call_has_stored_or_found_stored_stays(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for body in (b"stored long ago", b"found again now"):
        store.put(body)
    grown_old(tmp_path)
    store.put(b"found again now")
    with TraceWriter(tmp_path, NEW) as writer:
        writer.record(started())
        pruned = prune(tmp_path, timedelta(0), keep_cited=False, dry_run=False)
    assert (pruned.traces, pruned.kept, pruned.objects) == ([], 1, 1)
    assert store.get(store.put(b"found again now")) == b"found again now"


def test_a_file_that_a_killed_process_left_in_the_store_goes(tmp_path: Path) -> None:
    record(tmp_path, NEW, days=1)
    left = next((tmp_path / "store").glob("??")) / f".{'a' * 62}.zst-{'0' * 32}"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    pruned = prune(tmp_path, AGE, keep_cited=False, dry_run=False)
    assert (pruned.objects, pruned.bytes) == (0, 4)
    assert not left.exists()


def test_a_folder_that_is_not_there_has_nothing_to_remove(tmp_path: Path) -> None:
    pruned = prune(tmp_path / "none", AGE, keep_cited=False, dry_run=False)
    assert (pruned.traces, pruned.kept, pruned.objects, pruned.bytes) == ([], 0, 0, 0)
    assert figures(tmp_path / "none").traces == {}


def test_a_call_that_was_killed_before_its_first_line_goes(tmp_path: Path) -> None:
    empty = tmp_path / f"{OLD}.jsonl"
    empty.touch()
    os.utime(empty, (0, 0))
    assert len(prune(tmp_path, AGE, keep_cited=True, dry_run=False).traces) == 1
    assert not empty.exists()


def test_two_that_prune_while_a_third_writes_do_not_disturb_each_other(tmp_path: Path) -> None:
    ids = [f"{number:08x}-0d4a-4e5b-9c6d-7a8b9c0d1e2f" for number in range(60)]
    for each in ids:
        record(tmp_path, each, days=100)
    grown_old(tmp_path)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            write_whole(tmp_path / "other.json", b"{}", synced=False)

    def remove(*_: object) -> Pruned:
        return prune(tmp_path, AGE, keep_cited=True, dry_run=False)

    with ThreadPoolExecutor(6) as threads:
        writes, look = threads.submit(write), [threads.submit(figures, tmp_path) for _ in range(2)]
        try:
            pruned = list(threads.map(remove, range(3)))
        finally:
            is_over.set()
        for each in (writes, *look):
            each.result()
    # Each file was counted by who removed it.
    assert sum(each.objects for each in pruned) == len(ids) + 2
    assert list(tmp_path.glob("*.jsonl")) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may remove anything")
def test_what_cannot_be_removed_is_a_storage_error(tmp_path: Path) -> None:
    record(tmp_path, OLD, days=100)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="can't be removed"):
            prune(tmp_path, AGE, keep_cited=False, dry_run=False)
    finally:
        tmp_path.chmod(0o700)


def test_figures_tell_what_is_kept_and_who_else_may_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    path = record(folder, OLD, days=100)
    Store(folder / "store").put(b"of no trace")
    grown_old(folder)
    kept = figures(folder)
    assert kept.traces == {"nothing found": 1}
    assert (kept.objects, kept.unnamed, kept.readable_by_others) == (4, 1, 0)
    assert kept.trace_bytes == path.stat().st_size
    path.chmod(0o644)
    assert figures(folder).readable_by_others == 1
