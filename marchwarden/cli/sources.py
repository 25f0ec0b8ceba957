"""`marchwarden sources`: what can be searched, what each source needs, and the user's databases."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from marchwarden.settings import Settings
    from marchwarden.sources.database.database_names import Database

EPILOGUE = """Examples:

marchwarden sources
marchwarden sources --online
    also searches each one that is ready, to see whether it can be reached
marchwarden ask --source arxiv,pubmed "Does vitamin D prevent influenza?"
    several sources at once; `open` stands for all that need no key, and those whose free key is set
marchwarden sources --json | jq -r '.[] | select(.state == "ready") | .name'
marchwarden sources add shop ./shop.sqlite
    then: marchwarden ask --source db:shop "How many customers are from Bergen?"
marchwarden sources databases
marchwarden sources remove shop

Exit codes: 0 done · 1 a database can't be used; with --online: a source that is ready can't be reached
· 2 wrong usage."""
_ADD_EPILOGUE = """Examples:

marchwarden sources add shop ./shop.sqlite
marchwarden sources add shop sqlite:///data/shop
    a file of SQLite with another ending; one that has its signature needs no sqlite://
marchwarden sources add shop ./shop.sqlite --table customer --table orders
    no other table is read
marchwarden sources add tables ./folder
    each CSV, TSV, Parquet and JSON file in it is a table
marchwarden sources add books postgresql://reader@host/books
marchwarden sources add books -
    asks for the address, or reads it from a pipe: for one that holds a password

