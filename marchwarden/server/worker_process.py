"""What runs inside the process of one research call, and the frames in which it reports to its parent.

A frame is `kind length\\n` and that many bytes of JSON, so a frame that was cut short is known as such.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pkgutil
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from marchwarden import logs
from marchwarden.contract import ResearchRequest
from marchwarden.errors import ConfigurationError, MarchwardenError, StorageError
from marchwarden.settings import Settings
from marchwarden.trace.events import Event

if TYPE_CHECKING:
    from marchwarden.agent.conclusion import Checkpoint

logger = logging.getLogger(__name__)

FrameKind: TypeAlias = Literal["event", "progress", "checkpoint", "result", "error"]
_HEADER = re.compile(rb"^(%s) (\d{1,9})\n" % "|".join(get_args(FrameKind)).encode())
_LONGEST_HEADER = 32

# Errors that the caller can do something about, and so gets as they are; any other is an internal failure.
PASSED_ON: dict[str, type[MarchwardenError]] = {error.__name__: error for error in (ConfigurationError, StorageError)}


@dataclass(frozen=True)
class Job:
    """One call, as it is handed to its process."""

    research: str
    """The function to run, as `module:name`."""
    request: ResearchRequest
    settings: Settings
    trace_id: str


@dataclass(frozen=True)
class Frame:
    kind: FrameKind
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class FrameError(Exception):
    """What came is not a frame."""


class FrameReader:
    """Bytes as they arrive, in; whole frames, out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, received: bytes) -> Iterator[Frame]:
        """The frames that are now whole; raises FrameError where the bytes are none."""
        self._buffer += received
        while header := _HEADER.match(bytes(self._buffer[:_LONGEST_HEADER])):
            start, end = header.end(), header.end() + int(header[2])
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[start:end])
            del self._buffer[:end]
            yield Frame(cast(FrameKind, header[1].decode()), body)
        if b"\n" in self._buffer or len(self._buffer) > _LONGEST_HEADER:
            raise FrameError(f"not a frame: {bytes(self._buffer[:_LONGEST_HEADER])!r}")


class Reporter:
    """Sends what happens to the parent. A trace.events.Recorder; safe under threads."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._lock = threading.Lock()

    def send(self, kind: FrameKind, body: str) -> None:
        data = body.encode("utf-8")
        with self._lock:
            self._channel.sendall(b"%s %d\n" % (kind.encode(), len(data)) + data)

    def record(self, event: Event) -> None:
        self.send("event", json.dumps(event.model_dump(mode="json")))

    def progress(self, message: str) -> None:
        self.send("progress", json.dumps(message))

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        self.send("checkpoint", json.dumps(checkpoint.model_dump(mode="json")))

    def error(self, error: BaseException) -> None:
        name = type(error).__name__
        told = {"message": str(error), "hint": getattr(error, "hint", None)} if name in PASSED_ON else {}
        self.send("error", json.dumps({"error": name, **told}))


def run(job: Job, channel: socket.socket) -> None:
    """The whole life of a call's process: set it apart, research, report."""
    _die_with_the_parent()
    _leave_the_terminal()
    _limit_memory(job.settings.worker_memory_mb)
    logs.configure(debug=job.settings.debug)
    with channel:
        work(job, Reporter(channel))


def prepare_sources(settings: Settings) -> None:
    """Make the sources ready before the first call, in a process of its own; calls report what is wrong."""
    from marchwarden.sources.source_registry import open_tools

    _die_with_the_parent()
    _leave_the_terminal()
    logs.configure(debug=settings.debug)
    with suppress(MarchwardenError):
        open_tools(settings).prepare(logger.info)


def work(job: Job, reporter: Reporter) -> None:
    """Research, and report the result or the error. Nothing is raised but what ends the process."""
    try:
        asyncio.run(_research(job, reporter))
    except BrokenPipeError:
        return  # nobody is there to be told
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
    reporter.send("result", json.dumps(result.model_dump(mode="json")))


def _die_with_the_parent() -> None:
    """End this process when the parent's does, however that happens.

    On Linux the kernel does it (the sentinel is a pipe that the parent holds open, and asks for a signal when it is
    closed), so code that never lets a thread run can't outlive the parent either. Elsewhere a thread watches.
    """
    parent = parent_process()
    if parent is None:
        return
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(parent.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)
        if connection.wait([parent.sentinel], timeout=0):  # it was gone before we asked
            os._exit(1)
    else:
        threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True).start()


def _exit_after(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _leave_the_terminal() -> None:
    """Ctrl-C is the parent's to answer; nothing here reads its stdin or writes to its stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)


def _limit_memory(megabytes: int | None) -> None:
    if megabytes is None or sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = sys.maxsize if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_AS, (min(megabytes * 1_000_000, most), hard))
