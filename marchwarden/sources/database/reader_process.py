"""Run a job in the process that reads a database (rows_process.py), and end that process when its time is over."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from marchwarden.errors import ConfigurationError, how_to_install
from marchwarden.observations import Failure, FailureKind
from marchwarden.sources.database.database_names import Database
from marchwarden.sources.database.schema import Schema

# Rows and bytes of one page, at most. Guesses: an excerpt holds 500 characters of them.
MOST_ROWS, MOST_BYTES = 200, 1_000_000
# Distinct values of a column that questions can name. A guess.
_MOST_VALUES = 2_000
# Seconds to describe a database. A guess: each column of text is read once.
DESCRIBE_S = 20.0
# Seconds beyond its time limit after which the process is killed: it may be inside a library.
_GRACE_S = 1.0

_PROGRAM = """
import sys
sys.path[:] = sys.argv[1:]
from marchwarden.sources.database.rows_process import main
main()
"""


@dataclass(frozen=True)
class Rows:
    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool


async def describe(database: Database) -> Schema | Failure:
    """Return the tables that may be read, or the failure. Only cancellation passes through."""
    told = await _run(_job(database, "describe", DESCRIBE_S, most_values=_MOST_VALUES))
    return told if isinstance(told, Failure) else Schema.of(told, database.tables)


async def select(database: Database, statement: str, schema: Schema, seconds: float) -> Rows | Failure:
    """Return the rows of a statement that `check_statement` has returned, or the failure."""
    told = await _run(
        _job(
            database,
            "select",
            seconds,
            statement=statement,
            most_rows=MOST_ROWS,
            most_bytes=MOST_BYTES,
            tables=[table.name for table in schema.tables],
            hidden=sorted(schema.hidden),
        )
    )
    if isinstance(told, Failure):
        return told
    rows = tuple(tuple(row) for row in told["rows"])
    return Rows(tuple(told["columns"]), tuple(told["types"]), rows, bool(told["more"]))


def _job(database: Database, do: str, seconds: float, **more: Any) -> dict[str, Any]:
    return {"do": do, "engine": database.engine, "target": database.target, "seconds": seconds, **more}


async def _run(job: Mapping[str, Any]) -> dict[str, Any] | Failure:
    command = [sys.executable, "-I", "-c", _PROGRAM, *sys.path]
    seconds = float(job["seconds"])
    try:
        with anyio.fail_after(seconds + _GRACE_S):
            # anyio kills the process where this is cancelled, or its time is over.
            done = await anyio.run_process(
                command, input=json.dumps(job).encode(), stderr=subprocess.DEVNULL, check=False
            )
    except TimeoutError:
        return Failure(FailureKind.TIMEOUT, f"the database took more than {seconds:.3g} seconds")
    try:
        told: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        if done.returncode in (-24, -9):  # SIGXCPU, SIGKILL
            return Failure(FailureKind.TIMEOUT, f"the database took more than {seconds:.3g} seconds")
        return Failure(FailureKind.SERVICE_DOWN, "the process that reads the database crashed")
    if "refused" in told:
        return Failure(FailureKind.FORBIDDEN, told["refused"])
    if "error" not in told:
        return told
    text = str(told["error"])
    if any(sign in text for sign in ("interrupted", "statement timeout", "canceling statement")):
        return Failure(FailureKind.TIMEOUT, f"the database took more than {seconds:.3g} seconds")
    if "No module named" in text:
        raise ConfigurationError(f"{job['engine']} needs a package: {text}", hint=how_to_install("database"))
    return Failure(FailureKind.BAD_REQUEST if job["do"] == "select" else FailureKind.SERVICE_DOWN, text)
