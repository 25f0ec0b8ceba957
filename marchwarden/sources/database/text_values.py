"""Values of a column, which questions may name or need; in SQL that SQLite, DuckDB and PostgreSQL share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marchwarden.sources.database.schema import words_of_name

# Characters of a value that questions may name. A guess.
_MAX_CHARS = 60


def text_values(
    execute: Callable[[str], Any], table: str, column: str, most: int, *, where: str = ""
) -> dict[str, Any]:
    """Return up to `most` short values of a column, and whether it has no others.

    `table` is its name in SQL, in quotation marks. `execute` runs a statement and returns a cursor. `where` is a
    condition on the column `{0}`, and ends with AND.
    """
    name = quoted(column)
    texts = f"FROM {table} WHERE {where.format(name)}length({name})"
    found = execute(f"SELECT DISTINCT {name} {texts} <= {_MAX_CHARS} LIMIT {most + 1}").fetchall()
    # Longer ones are values, too.
    complete = len(found) <= most and execute(f"SELECT 1 {texts} > {_MAX_CHARS} LIMIT 1").fetchone() is None
    return {"values": [value for (value,) in found[:most]], "complete": complete}


def span_of(execute: Callable[[str], Any], table: str, column: str) -> dict[str, Any]:
    """Return the least and greatest number of a column that is named after a discount; nothing for other columns.

    A discount of 0.1 is a share of the price, and one of 10 may be percent or money.
    """
    if "discount" not in words_of_name(column):
        return {}
    name = quoted(column)
    least, greatest = execute(f"SELECT MIN({name}), MAX({name}) FROM {table}").fetchone()
    try:
        return {"span": [float(least), float(greatest)]}
    except (TypeError, ValueError):
        return {}  # no rows, or texts


def quoted(*names: str) -> str:
    """Return a name of a table or a column as SQL, or the names of a schema and its table."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)
