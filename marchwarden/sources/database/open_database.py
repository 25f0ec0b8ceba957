"""Open the database researcher: its search, its reader, and the tools of one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marchwarden.errors import ConfigurationError, how_to_install
from marchwarden.sources.tools import Tools

if TYPE_CHECKING:
    from marchwarden.sources.opening import Opening


def open_database(opening: Opening, name: str) -> Tools:
    """Return tools that query the user's database of this name. Raises ConfigurationError where none is named so."""
    try:
        from marchwarden.sources.database.database_names import open_name
        from marchwarden.sources.database.database_search import DatabaseReader, DatabaseSearch
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"Databases need a package: {error}", hint=how_to_install("database")) from None

    reader = DatabaseReader(open_name(opening.settings.databases, name), seconds=opening.settings.fetch_timeout)
    search = DatabaseSearch(reader)
    return Tools(kind="database", search=search, fetcher=reader, address=reader.address, begin=search.begin)
