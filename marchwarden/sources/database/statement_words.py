"""A statement in words, by rules: the title of its rows. What the rules can't word is shown as SQL."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import expressions as exp

from marchwarden.sources.database.schema import words_of_name

if TYPE_CHECKING:
    from marchwarden.sources.database.allow_list import Dialect

# Characters of a statement in words, at most. A guess: two lines.
_MAX_CHARS = 240
# Bytes of a column's name: PostgreSQL cuts longer ones.
_MAX_NAME_BYTES = 63

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Avg: "average",
    exp.Sum: "sum of",
    exp.Max: "maximum",
    exp.Min: "minimum",
}
# Formats of a day as its month or year: of SQLite and DuckDB, and of PostgreSQL as it is parsed.
_SPANS = {"%Y-%m": "month", "%Y": "year"}
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "is",
    exp.NEQ: "is not",
    exp.GT: "is more than",
    exp.GTE: "is at least",
    exp.LT: "is less than",
    exp.LTE: "is at most",
    exp.Like: "is like",
    exp.ILike: "is like",
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divided by",
}


def describe_statement(tree: exp.Expr) -> str:
    """Return a statement in words, such as `number of singer where country is France`."""
    try:
        words = _select(tree) if isinstance(tree, exp.Select) else _set(tree)
    except _NoWords:
        words = tree.sql()
    words = words[:1].upper() + words[1:]
    return words if len(words) <= _MAX_CHARS else words[: _MAX_CHARS - 2].rstrip() + " …"


def name_columns(sql: str, dialect: Dialect) -> str:
    """Return a statement that gives each number it computes a name in words, in place of the database's own, such as
    `COUNT(*)` or `count_star()`. What has no words, and a UNION, is left as it is."""
    tree = sqlglot.parse_one(sql, dialect=dialect)
    if not isinstance(tree, exp.Select):
        return sql
    # A name that the statement uses elsewhere would be read as that.
    taken = {each.name.lower() for each in tree.find_all(exp.Identifier)}
    tables = [_table(each) for each in tree.find_all(exp.Table) if each.parent_select is tree]
    named = []
    for each in tree.expressions:
        name = ""
        if not isinstance(each, exp.Column | exp.Star | exp.Alias):
            with suppress(_NoWords):
                name = _words_of(each)
            if name == "number" and len(tables) == 1:
                name = f"number of {tables[0]}"
        is_free = bool(name) and name.lower() not in taken and len(name.encode()) <= _MAX_NAME_BYTES
        named.append(exp.alias_(each, name, quoted=True) if is_free else each)
        taken |= {name.lower()} if is_free else set()
    tree.set("expressions", named)
    return tree.sql(dialect=dialect, comments=False)


class _NoWords(Exception):
    pass


def _set(tree: exp.Expr) -> str:
    if not isinstance(tree, exp.SetOperation):
        raise _NoWords
    joint = "and" if isinstance(tree, exp.Union) else "without" if isinstance(tree, exp.Except) else "that are also"
    if not isinstance(tree.left, exp.Select) or not isinstance(tree.right, exp.Select):
        raise _NoWords
    return f"{_select(tree.left)} {joint} {_select(tree.right)}"


def _select(tree: exp.Select) -> str:
    if tree.args.get("with_") or tree.args.get("with"):
        raise _NoWords
    tables = [_table(each) for each in tree.find_all(exp.Table) if each.parent_select is tree]
    columns = [_words_of(each) for each in tree.expressions]
    distinct = "different " if tree.args.get("distinct") else ""
    counts = columns == ["number"]
    if not tables:
        return ", ".join(columns)  # numbers that are each of a statement of its own
    said = f"{distinct}{', '.join(columns)} of {' and '.join(dict.fromkeys(tables))}"
    said = said.replace("number of", "number of rows of", 1) if counts and len(tables) > 1 else said
    if where := tree.args.get("where"):
        said += f" with {best}" if (best := _best(where.this)) else f" where {_words_of(where.this)}"
    if group := tree.args.get("group"):
        # The names of a group stand beside its key, and are said already.
        keys = [each for each in group.expressions if each not in tree.expressions] or group.expressions
        said += f" for each {' and '.join(map(_words_of, keys))}"
    if having := tree.args.get("having"):
        said += f" with {best}" if (best := _best(having.this)) else f" having {_words_of(having.this)}"
    if order := tree.args.get("order"):
        by = [
            _words_of(each.this) + (", highest first" if each.args.get("desc") else "") for each in order.expressions
        ]
        said += f" by {', '.join(by)}"
    if limit := tree.args.get("limit"):
        number = limit.expression.sql()
        said += f", first {number}" if tree.args.get("order") else f", at most {number} rows"
    return said


def _best(node: exp.Expr) -> str:
    """Return `the highest number`, or `the 2nd to 4th highest`, for a condition that one has that place of all; else
    nothing."""
    within = (
        node.expression if isinstance(node, exp.EQ) else node.args.get("query") if isinstance(node, exp.In) else None
    )
    ranked = within.this if isinstance(within, exp.Subquery) else within
    order = ranked.args.get("order") if isinstance(ranked, exp.Select) else None
    if not isinstance(ranked, exp.Select) or order is None or len(order.expressions) != 1:
        return ""
    if order.expressions[0].this != node.this or not (limit := ranked.args.get("limit")):
        return ""
    offset = ranked.args.get("offset")
    first = 1 + (int(offset.expression.name) if offset else 0)
    last = first + int(limit.expression.name) - 1
    places = f"{_ordinal(first)} to {_ordinal(last)} " if last > first else f"{_ordinal(first)} " if first > 1 else ""
    return f"the {places}{'highest' if order.expressions[0].args.get('desc') else 'lowest'} {_words_of(node.this)}"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _words_of(node: exp.Expr) -> str:
    if isinstance(node, exp.Alias | exp.Paren):
        return _words_of(node.this)
    if isinstance(node, exp.Anonymous) and _is_day(node):
        return _words_of(node.expressions[0])
    if isinstance(node, exp.Column):
        return "all columns" if isinstance(node.this, exp.Star) else _words(node.name)
    if isinstance(node, exp.Star):
        return "all columns"
    if isinstance(node, exp.Count):
        if isinstance(node.this, exp.Star):
            return "number"
        inner = node.this
        if isinstance(inner, exp.Case) and len(inner.args["ifs"]) == 1:
            return f"number of rows where {_words_of(inner.args['ifs'][0].this)}"
        if isinstance(inner, exp.Distinct):
            return f"number of different {', '.join(_words_of(each) for each in inner.expressions)}"
        return f"number of {_words_of(inner)}"
    if type(node) in _AGGREGATES:
        return f"{_AGGREGATES[type(node)]} {_words_of(node.this)}"
    if isinstance(node, exp.Literal):
        return node.name
    if days := _days_between(node):
        return f"days from {_words_of(days[0])} to {_words_of(days[1])}"
    if isinstance(node, exp.Case) and node.this is not None and (day := _day_of_weekday(node.this)) is not None:
        return f"weekday of {_words_of(day)}"
    if isinstance(node, exp.TimeToStr) and node.text("format") in _SPANS:
        return f"{_SPANS[node.text('format')]} of {_words_of(node.this)}"
    if isinstance(node, exp.DPipe) and isinstance(node.this, exp.DPipe) and node.this.expression.name == "-Q":
        return f"{_words_of(node.this.this).replace('year', 'quarter', 1)}"
    if isinstance(node, exp.Extract):
        return f"{node.this.name.lower()} of {_words_of(node.expression)}"
    if isinstance(node, exp.Neg):
        return f"-{_words_of(node.this)}"
    if isinstance(node, exp.And | exp.Or):
        return f"{_words_of(node.left)} {node.key} {_words_of(node.right)}"
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        # PostgreSQL's `IS NOT NULL` is parsed as one that is negated itself.
        return f"{_words_of(node.this)} is {'' if node.args.get('negate') else 'not '}known"
    if isinstance(node, exp.Not) and isinstance(node.this, exp.Is) and isinstance(node.this.expression, exp.Null):
        return f"{_words_of(node.this.this)} is known"
    if isinstance(node, exp.Not) and isinstance(node.this, exp.In) and node.this.args.get("query") is None:
        return f"{_words_of(node.this.this)} is none of {', '.join(map(_words_of, node.this.expressions))}"
    if (
        isinstance(node, exp.Not)
        and isinstance(node.this, exp.In)
        and isinstance(query := node.this.args["query"].this, exp.Select)
    ):
        return f"{_words_of(node.this.this)} is not in the {_select(query)}"
    if isinstance(node, exp.Not):
        return f"not {_words_of(node.this)}"
    if isinstance(node, exp.Mul) and isinstance(node.right, exp.Literal) and node.right.name == "1.0":
        return _words_of(node.left)  # it makes a division of whole numbers keep its fraction
    if isinstance(node, exp.Mul) and isinstance(node.left, exp.Literal) and node.left.name in ("1.0", "100.0"):
        return ("100 times " if node.left.name == "100.0" else "") + _words_of(node.right)
    if isinstance(node, exp.Binary) and type(node) in _COMPARISONS:
        return f"{_words_of(node.left)} {_COMPARISONS[type(node)]} {_words_of(node.right)}"
    if isinstance(node, exp.Between):
        return f"{_words_of(node.this)} is from {_words_of(node.args['low'])} to {_words_of(node.args['high'])}"
    if isinstance(
        node,
        exp.Round
        | exp.Lower
        | exp.Upper
        | exp.Distinct
        | exp.Cast
        | exp.TryCast
        | exp.Replace
        | exp.TsOrDsToTimestamp
        | exp.Abs
        | exp.Nullif
        | exp.Coalesce
        | exp.Date,
    ):
        return _words_of(node.this or node.expressions[0])
    if isinstance(node, exp.In) and node.args.get("query") is None:
        return f"{_words_of(node.this)} is one of {', '.join(_words_of(each) for each in node.expressions)}"
    if isinstance(node, exp.Case):
        # Numbers for the texts of a column order what these say: days, times, heights.
        if node.this is not None:
            return _words_of(node.this)
        chosen = [f"{_words_of(each.args['true'])} if {_words_of(each.this)}" for each in node.args["ifs"]]
        default = node.args.get("default")
        return ", ".join(chosen + ([f"else {_words_of(default)}"] if default is not None else []))
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
        return f"the {_select(node.this)}"
    if isinstance(node, exp.In) and isinstance(query := node.args["query"].this, exp.Select):
        return f"{_words_of(node.this)} is in the {_select(query)}"
    raise _NoWords


def _days_between(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """Return the first and the last day of a difference in days, as each dialect writes it."""
    if isinstance(node, exp.DateDiff):
        return node.expression, node.this
    if isinstance(node, exp.Sub) and all(_is_day(each) for each in (node.left, node.right)):
        return node.right, node.left
    return None


def _is_day(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() == "julianday"
    return isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE


def _day_of_weekday(node: exp.Expr) -> exp.Expr | None:
    """Return the day whose weekday a number is; None for other numbers."""
    if isinstance(node, exp.Extract):
        return node.expression if node.this.name.lower() in ("dow", "dayofweek") else None
    inner = node.this if isinstance(node, exp.Cast) else None
    return inner.this if isinstance(inner, exp.TimeToStr) and inner.text("format") == "%w" else None


def _table(node: exp.Table) -> str:
    # A schema is told where a table of another one has the same name: the alias has both names then.
    return _words(node.alias if node.alias == f"{node.db}.{node.name}" else node.name)


def _words(name: str) -> str:
    # SQLite and DuckDB number the rows in their order.
    return "place in the table" if name.lower() == "rowid" else " ".join(words_of_name(name)) or name
