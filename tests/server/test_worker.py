from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from marchwarden.agent.conclusion import Checkpoint
from marchwarden.contract import Constraints, GapCategory, ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, ResearchFailed, StorageError
from marchwarden.ledger import Lead, Ledger
from marchwarden.observations import SNIPPET_CHARS, TITLE_CHARS
from marchwarden.server import worker
from marchwarden.server.worker import research_in_worker, warm_up
from marchwarden.server.worker_process import MAX_FRAME_BYTES, Frame, FrameError, FrameReader, Job, Reporter, work
from marchwarden.settings import Settings
from marchwarden.sharing.retrieval import fetch_call
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Dropped, Finished
from marchwarden.trace.reader import Trace, read_trace
from tests.profiles import within
from tests.standins import a_result, model_called

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]
STANDIN = "tests.standins:research"


class Caller:
    """Somebody who calls a worker and keeps what it hears."""

    def __init__(self, settings: Settings, research: str = STANDIN) -> None:
        self.settings = settings
        self.research = research
        self.trace_id = str(uuid4())
        self.heard: list[str] = []

    async def ask(self, question: str, **constraints: int) -> ResearchResult:
        request = ResearchRequest(question=question, constraints=Constraints(**constraints))
        return await research_in_worker(
            request,
            settings=self.settings,
            trace_id=self.trace_id,
            on_progress=self.heard.append,
            research=self.research,
        )

    @property
    def trace(self) -> Trace:
        return read_trace(self.settings.traces / f"{self.trace_id}.jsonl")

    @property
    def actions(self) -> list[str]:
        return [line["action"] for line in self.trace.raw]


@pytest.fixture
def caller() -> Caller:
    return Caller(Settings(max_seconds=20))


async def test_a_call_is_in_the_shared_store_before_its_answer_is_given(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    here = Caller(Settings(max_seconds=20, store=f"file:{tmp_path / 'shared'}"))
    await here.ask("answer")
    there = here.settings.model_copy(update={"trace_dir": tmp_path / "there"})
    assert fetch_call(there, here.trace_id)
    assert here.heard[-1:] != ["the trace is not in the store yet, and will be published later"]


def hurried(monkeypatch: pytest.MonkeyPatch, *, grace: float = 0.1, heartbeat: float = 60.0) -> None:
    """Shorter waits than a person has, so that a test need not wait."""
    monkeypatch.setattr(worker, "GRACE_SECONDS", grace)
    monkeypatch.setattr(worker, "HEARTBEAT_SECONDS", heartbeat)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter where it ends while it is read
        return False


def dies(pid: int, seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_alive(pid)


async def _until(holds: Callable[[], bool], seconds: float = 30) -> None:
    with anyio.fail_after(seconds):
        while not holds():  # noqa: ASYNC110  another process makes it so, and can't set an event
            await anyio.sleep(0.02)


async def test_a_call_runs_in_a_process_of_its_own_and_its_trace_is_written_here(caller: Caller) -> None:
    result = await caller.ask("answer me")
    pid = int(result.answer.split()[1])
    assert pid != os.getpid()
    assert caller.heard[-1] == "doing: answer me"
    assert caller.actions == ["start", "result"]
    assert caller.trace.result == result
    assert dies(pid)


async def test_eight_calls_run_side_by_side(caller: Caller) -> None:
    callers = [Caller(caller.settings) for _ in range(8)]
    answers: list[str] = []

    async def ask(each: Caller) -> None:
        answers.append((await each.ask("answer me")).answer)

    async with anyio.create_task_group() as group:
        for each in callers:
            group.start_soon(ask, each)
    assert len({answer.split()[1] for answer in answers}) == 8
    assert all(each.trace.outcome == "finished" for each in callers)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("segfault", "SIGSEGV"),
        ("exit", "exit status 3"),
        ("raise", "KeyError"),
        ("eat_memory", "MemoryError"),
        ("garble", "FrameError"),
        ("overstate", "FrameError"),
        ("finish_another", "FrameError"),
        ("return_another", "FrameError"),
        ("misreport", "FrameError"),
        ("kill_itself", "SIGKILL"),
    ],
)
async def test_a_call_that_dies_is_its_own_failure_and_the_next_one_works(
    caller: Caller, question: str, reason: str
) -> None:
    with pytest.raises(ResearchFailed, match=reason) as caught:
        await caller.ask(question)
    assert caught.value.trace_id == caller.trace_id
    assert "sk-secret" not in str(caught.value)
    assert caller.actions == ["start", "failed"]
    last = caller.trace.raw[-1]
    assert (last["error"], last["question"], reason in last["decision"]) == (reason, question, True)
    assert (await Caller(caller.settings).ask("answer me")).answer


