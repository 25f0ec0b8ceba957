"""DuckDB: a file of its own, or a folder of CSV, Parquet and JSON files, which are loaded into memory first.

Loaded, so that nothing outside can be reached once the statement runs: DuckDB's own lock on files is all or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from marchwarden.sources.database.schema import KEY_ENDINGS, is_secret, unique_names, words_of_name
from marchwarden.sources.database.text_values import quoted, span_of, text_values

# Memory of the tables and of a statement. A guess: several million rows of a statistical table.
_MEMORY = "1GB"
_READERS = {
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".parquet": "read_parquet",
    ".json": "read_json",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
}
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": _MEMORY,
    "threads": 1,
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}


class DuckdbReader:
    def __init__(self, job: Mapping[str, Any]) -> None:
        path = Path(job["target"])
        self._is_folder = job["engine"] == "files"
        if self._is_folder:
            self._connection = duckdb.connect(":memory:", config=_SETTINGS)
            for file in sorted(path.iterdir()):
                if file.suffix.lower() in _READERS and file.is_file() and not file.is_symlink():
                    self._load(file)
        else:
            if not path.is_file():
                raise FileNotFoundError(f"there is no file {path.name}")
            self._connection = duckdb.connect(str(path), read_only=True, config=_SETTINGS)
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def _load(self, file: Path) -> None:
        table = re.sub(r"\W+", "_", file.stem)
        reader = _READERS[file.suffix.lower()]
        self._connection.execute(f"CREATE TABLE {quoted(table)} AS SELECT * FROM {reader}(?)", [str(file)])

    def close(self) -> None:
        self._connection.close()

    def select(self, statement: str, most_rows: int) -> tuple[Sequence[str], Sequence[str], Iterable[Sequence[Any]]]:
        found = self._connection.execute(statement)
        described = found.description or []
        return [each[0] for each in described], [str(each[1]) for each in described], found.fetchmany(most_rows + 1)

    def describe(self, most_values: int) -> dict[str, Any]:
        ask = self._connection.execute
        tables = []
        found = ask(
            "SELECT table_schema, table_name, table_schema = 'main' FROM information_schema.tables "
            "WHERE table_catalog = current_database() ORDER BY table_schema <> 'main', table_schema, table_name"
        ).fetchall()
        names = unique_names(found)
        for unique, (schema, name, is_on_path) in zip(names, found, strict=True):
            place = quoted(schema, name)
            columns = []
            for column, kind in ask(
                "SELECT column_name, data_type FROM information_schema.columns "
                "WHERE table_name = ? AND table_schema = ? AND table_catalog = current_database() "
                "ORDER BY ordinal_position",
                [name, schema],
            ).fetchall():
                told: dict[str, Any] = {"name": column, "type": kind}
                if kind == "VARCHAR" and not is_secret(column):
                    told.update(text_values(ask, place, column, most_values))
                elif not is_secret(column):
                    told.update(span_of(ask, place, column))
                columns.append(told)
            told_of = {"name": unique, "schema": schema, "is_on_path": is_on_path, "columns": columns}
            tables.append({**told_of, "key": self._key(schema, name)})
        keys = self._foreign_keys(
            {(schema, name): unique for unique, (schema, name, _) in zip(names, found, strict=True)}
        )
        return {"tables": tables, "keys": keys}

    def _key(self, schema: str, table: str) -> list[str]:
        ask = self._connection.execute
        found = ask(
            "SELECT constraint_column_names FROM duckdb_constraints() "
            "WHERE table_name = ? AND schema_name = ? AND constraint_type = 'PRIMARY KEY'",
            [table, schema],
        ).fetchone()
        if found or not self._is_folder:
            return list(found[0]) if found else []
        # A file declares no key: its first column is one if its name says so and each row has a value of its own.
        name, kind = ask(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_name = ? AND table_schema = 'main' ORDER BY ordinal_position LIMIT 1",
            [table],
        ).fetchone() or ("", "")
        names = ask(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'main' AND table_name != ?",
            [table],
        ).fetchall()
        # `loans` has `title`, or `book_id`, of `books`.
        is_named = any(name.lower() == other.lower() for (other,) in names)
        if not (is_named or KEY_ENDINGS.intersection(words_of_name(name)[-1:])):
            return []
        if kind != "VARCHAR" and not kind.endswith("INT"):
            return []
        column = quoted(name)
        counted = ask(f"SELECT count(*), count(DISTINCT {column}) FROM {quoted(table)}").fetchone()
        return [name] if counted and 0 < counted[0] == counted[1] else []

    def _foreign_keys(self, names: Mapping[tuple[str, str], str]) -> list[list[str]]:
        found = self._connection.execute(
            "SELECT schema_name, table_name, constraint_column_names, referenced_table, referenced_column_names "
            "FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'"
        ).fetchall()
        # A key of DuckDB leads to a table of its own schema.
        return [
            [names[schema, table], own[0], names[schema, other], others[0]]
            for schema, table, own, other, others in found
            if len(own) == 1
        ]
