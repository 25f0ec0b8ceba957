"""A PostgreSQL server for the tests of this folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sources.database.databases import SCHEMAS, SCHEMAS_OF_POSTGRES, SHOP

READER = """
CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
GRANT USAGE ON SCHEMA sales, archive TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA sales, archive, hr TO reader;
CREATE ROLE owner LOGIN; ALTER TABLE orders OWNER TO owner;
CREATE ROLE writer LOGIN; GRANT SELECT, UPDATE ON orders TO writer;
CREATE ROLE corrector LOGIN; GRANT SELECT, UPDATE (note) ON sales.orders TO corrector;
CREATE ROLE loader LOGIN; GRANT pg_read_server_files TO loader;
"""


def _program(name: str) -> str | None:
    there = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(there[-1]) if there else shutil.which(name)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The shop on a PostgreSQL server of its own, which listens on a socket in a folder alone."""
    psycopg = pytest.importorskip("psycopg")
    initdb, postgres = _program("initdb"), _program("pg_ctl")
    if not initdb or not postgres:
        pytest.skip(
            "PostgreSQL's initdb and pg_ctl are not installed: its 37 attacks were tried on the allow-list only"
        )
    folder = Path("/tmp") / f"mw-postgres-{os.getpid()}"
    folder.mkdir()
    user: dict[str, Any] = {}
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        try:
            account = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        os.chown(folder, account.pw_uid, account.pw_gid)
        user = {"user": "postgres"}
    try:
        run = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **user}
        subprocess.run([initdb, "-D", "data", "-A", "trust", "-U", "admin", "-N", "--no-locale", "-E", "UTF8"], **run)
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c shared_buffers=16MB"
        subprocess.run([postgres, "-D", "data", "-o", options, "-l", "log", "-w", "start"], **run)
        try:
            url = f"postgresql:///postgres?host={folder}&user="
            with psycopg.connect(url + "admin", autocommit=True) as connection:
                connection.execute(SHOP.replace("REAL", "double precision"))
                connection.execute(SCHEMAS)
                connection.execute(SCHEMAS_OF_POSTGRES)
                connection.execute(READER)
            yield url
        finally:
            subprocess.run([postgres, "-D", "data", "-m", "immediate", "-w", "stop"], **run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
