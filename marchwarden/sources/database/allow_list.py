"""The allow-list of statements: one SELECT over known tables, with known functions, as sqlglot parses it.

What is run is what was parsed, written anew: a text that the database would read otherwise never reaches it. Only
listed kinds of expressions pass, so that what nobody thought of is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

import sqlglot
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError

from marchwarden.sources.database.planning.statement_writer import write_name
from marchwarden.sources.database.schema import Schema, Table, is_secret

Dialect: TypeAlias = Literal["sqlite", "duckdb", "postgres"]

# Characters and parts of a statement. Guesses: the longest gold query of Spider and Defog has 900 and 180.
_MAX_CHARS, _MAX_NODES = 8_000, 2_000

_CLAUSES: tuple[type[exp.Expr], ...] = (
    exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery, exp.With, exp.CTE, exp.TableAlias, exp.Table,
    exp.Identifier, exp.Column, exp.Star, exp.Alias, exp.Literal, exp.Null, exp.Boolean, exp.From, exp.Join,
    exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Distinct, exp.Paren,
    exp.Tuple, exp.Neg, exp.Not, exp.In, exp.Between, exp.Case, exp.If, exp.DataType, exp.DataTypeParam,
    exp.Interval, exp.IntervalSpan, exp.Var, exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.Escape,
    exp.Exists, exp.Qualify,
)  # fmt: skip
_OPERATORS: tuple[type[exp.Expr], ...] = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.And, exp.Or, exp.Xor, exp.EQ, exp.NEQ, exp.GT,
    exp.GTE, exp.LT, exp.LTE, exp.Is, exp.Like, exp.ILike, exp.Glob, exp.NullSafeEQ, exp.NullSafeNEQ, exp.DPipe,
)  # fmt: skip
_FUNCTIONS: tuple[type[exp.Expr], ...] = (
    exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Abs, exp.Round, exp.Lower, exp.Upper, exp.Length, exp.Trim,
    exp.Coalesce, exp.Nullif, exp.Substring, exp.Concat, exp.Cast, exp.TryCast, exp.Extract, exp.DateTrunc,
    exp.TimestampTrunc, exp.CurrentDate, exp.CurrentTimestamp, exp.TimeToStr, exp.StrToTime, exp.Date, exp.Year,
    exp.Month, exp.Day, exp.DateAdd, exp.DateSub, exp.DateDiff, exp.TsOrDsToDate, exp.TsOrDsToTimestamp,
    exp.TsOrDsAdd, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue,
    exp.LastValue, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Median,
    exp.PercentileCont, exp.PercentileDisc, exp.StrPosition, exp.Floor, exp.Ceil, exp.Sqrt, exp.Pow, exp.Ln,
    exp.Exp, exp.Sign, exp.Greatest, exp.Least, exp.GroupConcat, exp.ToChar, exp.TimestampDiff, exp.Replace,
)  # fmt: skip
# Types that a value may be cast to. Others look names up in the catalogue, as 'pg_authid'::regclass does.
_TYPES = frozenset(
    {
        "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "BIGDECIMAL", "BOOLEAN", "CHAR",
        "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "DATE", "DATETIME", "TIME", "TIMESTAMP", "TIMESTAMPTZ",
        "INTERVAL"
    }
)  # fmt: skip
# Functions that sqlglot has no class for.
_NAMED = frozenset(
    {"julianday", "strftime", "date_part", "age", "total", "instr", "iif", "ifnull", "time", "datetime"}
)
_ALLOWED = frozenset({*_CLAUSES, *_OPERATORS, *_FUNCTIONS, exp.Anonymous})
_VARS = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]{0,30}")


class StatementRefused(Exception):
    """The statement is not one that may be run; the message says why."""


@dataclass(frozen=True)
class Checked:
    sql: str
    """The statement as it is run: one line, written anew from what was parsed."""
    tables: tuple[str, ...]
    """Places of the tables that are read: with the schema of those whose schema SQL must name."""


def check_statement(sql: str, dialect: Dialect, schema: Schema) -> Checked:
    """Return the statement as it may be run. Raises StatementRefused."""
    if len(sql) > _MAX_CHARS:
        raise StatementRefused(f"the statement has more than {_MAX_CHARS} characters")
    if "\0" in sql:
        raise StatementRefused("the statement holds a null character")
    try:
        parsed = [tree for tree in sqlglot.parse(sql, dialect=dialect) if tree is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        raise StatementRefused(f"it can't be parsed: {str(error).splitlines()[0][:200]}") from None
    if len(parsed) != 1:
        raise StatementRefused(f"there are {len(parsed)} statements; one is allowed")
    tree = parsed[0]
    if not isinstance(tree, exp.Select | exp.Union | exp.Except | exp.Intersect):
        raise StatementRefused("only SELECT is allowed")
    own = _own_tables(tree)
    tables: dict[Table, list[exp.Table]] = {}
    for count, node in enumerate(tree.walk(), start=1):
        if count > _MAX_NODES:
            raise StatementRefused("the statement is too long")
        _check_node(node)
        if isinstance(node, exp.Table):
            table = _check_table(node, schema, own)
            if table is not None:
                tables.setdefault(table, []).append(node)
    _check_columns(tree, schema, tables)
    for table, nodes in tables.items():
        for node in nodes:
            _write_place(node, table, dialect)
    written = tree.sql(dialect=dialect, comments=False)
    if "\n" in written and not any("\n" in literal.name for literal in tree.find_all(exp.Literal)):
        written = " ".join(written.split())
    return Checked(written, tuple(table.place for table in tables))


def _own_tables(tree: exp.Expr) -> frozenset[str]:
    names = set()
    for each in tree.find_all(exp.With):
        if each.args.get("recursive"):
            raise StatementRefused("WITH RECURSIVE is not allowed: it may never end")
        names |= {table.alias.lower() for table in each.expressions}
    return frozenset(names)


def _check_node(node: exp.Expr) -> None:
    kind = type(node)
    if kind not in _ALLOWED:
        raise StatementRefused(f"{node.key.upper()} is not allowed")
    if isinstance(node, exp.Anonymous) and node.name.lower() not in _NAMED:
        raise StatementRefused(f"the function {node.name} is not allowed")
    # A replacement that is longer than what it replaces can make a value of any size.
    if isinstance(node, exp.Replace) and not _is_shortening(node):
        raise StatementRefused("REPLACE is allowed only where a text takes the place of one as long or longer")
    if isinstance(node, exp.Select):
        strange = [
            name for name in ("into", "locks", "kind", "hint", "laterals", "sample", "connect") if node.args.get(name)
        ]
        if strange:
            raise StatementRefused(f"{strange[0].upper()} is not allowed in a SELECT")
    if isinstance(node, exp.Var) and not _VARS.fullmatch(node.name):
        raise StatementRefused(f"{node.name!r} is not allowed")
    if isinstance(node, exp.DataType) and (
        not isinstance(node.this, exp.DataType.Type) or node.this.name not in _TYPES
    ):
        raise StatementRefused(f"the type {node.sql()} is not allowed")


def _is_shortening(node: exp.Replace) -> bool:
    old, new = node.args.get("expression"), node.args.get("replacement")
    if not (isinstance(old, exp.Literal) and old.is_string and isinstance(new, exp.Literal) and new.is_string):
        return False
    return len(old.name) >= max(1, len(new.name))


def _check_table(node: exp.Table, schema: Schema, own: frozenset[str]) -> Table | None:
    """Return the table that is read; None for a table of the statement itself."""
    if not isinstance(node.this, exp.Identifier):
        raise StatementRefused("only tables can be read from, no functions")
    if node.args.get("catalog"):
        raise StatementRefused(f"{node.sql()}: other databases are not allowed")
    if any(node.args.get(name) for name in ("joins_hint", "sample", "version", "when", "changes", "rows_from")):
        raise StatementRefused("only plain tables can be read from")
    name = node.name.lower()
    if name in own and not node.db:
        return None
    table = schema.find(node.name, node.db)
    if table is None:
        said = f"{node.db}.{node.name}" if node.db else node.name
        raise StatementRefused(f"there is no table {said} that may be read")
    return table


def _write_place(node: exp.Table, table: Table, dialect: Dialect) -> None:
    """Name the schema of a table where the database would not find it by its name: it might find another one."""
    if node.db or table.is_on_path:
        return

    def identifier(name: str) -> exp.Identifier:
        return exp.to_identifier(name, quoted=write_name(name, dialect) != name)

    if table.name != table.own_name and not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name, quoted=True)))
    node.set("db", identifier(table.schema))
    node.set("this", identifier(table.own_name))


def _check_columns(tree: exp.Expr, schema: Schema, tables: Collection[Table]) -> None:
    hidden = {column for table, column in schema.hidden if table in {each.name.lower() for each in tables}}
    known = {column.name.lower() for table in tables for column in table.columns}
    aliases = {each.alias_or_name.lower() for each in tree.find_all(exp.Table)}
    for column in tree.find_all(exp.Column):
        name = column.name.lower()
        if name in hidden or (is_secret(name) and name not in known):
            raise StatementRefused(f"the column {column.name} holds secrets and is not read")
        # `SELECT t FROM t` is the whole row in PostgreSQL and DuckDB.
        if name in aliases and name not in known and not isinstance(column.this, exp.Star):
            raise StatementRefused(f"{column.name} stands for a whole row; name its columns")
    if hidden:
        for star in tree.find_all(exp.Star):
            if not isinstance(star.parent, exp.Count):
                raise StatementRefused("a table has columns that are not read: name the columns in place of *")
        if any(join.args.get("method") or join.args.get("using") for join in tree.find_all(exp.Join)):
            raise StatementRefused("a table has columns that are not read: join it with ON")
