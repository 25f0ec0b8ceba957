"""One process for each research call: starts it, writes its trace, passes on its progress, and enforces its limits.

A call that does not stop in time, or that uses more tokens than it was given, is killed, and its caller gets a valid
result with what had been found. A call that dies is that call's error alone.
"""

from __future__ import annotations

import asyncio
import logging
import math
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
import types
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from uuid import UUID

import anyio
import anyio.to_thread

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, MarchwardenError, ResearchFailed, ServerStopping, StorageError
from marchwarden.logs import unheard_interrupts
from marchwarden.server import worker_process
from marchwarden.server.admission import HEARTBEAT_SECONDS, STOPPED, Ending
from marchwarden.server.worker_process import (
    PASSED_ON,
    Frame,
    FrameError,
    FrameReader,
    Job,
    run,
    run_prepared,
    send_job,
)
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.sharing.publication import publishing
from marchwarden.text import embedding
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.events import (
    FIELDS,
    Concluded,
    Event,
    Failed,
    Finished,
    ModelCalled,
    Started,
    WasKilled,
    parse_event,
)
from marchwarden.trace.standalone_verifier import ENDINGS
from marchwarden.trace.writer import TraceWriter, event_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import ForkServerContext, SpawnContext
    from multiprocessing.process import BaseProcess

RESEARCH = "marchwarden.agent.research:research"
# Seconds after its own limit in which a call may still finish. A guess.
GRACE_SECONDS = 2.0
# Longest silence of a process before its call begins, while it imports what it needs and the frozen web is indexed.
# A guess.
START_SECONDS = 60.0
# Seconds in which a process that was killed is still read from. A guess.
DRAIN_SECONDS = 1.0
# Seconds in which a call that has its answer may bring its pages to the disk. A guess.
SYNC_SECONDS = 10.0
# Seconds between two readings of what a process sent, unless it rings: a call sends some fifty frames, and waking up
# for one costs the server more than what it does with it. What waits in the channel is not lost where the process
# dies. A caller over MCP is told no more often (capabilities/progress.py).
READ_EVERY_SECONDS = 0.5

# Seconds in which a server that was stopped is likely to be there again. A guess.
RESTART_SECONDS = 10

# Actions of the events that a running call is governed by, and of those that it closes with.
_HEEDED = frozenset({"start", "model_call", "result"})
_CLOSING = frozenset({"assess", "conclude", "result"})

_KILLS = {
    "seconds": "it ran longer than its time limit and the time to finish after it",
    "tokens": "it used more tokens than its budget",
    "stopped": STOPPED,
}
# Bytes that are read at once. Python takes so many from the allocator before it knows how many came: with a megabyte
# for a few bytes, the heap of a server that runs for long got holes.
_CHUNK_BYTES = 1 << 16

_turn = threading.Lock()
_to_start: SimpleQueue[Callable[[], None]] = SimpleQueue()
# The process that was forked for the first call, if one was, and the socket on which it waits for its job.
_prepared: SimpleQueue[tuple[BaseProcess, socket.socket]] = SimpleQueue()
_CHECKOUT = Path(__file__).parents[2]

logger = logging.getLogger(__name__)

# Callback for what is happening now, in words for a person.
Tell: TypeAlias = Callable[[str], None]


