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
_SMALL = "lowest|smallest|fewest|least|low"
_LARGE = "highest|largest|biggest|greatest|most|high"
_FALLING = re.compile(rf"\b(?:desc(?:ending)?|decreasing|falling|reversed?|(?:{_LARGE}) (?:to|first))\b", re.I)
_OF_SIZES = re.compile(rf"\b(?:{_SMALL}|{_LARGE})\b", re.I)
_SAYS_NOTHING = re.compile(
    r"\b(?:by|in|the|a|an|of|from|order|desc(?:ending)?|asc(?:ending)?|decreasing|increasing|falling|rising|reversed?|"
    rf"alphabetical(?:ly)?|(?:{_SMALL}|{_LARGE})(?: first)?|to|for|each|their|its)\b",
    re.I,
)
# Words for numbers, and what a number that is called so can be.
_OF_NUMBERS: dict[str, tuple[type[exp.AggFunc], ...]] = {
    stem_of(word): kinds
    for word, kinds in {
        "number": (exp.Count, exp.Sum),
        "count": (exp.Count,),
        "total": (exp.Count, exp.Sum),
        "sum": (exp.Sum,),
        "average": (exp.Avg,),
        "amount": (exp.Sum,),
        "revenue": (exp.Sum,),
        "sales": (exp.Count, exp.Sum),
    }.items()
}


def without_order(question: str) -> tuple[str, str] | None:
    """Return a question without the order that it ends with, and the words of the order; None where there is none."""
    found = _TAIL.search(question)
    if found is None or found.start() == 0:
        return None
    return question[: found.start()].rstrip(" ,.;") + "?", found["by"]


def with_order(sql: str, asked: str, by: str, dialect: str) -> str | None:
    """Return the statement of what is asked with its rows in an order; None where it is not clear by which of its
    columns."""
    tree = sqlglot.parse_one(sql, dialect=dialect)
    if not isinstance(tree, exp.Select) or tree.args.get("order") or tree.args.get("limit"):
        return None
    place = _place(tree.expressions, asked, by)
    if place is None:
        return None
    ordered = exp.Ordered(this=exp.Literal.number(place + 1), desc=_FALLING.search(by) is not None)
    tree.set("order", exp.Order(expressions=[ordered]))
    return tree.sql(dialect=dialect)


def _place(columns: Sequence[exp.Expr], asked: str, by: str) -> int | None:
    if re.search(r"\b(?:and|then)\b", by, re.IGNORECASE):  # one order within another
        return None
    numbers = [n for n, each in enumerate(columns) if each.find(exp.AggFunc) is not None]
    texts = [n for n, each in enumerate(columns) if n not in numbers]
    said = [stem_of(word) for word in words_of_name(_SAYS_NOTHING.sub(" ", by))]
    if not said:  # `from highest to lowest`, `alphabetically`
        found = numbers if _FALLING.search(by) or _OF_SIZES.search(by) else texts
        found = texts if re.search("alphabetical", by, re.IGNORECASE) else found
        return found[0] if len(found) == 1 else None
    if set(said) & _OF_NUMBERS.keys() and len(numbers) == 1:
        # `by the number of guests` is no order of what counts their stays.
        is_asked = set(said) - _OF_NUMBERS.keys() <= _stems(asked)
        number = columns[numbers[0]].find(exp.AggFunc)
        is_such = all(isinstance(number, _OF_NUMBERS[each]) for each in said if each in _OF_NUMBERS)
        return numbers[0] if is_asked and is_such else None
    # Each word of the order must be of the column, or of its table: `by the category name`.
    names = {n: _stems_of(columns[n]) for n in texts}
    whole = [n for n in texts if set(said) <= names[n] and set(said) & _stems(columns[n].alias_or_name)]
    return whole[0] if len(whole) == 1 else None


def _stems_of(column: exp.Expr) -> set[str]:
    table = column.table if isinstance(column, exp.Column) else ""
    return _stems(column.alias_or_name) | _stems(table)


def _stems(name: str) -> set[str]:
    return {stem_of(word) for word in words_of_name(name)}
