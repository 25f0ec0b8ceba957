"""The process that reads a database: `main` takes a job as JSON on stdin and writes its answer as JSON.

It runs one job and ends. Its parent kills it by the clock. Nothing of the package but the engines is imported here,
so that the process starts in a tenth of a second.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Protocol

from marchwarden.sources.database.schema import Refused

# Bytes of address space beyond what DuckDB is allowed to use. A guess.
_MEMORY_BYTES = 4_000_000_000
# Characters of one value; the rest is cut. A guess.
_MAX_CELL_CHARS = 2_000


class Connection(Protocol):
    """Interface of an engine for a job."""

    def describe(self, most_values: int) -> dict[str, Any]: ...

    def select(self, statement: str, most_rows: int) -> tuple[Sequence[str], Sequence[str], Iterable[Sequence[Any]]]:
        """Return names and types of the columns, and the rows: one more than `most_rows` at most."""
        ...

    def close(self) -> None: ...


def main() -> None:
    job = json.load(sys.stdin)
    _set_limits(job["seconds"])
    try:
        told = run_job(job)
    except Refused as error:
        told = {"refused": str(error)}
    except MemoryError:
        told = {"error": "the statement needs too much memory"}
    # An engine raises whatever it likes for a wrong statement or a broken file.
    except Exception as error:
        told = {"error": (str(error).strip().splitlines() or [type(error).__name__])[0][:500]}
    json.dump(told, sys.stdout)


def run_job(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run one job: `describe` the tables, or `select` the rows of a statement that was checked before."""
    with closing(connect(job)) as connection:
        if job["do"] == "describe":
            return connection.describe(job["most_values"])
        columns, types, found = connection.select(job["statement"], job["most_rows"])
    rows: list[list[str | None]] = []
    more, left = False, job["most_bytes"]
    for row in found:
        cells = [_text(value) for value in row]
        left -= sum(len(cell.encode("utf-8", "replace")) for cell in cells if cell)
        if len(rows) == job["most_rows"] or left < 0:
            more = True
            break
        rows.append(cells)
    return {"columns": list(columns), "types": list(types), "rows": rows, "more": more}


def connect(job: Mapping[str, Any]) -> Connection:
    """Open the database of a job, to read only. Raises Refused, and whatever the engine raises."""
    engine = job["engine"]
    if engine == "sqlite":
        from marchwarden.sources.database.sqlite_reader import SqliteReader

        return SqliteReader(job)
    if engine == "postgres":
        from marchwarden.sources.database.postgres_reader import PostgresReader

        return PostgresReader(job)
    from marchwarden.sources.database.duckdb_reader import DuckdbReader

    return DuckdbReader(job)


def _text(value: Any) -> str | None:
    """Return a value as it stands in the document: ISO dates, plain numbers, `true` and `false`."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | date | time):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(bytes(value))} bytes)"
    text = repr(value) if isinstance(value, float) else str(value)
    return text if len(text) <= _MAX_CELL_CHARS else text[:_MAX_CELL_CHARS] + "…"


def _set_limits(seconds: float) -> None:
    with suppress(ImportError, ValueError, OSError):  # not on Windows; there the parent's clock is all
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