async def research_in_worker(
    request: ResearchRequest,
    *,
    settings: Settings,
    trace_id: str,
    on_progress: Tell,
    research: str = RESEARCH,
    on_program_note: Tell = lambda note: None,
    ending: Ending | None = None,
    continues: str | None = None,
) -> ResearchResult:
    """Run one call in a process of its own, and write its trace.

    `research` names the function to run, as `module:name`. `on_program_note` is called with each part of the model's
    program that is not used. Cancelling kills the process. When the time of `ending.stop` is over, the call answers
    with what it knows, and one that has not begun raises ServerStopping. Raises ResearchFailed where the process
    dies, fails inside, or does not get ready; ConfigurationError and StorageError as they are. A ConfigurationError
    before the first step leaves no trace. Where there is an object store, the trace is there before this returns.
    """
    job = Job(research=research, request=request, settings=settings, trace_id=trace_id)
    writer = TraceWriter(
        settings.traces,
        trace_id,
        secrets=secrets_of(settings),
        on_progress=on_progress,
        signing_key=settings.signing_key,
    )
    async with publishing(settings, trace_id, on_progress):
        with writer:
            try:
                return await _Call(job, writer, on_program_note, ending or Ending(), continues).run()
            finally:
                if settings.signing_key:  # ssh-keygen makes the signature, or waits for a key on a token
                    with anyio.CancelScope(shield=True):
                        await anyio.to_thread.run_sync(writer.close)


def warm_up(settings: Settings, *, quiet: bool = False) -> None:
    """Begin importing what calls need, in the process that theirs are forked from, and return at once.

    Where it is `quiet`, what libraries write to stderr there is lost.
    """
    with _starting(), _apart(quiet):
        if _context(settings).get_start_method() == "forkserver":
            from multiprocessing.forkserver import ensure_running

            ensure_running()


@contextmanager
def prepared_call(settings: Settings, *, quiet: bool = False) -> Iterator[None]:
    """Begin preparing for the one call that follows. Enter it before a thread is started.

    Where the system allows it, the call's process is forked from this one at once, and imports what this one has
    not imported: a process that others are forked from would import all of it again, for a single call. It is a
    call's process like any other: its limits hold, it ends with its parent, and it has no terminal. Further calls,
    if there are any, go the usual way.
    """
    # Of several threads, a forked process has only the one that forked it, and the locks of the others stay held.
    if sys.platform != "linux" or threading.active_count() > 1:
        warm_up(settings, quiet=quiet)
        yield
        return
    orders, theirs = socket.socketpair()
    process = multiprocessing.get_context("fork").Process(
        target=run_prepared, args=(theirs, _preloaded_for_one(settings), quiet), daemon=True
    )
    with theirs, unheard_interrupts(forks=True):
        process.start()
    _prepared.put((process, orders))
    try:
        yield
    finally:
        with suppress(Empty):
            while True:
                left, its_orders = _prepared.get_nowait()
                its_orders.close()
                left.kill()


def prepare_sources(settings: Settings) -> None:
    """Begin making the sources ready in a process of its own, and return at once.

    The frozen web is indexed before the first call, or while it waits.
    """

    def start() -> None:
        with _starting():
            _context(settings).Process(target=worker_process.prepare_sources, args=(settings,), daemon=True).start()

    if "snapshot" in settings.sources:
        threading.Thread(target=start, daemon=True).start()


def _context(settings: Settings) -> ForkServerContext | SpawnContext:
    """Return the way to start processes: forked from one that has the imports done, where the system can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_preloaded(settings))
    return context


def _preloaded(settings: Settings) -> list[str]:
    """Return the modules to import before processes are forked; a model's libraries only where they are used."""
    model_id = settings.model_id
    modules = ["marchwarden.server.preload"]
    if embedding.is_used(settings):
        modules.append("marchwarden.server.preload_model")
    if model_id != EXTRACTIVE and find_spec("dspy"):
        modules += ["dspy", "marchwarden.lm.metered", "marchwarden.lm.adapter", "marchwarden.lm.resolve"]
    if model_id.startswith("anthropic/") and find_spec("anthropic"):
        modules += ["anthropic", "marchwarden.lm.anthropic"]
    return modules


def _preloaded_for_one(settings: Settings) -> list[str]:
    """Return the modules to import while the first call is waited for: those that every call needs."""
    needed = ["marchwarden.agent.research", "marchwarden.sources.opening"]
    return needed + _preloaded(settings)[1:]


