"""Publication in servers of three services: side by side, through faults, and after a kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from marchwarden.errors import MarchwardenError, StorageError, TraceError
from marchwarden.sharing.object_store import ObjectStore
from marchwarden.sharing.outbox import Outbox
from marchwarden.sharing.publication import publish_all, publish_trace, publish_waiting
from marchwarden.sharing.retrieval import fetch_objects, fetch_trace, find_shared_trace
from tests.sharing.calls import OBJECTS, a_call, page_of
from tests.sharing.s3_server import BUCKET, FaultyProxy, faulty_proxy
from tests.sharing.services import KEY, SECRET, ObjectService, object_service

ROOT = Path(__file__).parents[2]
PAGE = b"<p>Tomatoes ripen in July.</p>"


@pytest.fixture(scope="module", params=["s3", *(pytest.param(each, marks=pytest.mark.slow) for each in ("gs", "az"))])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectService]:
    with object_service(request.param, tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture
def proxy(service: ObjectService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    with faulty_proxy(service.port, as_google=service.scheme == "gs") as proxy:
        for name, value in service.variables(proxy.url, tmp_path).items():
            monkeypatch.setenv(name, value)
        yield proxy


@pytest.fixture
def url(service: ObjectService) -> str:
    """A store that nobody has used."""
    return f"{service.scheme}://{BUCKET}/{uuid4()}"


def names(url: str) -> list[str]:
    store = ObjectStore(url)
    return sorted(each.name for folder in ("traces", "objects") for each in store.list(folder))


def test_two_processes_that_publish_the_same_at_once_create_each_object_once(
    tmp_path: Path, proxy: FaultyProxy, url: str
) -> None:
    pages = [b"%d" % number for number in range(8)]
    traces = [a_call(tmp_path / "one", page) for page in pages]
    for trace, page in zip(traces, pages, strict=True):
        a_call(tmp_path / "two", page)  # another call that read the same pages
        (tmp_path / "two" / trace.name).write_bytes(trace.read_bytes())
    script = (
        "import sys; from pathlib import Path\n"
        "from marchwarden.sharing.object_store import ObjectStore\n"
        "from marchwarden.sharing.publication import publish_all\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        f"print(publish_all(Path(sys.argv[1]), ObjectStore({url!r})).objects)"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
        )
        for name in ("one", "two")
    ]
    for each in running:
        assert each.stdout
        assert each.stdout.readline() == "ready\n"
    created = [int(each.communicate("\n", timeout=60)[0]) for each in running]
    # The pages and their texts, and the traces: those of the first folder are in both.
    assert sum(created) == len(names(url)) == 2 * 8 + 2 * 8


def test_a_moment_of_503_and_a_lost_answer_are_gone_through(tmp_path: Path, proxy: FaultyProxy, url: str) -> None:
    trace = a_call(tmp_path / "here")
    proxy.faults = ["503", "lost", "503"]
    publish_trace(trace, ObjectStore(url))
    assert len(names(url)) == OBJECTS


def test_an_answer_that_is_cut_is_read_again_or_not_kept(tmp_path: Path, proxy: FaultyProxy, url: str) -> None:
    trace = a_call(tmp_path / "here", PAGE)
    publish_trace(trace, ObjectStore(url))
    there, store = tmp_path / "there", ObjectStore(url, request_s=1)
    assert fetch_trace(there, store, trace.stem)
    proxy.always = "cut"
    with pytest.raises(StorageError, match="the connection was lost"):
        fetch_objects(there / trace.name, store)
    assert list((there / "store").rglob("*.zst")) == []
    proxy.always = None
    fetch_objects(there / trace.name, store)
    assert page_of(there, PAGE) == PAGE


@pytest.mark.parametrize(
    ("fault", "reason"), [("503", "it failed with HTTP 503"), ("hang", "it did not answer in time")]
)
def test_a_fault_that_stays_is_told_and_nothing_is_lost(
    tmp_path: Path, proxy: FaultyProxy, url: str, fault: str, reason: str
) -> None:
    trace = a_call(tmp_path / "here")
    Outbox(tmp_path / "here").add(trace.stem)
    proxy.always = fault  # type: ignore[assignment]
    done = publish_waiting(tmp_path / "here", ObjectStore(url, request_s=0.3), 20)
    assert (done.left, done.problem) == (1, f"MARCHWARDEN_STORE ({url}): {reason}")
    proxy.always = None
    assert publish_waiting(tmp_path / "here", ObjectStore(url), 20).traces == 1
    assert len(names(url)) == OBJECTS


def test_what_a_killed_process_had_begun_to_publish_is_completed_and_nothing_is_there_twice(
    tmp_path: Path, proxy: FaultyProxy, url: str
) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from marchwarden.settings import Settings\n"
        "from marchwarden.sharing.publication import publishing\n"
        "from tests.sharing.calls import a_call\n"
        "async def call():\n"
        f"    settings = Settings(trace_dir=Path(sys.argv[1]), store={url!r})\n"
        "    async with publishing(settings, sys.argv[2]):\n"
        "        a_call(settings.traces, trace_id=sys.argv[2])\n"
        "asyncio.run(call())"
    )
    trace_id, folder = str(uuid4()), tmp_path / "here"
    proxy.faults = ["503"]
    proxy.always = "hang"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(folder), trace_id], env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        while len(proxy.requests) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    proxy.always = None
    assert [each.trace.stem for each in Outbox(folder).waiting()] == [trace_id]
    assert publish_waiting(folder, ObjectStore(url), 20).traces == 1
    assert len(names(url)) == OBJECTS
    assert publish_all(folder, ObjectStore(url)).objects == 0
    assert find_shared_trace(tmp_path / "there", ObjectStore(url), trace_id).is_file()


def test_errors_say_what_is_wrong_and_nothing_secret(
    tmp_path: Path, service: ObjectService, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def problem(bucket: str = BUCKET) -> str:
        url = f"{service.scheme}://{bucket}/x"
        with pytest.raises(MarchwardenError) as caught:
            ObjectStore(url, request_s=0.5).create("traces/x", b"x")
        with pytest.raises(MarchwardenError) as read:
            ObjectStore(url, request_s=0.5).check()
        assert str(read.value) == str(caught.value)
        told = json.dumps([str(caught.value), caught.value.hint])
        assert SECRET not in told
        assert KEY not in told
        return str(caught.value).partition(": ")[2]

    assert problem("nobody-has-this") == "there is no such bucket"
    for name, value in service.variables("http://127.0.0.1:1", tmp_path).items():
        monkeypatch.setenv(name, value)
    assert problem() == "it can't be reached"
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    assert problem() == "it has no TLS; AWS_ALLOW_HTTP=true allows that"
    for name in service.variables("http://127.0.0.1:1", tmp_path):
        monkeypatch.delenv(name, raising=False)
    if service.scheme == "s3":
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")
        assert problem() == "no credentials were found"
    elif service.scheme == "gs":
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nothing.json"))
        assert problem() == "the file of its credentials can't be read"
        (tmp_path / "nothing.json").write_text("{}")
        assert problem() == "the file of its credentials can't be read"
    else:
        for name, value in service.variables(proxy.url, tmp_path).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", f"AAAA{KEY[4:]}")
        assert problem() == "it refuses the credentials"


def test_what_is_large_is_sent_in_pieces(tmp_path: Path, proxy: FaultyProxy, url: str) -> None:
    large = tmp_path / "large"
    large.write_bytes(os.urandom(17_000_000))
    store = ObjectStore(url, request_s=30)
    assert store.create_from("corpora/large", large)
    assert not store.create_from("corpora/large", large)
    assert store.get("corpora/large") == large.read_bytes()


def test_a_trace_that_is_nowhere_is_told(tmp_path: Path, proxy: FaultyProxy, url: str) -> None:
    with pytest.raises(TraceError, match="nor in the store"):
        find_shared_trace(tmp_path, ObjectStore(url), "3f2b")
