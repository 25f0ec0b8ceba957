"""Lines of a growing trace on stdout, for `--events`: a reader that is slow, or stalls, holds up nothing but itself.

A thread writes them. Those that wait for their reader stay in the trace alone, so that they take no memory.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

# Seconds that the end waits for the reader before it says that it waits. A guess.
_NOTICE_S = 2.0


class EventOutput:
    """Prints each line that was put, in order."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace
        self._places: SimpleQueue[tuple[int, int] | None] = SimpleQueue()
        self._on_failure: Callable[[], None] = lambda: None
        # A daemon, so that one which waits for a reader forever does not keep the process.
        self._thread = threading.Thread(target=self._print, name="events", daemon=True)
        self._failure: OSError | None = None

    def start(self, on_failure: Callable[[], None]) -> None:
        """Begin to print; `on_failure` is called in another thread once nobody reads on, or the disk is full."""
        self._on_failure = on_failure
        self._thread.start()

    def put(self, line: bytes) -> None:
        """Have the line printed with which the trace ends now; returns at once."""
        self._places.put((self._trace.stat().st_size - len(line), len(line)))

    def finish(self) -> None:
        """Wait until the reader has all lines, as a command does that prints; Ctrl-C ends the waiting.

        Raises OSError where a line could not be printed.
        """
        from marchwarden.cli.views import console

        self._places.put(None)
        self._thread.join(_NOTICE_S)
        if self._thread.is_alive():
            console.notice(
                "The investigation has ended, and waits until its steps are read from stdout.",
                f"They are in {self._trace} as well. Ctrl-C ends the waiting.",
            )
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _print(self) -> None:
        from marchwarden.cli.views import console

        try:
            while (place := self._places.get()) is not None:
                start, length = place
                with self._trace.open("rb") as trace:
                    trace.seek(start)
                    line = trace.read(length)
                if len(line) < length:
                    raise OSError(errno.EIO, "it was cut while its steps were printed", str(self._trace))
                console.unbuffered(line)
        except OSError as error:
            self._failure = error
            self._on_failure()
