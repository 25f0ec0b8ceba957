"""Tables of a database as its reader describes them: columns, keys and sample values. Plain data."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    """Columns of the primary key."""
    comment: str = ""

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        return {column.name.lower(): column for column in self.columns}


@dataclass(frozen=True)
class Schema:
    tables: tuple[Table, ...]
    keys: tuple[ForeignKey, ...] = ()
    hidden: frozenset[tuple[str, str]] = field(default=frozenset())
    """Tables and columns, in lower case, that are not shown since their names are those of secrets."""

    @cached_property
    def by_name(self) -> Mapping[str, Table]:
        return {table.name.lower(): table for table in self.tables}

    @cached_property
    def hash(self) -> str:
        """Hash of the names and types, whatever the values are."""
        told = [[table.name, [[column.name, column.type] for column in table.columns]] for table in self.tables]
        return "sha256:" + hashlib.sha256(json.dumps(told).encode()).hexdigest()

    @classmethod
    def of(cls, told: Mapping[str, Any], allowed: Sequence[str] | None = None) -> Schema:
        """Return the schema that a reader's process describes, without tables that are not allowed and without
        columns that hold secrets."""
        names = None if allowed is None else {name.lower() for name in allowed}
        tables, hidden = [], set()
        for table in told["tables"]:
            if names is not None and table["name"].lower() not in names:
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
            tables.append(Table(table["name"], tuple(columns), tuple(table["key"]), table.get("comment") or ""))
        there = {table.name.lower() for table in tables}
        keys = tuple(
            ForeignKey(*key) for key in told["keys"] if key[0].lower() in there and key[2].lower() in there and key[3]
        )
        return cls(tuple(tables), keys, frozenset(hidden))
