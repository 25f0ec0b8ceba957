"""The database researcher's search and fetch: a question becomes statements, and a statement's rows are a page."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timezone
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import sqlglot
from anyio import Lock, to_thread

from marchwarden.contract import SourceFilter
from marchwarden.evidence.question import split_question
from marchwarden.observations import (
    DATABASE,
    Failure,
    FailureKind,
    FetchOutcome,
    Page,
    SearchHit,
    SearchOutcome,
    content_hash,
)
from marchwarden.reading.services.database_rows import CONTENT_TYPE, RowSet, read_rows, write_rows
from marchwarden.sources.database.allow_list import Checked, Dialect, StatementRefused, check_statement
from marchwarden.sources.database.database_names import Database
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.reader_process import describe, select
from marchwarden.sources.database.schema import Schema
from marchwarden.sources.database.statement_words import describe_statement, name_columns
from marchwarden.sources.database.writing.query_writer import write_query
from marchwarden.text.ranking import coverage, terms

if TYPE_CHECKING:
    from marchwarden.stages.stage import Stages

# Tables that a gap names. A guess.
_MOST_TABLES_NAMED = 8
_LOCATOR = re.compile(rf"{DATABASE}(?P<name>[^/]+)/(?P<tables>[^?]*)\?sha256=(?P<hash>[0-9a-f]{{64}})")


def locator_of(database: str, checked: Checked) -> str:
    """Return the locator of a statement's rows: `db:sales/orders?sha256=…`, of the statement as it is run."""
    tables = "+".join(quote(table, safe="") for table in checked.tables) or "-"
    return f"{DATABASE}{database}/{tables}?sha256={hashlib.sha256(checked.sql.encode()).hexdigest()}"


def dialect_of(database: Database) -> Dialect:
    if database.engine == "postgres":
        return "postgres"
    return "sqlite" if database.engine == "sqlite" else "duckdb"


class DatabaseReader:
    """Runs statements of one database, by their locators. A statement is known once it was planned or checked."""

    def __init__(self, database: Database, *, seconds: float) -> None:
        self.database = database
        self._seconds = seconds
        self._statements: dict[str, Checked] = {}
        self._schema: Schema | Failure | None = None
        self._describing = Lock()

    async def schema(self) -> Schema | Failure:
        """Return the tables, which are looked at once, or the failure."""
        async with self._describing:
            if self._schema is None:
                self._schema = await describe(self.database)
            return self._schema

    async def add(self, sql: str, *, is_new: bool = False) -> str | Failure:
        """Return the locator of a statement's rows, or the reason why the statement may not be run.

        The columns of one that `is_new`, and stands in no citation yet, get names in words.
        """
        schema = await self.schema()
        if isinstance(schema, Failure):
            return schema
        try:
            checked = await to_thread.run_sync(check_statement, sql, dialect_of(self.database), schema)
        except StatementRefused as error:
            return Failure(FailureKind.FORBIDDEN, f"the statement is not run: {error}")
        if is_new:
            named = await to_thread.run_sync(name_columns, checked.sql, dialect_of(self.database))
            checked = replace(checked, sql=named)
        locator = locator_of(self.database.name, checked)
        self._statements[locator] = checked
        return locator

    async def try_statement(self, sql: str) -> tuple[str, bool] | Failure:
        """Return the locator of a statement's rows and whether there are any, or the failure of check or run."""
        schema, locator = await self.schema(), await self.add(sql, is_new=True)
        if isinstance(schema, Failure):
            return schema
        if isinstance(locator, Failure):
            return locator
        found = await select(self.database, self._statements[locator].sql, schema, self._seconds)
        if isinstance(found, Failure):
            return found
        return locator, any(cell is not None for row in found.rows for cell in row)

    def statement(self, locator: str) -> Checked | None:
        return self._statements.get(locator)

    def address(self, url: str) -> str | None:
        """Return `url` where it names rows of this database."""
        found = _LOCATOR.fullmatch(url)
        return url if found and found["name"] == self.database.name else None

    async def fetch(
        self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool] = lambda host: True
    ) -> FetchOutcome:
        """Run the statement of a locator, and return its rows as a page, or the failure.

        Databases have no domain: a filter that names domains to include excludes them.
        """
        began = time.monotonic()
        found = await self._fetch(url, min(timeout or self._seconds, self._seconds), allows)
        if isinstance(found, Failure):
            return FetchOutcome(url, url, failure=found, seconds=time.monotonic() - began)
        blank = Page(url, content_hash(found), "", content_hash(b""), ())
        read = read_rows(blank, found)
        return FetchOutcome(
            url,
            url,
            content_type=CONTENT_TYPE,
            content_hash=content_hash(found),
            content_length=len(found),
            body=found,
            page=read if isinstance(read, Page) else None,
            failure=read if isinstance(read, Failure) else None,
            seconds=time.monotonic() - began,
        )

    async def _fetch(self, url: str, seconds: float, allows: Callable[[str], bool]) -> bytes | Failure:
        if not allows(""):
            return Failure(
                FailureKind.REFUSED_ADDRESS, "the source filter includes domains only, and a database has none"
            )
        checked, schema = self._statements.get(url), await self.schema()
        if isinstance(schema, Failure):
            return schema
        if checked is None:
            return Failure(FailureKind.NOT_FOUND, "the statement of this locator is not known")
        rows = await select(self.database, checked.sql, schema, seconds)
        if isinstance(rows, Failure):
            return rows
        if rows.rows and all(cell is None for row in rows.rows for cell in row):
            return Failure(FailureKind.NO_TEXT, f"the statement gave only empty cells: {checked.sql}")
        tree = sqlglot.parse_one(checked.sql, dialect=dialect_of(self.database))
        return write_rows(
            RowSet(
                database=self.database.name,
                tables=checked.tables,
                statement=checked.sql,
                says=describe_statement(tree),
                schema=schema.hash,
                read=datetime.now(timezone.utc),
                columns=rows.columns,
                types=rows.types,
                rows=rows.rows,
                more=rows.more,
            )
        )

    async def aclose(self) -> None:
        pass


