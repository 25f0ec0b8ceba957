"""Outbox: which traces of a folder are not in the object store, or have no row in its index, yet, and why.

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
    """A trace that is not in the store yet, or not in the index of its traces."""

    trace: Path
    reason: str
    """Reason that it could not be published, or indexed, as a clause; empty where nobody has tried."""
    is_published: bool = False
    """True where the store has it, and only its row in the index is missing."""


class Outbox:
    """Marks of the traces in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, trace_id: str, reason: str = "", *, is_published: bool = False) -> None:
        """Mark a trace, with the reason that it could not be published or indexed. Raises StorageError."""
        path = self._mark(trace_id)
        try:
            make_private_folder(path.parent)
            told = {"reason": reason, **({"published": True} if is_published else {})}
            body = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
            write_whole(path, body, synced=False, private=True)
        except OSError as error:
            raise StorageError(
                f"{path} can't be written: {error.strerror or error}",
                hint="Free some space, or set MARCHWARDEN_TRACE_DIR to a folder that can be written.",
            ) from error

    def remove(self, trace_id: str) -> None:
        with suppress(OSError):
            self._mark(trace_id).unlink(missing_ok=True)

    def find(self, trace_id: str) -> Waiting | None:
        """Return what waits of a trace; None where it has no mark."""
        trace = self._folder / f"{trace_id}.jsonl"
        try:
            told = json.loads(self._mark(trace_id).read_bytes())
            reason, is_published = told.get("reason"), told.get("published") is True
        except FileNotFoundError:
            return None
        except (OSError, ValueError, AttributeError):  # it was cut by a full disk
            return Waiting(trace, "")
        return Waiting(trace, reason if isinstance(reason, str) else "", is_published)

    def waiting(self) -> list[Waiting]:
        """Return the traces that are not published, or not indexed. Marks of calls that left no trace are removed."""
        found = []
        for mark in sorted((self._folder / OUTBOX).glob("[0-9a-f]*")):
            trace = self._folder / f"{mark.name}.jsonl"
            if trace.is_file():
                found.append(self.find(mark.name) or Waiting(trace, ""))
                continue
            with suppress(OSError):
                if time.time() - mark.stat().st_mtime > _EMPTY_S:
                    mark.unlink()
        return found

    def _mark(self, trace_id: str) -> Path:
        return self._folder / OUTBOX / trace_id