@contextmanager
def _starting() -> Iterator[None]:
    """Start one process at a time, which does not run the main script again, and which Ctrl-C does not reach."""
    # It would run it to find what it defines. Ours define nothing that a call needs, and the command line or a test
    # runner takes longer to import than a call may take to start.
    with _turn, unheard_interrupts():
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _apart(quiet: bool) -> Iterator[None]:
    """Isolate a process that is started now: it inherits no stdout and, where `quiet`, no stderr.

    Nor does it import from the working directory, where `python -c`, by which it is started, looks first.
    """
    nothing, kept = os.open(os.devnull, os.O_WRONLY), (os.dup(1), os.dup(2))
    # A checkout is imported from the working directory.
    safe = "PYTHONSAFEPATH" not in os.environ and Path.cwd() != _CHECKOUT
    if safe:
        os.environ["PYTHONSAFEPATH"] = "1"
    try:
        if quiet:
            os.dup2(nothing, 2)
        os.dup2(2, 1)
        yield
    finally:
        for descriptor, own in enumerate(kept, start=1):
            os.dup2(own, descriptor)
        for descriptor in (nothing, *kept):
            os.close(descriptor)
        if safe:
            del os.environ["PYTHONSAFEPATH"]


@cache
def _starter() -> threading.Thread:
    """Return the thread that starts the processes of calls, one after the other. It is running, and never ends."""

    def start_all() -> None:
        while True:
            try:
                _to_start.get()()
            except Exception:
                # Its channel is closed, which ends that call.
                logger.exception("a call's process was not started")

    thread = threading.Thread(target=start_all, daemon=True)
    thread.start()
    return thread


class _Worker:
    """The process of one call, seen from outside."""

    def __init__(self, job: Job, channel: socket.socket, bell: socket.socket) -> None:
        self._job = job
        self._channel = channel
        self._bell = bell
        self._process: BaseProcess | None = None
        self._unwanted = False
        self._not_started = "NotStarted"

    def start(self) -> None:
        """Start the process, and block until it exists.

        One that was killed before is killed then, or not started at all. Where it can't be started, the channel and
        the bell are closed.
        """
        with self._bell, self._channel, _starting():
            if self._unwanted:
                return
            try:
                process = self._started()
            except Exception as error:
                logger.exception("call %s was not started", self._job.trace_id)
                self._not_started = type(error).__name__
                return
            self._process = process
        if self._unwanted:
            process.kill()

    def _started(self) -> BaseProcess:
        """Return the process that was prepared, with its job, else a new one."""
        with suppress(Empty, OSError):  # there is none, or it is gone
            prepared, orders = _prepared.get_nowait()
            with orders:
                send_job(orders, self._job, self._channel, self._bell)
            return prepared
        process = _context(self._job.settings).Process(
            target=run, args=(self._job, self._channel, self._bell), daemon=True
        )
        process.start()
        return process

    def kill(self) -> None:
        self._unwanted = True
        if self._process is not None:
            self._process.kill()

    @property
    def is_started(self) -> bool:
        return self._process is not None

    def exit_reason(self) -> str:
        """Wait shortly for the process's end, and return its signal's name or its exit status."""
        if self._process is None:
            return self._not_started
        self._process.join(DRAIN_SECONDS)
        code = self._process.exitcode
        if code is None or code >= 0:
            return f"exit status {code}"
        with suppress(ValueError):
            return signal.Signals(-code).name
        return f"signal {-code}"