async def test_a_call_that_dies_while_it_ranks_keeps_no_other_from_ranking(caller: Caller) -> None:
    """The processes of all calls shared a lock, so that every later call waited to the end of its time."""
    with pytest.raises(ResearchFailed, match=r"its process was killed \(SIGKILL\)"):
        await caller.ask("die_while_ranking")
    assert (await Caller(caller.settings).ask("rank")).answer.startswith("Scores")


async def test_where_processes_cannot_be_forked_they_are_spawned(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    warm_up(caller.settings)
    assert (await caller.ask("answer me")).answer
    with pytest.raises(ResearchFailed, match=r"its process ended early \(exit status 3\)"):
        await Caller(caller.settings).ask("exit")


async def test_a_memory_limit_holds(caller: Caller) -> None:
    limited = Caller(Settings(worker_memory_mb=4000))
    with pytest.raises(ResearchFailed, match="MemoryError"):
        await limited.ask("eat_memory")


async def test_a_configuration_error_comes_with_its_hint(caller: Caller) -> None:
    with pytest.raises(ConfigurationError, match="the model has no key") as caught:
        await caller.ask("misconfigured")
    assert caught.value.hint == "Set ANTHROPIC_API_KEY."
    assert caller.trace.outcome == "failed"
    assert caller.trace.raw[-1]["decision"] == "the model has no key"


@pytest.mark.parametrize("question", ["sleep", "hold_the_gil"])
async def test_a_call_that_does_not_stop_in_time_ends_in_a_valid_result(
    monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    hurried(monkeypatch)
    caller = Caller(Settings(max_seconds=0.2))
    result = await caller.ask(question)
    assert [gap.category for gap in result.gaps][:1] == [GapCategory.BUDGET_EXHAUSTED]
    assert result.cost_metadata.budget_exhausted
    assert result.confidence_factors.budget_exhausted
    assert result.citations == []
    assert result.cost_metadata.wall_time_sec < within(5)
    assert caller.actions == ["start", "killed", "conclude", "result"]
    assert caller.trace.raw[1]["reason"] == "seconds"


async def test_what_had_been_found_is_in_the_result_of_a_killed_call(monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch)
    result = await Caller(Settings(max_seconds=0.3)).ask("save_and_sleep")
    assert result.cost_metadata.iterations_run == 3
    assert result.cost_metadata.tokens_used == 7
    assert result.cost_metadata.model_id == "standin"


async def test_tokens_beyond_the_budget_end_the_call_and_never_reach_the_result(caller: Caller) -> None:
    result = await caller.ask("overspend", token_budget=500)
    assert result.cost_metadata.tokens_used == 500
    assert result.cost_metadata.budget_exhausted
    assert caller.trace.raw[-3]["reason"] == "tokens"
    assert caller.trace.result == result


async def test_a_cancelled_call_is_dead_within_a_second_and_its_trace_says_so(caller: Caller, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    async with anyio.create_task_group() as group:
        group.start_soon(caller.ask, f"tell_pid {note}")
        await _until(lambda: note.exists() and bool(note.read_text()))
        begun = time.monotonic()
        group.cancel_scope.cancel()
    assert time.monotonic() - begun < within(1)
    assert dies(int(note.read_text()), within(1))
    assert caller.actions == ["start", "cancelled"]


async def test_a_cancelled_call_that_sent_rubbish_has_its_end_in_its_trace(
    monkeypatch: pytest.MonkeyPatch, caller: Caller, tmp_path: Path
) -> None:
    monkeypatch.setattr(worker, "READ_EVERY_SECONDS", 60.0)  # it waits in the channel when the call is cancelled
    async with anyio.create_task_group() as group:
        group.start_soon(caller.ask, f"misreport_numbers {tmp_path / 'sent'}")
        await _until((tmp_path / "sent").exists)
        group.cancel_scope.cancel()
    assert caller.actions == ["start", "cancelled"]


async def test_a_process_can_write_no_number_and_no_seal_of_a_line_and_none_after_the_answer(caller: Caller) -> None:
    assert (await caller.ask("forge")).answer == "the answer"
    assert caller.actions == ["start", "drop", "result"]
    assert [line["step"] for line in caller.trace.raw] == [1, 2, 3]
    assert caller.trace.raw[1]["before"].startswith("sha256:")
    assert "seal" not in caller.trace.raw[1]


async def test_the_answer_that_is_in_the_trace_is_given_though_its_process_dies(caller: Caller) -> None:
    assert (await caller.ask("die_with_the_answer")).answer == "the answer"
    assert caller.actions == ["start", "result"]


async def test_the_rest_of_a_long_event_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "READ_EVERY_SECONDS", 60.0)
    caller = Caller(Settings(max_seconds=50))
    assert (await caller.ask("say_much")).answer == "the answer"


async def test_an_answer_is_not_kept_waiting_however_seldom_its_process_is_read(
    monkeypatch: pytest.MonkeyPatch, caller: Caller
) -> None:
    monkeypatch.setattr(worker, "READ_EVERY_SECONDS", 60.0)
    began = time.monotonic()
    assert (await caller.ask("answer me")).answer.endswith("says: answer me")
    assert time.monotonic() - began < within(10)


async def test_a_call_that_is_cancelled_before_its_process_exists_leaves_none(caller: Caller) -> None:
    with anyio.move_on_after(0):
        await caller.ask("sleep")
    assert caller.trace.outcome == "cancelled"
    assert [(line["by"], line["question"]) for line in caller.trace.raw] == [("caller", "sleep")]
    await _until(lambda: multiprocessing.active_children() == [])


async def test_the_last_news_is_told_again_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch, heartbeat=0.2)
    caller = Caller(Settings(max_seconds=0.7))
    await caller.ask("sleep on")
    assert "doing: sleep on" in caller.heard
    assert caller.heard[-1].startswith("doing: sleep on (")
    assert caller.heard[-1].endswith(" s)")


async def test_a_call_that_never_gets_its_process_tells_so_and_is_a_failure_not_a_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from multiprocessing import forkserver

    hurried(monkeypatch, heartbeat=0.2)
    monkeypatch.setattr(worker, "START_SECONDS", 0.5)
    monkeypatch.setattr(worker, "DRAIN_SECONDS", 0.1)
    caller = Caller(Settings())
    warm_up(caller.settings)
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(ResearchFailed, match=r"not ready within 0\.5 s: the machine is overloaded"):
            await caller.ask("answer me")
    finally:
        os.kill(server, signal.SIGCONT)
    assert caller.heard[0].startswith("starting (")
    (line,) = caller.trace.raw
    assert (line["action"], line["question"], line["error"]) == ("failed", "answer me", "NotReady")
    assert "overloaded" in line["decision"]
    await _until(lambda: multiprocessing.active_children() == [])
    monkeypatch.setattr(worker, "START_SECONDS", 60.0)
    assert (await Caller(Settings()).ask("answer me")).answer


async def test_a_process_that_cannot_be_started_is_a_failure_of_its_call(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object, **__: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(multiprocessing.get_context("forkserver").Process, "start", none_left)
    with pytest.raises(ResearchFailed, match="BlockingIOError"):
        await caller.ask("answer me")
    assert caller.trace.outcome == "failed"


async def test_a_memory_limit_beyond_what_there_can_be_is_no_limit() -> None:
    assert (await Caller(Settings(worker_memory_mb=10**20)).ask("answer me")).answer


@pytest.mark.slow  # Two fork servers are started for it; that of a whole server keeps stdout clean in test_transports.py.
async def test_nothing_that_a_worker_prints_reaches_stdout_and_stdin_is_empty(
    caller: Caller, capfd: pytest.CaptureFixture[str]
) -> None:
    """The fork server inherits the descriptors of the process that starts it, so this one must be started here."""
    _stop_the_fork_server()
    result = await caller.ask("print")
    assert result.answer == "stdin holds ''"
    out, err = capfd.readouterr()
    assert out == ""
    for source in ("Python", "the descriptor", "a child"):
        assert f"from {source}" in err
    _stop_the_fork_server()


def _stop_the_fork_server() -> None:
    from multiprocessing import forkserver

    forkserver._forkserver._stop()  # type: ignore[attr-defined]


async def test_a_trace_that_cannot_be_written_ends_the_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        await Caller(Settings(trace_dir=tmp_path / "file" / "traces")).ask("sleep")


async def test_an_answer_is_given_where_only_the_end_of_its_trace_does_not_fit_on_the_disk(caller: Caller) -> None:
    """RLIMIT_FSIZE ends the file, as a full disk does; the answer may have been paid for."""
    import resource

    first = await caller.ask("answer me")
    size = caller.trace.path.read_bytes().index(b"\n") + 100
    other = Caller(caller.settings)
    old, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        result = await other.ask("answer me")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert result.answer.partition("says")[2] == first.answer.partition("says")[2]
    assert other.trace.outcome == "unfinished"
    assert other.heard[-1].startswith("the trace has no end: ")


async def test_keys_do_not_reach_the_trace() -> None:
    caller = Caller(Settings(tavily_api_key=SecretStr("tvly-0123456789")))
    await caller.ask("answer tvly-0123456789")
    assert "tvly-0123456789" not in caller.trace.path.read_text()


# With these, the process of a call is forked from the script's own, instead of from one for all calls.
PREPARED = "from marchwarden.server.worker import prepared_call\nready = prepared_call(Settings(), quiet=True)\n"


@pytest.mark.parametrize(
    ("ending", "prepared"), [(signal.SIGKILL, ""), (signal.SIGTERM, ""), (signal.SIGKILL, PREPARED)]
)
def test_a_killed_parent_leaves_no_process_behind(tmp_path: Path, ending: signal.Signals, prepared: str) -> None:
    """Not even one whose code never lets another thread of it run."""
    script = (
        "import anyio, sys\n"
        "from tests.server.test_worker import Caller\n"
        "from marchwarden.settings import Settings\n"
        f"{prepared}"
        f"{'ready.__enter__()' if prepared else ''}\n"
        "anyio.run(Caller(Settings()).ask, 'tell_pid ' + sys.argv[1])\n"
    )
    note = tmp_path / "pid"
    environment = {"PYTHONPATH": str(ROOT), "MARCHWARDEN_TRACE_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", script, str(note)], env=environment, cwd=ROOT) as parent:
        while not (note.exists() and note.read_text()):
            time.sleep(0.02)
            assert parent.poll() is None
        children = _descendants(parent.pid)
        parent.send_signal(ending)
    assert int(note.read_text()) in children
    assert all(dies(pid) for pid in children)


def _descendants(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(each) for task in tasks for each in task.read_text().split()]
    return children + [each for child in children for each in _descendants(child)]


def test_warming_up_returns_at_once_and_can_be_done_twice() -> None:
    begun = time.monotonic()
    warm_up(Settings())
    warm_up(Settings())
    assert time.monotonic() - begun < within(1)


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere a process is not forked from one that does other things"
)
def test_the_process_of_a_single_call_is_forked_from_ours_and_one_that_is_not_wanted_ends() -> None:
    script = (
        "import anyio, multiprocessing, os\n"
        "from tests.server.test_worker import Caller\n"
        "from marchwarden.settings import Settings\n"
        "from marchwarden.server.worker import prepared_call\n"
        "with prepared_call(Settings()):\n"
        "    (unwanted,) = multiprocessing.active_children()\n"
        "unwanted.join(30)\n"
        "print(unwanted.exitcode in (0, -9))\n"
        "with prepared_call(Settings()):\n"
        "    (child,) = multiprocessing.active_children()\n"
        "    one, other = (anyio.run(Caller(Settings()).ask, 'answer me').answer.split()[1] for _ in 'ab')\n"
        "    print(int(one) == child.pid, other not in (one, str(os.getpid())))\n"
        "child.join(30)\n"
        "before = {each.pid for each in multiprocessing.active_children()}\n"  # the other one may end a moment later
        "with prepared_call(Settings()):\n"  # the thread that starts processes is running
        "    print({each.pid for each in multiprocessing.active_children()} <= before)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, timeout=100, text=True)
    assert (ran.returncode, ran.stdout.split()) == (0, ["True"] * 4), ran.stderr


@pytest.mark.skipif(sys.version_info < (3, 11), reason="PYTHONSAFEPATH came with 3.11")
@pytest.mark.parametrize("begin", ["warm_up", "prepared_call"])
def test_what_calls_are_forked_from_imports_nothing_from_the_working_directory_and_prints_nothing(
    begin: str, tmp_path: Path
) -> None:
    """A module in the user's folder that is named as one of ours or of a library is not run."""
    for name in ("chardet", "email", "httpx"):
        Path(f"{name}.py").write_text("print('imported from where the user stands'); raise SystemExit")
    script = tmp_path / "script.py"
    script.write_text(
        "import anyio\n"
        "from tests.server.test_worker import Caller\n"
        "from marchwarden.server.worker import prepared_call, warm_up\n"
        "from marchwarden.settings import Settings\n"
        f"begun = {begin}(Settings(), quiet=True)\n"
        "begun and begun.__enter__()\n"
        "print(anyio.run(Caller(Settings()).ask, 'print').answer)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, script], env=environment, capture_output=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"stdin holds ''\n", b"")


# Inside the worker


def job(question: str) -> Job:
    return Job(
        research=STANDIN,
        request=ResearchRequest(question=question),
        settings=Settings(),
        trace_id=str(uuid4()),
    )


def reported(question: str) -> dict[str, Any]:
    """The frames of a call, run in a thread of this process; the last of each kind."""
    ours, theirs = socket.socketpair()
    reader = FrameReader()
    frames: dict[str, Any] = {}

    def report() -> None:
        with theirs:
            work(job(question), Reporter(theirs))

    thread = threading.Thread(target=report)
    thread.start()
    with ours:
        while received := ours.recv(65_536):
            frames.update({frame.kind: frame.json() for frame in reader.feed(received)})
    thread.join()
    return frames


def test_a_worker_reports_events_progress_and_the_result() -> None:
    frames = reported("answer me")
    assert list(frames) == ["event", "progress", "result"]
    assert frames["progress"] == "doing: answer me"
    assert frames["event"]["action"] == "result"
    assert frames["result"] is None, "it is in the event"


async def test_pages_that_the_disk_does_not_take_cost_the_trace_its_end_and_not_the_answer(caller: Caller) -> None:
    assert (await caller.ask("lose_pages")).answer == "The page says so."
    assert "result" not in caller.actions
    assert any("Input/output error" in each and "the trace has no end" in each for each in caller.heard)


def test_a_worker_brings_pages_to_the_disk_before_it_reports_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    store = Store(tmp_path / "store")
    key, other = store.put(b"page"), store.put(b"another")
    end = _finished()
    frames = sent(
        lambda reporter: (
            reporter.record(Dropped(decision="no evidence", what="excerpt", text=key)),
            reporter.record(end),
            reporter.result(end.result),
        ),
        store,
    )
    assert [frame.kind for frame in frames] == ["event", "kept", "event", "result"]
    assert frames[1].json() == [key]
    pages = {name: (tmp_path / "store" / name[7:9] / f"{name[9:]}.zst").stat().st_ino for name in (key, other)}
    assert pages[key] in synced
    assert pages[other] not in synced


def test_a_worker_rings_for_what_can_end_its_call_and_before_the_channel_is_full() -> None:
    (ours, theirs), (bell, their_bell) = socket.socketpair(), socket.socketpair()
    with ours, theirs, bell, their_bell:
        ours.setblocking(False)
        bell.setblocking(False)
        reporter = Reporter(theirs, bell=their_bell)

        def rings() -> int:
            with suppress(BlockingIOError):
                while ours.recv(1 << 20):
                    pass
            with suppress(BlockingIOError):
                return len(bell.recv(100))
            return 0

        reporter.progress("reading")
        reporter.record(Dropped(decision="no evidence", what="excerpt", text="t"))
        assert rings() == 0
        reporter.record(model_called(400))
        assert rings() == 1
        for _ in range(3):
            reporter.record(Dropped(decision="too long", what="claim", text="x" * 30_000))
        assert rings() == 1


def test_a_worker_sends_no_checkpoint_twice_and_a_result_that_no_event_holds() -> None:
    first, second = _state(1), _state(2)
    other = a_result("3f2b8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", "another")

    def report(reporter: Reporter) -> None:
        for each in (first, first, second):
            reporter.checkpoint(each)
        reporter.record(_finished())
        reporter.result(other)

    frames = sent(report)
    assert [frame.kind for frame in frames] == ["checkpoint", "checkpoint", "event", "result"]
    assert frames[-1].json()["answer"] == other.answer


def test_the_state_of_the_longest_call_fits_into_a_frame() -> None:
    def lead(number: int) -> Lead:
        url = f"https://example.org/{number}".ljust(300, "x")
        return Lead(url=url, title="é" * TITLE_CHARS, snippet="é" * SNIPPET_CHARS, published=None, aspect=1, rank=1.0)

    state = _state(1).model_copy(
        update={"ledger": Ledger(question="Why?", leads=[lead(each) for each in range(2_000)])}
    )
    assert len(json.dumps(state.model_dump(mode="json"))) < MAX_FRAME_BYTES


def test_the_end_of_a_call_is_reported_where_its_pages_cannot_be_brought_to_the_disk(tmp_path: Path) -> None:
    class Full(Store):
        def sync(self, keys: Iterable[str]) -> None:
            raise RuntimeError("can't start new thread")

    store = Full(tmp_path)
    name = store.put(b"page")

    def report(reporter: Reporter) -> None:
        reporter.record(Dropped(decision=name, what="claim", text="t"))
        reporter.record(_finished())

    assert [frame.kind for frame in sent(report, store)] == ["event", "event"]


def sent(report: Callable[[Reporter], object], store: Store | None = None) -> list[Frame]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        report(Reporter(theirs, store))
        theirs.shutdown(socket.SHUT_WR)
        reader = FrameReader()
        frames: list[Frame] = []
        while received := ours.recv(65_536):
            frames += reader.feed(received)
    return frames


def test_a_worker_reports_an_internal_error_by_its_type_alone() -> None:
    assert reported("raise")["error"] == {"error": "KeyError"}
    assert reported("misconfigured")["error"] == {
        "error": "ConfigurationError",
        "message": "the model has no key",
        "hint": "Set ANTHROPIC_API_KEY.",
    }


def test_a_worker_whose_parent_is_gone_just_ends() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        work(job("answer me"), Reporter(theirs))


@given(texts=st.lists(st.text()), size=st.integers(1, 50))
def test_frames_come_out_as_they_went_in_however_they_are_cut(texts: list[str], size: int) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reporter = Reporter(theirs)
        for text in texts:
            reporter.progress(text)
        reporter.record(_finished())
        theirs.shutdown(socket.SHUT_WR)
        reader = FrameReader()
        frames: list[Frame] = []
        while received := ours.recv(size):
            frames += reader.feed(received)
    assert [frame.json() for frame in frames[:-1]] == texts
    assert frames[-1].json() == json.loads(_finished().model_dump_json())


def _state(tokens: int) -> Checkpoint:
    return Checkpoint(
        request=ResearchRequest(question="Why?"),
        ledger=Ledger(question="Why?"),
        tokens_used=tokens,
        iterations_run=1,
        exhausted=[],
        model_id="standin",
        kind="web",
    )


def _finished() -> Finished:
    return Finished(decision="done", result=a_result("3f2b8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"))


@pytest.mark.parametrize(
    "garbage", [b"hello\n", b"event x\n", b"progress -1\n", b"\n", b"x" * 100, b"event 64000001\n"]
)
def test_what_is_no_frame_is_refused(garbage: bytes) -> None:
    with pytest.raises(FrameError):
        list(FrameReader().feed(garbage))
