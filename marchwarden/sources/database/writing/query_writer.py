"""Let a model write a statement for a question: ask, ground, check, run, and ask again with what went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from marchwarden.injection.detector import is_injection
from marchwarden.observations import Failure, FailureKind
from marchwarden.sources.database.allow_list import Dialect, StatementRefused
from marchwarden.sources.database.schema import Schema
from marchwarden.sources.database.writing.schema_linking import link_schema
from marchwarden.sources.database.writing.statement_grounding import ground_statement
from marchwarden.stages.write_query import WRITE_QUERY, Attempt, Query, WriteQueryGiven

if TYPE_CHECKING:
    from marchwarden.stages.stage import Form, Stages

# Statements that a model may try for one question.
MOST_TRIES = 3
# Characters of a database's error that a model is shown. A guess.
_MAX_ERROR_CHARS = 200
_EMPTY = "it gives no rows"

# Checks a statement and runs it: the locator of its rows, which may be none, or the failure.
Try = Callable[[str], Awaitable["tuple[str, bool] | Failure"]]


async def write_query(
    question: str, schema: Schema, dialect: Dialect, stages: Stages, run: Try
) -> str | Failure | None:
    """Return the locator of rows that a model's statement gives, or the failure; None where no model was asked.

    `run` returns the locator of a statement's rows and whether there are any.
    """
    tables = await to_thread.run_sync(link_schema, question, schema)
    attempts: list[Attempt] = []
    while len(attempts) < MOST_TRIES:
        given = WriteQueryGiven(question, tables, dialect, tuple(attempts))
        query: Query
        form: Form
        query, form = await stages.run(WRITE_QUERY, given)
        if form == "model_free":
            return _failure(attempts) if attempts else None
        if query.statement is None:
            return Failure(FailureKind.NOT_UNDERSTOOD, "according to the model, the tables do not have the answer")
        if any(each.statement == query.statement for each in attempts):
            break
        found = await _try(query.statement, question, schema, dialect, run)
        if not isinstance(found, Failure):
            return found
        attempts.append(Attempt(query.statement, _shown(found)))
        if found.kind in (FailureKind.SERVICE_DOWN, FailureKind.TIMEOUT):
            break
    return _failure(attempts)


async def _try(sql: str, question: str, schema: Schema, dialect: Dialect, run: Try) -> str | Failure:
    try:
        grounded = await to_thread.run_sync(partial(ground_statement, sql, question, schema, dialect))
    except StatementRefused as error:
        return Failure(FailureKind.FORBIDDEN, str(error))
    found = await run(grounded)
    if isinstance(found, Failure):
        return found
    locator, has_rows = found
    return locator if has_rows else Failure(FailureKind.NOT_FOUND, _EMPTY)


def _shown(failure: Failure) -> str:
    """Return a failure as a model may read it: an error can repeat values of the database."""
    text = " ".join(failure.detail.split())[:_MAX_ERROR_CHARS]
    return "it fails" if is_injection(text) else text


def _failure(attempts: list[Attempt]) -> Failure:
    tries = "1 statement" if len(attempts) == 1 else f"{len(attempts)} statements"
    return Failure(FailureKind.NOT_UNDERSTOOD, f"the model wrote {tries} without an answer; {attempts[-1].problem}")
