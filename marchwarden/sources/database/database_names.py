"""Databases that the user has named: `~/.marchwarden/databases.toml`, one table of TOML each.

Neither a model nor a caller names a database by anything but the name that stands there.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from marchwarden.environment import without_credentials
from marchwarden.errors import ConfigurationError, reason_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

Engine: TypeAlias = Literal["sqlite", "duckdb", "files", "postgres"]

_FIELDS = frozenset({"url", "tables", "description"})
_SQLITE_FILES = frozenset({".sqlite", ".sqlite3", ".db", ".db3"})
_DUCKDB_FILES = frozenset({".duckdb", ".ddb"})
_EXAMPLE = '[sales]\nurl = "/data/sales.sqlite"'


@dataclass(frozen=True)
class Database:
    name: str
    engine: Engine
    target: str
    """Path of the file or folder, or the URL of the server, which may hold a password: it is never shown."""
    tables: tuple[str, ...] | None = None
    """Tables that may be read; None for all."""
    description: str = ""

    @property
    def shown(self) -> str:
        """Place of the database, for people: without a user's name and password."""
        return without_credentials(self.target)


def read_entries(file: Path) -> dict[str, Any]:
    """Return the entries of the file by name, as they are written; none where there is no file.

    Raises ConfigurationError. An entry is read by `database_of`, each for itself: one that can't be used, such as a
    folder that is gone, takes no other with it.
    """
    try:
        told: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:  # tomllib.TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise ConfigurationError(f"{file} can't be read: {reason_of(error)}") from error
    return told


def open_name(file: Path, name: str) -> Database:
    """Return the database of this name. Raises ConfigurationError where the file names none, or it can't be used."""
    named = read_entries(file)
    if name not in named:
        there = f"It names {', '.join(named)}. " if named else ""
        raise ConfigurationError(
            f"{file} has no database {name}", hint=f"{there}To add it: marchwarden sources add {name} PATH"
        )
    return database_of(name, named[name], file)


def url_of_place(place: str) -> str:
    """Return the url of a database as its file has it: a path from the folder that we are in, made absolute.

    A file with another ending that is one of SQLite or DuckDB gets the scheme that says so.
    """
    scheme, colon, rest = place.partition("://")
    if colon and scheme not in ("sqlite", "duckdb"):
        return place
    path = Path(rest.removeprefix("/") if rest.startswith("//") else rest if colon else place).expanduser().absolute()
    if colon:
        return f"{scheme}://{path}"
    if path.is_file() and path.suffix.lower() not in _SQLITE_FILES | _DUCKDB_FILES:
        for engine in _SIGNATURES:
            if path.stat().st_size and problem_of(Database("", engine, str(path))) is None:
                return f"{engine}://{path}"
    return str(path)


# For each engine of files, the place and bytes of its signature; an empty file is an empty database of SQLite.
_SIGNATURES: dict[Engine, tuple[int, bytes]] = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
_PACKAGES: dict[Engine, str] = {"duckdb": "duckdb", "files": "duckdb", "postgres": "psycopg"}


def problem_of(database: Database) -> str | None:
    """Return why a database can't be read, as far as its file tells; None where nothing tells so.

    No database is opened, and no server is asked.
    """
    package = _PACKAGES.get(database.engine)
    if package and find_spec(package) is None:
        return f"it needs {package}, which is part of the extra database"
    if database.engine not in _SIGNATURES:
        return None
    at, signature = _SIGNATURES[database.engine]
    try:
        with Path(database.target).open("rb") as file:
            head = file.read(at + len(signature))
    except OSError as error:
        return f"{database.target}: {error.strerror or error}"
    if head[at:] == signature or (not head and database.engine == "sqlite"):
        return None
    return f"{database.target} is no file of {'SQLite' if database.engine == 'sqlite' else 'DuckDB'}"


def database_of(name: str, entry: Any, file: Path) -> Database:
    """Return the database that an entry of the file describes. Raises ConfigurationError."""
    if not isinstance(entry, dict) or not isinstance(entry.get("url"), str):
        raise ConfigurationError(f"{file}: {name} has no url", hint=f"Write it like this:\n{_EXAMPLE}")
    if strange := sorted(entry.keys() - _FIELDS):
        raise ConfigurationError(f"{file}: {name} has {', '.join(strange)}; there is {', '.join(sorted(_FIELDS))}")
    tables = entry.get("tables")
    if tables is not None and not (isinstance(tables, list) and all(isinstance(each, str) for each in tables)):
        raise ConfigurationError(f"{file}: the tables of {name} are no list of names")
    engine, target = _target(entry["url"], name, file)
    return Database(
        name, engine, target, None if tables is None else tuple(tables), str(entry.get("description", ""))
    )


def _target(url: str, name: str, file: Path) -> tuple[Engine, str]:
    if re.match(r"postgres(?:ql)?://", url):
        return "postgres", url
    scheme, colon, rest = url.partition("://")
    path = Path(rest.removeprefix("/") if colon and rest.startswith("//") else rest if colon else url).expanduser()
    path = path if path.is_absolute() else file.parent / path
    if scheme == "sqlite" and colon:
        return "sqlite", str(path)
    if scheme == "duckdb" and colon:
        return "duckdb", str(path)
    if colon:
        raise ConfigurationError(f"{file}: {name} has the url of an unknown kind: {scheme}://")
    if path.is_dir():
        return "files", str(path)
    suffix = path.suffix.lower()
    if suffix in _SQLITE_FILES:
        return "sqlite", str(path)
    if suffix in _DUCKDB_FILES:
        return "duckdb", str(path)
    if not path.exists():
        raise ConfigurationError(f"{file}: {name} is not there: {path}: there is no such file or folder")
    raise ConfigurationError(
        f"{file}: {name} is neither a folder nor a database: {path}",
        hint="SQLite: .sqlite, .sqlite3, .db. DuckDB: .duckdb. PostgreSQL: postgresql://…. Or sqlite:///PATH.",
    )
