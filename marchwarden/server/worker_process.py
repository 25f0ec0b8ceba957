"""The process of one research call, and the frames in which it reports to its parent.

A frame is `kind length\\n` and that many bytes of JSON, so a frame that was cut short is known as such. The parent
reads frames now and then, and at once where the process rings: on a second socket, the bell, by a byte or by its end.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import pickle
import pkgutil
import re
import signal
import socket
import struct
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import connection, parent_process
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from pydantic_core import from_json

from marchwarden import logs
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, MarchwardenError, StorageError
from marchwarden.settings import Settings
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Event, Finished
from marchwarden.trace.writer import HASH, event_text

if TYPE_CHECKING:
    from marchwarden.agent.conclusion import Checkpoint

logger = logging.getLogger(__name__)

FrameKind: TypeAlias = Literal["event", "progress", "checkpoint", "kept", "lost", "result", "error"]
_HEADER = re.compile(rb"^(%s) (\d{1,9})\n" % "|".join(get_args(FrameKind)).encode())
# Bytes of a header, at most: the longest kind, nine digits, a space and a line end, and some to spare.
_MAX_HEADER_BYTES = 32
# Bytes of a frame, at most. The largest one is the checkpoint of a long call: 2,000 candidates with titles and
# snippets as long as observations.py lets them be take 7 MB, and 40 MB where JSON escapes each character.
MAX_FRAME_BYTES = 64_000_000

# Actions of the events that the parent is to read at once: they can end the call, or give it more time.
_URGENT = frozenset({"model_call", "conclude"})
# Bytes that are sent before the parent is rung for, and what a frame counts beside its own. Linux lets 213 kB wait,
# where the shortest message takes 768 bytes.
_RING_AFTER_BYTES, _FRAME_BYTES = 1 << 16, 1000

_SIZE = struct.Struct("!Q")

# Steps by which a call's process is nicer than the server: five get it a third of the server's share. A guess.
NICE = 5

# Errors that the caller can do something about, and so gets as they are. Any other is an internal failure.
PASSED_ON: dict[str, type[MarchwardenError]] = {error.__name__: error for error in (ConfigurationError, StorageError)}


@dataclass(frozen=True)
class Job:
    """One call, as it is handed to its process."""

    research: str
    """Function to run, as `module:name`."""
    request: ResearchRequest
    settings: Settings
    trace_id: str


@dataclass(frozen=True)
class Frame:
    kind: FrameKind
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        try:
            # It takes a third of json's time, which was 0.3 ms of a call (its 25 events over the frozen web, warm).
            return from_json(self.body)
        except ValueError:  # it reads no half of a surrogate pair
            return json.loads(self.text)


class FrameError(Exception):
    """Raised for what is no frame of this call."""


class FrameReader:
    """Turns bytes, as they arrive, into whole frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def is_inside_frame(self) -> bool:
        """True where a part of a frame has arrived."""
        return bool(self._buffer)

    def feed(self, received: bytes) -> Iterator[Frame]:
        """Yield the frames that are now whole. Raises FrameError where the bytes are none, or too many."""
        self._buffer += received
        while header := _HEADER.match(bytes(self._buffer[:_MAX_HEADER_BYTES])):
            size = int(header[2])
            if size > MAX_FRAME_BYTES:
                raise FrameError(f"a frame of {size:,} bytes; {MAX_FRAME_BYTES:,} are the most")
            start, end = header.end(), header.end() + size
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[start:end])
            del self._buffer[:end]
            yield Frame(cast(FrameKind, header[1].decode()), body)
        if b"\n" in self._buffer or len(self._buffer) > _MAX_HEADER_BYTES:
            raise FrameError(f"not a frame: {bytes(self._buffer[:_MAX_HEADER_BYTES])!r}")


class Reporter:
    """Sends what happens to the parent. A trace.events.Recorder; safe under threads.

    Before it reports the end of a call, it brings the objects of `store` that the call's events name to the disk: the
    parent, which serves all calls, then has less to do.
    """

    def __init__(self, channel: socket.socket, store: Store | None = None, bell: socket.socket | None = None) -> None:
        """`bell` wakes the parent; without one, it has to look by itself."""
        self._channel = channel
        self._store = store
        self._bell = bell
        self._unheard_bytes = 0
        self._lock = threading.Lock()
        self._named: set[str] = set()
        self._checkpoint = ""
        self._finished: ResearchResult | None = None

    def send(self, kind: FrameKind, body: str, *, urgent: bool = False) -> None:
        data = body.encode("utf-8")
        if len(data) > MAX_FRAME_BYTES:
            raise FrameError(f"{kind} takes {len(data):,} bytes; {MAX_FRAME_BYTES:,} are the most")
        with self._lock:
            rest = memoryview(b"%s %d\n" % (kind.encode(), len(data)) + data)
            self._unheard_bytes += len(rest) + _FRAME_BYTES
            if self._unheard_bytes > _RING_AFTER_BYTES:
                # There may be no room for the whole frame. A parent that finds it begun reads on.
                self._channel.sendall(rest[:1])
                self._ring()
                rest = rest[1:]
            self._channel.sendall(rest)
            if urgent:
                self._ring()

    def _ring(self) -> None:
        self._unheard_bytes = 0
        if self._bell is not None:
            with suppress(OSError):  # it rings already, or the parent is gone, which the channel tells
                self._bell.send(b"!", getattr(socket, "MSG_DONTWAIT", 0))

    def record(self, event: Event) -> None:
        body = event_text(event.model_dump(mode="json"))
        self._named.update(name.decode() for name in HASH.findall(body.encode()))
        if isinstance(event, Finished):
            self._keep()
            self._finished = event.result
        self.send("event", body, urgent=event.action in _URGENT)

    def progress(self, message: str) -> None:
        self.send("progress", json.dumps(message))

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        body = json.dumps(checkpoint.model_dump(mode="json"))
        if len(body) > MAX_FRAME_BYTES:
            return  # the last one stands for it, should the call be killed
        if body != self._checkpoint:
            self.send("checkpoint", body)
            self._checkpoint = body

    def result(self, result: ResearchResult) -> None:
        """Report the result: none where the event of the call's end holds it, and the parent has it from there."""
        self.send("result", "null" if result is self._finished else json.dumps(result.model_dump(mode="json")))

    def error(self, error: BaseException) -> None:
        name = type(error).__name__
        told = {"message": str(error), "hint": getattr(error, "hint", None)} if name in PASSED_ON else {}
        self.send("error", json.dumps({"error": name, **told}))

    def _keep(self) -> None:
        if self._store is None:
            return
        names = sorted(name for name in self._named if self._store.has(name))
        if not names:
            return
        try:
            self._store.sync(names)
        except (RuntimeError, MemoryError):  # no memory is left for a thread: the parent does it, the answer is there
            return
        except StorageError as error:  # the parent has to be told: the system tells of a failed write only once
            self.send("lost", json.dumps(str(error)))
        else:
            self.send("kept", json.dumps(names))