Exit codes: 0 added · 1 it can't be read, or the file of databases can't be changed · 2 wrong usage."""

# Seconds for one source to answer. A guess.
_ONLINE_TIMEOUT_S = 15.0
# Something that every encyclopedia, archive and forum knows.
_QUERY = "water"


app = typer.Typer(
    help="List the sources that can be searched, and add databases.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(epilog=EPILOGUE)
def sources(
    context: typer.Context,
    online: Annotated[
        bool, typer.Option("--online", metavar="", help="Also test each source with a small search.")
    ] = False,
    json: options.PlainJson = False,
) -> None:
    """List the sources that can be searched, and what each needs; `*` marks those that are searched by default."""
    if context.invoked_subcommand is None:
        _list(online=online, json=json)


def _list(*, online: bool, json: bool) -> None:
    from marchwarden.cli.client.frozen_web_note import offline_note
    from marchwarden.cli.views import console
    from marchwarden.settings import load_settings
    from marchwarden.sources.reachability import with_reachable_sources

    given = load_settings()
    settings = with_reachable_sources(given)
    listed = list(_listed(settings, online=online))
    if json:
        console.json(listed)
    else:
        console.sources(listed)
    if note := offline_note(given, settings):
        console.notice(*note)
    if any(each["state"] == "unreachable" for each in listed):
        raise typer.Exit(1)


@app.command(epilog=_ADD_EPILOGUE)
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the database: it is asked as db:NAME.")],
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE",
            help="A file of SQLite or DuckDB, a folder of CSV, TSV, Parquet and JSON files, or postgresql://…",
        ),
    ],
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table", metavar="TABLE", help="Table that may be read; several times for several. Default: all."
        ),
    ] = None,
    description: Annotated[str, typer.Option(metavar="TEXT", help="What it holds: a model reads this.")] = "",
) -> None:
    """Name a database of your own, so that it can be asked. It is only ever read."""
    from marchwarden.cli.configuration.database_file import write_database
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.errors import ConfigurationError, WrongArgument
    from marchwarden.settings import FOLDER_NAME, load_settings
    from marchwarden.sources.database.database_names import database_of, read_entries, url_of_place

    if not FOLDER_NAME.fullmatch(name):
        raise WrongArgument(f"{name!r} is not a valid name: letters, digits, - _ and . only, at most 64")
    file = load_settings().databases
    if name in read_entries(file):
        raise ConfigurationError(
            f"There is a database {name} already.", hint=f"To remove it first: marchwarden sources remove {name}"
        )
    entry: dict[str, object] = {"url": url_of_place(_place(place))}
    if table:
        entry["tables"] = table
    if description:
        entry["description"] = description
    database = database_of(name, entry, file)
    tables = _tables_of(database)
    write_database(file, name, entry)
    console.done(f"{name} is added: {count(len(tables), 'table')} ({', '.join(tables)}).")
    console.notice(f'Ask it: marchwarden ask "…" --source db:{name}')


def _place(given: str) -> str:
    """Return the place, asked for where it is `-`. Raises WrongArgument for a password that others could read."""
    from marchwarden.environment import without_credentials
    from marchwarden.errors import WrongArgument

    if given != "-":
        # The user's name alone may be read.
        if without_credentials(given) != given and ":" in given.partition("://")[2].partition("@")[0]:
            raise WrongArgument(
                "The address holds a password, and other users can read command lines.",
                hint="Give - in its place, and type the address when asked.",
            )
        return given
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass("Address of the database: ", stream=sys.stderr).strip()
    return sys.stdin.readline().strip()


def _tables_of(database: Database) -> list[str]:
    """Return the names of the tables that may be read. Raises ConfigurationError where there are none."""
    import asyncio

    from marchwarden.errors import ConfigurationError, how_to_install
    from marchwarden.observations import Failure
    from marchwarden.sources.database.database_names import problem_of
    from marchwarden.sources.database.reader_process import describe
    from marchwarden.sources.database.schema import how_to_open, names_in_settings

    if problem := problem_of(database):
        hint = how_to_install("database") if "extra database" in problem else None
        raise ConfigurationError(f"{database.name} can't be used: {problem}", hint=hint)
    found = asyncio.run(describe(database))
    if isinstance(found, Failure):
        raise ConfigurationError(f"{database.name} can't be read: {found.detail}")
    tables = [each.place for each in found.tables]
    known = {name for each in found.tables for name in names_in_settings(each)}
    if missing := [each for each in database.tables or () if each.lower() not in known]:
        raise ConfigurationError(f"{database.name} has no table {', '.join(missing)}.")
    if not tables:
        raise ConfigurationError(f"{database.shown} has no tables that may be read.", hint=how_to_open(found))
    return tables


@app.command()
def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the database.", autocompletion=complete_database)
    ],
) -> None:
    """Forget a database. The database itself is not touched."""
    from marchwarden.cli.configuration.database_file import remove_database
    from marchwarden.cli.views import console
    from marchwarden.errors import ConfigurationError
    from marchwarden.settings import load_settings
    from marchwarden.sources.database.database_names import read_entries

    file = load_settings().databases
    named = read_entries(file)
    if name not in named:
        there = f"There is {', '.join(named)}." if named else "None is named yet: marchwarden sources add NAME PLACE"
        raise ConfigurationError(f"There is no database {name}.", hint=there)
    remove_database(file, name)
    console.done(f"{name} is removed. The database itself was not touched.")


@app.command()
def databases(json: options.PlainJson = False) -> None:
    """List your databases: where each is, and whether it can be read."""
    from marchwarden.cli.views import console
    from marchwarden.settings import load_settings

    listed = list(_listed_databases(load_settings().databases))
    if json:
        console.json(listed)
    elif listed:
        console.databases(listed)
    else:
        console.done("There are no databases. Add one: marchwarden sources add NAME PATH")


def _listed_databases(file: Path) -> Iterator[dict[str, Any]]:
    """Yield what there is to say of each database; one that can't be used has its problem.

    Raises ConfigurationError where the file can't be read.
    """
    from marchwarden.environment import without_credentials
    from marchwarden.errors import ConfigurationError
    from marchwarden.sources.database.database_names import database_of, problem_of, read_entries

    for name, entry in read_entries(file).items():
        try:
            database = database_of(name, entry, file)
        except ConfigurationError as error:
            url = entry.get("url") if isinstance(entry, dict) else None
            place = without_credentials(url) if isinstance(url, str) else "–"
            yield {"name": name, "place": place, "tables": None, "description": "", "problem": str(error)}
        else:
            yield {
                "name": name,
                "place": database.shown,
                "tables": database.tables,
                "description": database.description,
                "problem": problem_of(database),
            }


def _listed(settings: Settings, *, online: bool) -> Iterator[dict[str, Any]]:
    from marchwarden.environment import variable_of
    from marchwarden.source_table import GROUPS, SOURCES
    from marchwarden.sources.source_registry import is_ready, ready_members

    in_force = {
        member
        for source in settings.sources
        for member in (ready_members(settings, source) if source in GROUPS else (source.partition(":")[0],))
    }
    for name, entry in SOURCES.items():
        state, detail = "ready", None
        if not is_ready(settings, name):
            needed = [variable_of(need) for need in entry.needs]
            state, detail = "needs a key", f"Set {needed[0] if len(needed) == 1 else 'one of ' + ', '.join(needed)}."
        elif entry.is_named:
            state, said = state_of_named(name, settings)
            detail = "; ".join(said)
        elif online and entry.kind != "snapshot" and (failure := _failure(settings, name)):
            state, detail = "unreachable", failure
        yield {
            **asdict(entry),
            "needs": [variable_of(need) for need in entry.needs],
            "groups": [group for group, members in GROUPS.items() if name in members],
            "state": state,
            "detail": detail,
            "in_force": name in in_force,
        }


def state_of_named(kind: str, settings: Settings) -> tuple[str, list[str]]:
    """Return the state of a source that is asked for by name, and what there is to say of it.

    That begins with the names that can follow its colon. Each that can't be used is told with the reason.
    """
    from marchwarden.errors import ConfigurationError

    how_to_make = {
        "corpus": "Make one: marchwarden index FOLDER",
        "db": f"Add one: marchwarden sources add NAME PATH (its name is kept in {settings.databases})",
        "zim": f"Put a file of https://library.kiwix.org into {settings.zim_folder}",
    }
    try:
        problems = _problems(kind, settings)
    except ConfigurationError as error:
        return "broken", [str(error)]
    told = [name for name, problem in problems.items() if problem is None]
    state = "ready" if told else "broken" if problems else "none there"
    said = [", ".join(told)] if told else [] if problems else [how_to_make[kind]]
    said += [f"{name} can't be used: {problem}" for name, problem in problems.items() if problem]
    if kind == "corpus" and settings.store is not None:
        said.append("Those that are published in the object store can be used too: marchwarden index --list")
    return state, said


def _problems(kind: str, settings: Settings) -> dict[str, str | None]:
    """Return the names of a kind, each with the reason why it can't be used, or None.

    Raises ConfigurationError where the file of databases can't be used.
    """
    if kind == "db":
        return {each["name"]: each["problem"] for each in _listed_databases(settings.databases)}
    if kind == "zim":
        from marchwarden.sources.encyclopedia.zim_archive import problem_of_zim, zim_names

        folder = settings.zim_folder
        return {name: problem_of_zim(folder / f"{name}.zim") for name in zim_names(folder)}
    from marchwarden.corpus.corpora import all_corpora, problem_of_corpus

    return {corpus.name: problem_of_corpus(corpus.name) for corpus in all_corpora()}


def _failure(settings: Settings, name: str) -> str | None:
    """Search one source for a common word, and return what failed; None where nothing did."""
    import asyncio

    from marchwarden.contract import SourceFilter
    from marchwarden.errors import MarchwardenError
    from marchwarden.sources.source_registry import open_tools

    async def ask() -> str | None:
        tools = open_tools(settings.model_copy(update={"source": name}))
        try:
            outcome = await asyncio.wait_for(
                tools.search.search(_QUERY, max_results=1, source_filter=SourceFilter(None)), _ONLINE_TIMEOUT_S
            )
        except asyncio.TimeoutError:
            return f"no answer within {_ONLINE_TIMEOUT_S:.0f} s"
        finally:
            await tools.aclose()
        return outcome.failure.detail if outcome.failure else None

    try:
        return asyncio.run(ask())
    except MarchwardenError as error:
        return str(error)
