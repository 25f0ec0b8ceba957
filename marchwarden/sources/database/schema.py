"""Tables of a database as its reader describes them: columns, keys and sample values. Plain data."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

# Parts of the name of a column whose values are never read. A guess: what products name credentials and identity
# numbers; `pin` and `cvv` only as words of their own.
_SECRET = re.compile(
    r"(?:^|_)(?:pass(?:wd|word|phrase|code)s?|pwd|secrets?|tokens?|api_?keys?|private_?keys?|access_?keys?"
    r"|credentials?|ssn|social_security(?:_number)?|card_?numbers?|credit_card(?:_number)?|cvv2?|pin|salt)(?:_|$)"
)
_NUMERIC = re.compile(r"int|real|float|double|num|dec|serial|money|year", re.IGNORECASE)
_TEMPORAL = re.compile(r"date|time", re.IGNORECASE)


class Refused(Exception):
    """The database, its role or a statement allows or asks too much; the message says why."""


# Words by which the name of a key ends.
KEY_ENDINGS = frozenset({"id", "code", "no", "number", "key", "ref"})


def words_of_name(name: str) -> list[str]:
    """Return the words of an identifier in lower case: `songReleaseYear`, `song_release_year`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.findall(r"[^\W_]+", spaced.lower())


def is_secret(column: str) -> bool:
    """Return whether the name of a column says that its values are credentials or the like."""
    name = "_".join(words_of_name(column))
    return _SECRET.search(name) is not None or _SECRET.search(column.lower()) is not None


@dataclass(frozen=True, eq=False)
class Column:
    table: str
    name: str
    type: str = ""
    values: tuple[str, ...] = ()
    """Distinct values of a column of text, the first ones; none of other columns."""
    complete: bool = False
    """True where `values` are all that there are."""
    comment: str = ""
    span: tuple[float, float] | None = None
    """Least and greatest number; known of discounts only."""

    @property
    def is_number(self) -> bool:
        return _NUMERIC.search(self.type) is not None

    @property
    def is_time(self) -> bool:
        return _TEMPORAL.search(self.type) is not None


@dataclass(frozen=True)
class ForeignKey:
    table: str
    column: str
    other: str
    other_column: str


@dataclass(frozen=True, eq=False)
class Table:
    name: str
    """Name that no other table of the database has: `archive.orders` where another schema has `orders`, too."""
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    """Columns of the primary key."""
    comment: str = ""
    schema: str = ""
    """Schema of the database that the table is in; empty where that is not known."""
    is_on_path: bool = True
    """False where SQL must name the schema: it is not one that the database looks in by itself."""

    @property
    def own_name(self) -> str:
        """Name of the table within its schema."""
        return self.name.removeprefix(f"{self.schema}.") if self.schema else self.name

    @property
    def place(self) -> str:
        """Name of the table as SQL names it: with its schema, if that must be named."""
        return self.name if self.is_on_path else f"{self.schema}.{self.own_name}"

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        return {column.name.lower(): column for column in self.columns}


@dataclass(frozen=True)
class Schema:
    tables: tuple[Table, ...]
    keys: tuple[ForeignKey, ...] = ()
    hidden: frozenset[tuple[str, str]] = field(default=frozenset())
    """Tables and columns, in lower case, that are not shown since their names are those of secrets."""
    closed: tuple[str, ...] = ()
    """Schemas of the database whose tables the role may not read."""

    @cached_property
    def by_name(self) -> Mapping[str, Table]:
        return {table.name.lower(): table for table in self.tables}

    def find(self, name: str, schema: str = "") -> Table | None:
        """Return the table that a statement names; None where there is none that may be read."""
        table = self.by_name.get(name.lower())
        if not schema:
            return table
        found = [
            each
            for each in self.tables
            if (each.schema.lower(), each.own_name.lower()) == (schema.lower(), name.lower())
        ]
        return found[0] if len(found) == 1 else None

    @cached_property
    def hash(self) -> str:
        """Hash of the names and types, whatever the values are."""
        told = [[table.place, [[column.name, column.type] for column in table.columns]] for table in self.tables]
        return "sha256:" + hashlib.sha256(json.dumps(told).encode()).hexdigest()

    @classmethod
    def of(cls, told: Mapping[str, Any], allowed: Sequence[str] | None = None) -> Schema:
        """Return the schema that a reader's process describes, without tables that are not allowed and without
        columns that hold secrets."""
        names = None if allowed is None else {name.lower() for name in allowed}
        tables, hidden = [], set()
        for table in told["tables"]:
            is_on_path, schema = table.get("is_on_path", True), table.get("schema", "")
            made = Table(table["name"], (), tuple(table["key"]), table.get("comment") or "", schema, is_on_path)
            if names is not None and not names & names_in_settings(made):
                continue
            columns = []
            for each in table["columns"]:
                if is_secret(each["name"]):
                    hidden.add((table["name"].lower(), each["name"].lower()))
                    continue
                columns.append(
                    Column(
                        table["name"],
                        each["name"],
                        each["type"],
                        tuple(each.get("values", ())),
                        bool(each.get("complete")),
                        each.get("comment") or "",
                        tuple(each["span"]) if each.get("span") else None,
                    )
                )
            tables.append(replace(made, columns=tuple(columns)))
        there = {table.name.lower() for table in tables}
        keys = tuple(
            ForeignKey(*key) for key in told["keys"] if key[0].lower() in there and key[2].lower() in there and key[3]
        )
        return cls(tuple(tables), keys, frozenset(hidden), tuple(told.get("closed", ())))


def how_to_open(schema: Schema) -> str | None:
    """Return the statements that let a role read what it may not; None where there is nothing such."""
    if not schema.closed:
        return None
    names = ", ".join(schema.closed)
    return (
        f"The role may not read the tables of {names}. If it should, its owner can allow it: "
        "GRANT USAGE ON SCHEMA … TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA … TO reader;"
    )


def names_in_settings(table: Table) -> set[str]:
    """Return the names by which a user's settings allow a table: `orders` is one that needs no schema."""
    with_schema = {f"{table.schema}.{table.own_name}".lower(), f"{table.schema}.*".lower()} if table.schema else set()
    return with_schema | {table.place.lower()}


def unique_names(tables: Sequence[tuple[str, str, bool]]) -> list[str]:
    """Return a name for each table that no other has, of its schema, its name, and whether it needs no schema.

    The name alone is kept for the table that it stands for in SQL, and where there is only one of that name.
    """
    counts = Counter(name.lower() for _, name, _ in tables)
    return [
        name if is_on_path or (counts[name.lower()] == 1 and "." not in name) else f"{schema}.{name}"
        for schema, name, is_on_path in tables
    ]
