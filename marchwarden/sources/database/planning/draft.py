"""A statement as far as a question was read: what is asked for, and under which conditions. Plain data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from marchwarden.sources.database.schema import Column, Table, words_of_name


class Unclear(Exception):
    """The question can't be planned; the message says why."""


@dataclass
class Condition:
    column: Column
    operator: str
    value: str
    """Text of it in the statement: a literal, or a sub-select."""
    joint: str = "AND"
    """Word that joins it to the one before."""


@dataclass
class Draft:
    """The statement as far as the question was read."""

    select: list[tuple[Column | None, str]] = field(default_factory=list)
    """Columns with their aggregate, in order; no column for COUNT(*)."""
    distinct: bool = False
    counted: Table | None = None
    entities: list[Table] = field(default_factory=list)
    """Tables that the question names, in order."""
    conditions: list[Condition] = field(default_factory=list)
    without: list[tuple[Table, int]] = field(default_factory=list)
    """Tables of which there must be no row, with the number of the first condition that is about those rows."""
    group: Column | Table | None = None
    order: tuple[Column | None, str] | None = None
    """Column to order by, None for the number of rows; and the direction."""
    limit: int | None = None
    having: tuple[str, str] | None = None

    def order_is_count(self) -> bool:
        return self.order is not None and self.order[0] is None


def is_name(column: Column) -> bool:
    words = words_of_name(column.name)
    own = set(words_of_name(column.table)) | {each.removesuffix("s") for each in words_of_name(column.table)}
    return words[-1] in ("name", "title") and (len(words) == 1 or set(words[:-1]) <= own)


def is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", text) is not None


def is_measure(column: Column) -> bool:
    """Return whether the values of a column have an order that a question can mean: numbers, dates, years."""
    if column.is_number or column.is_time:
        return True
    # Texts are compared letter by letter, `9` after `12`: only of one length they have the order of what they say.
    is_even = column.complete and len({len(value) for value in column.values}) == 1
    return is_even and all(re.fullmatch(r"-?\d[\d.:/ -]*", value) for value in column.values)


def holds_days(column: Column) -> bool:
    """Return whether a column holds days, of which texts such as `2019-03-01` can be compared."""
    is_day = re.search(r"date|timestamp", column.type, re.IGNORECASE) is not None
    return is_day and all(re.fullmatch(r"\d{4}-\d\d-\d\d(?: .*)?", value) for value in column.values)


def in_days(column: Column, operator: str, value: str) -> tuple[str, str]:
    """Return a condition on a column of days with the first and last day of its years, where its numbers are years.

    Raises Unclear where a number is no year: databases refuse to compare days with it, or answer wrongly (SQLite).
    """
    numbers = re.findall(r"\d+(?:\.\d+)?", value)
    if value.startswith(("'", "AVG ")):
        return operator, value
    if not all(re.fullmatch(r"[1-9]\d{3}", number) for number in numbers):
        raise Unclear(f"{column.name} of {column.table} holds days, and {value} is none")
    time = "" if column.type.lower() == "date" else " 23:59:59.999999"
    first, last = quote_text(f"{numbers[0]}-01-01"), quote_text(f"{numbers[-1]}-12-31{time}")
    if operator in ("=", "!=", "BETWEEN"):
        return "NOT BETWEEN" if operator == "!=" else "BETWEEN", f"{first} AND {last}"
    return operator, first if operator in ("<", ">=") else last


def quote_text(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