class _Call:
    """One call from its start to its result. Times are of time.monotonic, in seconds."""

    def __init__(
        self, job: Job, writer: TraceWriter, on_program_note: Tell, ending: Ending, continues: str | None
    ) -> None:
        self._job = job
        self._writer = writer
        self._on_program_note = on_program_note
        self._ending = ending
        self._continues = continues
        self._channel, theirs = socket.socketpair()
        self._bell, their_bell = socket.socketpair()
        for ours in (self._channel, self._bell):
            ours.setblocking(False)
        self._worker = _Worker(job, theirs, their_bell)
        self._reader = FrameReader()
        self._started = self._told = time.monotonic()
        self._began: float | None = None
        """Time of its first event, once its sources are ready, when its clock began to run; None before."""
        self._message = "starting"
        self._deadline = self._started + START_SECONDS
        self._latest = math.inf
        """Time to which the deadline can be put off."""
        self._drained = False
        self._stop_at = math.inf
        """Time at which the operator's patience ends."""
        self._waiting: anyio.CancelScope | None = None
        self._killed: Literal["seconds", "tokens", "stopped"] | None = None
        self._checkpoint: Frame | None = None
        self._tokens_used = 0
        self._finished: ResearchResult | None = None
        """Result in the event that ends the call."""
        self._result: ResearchResult | None = None
        self._error: dict[str, Any] | None = None
        self._has_end = False
        """True once a line that ends the trace was written, or tried to be."""

    async def run(self) -> ResearchResult:
        try:
            # Not awaited: it waits for the process that calls are forked from, and the clock is running.
            _starter()
            _to_start.put(self._worker.start)
            with self._ending.stop.heard_by(self._hurry):
                while received := await self._receive():
                    for frame in self._reader.feed(received):
                        await self._take(frame)
            return await self._outcome()
        except anyio.get_cancelled_exc_class():
            self._worker.kill()
            await self._take_what_waits()
            await self._record_cancellation()
            raise
        except MarchwardenError:
            raise
        except Exception as error:
            raise await self._failed(type(error).__name__) from error
        finally:
            self._worker.kill()
            self._channel.close()
            self._bell.close()

    # While it runs

    async def _receive(self) -> bytes:
        """Return the bytes that the process sent next; none once it is gone."""
        # The rest of a frame that the channel has no room for is read at once: its process stands still meanwhile.
        if not self._reader.is_inside_frame:
            await self._wait_for(self._bell, min(READ_EVERY_SECONDS, self._seconds_left()))
            with suppress(BlockingIOError, ConnectionResetError):
                self._bell.recv(_CHUNK_BYTES)
        while not self._drained:
            now = time.monotonic()
            if now >= self._deadline:
                self._drained = self._killed is not None
                self._stop("seconds")
            if now >= self._stop_at:
                self._stop_at = math.inf
                self._stop("stopped")
            if now >= self._told + HEARTBEAT_SECONDS:
                self._tell(f"{self._message} ({now - self._started:.0f} s)")
            with suppress(BlockingIOError):
                return self._read()
            await self._wait_for(self._channel, min(self._seconds_left(), self._told + HEARTBEAT_SECONDS - now))
        return b""

    async def _wait_for(self, ready: socket.socket, seconds: float) -> None:
        """Wait until something can be read there, for so long at most, or until the operator asks for the end."""
        with anyio.move_on_after(max(0.0, seconds)) as self._waiting:
            await anyio.wait_readable(ready)

    def _seconds_left(self) -> float:
        return min(self._deadline, self._stop_at) - time.monotonic()

    def _read(self) -> bytes:
        try:
            return self._channel.recv(_CHUNK_BYTES)
        except ConnectionResetError:
            return b""

    def _hurry(self) -> None:
        self._stop_at = time.monotonic() + self._ending.stop.seconds
        if self._waiting:
            self._waiting.cancel()  # it waits until another time

    def _stop(self, reason: Literal["seconds", "tokens", "stopped"]) -> None:
        self._worker.kill()
        self._killed = self._killed or reason
        self._deadline = time.monotonic() + DRAIN_SECONDS

    def _tell(self, message: str) -> None:
        self._told = time.monotonic()
        self._writer.progress(message)

    async def _take(self, frame: Frame) -> None:
        if frame.kind == "event":
            # Nothing follows the line that seals the trace with its answer.
            if self._finished is None:
                await self._record(frame.json(), frame.text)
        elif frame.kind == "progress":
            self._message = frame.json()
            self._tell(self._message)
            if self._began is None and self._killed is None:
                self._deadline = time.monotonic() + START_SECONDS
        elif frame.kind == "checkpoint":
            self._checkpoint = frame
        elif frame.kind == "kept":
            self._writer.note_kept(frame.json())
        elif frame.kind == "lost":
            self._writer.note_lost(frame.json())
        elif frame.kind == "result":
            given = frame.json()
            self._result = self._finished if given is None else self._own(ResearchResult.model_validate(given))
        else:
            self._error = frame.json()

    async def _record(self, fields: dict[str, Any], text: str = "") -> None:
        """Write an event of the process, by the fields of its JSON and, where it came so, by its `text`. Only those
        that matter here are read as events: a process sends some twenty, which it has made by their models itself."""
        action = fields.get("action")
        known = FIELDS.get(action) if isinstance(action, str) else None
        if known is None:
            raise FrameError(f"not an event: {action!r}")
        # No other fields: a line's number, time and seal are the writer's to give.
        if not fields.keys() <= known:
            fields, text = {name: value for name, value in fields.items() if name in known}, ""
        if action == "conclude" and self._began is not None and self._killed is None:
            # The answer is there. Its pages are brought to the disk, which is not to cost it.
            self._deadline = max(self._deadline, min(self._latest, time.monotonic() + SYNC_SECONDS))
        event = parse_event(fields) if action in _HEEDED else None
        if isinstance(event, Finished):
            # The result of a call that was killed is not the one that its caller gets.
            if self._killed:
                return
            self._finished = self._own(event.result)
        if isinstance(event, Started) and self._continues:
            fields["continues"], text = self._continues, ""
        # The text goes into the trace as it is, unless something else stands around or in it than a process writes.
        if not (text.startswith(f'{{"action": "{action}", "decision": ') and text.endswith("}")) or "\n" in text:
            text = event_text(fields)
        try:
            await self._write(fields["action"], text)
        except StorageError as error:
            # The answer is there, and may have been paid for. It is given without the end of its trace.
            if action not in _CLOSING:
                raise
            logger.warning("the trace of call %s has no end: %s", self._job.trace_id, error)
            self._tell(f"the trace has no end: {error}")
        if isinstance(event, Started):
            if self._began is None and self._killed is None:
                limit = self._job.settings.seconds_for(self._job.request.depth)
                self._began = time.monotonic()
                self._deadline = self._began + limit + GRACE_SECONDS
                self._latest = self._deadline + SYNC_SECONDS
            for note in event.program_notes:
                self._on_program_note(note)
        elif isinstance(event, ModelCalled):
            self._tokens_used = min(event.tokens_used, self._job.request.constraints.token_budget)
            if event.tokens_used > self._tokens_used:
                self._stop("tokens")

    def _own(self, result: ResearchResult) -> ResearchResult:
        """Return the result. Raises FrameError where it is that of another call."""
        if UUID(result.trace_id) != UUID(self._job.trace_id):
            raise FrameError(f"the result of call {result.trace_id}")
        return result

    async def _write(self, action: str, text: str) -> None:
        """Append an event to the trace, by its action and its JSON. Raises StorageError."""
        if action not in ENDINGS:
            self._writer.record_text(action, text)
            return
        # It waits until the trace and its pages are on the disk, which takes 10 to 100 ms: others go on meanwhile.
        with anyio.CancelScope(shield=True):
            try:
                await anyio.to_thread.run_sync(self._writer.record_text, action, text)
            finally:
                self._has_end = True  # also where the line is there, but may not be on the disk

    async def _write_event(self, event: Event) -> None:
        await self._write(event.action, event_text(_fields(event)))

    async def _take_what_waits(self) -> None:
        """Take what the process sent before it was killed."""
        # Whatever is wrong with it: the caller is gone, and the trace is still to say so.
        with anyio.CancelScope(shield=True), suppress(Exception):
            while received := self._read():
                for frame in self._reader.feed(received):
                    await self._take(frame)

    async def _record_cancellation(self) -> None:
        # What ended before its caller cancelled it has its end.
        if not self._has_end:
            with suppress(StorageError):
                await self._write_event(self._ending.cancellation(self._job.request.question))

    # Once it has ended

    async def _outcome(self) -> ResearchResult:
        if self._finished is not None:
            # It is in the trace, whatever became of the process after that.
            return self._result or self._finished
        if self._killed == "stopped" and self._began is None:
            await self._record_cancellation()
            raise ServerStopping(retry_after=RESTART_SECONDS)
        if self._killed == "seconds" and self._began is None:
            late = f"its process was not ready within {START_SECONDS:g} s: the machine is overloaded, ask again later"
            raise await self._failed("NotReady", late)
        if self._killed:
            return await self._finish(self._killed)
        if self._result is not None:
            return self._result
        if self._error is not None:
            kind = PASSED_ON.get(self._error["error"])
            if kind is None:
                raise await self._failed(self._error["error"])
            # Nothing was done where a setting is wrong: there is nothing to trace.
            if self._writer.steps or kind is not ConfigurationError:
                await self._record_failure(self._error["message"], self._error["error"])
            raise kind(self._error["message"], hint=self._error["hint"])
        reason = await anyio.to_thread.run_sync(self._worker.exit_reason)
        if reason == "SIGKILL":
            told = "its process was killed (SIGKILL), as the system does when memory runs out"
        else:
            told = f"its process {'ended early' if self._worker.is_started else 'could not be started'} ({reason})"
        raise await self._failed(reason, told)

    async def _finish(self, limit: Literal["seconds", "tokens", "stopped"]) -> ResearchResult:
        await self._write_event(WasKilled(decision=_KILLS[limit], reason=limit))
        result, record = await anyio.to_thread.run_sync(self._finished_from_outside, limit)
        self._killed = None
        await self._record(_fields(record))
        await self._record(_fields(Finished(decision="ended with what had been found", result=result)))
        return result

    def _finished_from_outside(
        self, limit: Literal["seconds", "tokens", "stopped"]
    ) -> tuple[ResearchResult, Concluded]:
        # Run in a thread, since this import takes a moment the first time.
        from marchwarden.agent.conclusion import Checkpoint, finish
        from marchwarden.ledger import Ledger

        request = self._job.request
        if self._checkpoint is not None:
            checkpoint = Checkpoint.model_validate(self._checkpoint.json())
        else:
            checkpoint = Checkpoint(
                request=request,
                ledger=Ledger(question=request.question, context=request.context),
                tokens_used=0,
                iterations_run=0,
                exhausted=[],
                model_id=self._job.settings.model_id,
                kind="web",
            )
        checkpoint.tokens_used = max(checkpoint.tokens_used, self._tokens_used)
        seconds = time.monotonic() - (self._began or self._started)
        return asyncio.run(finish(checkpoint, limit=limit, trace_id=self._job.trace_id, seconds=seconds))

    async def _failed(self, error: str, reason: str | None = None) -> ResearchFailed:
        said = f": {reason}" if reason else f" with an internal error: {error}"
        await self._record_failure(f"the call failed{said}", error)
        return ResearchFailed(
            f"the research failed{said}",
            trace_id=self._job.trace_id,
            hint=f"`marchwarden replay {self._job.trace_id}` shows how far it got.",
        )

    async def _record_failure(self, decision: str, error: str) -> None:
        with suppress(StorageError):
            await self._write_event(Failed(decision=decision, error=error, question=self._job.request.question))


def _fields(event: Event) -> dict[str, Any]:
    return event.model_dump(mode="json")
