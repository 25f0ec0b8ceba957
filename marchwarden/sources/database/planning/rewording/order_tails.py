"""The order in which rows are asked for, where a question says it at its end: `…, ordered by name`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import sqlglot
from sqlglot import expressions as exp

from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.schema import words_of_name

_TAIL = re.compile(
    r"[,.;]?\s+(?:and\s+)?(?:please\s+)?(?:ordered|sorted|order|sort|ranked)\s+"
    r"(?:(?:(?:the|these)\s+)?(?:them|results?|rows|list|answers?|output)\s+)?"
    r"(?P<by>(?:by|in|from|alphabetically|descending|ascending)\b.*?)[.?!\s]*$",
    re.IGNORECASE,
)
_FALLING = re.compile(r"\b(?:descending|decreasing|(?:highest|largest|most|high|biggest) to|reverse)\b", re.I)
_RISING = re.compile(r"\b(?:ascending|increasing|alphabetical\w*|(?:lowest|smallest|fewest|least|low) to)\b", re.I)
_SAYS_NOTHING = re.compile(
    r"\b(?:by|in|the|a|an|of|from|order|descending|ascending|decreasing|increasing|alphabetical(?:ly)?|reverse|"
    r"(?:highest|largest|most|lowest|smallest|fewest|least|high|low|biggest)|to|for|each|their|its)\b",
    re.I,
)
_OF_NUMBERS = frozenset(map(stem_of, ("number", "count", "total", "sum", "average", "amount", "revenue", "sales")))


def without_order(question: str) -> tuple[str, str] | None:
    """Return a question without the order that it ends with, and the words of the order; None where there is none."""
    found = _TAIL.search(question)
    if found is None or found.start() == 0:
        return None
    return question[: found.start()].rstrip(" ,.;") + "?", found["by"]


def with_order(sql: str, by: str, dialect: str) -> str | None:
    """Return the statement with its rows in an order; None where it is not clear by which of its columns."""
    tree = sqlglot.parse_one(sql, dialect=dialect)
    if not isinstance(tree, exp.Select) or tree.args.get("order") or tree.args.get("limit"):
        return None
    place = _place(tree.expressions, by)
    if place is None:
        return None
    ordered = exp.Ordered(this=exp.Literal.number(place + 1), desc=_FALLING.search(by) is not None)
    tree.set("order", exp.Order(expressions=[ordered]))
    return tree.sql(dialect=dialect)


def _place(columns: Sequence[exp.Expr], by: str) -> int | None:
    numbers = [n for n, each in enumerate(columns) if each.find(exp.AggFunc) is not None]
    texts = [n for n, each in enumerate(columns) if n not in numbers]
    said = [stem_of(word) for word in words_of_name(_SAYS_NOTHING.sub(" ", by))]
    if not said:  # `from highest to lowest`, `alphabetically`
        found = numbers if _FALLING.search(by) or "lowest" in by.lower() else texts
        found = texts if re.search("alphabetical", by, re.IGNORECASE) else found
        return found[0] if len(found) == 1 else None
    if set(said) & _OF_NUMBERS and len(numbers) == 1:
        return numbers[0]
    # Each word of the order must be of the column, or of its table: `by the category name`.
    names = {n: _stems_of(columns[n]) for n in texts}
    whole = [n for n in texts if set(said) <= names[n] and set(said) & _stems(columns[n].alias_or_name)]
    return whole[0] if len(whole) == 1 else None


def _stems_of(column: exp.Expr) -> set[str]:
    table = column.table if isinstance(column, exp.Column) else ""
    return _stems(column.alias_or_name) | _stems(table)


def _stems(name: str) -> set[str]:
    return {stem_of(word) for word in words_of_name(name)}
