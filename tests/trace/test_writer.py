from __future__ import annotations

import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from marchwarden.errors import StorageError
from marchwarden.observations import content_hash
from marchwarden.store.content_store import Store
from marchwarden.text.redaction import REDACTED
from marchwarden.trace.events import Dropped, Failed, FellBack
from marchwarden.trace.reader import read_trace
from marchwarden.trace.writer import TraceWriter
from tests.trace.samples import TRACE_ID, a_whole_call, started

KEY = "tvly-0123456789abcdef"


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_each_event_is_a_line_with_step_action_timestamp_and_decision_first(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "new" / "folder", TRACE_ID) as writer:
        for event in a_whole_call():
            writer.record(event)
    lines = lines_of(writer.path)
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(list(line)[:4] == ["step", "action", "timestamp", "decision"] for line in lines)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(line["timestamp"])) for line in lines)
    assert lines[3]["action"] == "fetch_url"
    assert lines[-1]["result"]["answer"] == "Tomatoes grow well [1]."  # type: ignore[index]


def test_no_file_and_no_folder_before_the_first_event(tmp_path: Path) -> None:
    TraceWriter(tmp_path / "traces", TRACE_ID).close()
    assert not (tmp_path / "traces").exists()


def test_every_line_is_in_the_file_before_record_returns(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, TRACE_ID) as writer:
        writer.record(started())
        assert len(lines_of(writer.path)) == 1


@pytest.mark.parametrize("key", [KEY, 'quote"and\\slash-0123', "ключ-от-всего", "with space and/slash"])
def test_a_known_secret_is_never_written(tmp_path: Path, key: str) -> None:
    with TraceWriter(tmp_path, TRACE_ID, secrets=[key]) as writer:
        writer.record(FellBack(decision=f"key {key}", stage="plan", reason=f'401 for "{key}"'))
    written = lines_of(writer.path)[0]
    assert key not in str(written.values())
    assert written["decision"] == f"key {REDACTED}"
    assert written["reason"] == f'401 for "{REDACTED}"'


def test_text_that_is_not_valid_unicode_is_still_written(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, TRACE_ID) as writer:
        writer.record(Dropped(decision="odd", what="claim", text="a\ud800b \u2028 c"))
    assert read_trace(writer.path).raw[0]["text"] == "a?b \u2028 c"


def test_a_folder_that_cannot_be_made_is_a_storage_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    writer = TraceWriter(tmp_path / "file" / "traces", TRACE_ID)
    with pytest.raises(StorageError, match="can't be written") as caught:
        writer.record(started())
    assert "MARCHWARDEN_TRACE_DIR" in str(caught.value.hint)


def test_a_full_disk_is_a_storage_error_and_what_comes_after_it_is_readable(tmp_path: Path) -> None:
    """RLIMIT_FSIZE cuts a line in the middle, as a full disk does; then there is space again."""
    writer = TraceWriter(tmp_path, TRACE_ID)
    writer.record(started())
    size = writer.path.stat().st_size
    old, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, old[1]))
    try:
        with pytest.raises(StorageError):
            writer.record(started())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    writer.record(Failed(decision="the disk was full", error="StorageError"))
    writer.close()
    trace = read_trace(writer.path)
    assert [line["action"] for line in trace.raw] == ["start", "failed"]
    assert trace.outcome == "failed"


def test_a_process_killed_while_writing_leaves_a_readable_trace(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from tests.trace.samples import TRACE_ID, started\n"
        "from marchwarden.trace.writer import TraceWriter\n"
        "writer = TraceWriter(pathlib.Path(sys.argv[1]), TRACE_ID)\n"
        "while True:\n"
        "    writer.record(started('x' * 400))\n"
        "    print('.', flush=True)\n"
    )
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, cwd=root, env={"PYTHONPATH": str(root)}
    ) as process:
        assert process.stdout is not None
        for _ in range(20):
            process.stdout.readline()
        process.kill()
    trace = read_trace(tmp_path / f"{TRACE_ID}.jsonl")
    assert len(trace.events) >= 20
    assert trace.outcome == "unfinished"


def test_nobody_else_may_read_a_trace_and_its_pages_whatever_the_umask(tmp_path: Path, open_umask: None) -> None:
    folder = tmp_path / "new" / "traces"
    page = Store(folder / "store").put(b"page")
    with TraceWriter(folder, TRACE_ID) as writer:
        writer.record(Failed(decision=page, error="StorageError"))
    kept = sorted(path for path in (tmp_path / "new").rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (*kept, tmp_path / "new") if path.is_dir()} == {0o700}


def test_an_answer_that_was_given_is_on_the_disk_with_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    store = Store(tmp_path / "store")
    used, other = [tmp_path / "store" / key[7:9] / f"{key[9:]}.zst" for key in map(store.put, (b"page", b"another"))]
    with TraceWriter(tmp_path, TRACE_ID) as writer:
        writer.record(started(content_hash(b"page")))
        assert synced == []
        writer.record(Failed(decision="the disk was full", error="StorageError"))
        page, trace = used.stat().st_ino, writer.path.stat().st_ino
        assert synced.index(page) < synced.index(trace)
        assert other.stat().st_ino not in synced
        assert {folder.stat().st_ino for folder in (tmp_path, tmp_path / "store", used.parent)} <= set(synced)


def test_what_its_process_has_brought_to_the_disk_is_sealed_and_not_brought_there_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    key = Store(tmp_path / "store").put(b"page")
    with TraceWriter(tmp_path, TRACE_ID) as writer:
        writer.record(started(key))
        writer.note_kept([key])
        writer.record(Failed(decision="the disk was full", error="StorageError"))
    assert lines_of(writer.path)[-1]["objects"] == [key]
    assert set(synced) == {writer.path.stat().st_ino, tmp_path.stat().st_ino}


def test_progress_goes_to_the_listener_and_not_into_the_file(tmp_path: Path) -> None:
    heard: list[str] = []
    writer = TraceWriter(tmp_path, TRACE_ID, on_progress=heard.append)
    writer.progress("planning")
    TraceWriter(tmp_path, TRACE_ID).progress("nobody listens")
    assert heard == ["planning"]
    assert not writer.path.exists()