def run(job: Job, channel: socket.socket, bell: socket.socket) -> None:
    """Run a call's process: isolate it, research, report."""
    _end_with_parent()
    _leave_terminal()
    _give_way()
    _limit_memory(job.settings.worker_memory_mb)
    logs.configure(debug=job.settings.debug)
    # The bell is closed last: whoever hears that finds the end of the channel too.
    with bell, channel:
        work(job, Reporter(channel, Store(job.settings.traces / "store"), bell))


def run_prepared(orders: socket.socket, modules: Sequence[str], quiet: bool) -> None:
    """Run the process of a call that is not known yet: import `modules`, wait for the job, and do it.

    Where it is `quiet`, what libraries write to stderr is lost.
    """
    _end_with_parent()
    _leave_terminal()
    if quiet:
        nothing = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(nothing, descriptor)
        os.close(nothing)
    # As preload.py does.
    gc.disable()
    for name in modules:
        with suppress(ImportError):  # the call reports it
            import_module(name)
    gc.freeze()
    gc.enable()
    with orders:
        if given := receive_job(orders):
            run(*given)


def send_job(orders: socket.socket, job: Job, channel: socket.socket, bell: socket.socket) -> None:
    """Send a job and its two sockets to a process that waits for them."""
    body = pickle.dumps(job)
    socket.send_fds(orders, [_SIZE.pack(len(body))], [channel.fileno(), bell.fileno()])
    orders.sendall(body)


def receive_job(orders: socket.socket) -> tuple[Job, socket.socket, socket.socket] | None:
    """Return the job that was sent, and its sockets; None where there is none, since the parent is gone."""
    head, descriptors, *_ = socket.recv_fds(orders, _SIZE.size, 2)
    if not head:
        return None
    with orders.makefile("rb") as sent:
        job = pickle.loads(sent.read(*_SIZE.unpack(head)))
    channel, bell = (socket.socket(fileno=descriptor) for descriptor in descriptors)
    return job, channel, bell


def prepare_sources(settings: Settings) -> None:
    """Make the sources ready before the first call, in a process of its own; calls report what is wrong."""
    from marchwarden.sources.source_registry import open_tools

    _end_with_parent()
    _leave_terminal()
    logs.configure(debug=settings.debug)
    with suppress(MarchwardenError):
        open_tools(settings).prepare(logger.info)


def work(job: Job, reporter: Reporter) -> None:
    """Research, and report the result or the error. Nothing is raised but what ends the process."""
    try:
        asyncio.run(_research(job, reporter))
    except BrokenPipeError:
        # The parent is gone, so nobody can be told.
        return
    except Exception as error:
        logger.exception("call %s failed", job.trace_id)
        reporter.error(error)


async def _research(job: Job, reporter: Reporter) -> None:
    research = pkgutil.resolve_name(job.research)
    result = await research(
        job.request,
        settings=job.settings,
        recorder=reporter,
        trace_id=job.trace_id,
        checkpoint=reporter.checkpoint,
    )
    reporter.result(result)


def _end_with_parent() -> None:
    """End this process when the parent's does, however that happens."""
    parent = parent_process()
    if parent is None:
        return
    if sys.platform == "linux":
        import fcntl

        # The kernel kills this process: the sentinel is a pipe that the parent holds open, and asks for a signal when
        # it is closed. So code that never lets a thread run can't outlive the parent either.

        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(parent.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)
        # The parent may have ended before the signal was asked for.
        if connection.wait([parent.sentinel], timeout=0):
            os._exit(1)
    else:
        sentinel = parent.sentinel

        def exit_with_parent() -> None:
            connection.wait([sentinel])
            os._exit(1)

        threading.Thread(target=exit_with_parent, daemon=True).start()


def _leave_terminal() -> None:
    """Ignore Ctrl-C, which the parent handles, and leave the parent's stdin and stdout alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)


def _give_way() -> None:
    """Let the server's own process go first, so that it hears and answers others while all cores are busy."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.nice(NICE)


def _limit_memory(megabytes: int | None) -> None:
    if megabytes is None or sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = sys.maxsize if hard == resource.RLIM_INFINITY else hard
    with suppress(ValueError, OSError):  # macOS takes no such limit
        resource.setrlimit(resource.RLIMIT_AS, (min(megabytes * 1_000_000, most), hard))
