"""Index of traces in PostgreSQL, which servers that share an object store share: a list of calls needs no trace then.

A row is written when a trace is published, and only then. An index that can't be reached costs no call its answer:
its trace stays in the outbox, and gets its row later.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime, timezone
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from marchwarden.errors import ConfigurationError, StorageError, how_to_install
from marchwarden.sharing.object_store import ObjectStore, open_store
from marchwarden.sharing.outbox import Outbox
from marchwarden.trace.reader import TraceSummary, instant, newest_first, summary_of
from marchwarden.trace.trace_search import Wanted, is_wanted, searched_text

if TYPE_CHECKING:
    import psycopg

    from marchwarden.settings import Settings

_log = logging.getLogger(__name__)

VARIABLE = "MARCHWARDEN_TRACE_INDEX"

# Seconds for a connection and for a statement. Guesses: an answer waits for them. libpq takes no less than 2.
_CONNECT_S, _STATEMENT_S = 2, 3
# Seconds for which an index that failed is not asked again, so that not every call waits for it. A guess.
_PAUSE_S = 15.0

# Lock under which the table is made: CREATE TABLE IF NOT EXISTS fails where two do it at once. Any number will do.
_LOCK = 7_306_119
_TABLE = """
CREATE TABLE IF NOT EXISTS marchwarden_traces (
    shelf text NOT NULL,
    trace_id text NOT NULL,
    started timestamptz NOT NULL,
    is_finished boolean NOT NULL,
    size bigint NOT NULL,
    summary jsonb NOT NULL,
    searched text NOT NULL,
    PRIMARY KEY (shelf, trace_id)
);
CREATE INDEX IF NOT EXISTS marchwarden_traces_by_time ON marchwarden_traces (shelf, started DESC, trace_id);
"""
# Of two machines' traces of one call, a result counts most, then the length, as where traces are fetched.
_PUT = """
INSERT INTO marchwarden_traces AS old VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (shelf, trace_id) DO UPDATE SET started = excluded.started, is_finished = excluded.is_finished,
    size = excluded.size, summary = excluded.summary, searched = excluded.searched
WHERE (excluded.is_finished, excluded.size) >= (old.is_finished, old.size)
"""
_LIST = "SELECT trace_id, summary FROM marchwarden_traces WHERE shelf = %s "
_ORDER = "ORDER BY started DESC, trace_id"
# Start of a call whose trace does not tell it: a trace's times are later (`reader.instant`).
_NEVER = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TIMES = frozenset({"started", "ended"})


class Database:
    """The PostgreSQL database at a URL. It opens no connection before it is used; safe under threads.

    Raises ConfigurationError for a URL that is none of PostgreSQL, and where psycopg is not installed.
    """

    def __init__(self, url: str) -> None:
        if urlsplit(url).scheme not in ("postgresql", "postgres"):
            raise ConfigurationError(f"{VARIABLE} is no address of PostgreSQL", hint=f"{VARIABLE}=postgresql://…")
        if find_spec("psycopg") is None:
            raise ConfigurationError(
                f"{VARIABLE} needs psycopg, which is not installed", hint=how_to_install("database")
            )
        self._url = url
        self._is_ready = False
        self._asked = float("-inf")
        self.problem: str | None = None
        """Reason that it could not be used when it was used last; None where it could."""

    def check(self) -> str | None:
        """Use it, and return the reason where it can't be used: the last one where it failed just now."""
        try:
            with self.connection():
                return None
        except StorageError as error:
            return str(error)

    def check_later(self) -> None:
        """Check it in a thread, unless it was used just now."""
        if time.monotonic() - self._asked > _PAUSE_S:
            self._asked = time.monotonic()
            threading.Thread(target=self.check, daemon=True).start()

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Open a connection, whose transaction ends with the context. Raises StorageError."""
        import psycopg

        if self.problem and time.monotonic() - self._asked < _PAUSE_S:
            raise StorageError(self.problem)
        options = f"-c statement_timeout={_STATEMENT_S}s -c lock_timeout={_STATEMENT_S}s"
        try:
            with psycopg.connect(
                self._url, connect_timeout=_CONNECT_S, options=options, application_name="marchwarden"
            ) as connection:
                if not self._is_ready:
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                    connection.execute(_TABLE)
                    connection.commit()
                    self._is_ready = True
                yield connection
        except psycopg.Error as error:
            self._is_ready, self._asked = False, time.monotonic()
            reason = f"the index of traces can't be used: {_reason(error)}"
            if self.problem is None:
                _log.warning("%s; calls are answered all the same", reason)
            self.problem = reason
            raise StorageError(reason) from None
        self._asked = time.monotonic()
        if self.problem is not None:
            self.problem = None
            _log.warning("the index of traces can be used again")


def _reason(error: psycopg.Error) -> str:
    """Return the reason in our words: libpq's may quote an address, and parts of a password that was not escaped."""
    known = {
        "28000": "it refuses the role",
        "28P01": "it refuses the password",
        "3D000": "there is no such database",
        "42501": "the role may not make or use its table",
        "53300": "it has too many connections",
        "57014": "it did not answer in time",
        "55P03": "it did not answer in time",
    }
    state = error.sqlstate
    text = str(error)
    if state is None:  # libpq has no code for what it is told while it connects
        words = {"password": "28P01", "role": "28000", "database": "3D000", "too many": "53300"}
        state = next((words[each] for each in words if "FATAL" in text and each in text), None)
    return known.get(state or "") or (f"error {state}" if state else "it can't be reached")


