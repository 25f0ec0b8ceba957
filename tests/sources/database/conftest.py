"""A PostgreSQL server for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres_server import a_postgres_server
from tests.sources.database.databases import SCHEMAS, SCHEMAS_OF_POSTGRES, SHOP

READER = """
CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
GRANT USAGE ON SCHEMA sales, archive TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA sales, archive, hr TO reader;
CREATE ROLE owner LOGIN; ALTER TABLE orders OWNER TO owner;
CREATE ROLE writer LOGIN; GRANT SELECT, UPDATE ON orders TO writer;
CREATE ROLE corrector LOGIN; GRANT SELECT, UPDATE (note) ON sales.orders TO corrector;
CREATE ROLE loader LOGIN; GRANT pg_read_server_files TO loader;
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The shop on a PostgreSQL server of its own; a role is to be added."""
    with a_postgres_server() as url:
        import psycopg

        with psycopg.connect(url + "admin", autocommit=True) as connection:
            for statements in (SHOP.replace("REAL", "double precision"), SCHEMAS, SCHEMAS_OF_POSTGRES, READER):
                connection.execute(statements)
        yield url
