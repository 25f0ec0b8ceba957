"""Index of traces in PostgreSQL, which servers that share an object store share: a list of calls needs no trace then.

A row is written when a trace is published, and only then. An index that can't be reached costs no call its answer:
its trace stays in the outbox, and gets its row later.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from marchwarden.errors import TraceError
from marchwarden.sharing.index_database import Database, open_database
from marchwarden.sharing.object_store import COMMAND_S, ObjectStore, open_store
from marchwarden.sharing.outbox import Outbox
from marchwarden.trace.reader import (
    Outcome,
    TraceSummary,
    instant,
    is_trace_id,
    newest_first,
    summary_of,
    value_of,
    whole_line,
)
from marchwarden.trace.trace_search import Wanted, is_wanted, searched_text

if TYPE_CHECKING:
    import psycopg

    from marchwarden.settings import Settings

# Seconds for a search, which a command makes and no call waits for.
SEARCH_S = float(COMMAND_S)

# Of two machines' traces of one call, a result counts most, then the length, as where traces are fetched.
_PUT = """
INSERT INTO marchwarden_traces AS old (shelf, trace_id, started, is_finished, size, summary, searched)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (shelf, trace_id) DO UPDATE SET started = excluded.started, is_finished = excluded.is_finished,
    size = excluded.size, summary = excluded.summary, searched = excluded.searched
WHERE (excluded.is_finished, excluded.size) >= (old.is_finished, old.size)
"""
# As text: what another has written there may be no JSON that Python reads.
_LIST = "SELECT trace_id, summary::text FROM marchwarden_traces WHERE shelf = %s "
_STARTED = "SELECT started FROM marchwarden_traces WHERE shelf = %s AND trace_id = %s"
_ORDER = "ORDER BY started DESC, trace_id"
# Start of a call whose trace does not tell it: a trace's times are later (`reader.instant`).
_NEVER = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TIMES = frozenset({"started", "ended"})


class TraceIndex:
    """The traces of one store, or of one caller's part of it, in an index."""

    def __init__(self, database: Database, shelf: str) -> None:
        """`shelf` names the store, without credentials: several may have one database."""
        self._database = database
        self._shelf = shelf

    @property
    def resting(self) -> str | None:
        """Reason to let a row wait that nobody needs at once; None unless it failed or was slow just now."""
        return self._database.resting

    def put(self, trace: Path) -> None:
        """Write the row of a trace. Raises StorageError, and TraceError where the trace is gone."""
        summary, searched = summary_of(trace), searched_text(trace)
        if not trace.is_file():  # it was pruned meanwhile: what was read may be nothing, or a part
            raise TraceError(f"{trace} is not there any more")
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
            _storable(searched),
        )
        self._database.use(lambda connection: connection.execute(_PUT, row))

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
        rows = self._database.use(
            lambda connection: connection.execute(f"{_LIST}{where}{_ORDER}", values).fetchall(), SEARCH_S
        )
        found = [each for row in rows if (each := _summary(folder, *row)) and wanted.admits(each)]
        return self._with_waiting(folder, found, wanted)

    def page(self, folder: Path, after: str | None, most: int) -> tuple[list[TraceSummary], str | None] | None:
        """Return at most `most` calls, newest first, and the id after which to go on, None at the end.

        They follow the one whose id is `after`: None where there is no such call. Calls of `folder` that have no row
        yet are on the first page. Raises StorageError.
        """
        # It comes from a client, and is the id of a trace or nothing.
        if after is not None and not is_trace_id(after):
            return None

        def read(connection: psycopg.Connection[Any]) -> list[tuple[str, str]] | None:
            where, values = "", list[Any]((self._shelf,))
            if after is not None:
                found = connection.execute(_STARTED, (self._shelf, after)).fetchone()
                last = found[0] if found else _start_of_waiting(folder, after)
                if last is None:
                    return None
                where = "AND (started < %s OR (started = %s AND trace_id > %s)) "
                values += [last, last, after]
            return connection.execute(f"{_LIST}{where}{_ORDER} LIMIT %s", [*values, most + 1]).fetchall()

        rows = self._database.use(read)
        if rows is None:
            return None
        page = [each for row in rows[:most] if (each := _summary(folder, *row))]
        rest = rows[most - 1][0] if len(rows) > most else None
        return (page if after else self._with_waiting(folder, page, Wanted())), rest

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


def _start_of_waiting(folder: Path, trace_id: str) -> datetime | None:
    """Return where a call that has no row yet stands in the order; None where there is no such call in `folder`.

    A list that began without the index goes on with it, once it can be used again.
    """
    waiting = (each.trace for each in Outbox(folder).waiting())
    return next((summary_of(each).started or _NEVER for each in waiting if each.stem == trace_id), None)


def _summary(folder: Path, trace_id: str, told: str) -> TraceSummary | None:
    """Return what a row tells, which another version, or anybody who may write there, has written; None where it is
    not the row of a trace."""
    if not is_trace_id(trace_id):
        return None
    row = whole_line(told.encode()) or {}
    return TraceSummary(
        trace_id=trace_id,
        path=folder / f"{trace_id}.jsonl",
        started=instant(row.get("started")),
        question=value_of(row, "question", str),
        model_id=value_of(row, "model_id", str),
        outcome=next((each for each in get_args(Outcome) if each == row.get("outcome")), "unfinished"),
        confidence=value_of(row, "confidence", float, int),
        tokens_used=value_of(row, "tokens_used", int),
        seconds=value_of(row, "seconds", float, int),
        size=value_of(row, "size", int) or 0,
        rerun_of=value_of(row, "rerun_of", str),
        continues=value_of(row, "continues", str),
        source=value_of(row, "source", str),
        has_citations=row.get("has_citations") is True,
        ended=instant(row.get("ended")),
        sources_failed=row.get("sources_failed") is True,
        is_investigation=row.get("is_investigation") is True,
    )
