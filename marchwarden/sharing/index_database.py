"""PostgreSQL database of the index of traces: used within the time that an answer can wait.

It may be down, hang in the middle of a statement, be slow, or refuse what it is asked: a use of it ends in time all
the same, and its errors are told in our words.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from marchwarden.errors import ConfigurationError, StorageError, how_to_install

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[Any]

_log = logging.getLogger(__name__)

VARIABLE = "MARCHWARDEN_TRACE_INDEX"

T = TypeVar("T")

# Seconds for all that one use does, from its connection to its end, and for a connection. Guesses: an answer waits
# for them. libpq takes no less than 2.
USE_S, _CONNECT_S = 3.0, 2
# Seconds for which an index that failed is not asked again, so that not every call waits for it. A guess.
_PAUSE_S = 15.0
# Seconds after which an index is slow: for the pause, calls leave their rows for later then. A guess.
_SLOW_S = 1.0
# Connections of one process at once: a server allows 100 by default, and several of ours share it. A guess.
_CONNECTIONS = 8

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
# Both need rights, or locks, that a role may lack where the table has been made for it.
_STATE = "SELECT to_regclass('marchwarden_traces') IS NOT NULL, current_setting('server_encoding')"
# Encodings in which every character can be stored: SQL_ASCII takes bytes as they come.
_ENCODINGS = frozenset({"UTF8", "SQL_ASCII"})

_UNUSABLE = "the index of traces can't be used"
_LATE = "it did not answer in time"
# Reasons by the first characters of an SQLSTATE; the longest that fits counts.
_REASONS = {
    "25006": "it can only be read",
    "28000": "it refuses the role",
    "28P01": "it refuses the password",
    "3D000": "there is no such database",
    "42": "its table marchwarden_traces is of another version",
    "23": "its table marchwarden_traces is of another version",
    "42P01": "its table marchwarden_traces is gone",
    "42501": "the role may not make or use its table",
    "53100": "its disk is full",
    "53200": "it has no memory left",
    "53300": "it has too many connections",
    "55P03": _LATE,
    "57014": _LATE,
    "57P": "it is shutting down",
}
# libpq has no code for what it is told while it connects.
_WHILE_CONNECTING = {"password": "28P01", "role": "28000", "database": "3D000", "too many": "53300"}


class Database:
    """The PostgreSQL database at a URL. It opens no connection before it is used; safe under threads.

    Raises ConfigurationError for a URL that is none of PostgreSQL, and where psycopg is not installed.
    """

    def __init__(self, url: str) -> None:
        if not _is_address(url):
            raise ConfigurationError(f"{VARIABLE} is no address of PostgreSQL", hint=f"{VARIABLE}=postgresql://…")
        if find_spec("psycopg") is None:
            raise ConfigurationError(
                f"{VARIABLE} needs psycopg, which is not installed", hint=how_to_install("database")
            )
        self._url = url
        self._is_ready = False
        self._asked = float("-inf")
        self._slow_until = float("-inf")
        self._free = threading.BoundedSemaphore(_CONNECTIONS)
        self.problem: str | None = None
        """Reason that it could not be used when it was used last; None where it could."""

    def check(self) -> str | None:
        """Use it, and return the reason where it can't be used: the last one where it failed just now."""
        try:
            self.use(lambda connection: None)
        except StorageError as error:
            return str(error)
        return None

    def check_later(self) -> None:
        """Check it in a thread, unless it was used just now."""
        if time.monotonic() - self._asked > _PAUSE_S:
            self._asked = time.monotonic()
            threading.Thread(target=self.check, daemon=True).start()

    @property
    def resting(self) -> str | None:
        """Reason to ask it later for what nobody needs at once; None unless it failed or was slow just now."""
        now = time.monotonic()
        if self.problem is not None and now - self._asked < _PAUSE_S:
            return self.problem
        return f"{_UNUSABLE}: it is slow" if now < self._slow_until else None

    def use(self, work: Callable[[Connection], T], seconds: float = USE_S) -> T:
        """Do `work` in a transaction of a connection of its own, and return its value, within so many seconds.

        Raises StorageError.
        """
        import psycopg

        begun = time.monotonic()
        if self.problem is not None:
            if begun - self._asked < _PAUSE_S:
                raise StorageError(self.problem)
            self._asked = begun  # one tries it; who comes meanwhile need not wait, too
        try:
            value = _Use(self._url, seconds, self._free, self._make_ready).run(work)
        except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded):
            # Others' values it may take.
            raise StorageError(f"{_UNUSABLE}: it does not take these values") from None
        except psycopg.Error as error:
            raise self._failed(_reason(error)) from None
        except StorageError as error:
            raise self._failed(str(error)) from None
        self._asked = time.monotonic()
        if self._asked - begun > _SLOW_S and seconds <= USE_S:
            self._slow_until = self._asked + _PAUSE_S
        if self.problem is not None:
            self.problem = None
            _log.warning("the index of traces can be used again")
        return value

    def _make_ready(self, connection: Connection) -> None:
        if self._is_ready:
            return
        has_table, encoding = connection.execute(_STATE).fetchone() or (False, "")
        if encoding not in _ENCODINGS:
            raise StorageError("its encoding is not UTF8")
        if not has_table:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute(_TABLE)
        connection.commit()
        self._is_ready = True

    def _failed(self, reason: str) -> StorageError:
        """Return the error to raise, and ask no more for a while."""
        self._is_ready, self._asked = False, time.monotonic()
        reason = f"{_UNUSABLE}: {reason}"
        if self.problem is None:
            _log.warning("%s; calls are answered all the same", reason)
        self.problem = reason
        return StorageError(reason)


