"""A PostgreSQL server for tests, where one is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest


def _program(name: str) -> str | None:
    there = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(there[-1]) if there else shutil.which(name)


@contextmanager
def a_postgres_server() -> Iterator[str]:
    """Run a server that listens on a socket in a folder alone; yield its address, which ends in `user=`.

    Its superuser is `admin`. The test is skipped where PostgreSQL or psycopg is not installed.
    """
    pytest.importorskip("psycopg")
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    if not initdb or not pg_ctl:
        pytest.skip("PostgreSQL's initdb and pg_ctl are not installed")
    folder = Path("/tmp") / f"mw-postgres-{uuid4().hex[:12]}"  # a socket's path may not be long
    folder.mkdir()
    user: dict[str, Any] = {}
    try:
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            try:
                account = pwd.getpwnam("postgres")
            except KeyError:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
            os.chown(folder, account.pw_uid, account.pw_gid)
            user = {"user": "postgres"}
        run = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **user}
        subprocess.run([initdb, "-D", "data", "-A", "trust", "-U", "admin", "-N", "--no-locale", "-E", "UTF8"], **run)
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c shared_buffers=16MB"
        subprocess.run([pg_ctl, "-D", "data", "-o", options, "-l", "log", "-w", "start"], **run)
        try:
            yield f"postgresql:///postgres?host={folder}&user="
        finally:
            subprocess.run([pg_ctl, "-D", "data", "-m", "immediate", "-w", "stop"], **run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
