"""Outbox: which traces of a folder are not in the object store yet, and why.

A mark is made before a call begins, and removed once its trace is published: what a killed process leaves behind is
still to be found there.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from marchwarden.errors import StorageError
from marchwarden.files import make_private_folder, write_whole

OUTBOX = "outbox"
# Seconds after which a mark without a trace is one of a call that wrote none. A guess: a call writes its first line
# after at most a minute.
_EMPTY_S = 3600.0


@dataclass(frozen=True)
class Waiting:
    """A trace that is not in the store yet."""

    trace: Path
    reason: str
    """Reason that it could not be published, as a clause; empty where nobody has tried."""


class Outbox:
    """Marks of the traces in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, trace_id: str, reason: str = "") -> None:
        """Mark a trace, with the reason that it could not be published. Raises StorageError."""
        path = self._mark(trace_id)
        try:
            make_private_folder(path.parent)
            body = json.dumps({"reason": reason}, ensure_ascii=False).encode("utf-8")
            write_whole(path, body, synced=False, private=True)
        except OSError as error:
            raise StorageError(
                f"{path} can't be written: {error.strerror or error}",
                hint="Free some space, or set MARCHWARDEN_TRACE_DIR to a folder that can be written.",
            ) from error

    def remove(self, trace_id: str) -> None:
        with suppress(OSError):
            self._mark(trace_id).unlink(missing_ok=True)

    def reason(self, trace_id: str) -> str | None:
        """Return why a trace is not published; empty where nobody has tried, None where it has no mark."""
        try:
            told = json.loads(self._mark(trace_id).read_bytes()).get("reason")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, AttributeError):  # it was cut by a full disk
            return ""
        return told if isinstance(told, str) else ""

    def waiting(self) -> list[Waiting]:
        """Return the traces that are not published. Marks of calls that left no trace are removed."""
        found = []
        for mark in sorted((self._folder / OUTBOX).glob("[0-9a-f]*")):
            trace = self._folder / f"{mark.name}.jsonl"
            if trace.is_file():
                found.append(Waiting(trace, self.reason(mark.name) or ""))
                continue
            with suppress(OSError):
                if time.time() - mark.stat().st_mtime > _EMPTY_S:
                    mark.unlink()
        return found

    def _mark(self, trace_id: str) -> Path:
        return self._folder / OUTBOX / trace_id
