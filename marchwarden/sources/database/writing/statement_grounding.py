"""Ground a model's statement: its rows must be the database's, and so may hold nothing that the model said.

A constant in a SELECT list would be a row that the model wrote, and an alias a heading of it. A text in a condition
is repeated where the statement is put in words, so it must stand in the question or in the tables.
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError

from marchwarden.sources.database.allow_list import Dialect, StatementRefused
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.schema import Schema, Table, words_of_name

# Numbers of counts by cases; and those of percentages, and of units of time and size, by which values are multiplied.
_CASES = frozenset({"0", "1", "0.0", "1.0"})
_FACTORS = frozenset({"100", "100.0", "7", "12", "24", "60", "365", "1000", "3600"})
# Parents whose constants are arguments and become no part of a row.
_CONDITIONS = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.In, exp.Between, exp.Is, exp.Glob,
    exp.Where, exp.Having, exp.Limit, exp.Offset, exp.Join, exp.Order, exp.Group,
)  # fmt: skip
_FORMATS = (
    exp.TimeToStr, exp.StrToTime, exp.DateTrunc, exp.TimestampTrunc, exp.Extract, exp.Round, exp.Substring,
    exp.ToChar, exp.Interval, exp.DateAdd, exp.DateSub, exp.DataType, exp.StrPosition,
)  # fmt: skip
_TIME_FUNCTIONS = frozenset({"strftime", "julianday", "date_part", "datetime", "time", "instr"})
# A text of figures and signs, such as a date, or a format of dates.
_FIGURES = re.compile(r"[\d\s:./%+-]*|(?:%[A-Za-z]|[-/: ])+")


def ground_statement(sql: str, question: str, schema: Schema, dialect: Dialect) -> str:
    """Return the statement without names of its own in the heading, and with values as the tables spell them.

    Raises StatementRefused.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
    except (SqlglotError, RecursionError, ValueError) as error:
        raise StatementRefused(f"it can't be parsed: {str(error).splitlines()[0][:200]}") from None
    if not isinstance(tree, exp.Select | exp.SetOperation):
        raise StatementRefused("only SELECT is allowed")
    if dialect == "sqlite":
        _quote_texts(tree, schema)
    _check_constants(tree, question, schema)
    _name_tables(tree, schema)
    _find_owners(tree, schema)
    _spell_values(tree, schema)
    known = {column.name.lower() for table in schema.tables for column in table.columns}
    for select in _outer_selects(tree):
        _drop_aliases(select, known)
    return tree.sql(dialect=dialect, comments=False)


def _quote_texts(tree: exp.Expr, schema: Schema) -> None:
    """Write a name in quotation marks that is no column as the text which SQLite takes it for."""
    known = {column.name.lower() for table in schema.tables for column in table.columns}
    known |= {column for _, column in schema.hidden}
    known |= {each.alias.lower() for each in tree.find_all(exp.Alias) if each.alias}
    for column in list(tree.find_all(exp.Column)):
        is_quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
        if is_quoted and not column.table and column.name.lower() not in known:
            column.replace(exp.Literal.string(column.name))


def _check_constants(tree: exp.Expr, question: str, schema: Schema) -> None:
    said = " ".join(question.casefold().split())
    values = {value.casefold() for table in schema.tables for column in table.columns for value in column.values}
    for literal in tree.find_all(exp.Literal):
        text = str(literal.this)
        is_factor = text in _CASES or (text in _FACTORS and isinstance(literal.parent, exp.Mul | exp.Div))
        if _is_in_row(literal) and (literal.is_string or not is_factor):
            raise StatementRefused(f"it selects the constant {text!r}, which stands in no table")
        parts = [" ".join(part.split()) for part in text.casefold().split("%")]
        is_found = all(part in said or part in values for part in parts)
        if literal.is_string and not (is_found or _FIGURES.fullmatch(text)):
            raise StatementRefused(f"the value {text!r} stands neither in the question nor in the tables")
    for select in tree.find_all(exp.Select):
        for each in select.expressions:
            if each.find(exp.Column, exp.Star) is None and not isinstance(select.parent, exp.Exists):
                raise StatementRefused(f"it selects {each.sql()}, which is of no table")


def _name_tables(tree: exp.Expr, schema: Schema) -> None:
    """Write a table's name as the schema does, where the statement has its singular or plural."""
    own = {each.alias.lower() for each in tree.find_all(exp.CTE)}
    stems: dict[tuple[str, ...], list[str]] = {}
    for table in schema.tables:
        stems.setdefault(_stems(table.name), []).append(table.name)
    for each in list(tree.find_all(exp.Table)):
        said = each.name.lower()
        meant = stems.get(_stems(each.name), [])
        if (
            schema.find(each.name, each.db)
            or each.db
            or said in own
            or len(meant) != 1
            or not isinstance(each.this, exp.Identifier)
        ):
            continue
        each.set("this", exp.to_identifier(meant[0]))
        if not each.alias:
            for column in (column for column in tree.find_all(exp.Column) if column.table.lower() == said):
                column.set("table", exp.to_identifier(meant[0]))


