"""Traces go from one machine's folder to another's by way of a store, and nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

from marchwarden.audit.verdict import quick_verdict
from marchwarden.errors import ConfigurationError, StorageError, TraceError
from marchwarden.server.http.callers import Caller
from marchwarden.settings import Settings, load_settings
from marchwarden.sharing.object_store import ObjectStore
from marchwarden.sharing.outbox import Outbox
from marchwarden.sharing.publication import (
    TRACE,
    folder_of,
    part_name,
    publish_all,
    publish_left,
    publish_trace,
    publish_waiting,
    publishing,
    stores_of,
    unpublished,
)
from marchwarden.sharing.retrieval import fetch_call, fetch_missing_traces, fetch_trace, find_shared_trace
from marchwarden.store.check_record import keep_check, read_checks
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Failed, Finished
from marchwarden.trace.reader import list_traces, read_trace
from marchwarden.trace.standalone_verifier import signature_of
from marchwarden.trace.writer import TraceWriter
from tests.sharing.calls import (
    OBJECTS,
    a_call,
    a_trace,
    fetched,
    objects_in,
    page_of,
    searched,
    with_store,
    without_store,
)
from tests.standins import a_result

PAGE = b"<p>Tomatoes ripen in July.</p>"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """The folder of a `file:` store."""
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def here(tmp_path: Path, shared: Path) -> Settings:
    return Settings(trace_dir=tmp_path / "here", store=f"file:{shared}")


@pytest.fixture
def there(tmp_path: Path, shared: Path) -> Settings:
    """Another machine."""
    return Settings(trace_dir=tmp_path / "there", store=f"file:{shared}")


def store_of(settings: Settings) -> ObjectStore:
    assert settings.store
    return ObjectStore(settings.store)


# One machine and another


def test_a_call_can_be_verified_on_another_machine(here: Settings, there: Settings) -> None:
    trace = a_call(here.traces, PAGE)
    assert publish_trace(trace, store_of(here)) == OBJECTS
    found = find_shared_trace(there.traces, store_of(there), trace.stem[:5])
    assert found.read_bytes() == trace.read_bytes()
    assert page_of(there.traces, PAGE) == PAGE
    assert quick_verdict(found).findings == quick_verdict(trace).findings
    assert found.stat().st_mode & 0o077 == 0


def test_publishing_again_and_from_elsewhere_creates_nothing(here: Settings, there: Settings, shared: Path) -> None:
    trace = a_call(here.traces)
    publish_trace(trace, store_of(here))
    before = objects_in(shared)
    fetch_call(there, trace.stem)
    assert publish_trace(trace, store_of(here)) == 0
    assert publish_all(there.traces, store_of(there)).objects == 0
    assert objects_in(shared) == before


def test_two_calls_that_read_the_same_page_have_it_once_in_the_store(here: Settings, there: Settings) -> None:
    publish_trace(a_call(here.traces, PAGE), store_of(here))
    assert publish_trace(a_call(there.traces, PAGE), store_of(there)) == 1


def test_what_is_here_is_read_without_the_store(here: Settings, shared: Path) -> None:
    trace = a_call(here.traces)
    without_store(shared)
    assert find_shared_trace(here.traces, store_of(here), trace.stem) == trace


def test_an_unknown_or_ambiguous_id_is_told(here: Settings, there: Settings) -> None:
    for end in "12":
        publish_trace(a_call(here.traces, trace_id=f"3f2b8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2{end}"), store_of(here))
    with pytest.raises(TraceError, match="2 traces in the store begin with '3f2'"):
        find_shared_trace(there.traces, store_of(there), "3f2")
    with pytest.raises(TraceError, match=r"no trace begins with 'ab' in .*, nor in the store"):
        find_shared_trace(there.traces, store_of(there), "ab")


def test_calls_of_other_machines_are_listed_the_newest_first_and_no_more_than_fit(
    here: Settings, there: Settings
) -> None:
    ids = [a_call(here.traces, b"%d" % number).stem for number in range(3)]
    publish_all(here.traces, store_of(here))
    assert fetch_missing_traces(there.traces, store_of(there), most=2) == (2, 1)
    assert fetch_missing_traces(there.traces, store_of(there)) == (1, 0)
    assert {each.trace_id for each in list_traces(there.traces)} == set(ids)


def test_checks_of_two_machines_come_together(here: Settings, there: Settings) -> None:
    trace = a_call(here.traces)
    keep_check(trace, {"checked": "2026-01-01T00:00:00Z", "citations": []})
    publish_trace(trace, store_of(here))
    other = find_shared_trace(there.traces, store_of(there), trace.stem)
    keep_check(other, {"checked": "2026-02-01T00:00:00Z", "citations": []})
    assert publish_trace(other, store_of(there)) == 1
    (there.traces / trace.name).unlink()
    again = find_shared_trace(there.traces, store_of(there), trace.stem)
    assert [each["checked"][:7] for each in read_checks(again)] == ["2026-01", "2026-02"]


# Calls that did not end, or ended twice


@pytest.mark.parametrize("first", [b"of the first end", None])
def test_each_end_of_a_call_that_went_on_has_its_own_signature(
    first: bytes | None, here: Settings, there: Settings
) -> None:
    trace = a_call(here.traces)
    if first is not None:
        signature_of(trace).write_bytes(first)
    publish_trace(trace, store_of(here))
    with TraceWriter(here.traces, trace.stem) as writer:
        writer.reopen()
        assert not signature_of(trace).exists()
        writer.record(Finished(decision="done", result=a_result(trace.stem)))
    signature_of(trace).write_bytes(b"of the second end")
    publish_trace(trace, store_of(here))
    assert publish_trace(trace, store_of(here)) == 0
    found = find_shared_trace(there.traces, store_of(there), trace.stem)
    assert found.read_bytes() == trace.read_bytes()
    assert signature_of(found).read_bytes() == b"of the second end"
    assert store_of(here).get(f"{folder_of(trace.stem)}/{TRACE}.sig") == first


def test_a_killed_call_can_be_read_elsewhere_and_is_replaced_once_it_has_gone_on(
    here: Settings, there: Settings
) -> None:
    trace = a_trace(here.traces, fetched(here.traces, PAGE))
    publish_trace(trace, store_of(here))
    found = find_shared_trace(there.traces, store_of(there), trace.stem)
    assert read_trace(found).outcome == "unfinished"
    assert page_of(there.traces, PAGE) == PAGE

    with TraceWriter(here.traces, trace.stem) as writer:
        writer.reopen()
        writer.record(Finished(decision="done", result=a_result(trace.stem)))
    publish_trace(trace, store_of(here))
    assert find_shared_trace(there.traces, store_of(there), trace.stem).read_bytes() == trace.read_bytes()


def test_a_call_that_is_being_written_is_left_alone(here: Settings, shared: Path) -> None:
    with TraceWriter(here.traces, str(uuid4())) as writer:
        writer.record(searched())
        assert publish_all(here.traces, store_of(here)).running == 1
        assert objects_in(shared) == []
    assert publish_all(here.traces, store_of(here)).traces == 1


def test_the_empty_file_of_a_call_that_is_about_to_begin_is_not_published(
    here: Settings, there: Settings, shared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trace_id = str(uuid4())
    path = here.traces / f"{trace_id}.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    Outbox(here.traces).add(trace_id)
    store = ObjectStore(f"file:{shared}")
    assert publish_waiting(here.traces, store, 60).traces == publish_all(here.traces, store).traces == 0
    assert (objects_in(shared), unpublished(here.traces, store)) == ([], [])
    assert [each.trace for each in Outbox(here.traces).waiting()] == [path]  # the call will need its mark
    # Earlier versions published it.
    store.create(f"{folder_of(trace_id)}/{part_name(b'')}", b"")
    assert (fetch_missing_traces(there.traces, store)[0], caplog.text) == (0, "")


def test_a_file_that_is_no_object_is_told(here: Settings, shared: Path) -> None:
    (shared / "traces").mkdir()
    (shared / "traces" / "a\nb").touch()
    with pytest.raises(StorageError, match="a file in it has a name that objects can't have"):
        unpublished(here.traces, ObjectStore(f"file:{shared}"))


def test_a_second_end_under_one_id_is_kept_beside_the_first_and_a_result_counts_most(
    here: Settings, there: Settings, tmp_path: Path, shared: Path
) -> None:
    trace_id = str(uuid4())
    failed = a_trace(
        here.traces,
        *(searched(f"query {number}") for number in range(30)),
        Failed(decision="it failed", error="Broken", question="Why?"),
        trace_id=trace_id,
    )
    publish_trace(failed, store_of(here))
    answered = a_call(tmp_path / "third", trace_id=trace_id)
    assert len(answered.read_bytes()) < len(failed.read_bytes())
    publish_trace(answered, store_of(here))
    assert publish_trace(answered, store_of(here)) == 0
    fetch_call(there, trace_id)
    assert read_trace(there.traces / f"{trace_id}.jsonl").outcome == "finished"


# Damage


def test_what_is_damaged_in_the_store_is_not_kept_here(here: Settings, there: Settings, shared: Path) -> None:
    trace = a_call(here.traces, PAGE)
    publish_trace(trace, store_of(here))
    for path in (shared / "objects").rglob("*.zst"):
        path.write_bytes(path.read_bytes()[:-5])
    found = find_shared_trace(there.traces, store_of(there), trace.stem)
    assert Store(there.store_folder).files() == []
    found.unlink()

    stored = shared / folder_of(trace.stem) / "trace.jsonl"
    for damaged in (stored.read_bytes()[:-40], stored.read_bytes().replace(b"tomatoes", b"potatoes", 1)):
        stored.write_bytes(damaged)
        with pytest.raises(TraceError, match="is damaged in the store"):
            fetch_trace(there.traces, store_of(there), trace.stem)
    assert not found.exists()


# Calls and the outbox


async def make_call(settings: Settings, trace_id: str, tell: list[str]) -> str:
    async with publishing(settings, trace_id, tell.append):
        a_call(settings.traces, trace_id.encode(), trace_id)
        return "the answer"


def test_a_call_is_published_before_its_answer_is_given(here: Settings, shared: Path) -> None:
    told: list[str] = []
    assert asyncio.run(make_call(here, str(uuid4()), told)) == "the answer"
    assert (len(objects_in(shared)), told, Outbox(here.traces).waiting()) == (OBJECTS, [], [])


def test_where_the_store_is_away_the_answer_comes_and_the_next_call_publishes_both(
    here: Settings, shared: Path
) -> None:
    told: list[str] = []
    first, second = str(uuid4()), str(uuid4())
    without_store(shared)
    assert asyncio.run(make_call(here, first, told)) == "the answer"
    problem = f"MARCHWARDEN_STORE (file:{shared}): there is no such folder"
    assert told == ["the trace is not in the store yet, and will be published later"]
    waiting = Outbox(here.traces).find(first)
    assert waiting is not None
    assert (waiting.reason, waiting.is_published) == (problem, False)
    with_store(shared)
    asyncio.run(make_call(here, second, told))
    assert (len(objects_in(shared)), Outbox(here.traces).waiting()) == (2 * OBJECTS, [])


def test_a_failed_call_is_published_and_one_that_wrote_nothing_leaves_no_mark(here: Settings, shared: Path) -> None:
    async def fail(*, writes: bool) -> None:
        trace_id = str(uuid4())
        async with publishing(here, trace_id):
            if writes:
                a_trace(here.traces, Failed(decision="no", error="Broken", question="Why?"), trace_id=trace_id)
            raise ConfigurationError("broken")

    for writes in (True, False):
        with pytest.raises(ConfigurationError):
            asyncio.run(fail(writes=writes))
    assert len(objects_in(shared)) == 1
    assert list((here.traces / "outbox").iterdir()) == []


def test_a_cancelled_call_does_not_wait_for_the_store_and_is_published_later(here: Settings, shared: Path) -> None:
    trace_id = str(uuid4())

    async def call() -> None:
        with anyio.move_on_after(0.05):
            async with publishing(here, trace_id):
                a_trace(here.traces, searched(), trace_id=trace_id)
                await anyio.sleep_forever()

    asyncio.run(call())
    assert objects_in(shared) == []
    assert publish_waiting(here.traces, store_of(here), 5).traces == 1
    assert [name.rpartition("/")[2][:5] for name in objects_in(shared)] == ["part-"]
    assert Outbox(here.traces).waiting() == []


def test_callers_have_stores_of_their_own(here: Settings, there: Settings, shared: Path) -> None:
    alice = Caller("alice", None, None)
    trace = a_call(alice.settings(here).traces)
    for folder, store in stores_of(here.traces, here.store or ""):
        publish_all(folder, store)
    assert {name.split("/")[:2] == ["callers", "alice"] for name in objects_in(shared)} == {True}
    assert not fetch_call(there, trace.stem)
    assert not fetch_call(Caller("bob", None, None).settings(there), trace.stem)
    assert fetch_call(alice.settings(there), trace.stem)


# Settings


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("s3://KEY:hunter22@bucket/x", r"MARCHWARDEN_STORE \(s3://bucket/x\) has credentials in it"),
        ("s3://bucket/x?secret=hunter22", r"MARCHWARDEN_STORE \(s3://bucket/x\) is not the address of a store"),
        ("ftp://host/x", "is not the address of a store"),
        ("s3:///x", "is not the address of a store"),
        ("file:shared", "is not the address of a store"),
        ("file://host/shared", "is not the address of a store"),
        ("s3://bucket/../x", "is not the address of a store"),
        ("az://container/x", "no credentials were found"),
        ("", "is not the address of a store"),
    ],
)
def test_a_wrong_address_is_told_without_what_is_secret_in_it(url: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem) as caught:
        ObjectStore(url)
    assert "hunter22" not in f"{caught.value} {caught.value.hint}"


def test_a_folder_can_not_say_where_traces_go() -> None:
    Path(".env").write_text("MARCHWARDEN_STORE=s3://somebody/else\n", encoding="utf-8")
    assert load_settings().store is None


def test_marks_that_a_full_disk_cut_still_count(here: Settings) -> None:
    trace = a_call(here.traces)
    Outbox(here.traces).add(trace.stem, "why")
    (here.traces / "outbox" / trace.stem).write_bytes(b'{"rea')
    assert [each.reason for each in Outbox(here.traces).waiting()] == [""]
    (here.traces / "outbox" / trace.stem).write_text(json.dumps([]), encoding="utf-8")
    assert [each.reason for each in Outbox(here.traces).waiting()] == [""]


def test_a_server_publishes_what_it_and_its_callers_left(here: Settings, shared: Path) -> None:
    alice = Caller("alice", None, None).settings(here)
    for settings in (here, alice):
        Outbox(settings.traces).add(a_trace(settings.traces, searched()).stem)
    publish_left(here.traces, here.store or "").join(20)
    assert len([name for name in objects_in(shared) if "/part-" in name]) == 2
