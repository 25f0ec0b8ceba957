"""Rows of a database as they are now, for checking a citation of them: its statement is run again.

A trace may be somebody else's. Its statement passes the same walls as any other, and its database is the one that
the user's own settings name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from marchwarden.contract import Citation
from marchwarden.errors import MarchwardenError
from marchwarden.observations import Failure, FailureKind, FetchOutcome
from marchwarden.settings import Settings

RowsReader: TypeAlias = Callable[[Citation], Awaitable[FetchOutcome]]


def rows_reader(settings: Settings) -> RowsReader:
    """Return a function that runs a citation's statement again, and returns its rows as a page, or the failure."""

    async def read(citation: Citation) -> FetchOutcome:
        name = citation.locator.partition(":")[2].partition("/")[0]
        try:
            from marchwarden.sources.database.database_names import open_name
            from marchwarden.sources.database.database_search import DatabaseReader

            reader = DatabaseReader(open_name(settings.databases, name), seconds=settings.fetch_timeout)
            locator = await reader.add(citation.query or "")
            failure = locator if isinstance(locator, Failure) else None
            if failure is None and locator != citation.locator:
                failure = Failure(FailureKind.BAD_REQUEST, "its SQL statement is not the one that its locator names")
            if failure is None:
                return await reader.fetch(citation.locator)
        except (MarchwardenError, ModuleNotFoundError) as error:
            failure = Failure(FailureKind.NETWORK, str(error))
        return FetchOutcome(citation.locator, citation.locator, failure=failure)

    return read
