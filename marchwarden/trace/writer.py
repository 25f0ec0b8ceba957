"""Writer of a call's trace. Each event becomes a whole JSON line at once: a killed process leaves it readable.

Nothing is created before the first event; known secrets are removed from every line. Whatever an event holds, its
line is chained to all that stands before it, and a line that ends the call is sealed: trace/standalone_verifier.py
opens with the rules, and checks them. A sealed line, and all that it vouches for, is on the disk before `record`
returns, so that an answer that was given outlives a crash of the machine.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

from typing_extensions import Self

from marchwarden.errors import StorageError
from marchwarden.files import PRIVATE_FILE, hold, make_private_folder, sync
from marchwarden.store.content_store import Store
from marchwarden.text.escaping import json_text
from marchwarden.text.redaction import Redactor
from marchwarden.trace.events import Event
from marchwarden.trace.signing import SigningError, sign
from marchwarden.trace.standalone_verifier import ENDINGS, FORMAT, SEAL, parse, signature_of

_log = logging.getLogger(__name__)

# Actions that an investigation is resumed from: each is on the disk before what follows from it is done.
_DURABLE = frozenset({"dispatch", "return", "lost"})

# Hash of an object of the store, as a line names it.
HASH = re.compile(rb'"(sha256:[0-9a-f]{64})"')

_HINT = "Free some space or correct the folder's permissions, or set MARCHWARDEN_TRACE_DIR to another folder."


def event_text(given: Mapping[str, Any]) -> str:
    """Return the JSON of an event, given by its fields, as it stands in a line: its action and decision first."""
    first = {"action": given["action"], "decision": given["decision"]}
    return json_text(json.dumps(first | dict(given), ensure_ascii=False))


class TraceWriter:
    """Writer of `{folder}/{trace_id}.jsonl`. It is a trace.events.Recorder, and safe under threads.

    `secrets` are values that must never be written (`redaction.secrets_of`). `on_progress` receives what happens now,
    `on_line` each line once it is written, with its end. A finished trace is signed with `signing_key`, the file of a
    private key, where there is one.
    """

    def __init__(
        self,
        folder: Path,
        trace_id: str,
        *,
        secrets: Iterable[str] = (),
        on_progress: Callable[[str], None] | None = None,
        on_line: Callable[[bytes], None] | None = None,
        signing_key: Path | None = None,
    ) -> None:
        self.path = folder / f"{trace_id}.jsonl"
        self.steps = 0
        """Number of lines written so far."""
        self._redactor = Redactor(secrets)
        self._on_progress, self._on_line = on_progress, on_line
        self._signing_key = signing_key
        self._trace_id = trace_id
        self._store = Store(folder / "store")
        # Digest of every byte that is in the file, also of a line that a full disk cut.
        self._written = hashlib.sha256()
        self._named: set[str] = set()
        # Objects of the store that are on the disk already.
        self._kept: frozenset[str] = frozenset()
        # Why some can't be brought there.
        self._lost: str | None = None
        # True once the last line is a sealed one.
        self._sealed = False
        self._file: int | None = None
        # True where a full disk cut the last line.
        self._torn = False
        self._lock = threading.Lock()

    def record(self, event: Event) -> None:
        """Append an event. Raises StorageError where the disk is full or the folder can't be written."""
        self.record_fields(event.model_dump(mode="json"))

    def record_fields(self, given: Mapping[str, Any]) -> None:
        """Append an event that comes as the fields of its JSON. Raises StorageError as `record` does."""
        self.record_text(given["action"], event_text(given))

    def record_text(self, action: str, text: str) -> None:
        """Append an event that comes as its JSON (`event_text`). Raises StorageError as `record` does."""
        with self._lock:
            now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            head = f'{{"step": {self.steps + 1}, "action": "{action}", "timestamp": "{now}", '
            rest = text.removeprefix(f'{{"action": "{action}", ')
            if not self.steps:
                rest = f'{rest[:-1]}, "format": {json.dumps(FORMAT)}, "trace_id": {json.dumps(self._trace_id)}}}'
            line = self._redactor.redact(head + rest).encode("utf-8")
            self._named.update(name.decode() for name in HASH.findall(line))
            self._sealed = False
            ends = action in ENDINGS
            objects = None
            if ends:
                objects = sorted(name for name in self._named if name in self._kept or self._store.has(name))
            try:
                self._open()
                if objects is not None:
                    if self._lost is not None:
                        raise StorageError(self._lost, hint=_HINT)
                    # Before the line that vouches for them, so that a crash of the machine leaves no such line alone.
                    self._store.sync(name for name in objects if name not in self._kept)
                durable = action in _DURABLE
                if durable:
                    self._store.sync(name.decode() for name in HASH.findall(line) if self._store.has(name.decode()))
                whole = self._chained(line, objects)
                self._append(whole)
                self.steps += 1
                if ends or durable:
                    sync([self.path])
                self._sealed = ends
            except OSError as error:
                raise StorageError(
                    f"{self.path} can't be written: {error.strerror or error}",
                    hint=_HINT,
                ) from error
            if self._on_line:
                self._on_line(whole.lstrip(b"\n"))

    def reopen(self) -> None:
        """Go on with the trace that the file holds. Raises StorageError where it can't be read."""
        with self._lock:
            try:
                self._open()
                lines = self.path.read_bytes().split(b"\n")
            except OSError as error:
                raise StorageError(f"{self.path} can't be read: {error.strerror or error}") from error
            # It was of the trace as it ended before.
            signature_of(self.path).unlink(missing_ok=True)
            whole = [line for line in lines if parse(line) is not None]
            self.steps = len(whole)
            self._torn = bool(lines[-1])
            self._named.update(name.decode() for line in whole for name in HASH.findall(line))

    def note_kept(self, names: Iterable[str]) -> None:
        """Note objects of the store that its writer has brought to the disk: the end of the call need not."""
        with self._lock:
            self._kept |= frozenset(names)

    def note_lost(self, reason: str) -> None:
        """Note that objects of the store may not reach the disk: no line can vouch for them then."""
        with self._lock:
            self._lost = reason

    def progress(self, message: str) -> None:
        if self._on_progress:
            self._on_progress(message)

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None
                if self._sealed and self._signing_key:
                    # No answer is lost because its signature can't be made: that is told instead.
                    try:
                        sign(self.path, self._signing_key)
                    except SigningError as error:
                        _log.warning("%s was not signed: %s", self.path, error)
                        self.progress(f"the trace was not signed: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        if self._file is not None:
            return
        # Only the user may read it: a question or a page can be private.
        make_private_folder(self.path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, PRIVATE_FILE)
        hold(self._file)
        while before := os.read(self._file, 1 << 20):
            self._written.update(before)

    def _chained(self, line: bytes, objects: list[str] | None) -> bytes:
        """Return a line with the digest of all that stands before it; where it seals the call and its `objects`, of
        itself too."""
        # A line that a full disk cut short is ended first, so that this one is whole.
        start = b"\n" if self._torn else b""
        before = self._written.copy()
        before.update(start)
        body = line[:-1] + f', "before": "sha256:{before.hexdigest()}"'.encode()
        if objects is not None:
            body += f', "objects": {json.dumps(objects)}'.encode()
            before.update(body)
            body += SEAL + f'"sha256:{before.hexdigest()}"'.encode()
        return start + body + b"}\n"

    def _append(self, rest: bytes) -> None:
        assert self._file is not None
        self._torn = True
        while rest:
            # os.write may write a part only.
            count = os.write(self._file, rest)
            self._written.update(rest[:count])
            rest = rest[count:]
        self._torn = False