class _Use:
    """One use of the database, in a thread of its own.

    Neither a name server nor a database that hangs in the middle of a statement keeps anybody waiting: psycopg has a
    limit for connecting only.
    """

    def __init__(
        self,
        url: str,
        seconds: float,
        free: threading.BoundedSemaphore,
        make_ready: Callable[[Connection], None],
    ) -> None:
        self._url = url
        self._end = time.monotonic() + seconds
        self._limit_ms = int(seconds * 1000)
        self._free = free
        self._make_ready = make_ready
        self._lock = threading.Lock()
        self._is_over = False
        self._connection: Connection | None = None

    def run(self, work: Callable[[Connection], T]) -> T:
        """Raises what `work` and psycopg raise, and StorageError where it takes too long."""
        ended: SimpleQueue[tuple[T, None] | tuple[None, Exception]] = SimpleQueue()

        def do() -> None:
            try:
                ended.put((self._do(work), None))
            except Exception as error:
                ended.put((None, error))

        threading.Thread(target=do, daemon=True).start()
        try:
            value, error = ended.get(timeout=max(0.0, self._end - time.monotonic()))
        except Empty:
            self._hang_up()
            raise StorageError(_LATE) from None
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # without an error it is what `work` returned

    def _do(self, work: Callable[[Connection], T]) -> T:
        import psycopg

        if not self._free.acquire(timeout=max(0.0, self._end - time.monotonic())):
            raise StorageError(_LATE)
        try:
            # The server, too, gives up in time. What stands there in another encoding could not be sent or read.
            options = f"-c statement_timeout={self._limit_ms} -c lock_timeout={self._limit_ms}"
            connection = psycopg.connect(
                self._url,
                connect_timeout=_CONNECT_S,
                options=options,
                client_encoding="UTF8",
                application_name="marchwarden",
            )
            with self._held(connection):
                self._make_ready(connection)
                value = work(connection)
                connection.commit()
                return value
        finally:
            self._free.release()

    @contextmanager
    def _held(self, connection: Connection) -> Iterator[None]:
        """Close `connection` at the end; until then it can be hung up."""
        with self._lock:
            is_over = self._is_over
            self._connection = None if is_over else connection
        try:
            if is_over:  # nobody waits for it any more
                raise StorageError(_LATE)
            yield
        finally:
            with self._lock:  # its descriptor may be another's once it is closed
                self._connection = None
                connection.close()

    def _hang_up(self) -> None:
        """Shut the connection down, so that the thread that waits for an answer ends."""
        with self._lock:
            self._is_over = True
            if self._connection is not None:
                with suppress(OSError):  # the other side may have closed it
                    line = socket.socket(fileno=self._connection.fileno())
                    try:
                        line.shutdown(socket.SHUT_RDWR)
                    finally:
                        line.detach()


def _is_address(url: str) -> bool:
    try:
        url.encode()
        return urlsplit(url).scheme in ("postgresql", "postgres") and "\x00" not in url
    except ValueError:
        return False


def _reason(error: psycopg.Error) -> str:
    """Return the reason in our words: libpq's may quote an address, and parts of a password that was not escaped."""
    state, text = error.sqlstate, str(error)
    if state is None:
        state = next(
            (_WHILE_CONNECTING[each] for each in _WHILE_CONNECTING if "FATAL" in text and each in text), None
        )
    if state is None:
        return "it can't be reached"
    known = max((each for each in _REASONS if state.startswith(each)), key=len, default=None)
    return _REASONS[known] if known else f"error {state}"


@lru_cache(maxsize=8)
def open_database(url: str) -> Database:
    """Return the database at a URL, the same one each time: it knows when it failed. Raises ConfigurationError."""
    return Database(url)
