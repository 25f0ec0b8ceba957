"""SQLite: a file opened to read only, with an authorizer that lets one SELECT through."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from marchwarden.sources.database.schema import is_secret
from marchwarden.sources.database.text_values import quoted, span_of, text_values

# Instructions of SQLite's machine between two looks at the clock.
_STEPS = 10_000
# Bytes of a value or a row, and of a statement. Guesses.
_MAX_VALUE_BYTES, _MAX_SQL_BYTES = 1_000_000, 20_000

# Functions of SQLite that make no large values and touch no file. Operators such as LIKE are functions, too.
FUNCTIONS = frozenset(
    {
        "count", "sum", "total", "avg", "min", "max", "abs", "round", "lower", "upper", "length", "trim",
        "ltrim", "rtrim", "replace", "coalesce", "ifnull", "nullif", "substr", "substring", "instr", "date", "time",
        "datetime", "julianday", "strftime", "like", "glob", "iif", "cast", "group_concat", "typeof", "sign",
        "ceil", "ceiling", "floor", "sqrt", "power", "pow", "exp", "ln", "log", "log10", "row_number", "rank",
        "dense_rank", "ntile", "lag", "lead", "first_value", "last_value", "nth_value", "cume_dist",
        "percent_rank", "unixepoch"
    }
)  # fmt: skip
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})


class SqliteReader:
    def __init__(self, job: Mapping[str, Any]) -> None:
        path = Path(job["target"])
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path.name}")
        # An unfinished write-ahead log belongs to the data: with immutable=1 it would be ignored.
        is_still = not Path(f"{path}-wal").exists() and not Path(f"{path}-journal").exists()
        address = f"file:{quote(str(path))}?mode=ro" + ("&immutable=1" if is_still else "")
        self._connection = sqlite3.connect(address, uri=True, isolation_level=None)
        self._connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for pragma in ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
            self._connection.execute(f"PRAGMA {pragma}")
        if hasattr(self._connection, "setlimit"):  # since Python 3.11
            for name, most in (
                ("SQLITE_LIMIT_ATTACHED", 0),
                ("SQLITE_LIMIT_LENGTH", _MAX_VALUE_BYTES),
                ("SQLITE_LIMIT_SQL_LENGTH", _MAX_SQL_BYTES),
                ("SQLITE_LIMIT_EXPR_DEPTH", 100),
                ("SQLITE_LIMIT_COMPOUND_SELECT", 10),
                ("SQLITE_LIMIT_WORKER_THREADS", 0),
            ):
                self._connection.setlimit(getattr(sqlite3, name), most)
        self._hidden = {tuple(pair) for pair in job.get("hidden", ())}
        self._tables = None if job.get("tables") is None else {name.lower() for name in job["tables"]}
        deadline = time.monotonic() + job["seconds"]
        self._connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)

    def close(self) -> None:
        self._connection.close()

    def select(self, statement: str, most_rows: int) -> tuple[Sequence[str], Sequence[str], Iterable[Sequence[Any]]]:
        self._connection.set_authorizer(self._authorize)
        cursor = self._connection.execute(statement)
        columns = [each[0] for each in cursor.description or ()]
        return columns, [""] * len(columns), cursor.fetchmany(most_rows + 1)

    def _authorize(self, action: int, first: str | None, second: str | None, *_: object) -> int:
        if action not in _ALLOWED:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in FUNCTIONS:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_READ:
            table, column = (first or "").lower(), (second or "").lower()
            is_listed = self._tables is None or not table or table in self._tables
            if not is_listed or table.startswith("sqlite_") or (table, column) in self._hidden:
                return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def describe(self, most_values: int) -> dict[str, Any]:
        ask = self._connection.execute
        names = ask(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' "
            "ORDER BY rowid"
        ).fetchall()
        tables, keys = [], []
        for (name,) in names:
            info = ask(f"PRAGMA table_info({quoted(name)})").fetchall()
            columns = [{"name": each[1], "type": each[2] or ""} for each in info]
            for column in columns:
                if not is_secret(column["name"]):
                    # A column of SQLite may hold values of any type.
                    texts = "typeof({0}) = 'text' AND "
                    column.update(text_values(ask, quoted(name), column["name"], most_values, where=texts))
                    column.update(span_of(ask, quoted(name), column["name"]))
            key = [each[1] for each in info if each[5]]
            tables.append({"name": name, "schema": "main", "columns": columns, "key": key})
            for each in ask(f"PRAGMA foreign_key_list({quoted(name)})").fetchall():
                keys.append([name, each[3], each[2], each[4] or _first_key(ask, each[2])])
        return {"tables": tables, "keys": keys}


def _first_key(ask: Any, table: str) -> str:
    info = ask(f"PRAGMA table_info({quoted(table)})").fetchall()
    return next((each[1] for each in info if each[5]), "")