@lru_cache(maxsize=8)
def open_database(url: str) -> Database:
    """Return the database at a URL, the same one each time: it knows when it failed. Raises ConfigurationError."""
    return Database(url)


class TraceIndex:
    """The traces of one store, or of one caller's part of it, in an index."""

    def __init__(self, database: Database, shelf: str) -> None:
        """`shelf` names the store, without credentials: several may have one database."""
        self._database = database
        self._shelf = shelf

    def put(self, trace: Path) -> None:
        """Write the row of a trace. Raises StorageError."""
        summary = summary_of(trace)
        told = {each.name: getattr(summary, each.name) for each in fields(TraceSummary) if each.name != "path"}
        told |= {name: told[name] and told[name].isoformat() for name in _TIMES}
        told = {name: _storable(value) for name, value in told.items()}
        row = (
            self._shelf,
            summary.trace_id,
            summary.started or _NEVER,
            summary.outcome == "finished",
            summary.size,
            json.dumps(told, ensure_ascii=False),
            _storable(searched_text(trace)),
        )
        with self._database.connection() as connection:
            connection.execute(_PUT, row)

    def search(self, folder: Path, wanted: Wanted) -> list[TraceSummary]:
        """Return the calls that are wanted, newest first, with those of `folder` that have no row yet.

        Raises StorageError.
        """
        where, values = "", list[Any]((self._shelf,))
        if wanted.since is not None:
            where, values = where + "AND started >= %s ", [*values, wanted.since]
        if wanted.before is not None:
            where, values = where + "AND started < %s ", [*values, wanted.before]
        for word in wanted.words:
            where, values = where + "AND position(%s in searched) > 0 ", [*values, _storable(word)]
        with self._database.connection() as connection:
            rows = connection.execute(f"{_LIST}{where}{_ORDER}", values).fetchall()
        found = [each for row in rows if wanted.admits(each := _summary(folder, *row))]
        return self._with_waiting(folder, found, wanted)

    def page(self, folder: Path, after: str | None, most: int) -> tuple[list[TraceSummary], str | None] | None:
        """Return at most `most` calls, newest first, and the id after which to go on, None at the end.

        They follow the one whose id is `after`: None where it has no row. Calls of `folder` that have no row yet are
        on the first page. Raises StorageError.
        """
        where, values = "", list[Any]((self._shelf,))
        with self._database.connection() as connection:
            if after is not None:
                last = connection.execute(
                    "SELECT started FROM marchwarden_traces WHERE shelf = %s AND trace_id = %s", (self._shelf, after)
                ).fetchone()
                if last is None:
                    return None
                where = "AND (started < %s OR (started = %s AND trace_id > %s)) "
                values += [last[0], last[0], after]
            rows = connection.execute(f"{_LIST}{where}{_ORDER} LIMIT %s", [*values, most + 1]).fetchall()
        found = [_summary(folder, *row) for row in rows[:most]]
        rest = found[-1].trace_id if len(rows) > most else None
        return (found if after else self._with_waiting(folder, found, Wanted())), rest

    def _with_waiting(self, folder: Path, found: list[TraceSummary], wanted: Wanted) -> list[TraceSummary]:
        known = {each.trace_id for each in found}
        waiting = [each.trace for each in Outbox(folder).waiting() if each.trace.stem not in known]
        return newest_first([*found, *(each for each in map(summary_of, waiting) if is_wanted(each, wanted))])


def trace_index(url: str | None, store: ObjectStore | None) -> TraceIndex | None:
    """Return the index of a store's traces; None without a store or a URL. Raises ConfigurationError."""
    return TraceIndex(open_database(url), store.name) if url and store else None


def index_of(settings: Settings) -> TraceIndex | None:
    """Return the index that the settings name; None where they name none. Raises ConfigurationError."""
    if settings.store is None or settings.trace_index is None:
        return None
    return trace_index(settings.trace_index.get_secret_value(), open_store(settings.store))


def _storable(value: Any) -> Any:
    """Return a value as PostgreSQL takes it; a damaged trace may have a NUL, half of a surrogate pair, or a NaN."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _summary(folder: Path, trace_id: str, told: dict[str, Any]) -> TraceSummary:
    known = {each.name for each in fields(TraceSummary)}
    read = {name: value for name, value in told.items() if name in known}
    read |= {name: instant(read.get(name)) for name in _TIMES}
    return TraceSummary(**(read | {"trace_id": trace_id, "path": folder / f"{trace_id}.jsonl"}))