class DatabaseSearch:
    """Search of one database: the hits are statements that answer the question of the call, or a part of it.

    The rules plan them. Where they leave a question alone, and there is a model, it writes the statement.
    """

    def __init__(self, reader: DatabaseReader) -> None:
        self.name = f"{DATABASE}{reader.database.name}"
        self._reader = reader
        self._question: str | None = None
        self._stages: Stages | None = None
        self._today: date | None = None
        self._written: dict[str, SearchHit | Failure] = {}
        """Results of the model by question, since each query of a call is for the same question."""
        self._writing = Lock()

    def begin(self, question: str, stages: Stages, today: date) -> None:
        """Take the question as it was asked, and its day: a query of keywords lacks the words that say what is to be
        counted."""
        self._question, self._stages, self._today = question, stages, today

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the planned statement as a hit; a failure where none is certain enough, with what there is."""
        began = time.monotonic()
        found: SearchHit | Failure | None = None
        if source_filter.allows(""):
            asked = self._question or query
            found = await self._find(asked)
            if isinstance(found, Failure) and (part := self._part(query)):
                asked, found = part, await self._find(part)
            if isinstance(found, Failure) and found.kind is FailureKind.NOT_UNDERSTOOD:
                found = await self._write(asked, found)
        seconds = time.monotonic() - began
        if isinstance(found, SearchHit):
            return SearchOutcome(query, self.name, (found,), seconds=seconds)
        return SearchOutcome(query, self.name, failure=found, seconds=seconds)

    async def aclose(self) -> None:
        pass

    def _part(self, query: str) -> str | None:
        """Return the part of a question of several that a query is for; None where the question has one part."""
        parts = split_question(self._question or "")
        wanted = set(terms(query))
        return max(parts, key=lambda part: coverage(wanted, set(terms(part)), {})) if len(parts) > 1 else None

    async def _find(self, question: str) -> SearchHit | Failure:
        schema = await self._reader.schema()
        if isinstance(schema, Failure):
            return schema
        dialect = dialect_of(self._reader.database)
        plan = partial(plan_statement, question, schema, dialect, today=self._today)
        planned = await to_thread.run_sync(plan)
        if isinstance(planned, NotPlanned):
            tables = [table.place for table in schema.tables]
            named = ", ".join(tables[:_MOST_TABLES_NAMED]) + (" …" if len(tables) > _MOST_TABLES_NAMED else "")
            return Failure(
                FailureKind.NOT_UNDERSTOOD,
                f"the question can't be translated with certainty into a query of {self.name}: {planned.reason}. "
                f"Its tables are {named or 'none'}",
            )
        return await self._hit(planned)

    async def _write(self, question: str, not_planned: Failure) -> SearchHit | Failure:
        """Return the hit of a statement that the model writes, or the failure, with the reason of the rules."""
        schema = await self._reader.schema()
        if self._stages is None or isinstance(schema, Failure):
            return not_planned
        async with self._writing:
            if question not in self._written:
                dialect = dialect_of(self._reader.database)
                found = await write_query(question, schema, dialect, self._stages, self._reader.try_statement)
                if isinstance(found, str):
                    self._written[question] = self._hit_at(found)
                elif found is None:
                    return not_planned
                else:
                    detail = f"{not_planned.detail}. {found.detail[:1].upper()}{found.detail[1:]}"
                    self._written[question] = Failure(found.kind, detail)
            return self._written[question]

    async def _hit(self, sql: str) -> SearchHit | Failure:
        locator = await self._reader.add(sql, is_new=True)
        return locator if isinstance(locator, Failure) else self._hit_at(locator)

    def _hit_at(self, locator: str) -> SearchHit:
        checked = self._reader.statement(locator)
        assert checked is not None
        tree = sqlglot.parse_one(checked.sql, dialect=dialect_of(self._reader.database))
        return SearchHit(locator, describe_statement(tree), checked.sql)
