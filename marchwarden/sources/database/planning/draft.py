"""A statement as far as a question was read: what is asked for, and under which conditions. Plain data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from marchwarden.sources.database.planning.everyday.periods import Period
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
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


def names_of(table: Table) -> list[Column]:
    """Return the columns that name a row: its name or title, first and last name, or `product` of products."""
    found = [column for column in table.columns if is_name(column)]
    parts = parts_of_name(table)
    if len(parts) == 2 and all(words_of_name(column.name) == ["title"] for column in found):
        return parts  # the title of a person is a job
    if found:
        return found
    own = [stem_of(word) for word in words_of_name(table.name)][-1:]
    return [each for each in table.columns if own and [stem_of(word) for word in words_of_name(each.name)] == own]


def parts_of_name(table: Table) -> list[Column]:
    """Return the columns of parts of a person's name."""
    return [each for each in table.columns if words_of_name(each.name) in _PARTS_OF_NAME]


_PARTS_OF_NAME = (
    ["first", "name"], ["last", "name"], ["given", "name"], ["family", "name"], ["surname"], ["firstname"],
    ["lastname"],
)  # fmt: skip
# Values of a column that says yes or no, with the one that says yes.
_FLAGS = ({"yes", "no"}, {"y", "n"}, {"true", "false"}, {"1", "0"})


def flag_of(column: Column, *, is_set: bool) -> str | None:
    """Return the literal for yes or no of a column that says either; None for other columns."""
    if column.type.lower() in ("boolean", "bool"):
        return "TRUE" if is_set else "FALSE"
    said = {value.lower(): value for value in column.values}
    for flags in _FLAGS:
        if column.complete and said and set(said) <= flags:
            wanted = next(flag for flag in flags if (flag[0] in "yt1") == is_set)
            return quote_text(said.get(wanted, wanted))
    return None


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
    # SQLite has no type for days: many keep them as texts.
    is_text = re.fullmatch(r"text|varchar.*|char.*", column.type, re.IGNORECASE) is not None and bool(column.values)
    return (is_day or is_text) and all(re.fullmatch(r"\d{4}-\d\d-\d\d(?: .*)?", each) for each in column.values)


def is_end(column: Column) -> bool:
    """Return whether a column of days tells when something was over: `returned_on`, `check_out`."""
    return not _ENDS.isdisjoint(map(stem_of, words_of_name(column.name)))


def begins(days: Sequence[Column]) -> list[Column]:
    """Return the first of two days of a row where the other one ends it: a loan of May was made in May."""
    ends = [column for column in days if is_end(column)]
    return [column for column in days if column not in ends] if len(days) == 2 and len(ends) == 1 else list(days)


# Words, as stems, of a column that tells when something was over.
_ENDS = frozenset(
    map(
        stem_of,
        [
            "end",
            "ended",
            "finish",
            "finished",
            "close",
            "closed",
            "out",
            "return",
            "returned",
            "ship",
            "shipped",
            "deliver",
            "delivered",
            "discharged",
            "complete",
            "completed",
            "resolved",
            "done",
            "until",
            "left",
            "stopped",
        ],
    )
)


def in_days(column: Column, operator: str, value: str) -> tuple[str, str]:
    """Return a condition on a column of days with the first and last day of its years, where its numbers are years.

    Raises Unclear where a number is no year: databases refuse to compare days with it, or answer wrongly (SQLite).
    """
    numbers = re.findall(r"\d+(?:\.\d+)?", value)
    if value.startswith(("'", "AVG ")):
        return operator, value
    if not all(re.fullmatch(r"[1-9]\d{3}", number) for number in numbers):
        raise Unclear(f"{column.name} of {column.table} holds dates, and {value} is not one")
    time = "" if column.type.lower() == "date" else " 23:59:59.999999"
    first, last = quote_text(f"{numbers[0]}-01-01"), quote_text(f"{numbers[-1]}-12-31{time}")
    if operator in ("=", "!=", "BETWEEN"):
        return "NOT BETWEEN" if operator == "!=" else "BETWEEN", f"{first} AND {last}"
    return operator, first if operator in ("<", ">=") else last


def in_period(column: Column, operator: str, period: Period) -> tuple[str, str]:
    """Return the condition that a day or a month sets on a column of days; `MONTH` for one of any year.

    Raises Unclear where the column holds no days, or a month of any year is compared.
    """
    if not holds_days(column):
        raise Unclear(f"{column.name} of {column.table} holds no dates")
    if period.year is None:
        if operator != "=":
            raise Unclear("it is not clear which year the month belongs to")
        return "MONTH", str(period.month)
    time = "" if column.type.lower() == "date" else " 23:59:59.999999"
    first, last = quote_text(period.first), quote_text(period.last + time)
    if operator in ("=", "!="):
        return "BETWEEN" if operator == "=" else "NOT BETWEEN", f"{first} AND {last}"
    return operator, first if operator in ("<", ">=") else last


def quote_text(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