def _stems(name: str) -> tuple[str, ...]:
    return tuple(stem_of(word) for word in words_of_name(name))


def _find_owners(tree: exp.Expr, schema: Schema) -> None:
    """Write a column behind the table that has it, where it stands behind another one and there is only one such."""
    found = {each.alias_or_name.lower(): schema.find(each.name, each.db) for each in tree.find_all(exp.Table)}
    tables = {alias: table for alias, table in found.items() if table is not None}
    own = {each.alias.lower() for each in tree.find_all(exp.Alias, exp.CTE, exp.Subquery) if each.alias}
    if own & {*tables, *(table.name.lower() for table in tables.values())} or len(tables) < len(found):
        return  # tables that the statement makes itself have columns of any name
    for column in tree.find_all(exp.Column):
        name, place = column.name.lower(), column.table.lower()
        if isinstance(column.this, exp.Star) or name in own or (place and place not in tables):
            continue
        here = [tables[place]] if place else list(tables.values())
        if any(name in table.by_name or (table.name.lower(), name) in schema.hidden for table in here):
            continue
        owners = [alias for alias, table in tables.items() if name in table.by_name]
        if place and len(owners) == 1:
            column.set("table", exp.to_identifier(owners[0]))
        elif name != "rowid":
            raise StatementRefused(_no_column(column, schema, here))


def _no_column(column: exp.Column, schema: Schema, here: list[Table]) -> str:
    """Return words for a model: a column is not where the statement looks for it, and where it is."""
    told = f"there is no column {column.sql()}"
    elsewhere = [table.place for table in schema.tables if column.name.lower() in table.by_name]
    if elsewhere:
        return f"{told}: {column.name} is a column of {' and '.join(elsewhere)}, which must be joined"
    columns = [each.name for table in dict.fromkeys(here) for each in table.columns]
    return f"{told}: there are {', '.join(columns)}"


def _spell_values(tree: exp.Expr, schema: Schema) -> None:
    """Write values as the tables do: `oslo` as Oslo, where the column that it is compared with has but one such."""
    spelled: dict[tuple[str, str], set[str]] = {}
    for table in schema.tables:
        for column in table.columns:
            for value in column.values:
                spelled.setdefault((column.name.lower(), value.casefold()), set()).add(value)
    for each in tree.find_all(exp.EQ, exp.NEQ, exp.In):
        if not isinstance(each.this, exp.Column):
            continue
        values = each.expressions if isinstance(each, exp.In) else [each.expression]
        for literal in (value for value in values if isinstance(value, exp.Literal) and value.is_string):
            found = spelled.get((each.this.name.lower(), str(literal.this).casefold()), set())
            if len(found) == 1:
                literal.set("this", next(iter(found)))


def _is_in_row(literal: exp.Expr) -> bool:
    """Return whether a constant can become a part of a row."""
    node: exp.Expr | None = literal
    while node is not None and not isinstance(node, exp.Select):
        parent = node.parent
        if isinstance(parent, _CONDITIONS):
            return False
        if isinstance(parent, _FORMATS) and node is not parent.this:
            return False
        if isinstance(parent, exp.Anonymous) and parent.name.lower() in _TIME_FUNCTIONS:
            return False
        node = parent
    return True


def _outer_selects(tree: exp.Expr) -> list[exp.Select]:
    if isinstance(tree, exp.SetOperation):
        return [*_outer_selects(tree.left), *_outer_selects(tree.right)]
    if isinstance(tree, exp.Subquery):
        return _outer_selects(tree.this)
    return [tree] if isinstance(tree, exp.Select) else []


def _drop_aliases(select: exp.Select, known: set[str]) -> None:
    """Replace the aliases of a SELECT list by what they stand for; a name of the statement's own gets a plain one."""
    aliases = {each.alias.lower(): each.this for each in select.expressions if isinstance(each, exp.Alias)}
    for clause in ("order", "group", "having"):
        if (part := select.args.get(clause)) is None:
            continue
        for column in list(part.find_all(exp.Column)):
            if not column.table and (meant := aliases.get(column.name.lower())) and column.name.lower() not in known:
                column.replace(exp.paren(meant.copy()) if isinstance(meant, exp.Binary) else meant.copy())
    told = []
    for number, each in enumerate(select.expressions, start=1):
        plain = each.this if isinstance(each, exp.Alias) else each
        is_own = isinstance(plain, exp.Column) and not plain.find(exp.Star) and plain.name.lower() not in known
        told.append(exp.alias_(plain, f"value_{number}") if is_own else plain)
    select.set("expressions", told)
