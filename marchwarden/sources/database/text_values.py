"""Values of a text column, which questions may name; in SQL that SQLite, DuckDB and PostgreSQL share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Characters of a value that questions may name. A guess.
_MAX_CHARS = 60


def text_values(
    execute: Callable[[str], Any], table: str, column: str, most: int, *, where: str = ""
) -> dict[str, Any]:
    """Return up to `most` short values of a column, and whether it has no others.

    `execute` runs a statement and returns a cursor. `where` is a condition on the column `{0}`, and ends with AND.
    """
    name = quoted(column)
    texts = f"FROM {quoted(table)} WHERE {where.format(name)}length({name})"
    found = execute(f"SELECT DISTINCT {name} {texts} <= {_MAX_CHARS} LIMIT {most + 1}").fetchall()
    # Longer ones are values, too.
    complete = len(found) <= most and execute(f"SELECT 1 {texts} > {_MAX_CHARS} LIMIT 1").fetchone() is None
    return {"values": [value for (value,) in found[:most]], "complete": complete}


def quoted(name: str) -> str:
    """Return a name of a table or a column as SQL."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
