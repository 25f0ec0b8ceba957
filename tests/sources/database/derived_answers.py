"""Answers and words of planned statements over the databases of evals/database/derived."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import sqlglot

from evals.database.derived import FOLDER, TODAY, build_databases
from evals.database.spider import run, schema_of
from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.schema import Schema
from marchwarden.sources.database.statement_words import describe_statement

Built: TypeAlias = dict[str, tuple[Path, Schema]]
"""Files of the databases and their schemas, by name."""


def build(folder: Path) -> Built:
    return {name: (file, schema_of(file)) for name, file in build_databases(folder).items()}


def answer(question: str, file: Path, schema: Schema) -> list[tuple[object, ...]] | str:
    """Return the rows that answer a question, or the reason why none do."""
    planned = plan_statement(question, schema, today=TODAY)
    if isinstance(planned, NotPlanned):
        return planned.reason
    return run(file, check_statement(planned, "sqlite", schema).sql)


def told_in_words(question: str, schema: Schema, dialect: str) -> str:
    """Return what the statement for a question says in words."""
    planned = plan_statement(question, schema, dialect)
    assert isinstance(planned, str), planned
    checked = check_statement(planned, dialect, schema)  # type: ignore[arg-type]
    return describe_statement(sqlglot.parse_one(checked.sql, dialect=dialect))


def answer_of_duckdb(question: str, name: str, schema: Schema) -> list[tuple[object, ...]]:
    """Return the rows that DuckDB gives for the statement that is planned for it."""
    import duckdb

    planned = plan_statement(question, schema, "duckdb")
    assert isinstance(planned, str), planned
    with duckdb.connect() as connection:
        connection.execute((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
        return connection.execute(planned).fetchall()
