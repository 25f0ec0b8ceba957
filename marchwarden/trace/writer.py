"""Writer of a call's trace. Each event becomes a whole JSON line at once: a killed process leaves it readable.

Nothing is created before the first event; known secrets are removed from every line.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from marchwarden.errors import StorageError
from marchwarden.redaction import Redactor
from marchwarden.trace.events import Event


class TraceWriter:
    """Writer of `{folder}/{trace_id}.jsonl`. It is a trace.events.Recorder, and safe under threads.

    `secrets` are values that must never be written (`redaction.secrets_of`). `on_progress` receives what happens now.
    """

    def __init__(
        self,
        folder: Path,
        trace_id: str,
        *,
        secrets: Iterable[str] = (),
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        self.path = folder / f"{trace_id}.jsonl"
        self.steps = 0
        """Number of lines written so far."""
        self._redactor = Redactor(secrets)
        self._on_progress = on_progress
        self._file: int | None = None
        # True where a full disk cut the last line.
        self._torn = False
        self._lock = threading.Lock()

    def record(self, event: Event) -> None:
        """Append an event. Raises StorageError where the disk is full or the folder can't be written."""
        with self._lock:
            fields = event.model_dump(mode="json")
            head = {
                "step": self.steps + 1,
                "action": fields.pop("action"),
                "timestamp": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "decision": fields.pop("decision"),
            }
            written = self._redactor.redact(json.dumps(head | fields, ensure_ascii=False))
            line = written.encode("utf-8", "replace") + b"\n"
            try:
                self._append(line)
            except OSError as error:
                raise StorageError(
                    f"{self.path} can't be written: {error.strerror or error}",
                    hint="Free some space or correct the folder's permissions, or set MARCHWARDEN_TRACE_DIR to "
                    "another folder.",
                ) from error
            self.steps += 1

    def progress(self, message: str) -> None:
        if self._on_progress:
            self._on_progress(message)

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, line: bytes) -> None:
        if self._file is None:
            # Only the user may read it: a question or a page can be private.
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(
                self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600
            )
        # A line that a full disk cut short is ended first, so that this one is whole. os.write may write a part only.
        rest = b"\n" + line if self._torn else line
        self._torn = True
        while rest:
            rest = rest[os.write(self._file, rest) :]
        self._torn = False
