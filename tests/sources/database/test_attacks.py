"""No statement gets past the walls: the parsed allow-list, and the limits of each engine without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from marchwarden.observations import content_hash
from marchwarden.sources.database.allow_list import Dialect, StatementRefused, check_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Refused, Schema
from tests.sources.database.attacks import DUCKDB, POSTGRES, SECRETS, SQLITE
from tests.sources.database.databases import make_shop

HARMLESS = "SELECT city, COUNT(*) FROM customer WHERE age > 20 GROUP BY city ORDER BY city"


def job(engine: str, target: object, **more: Any) -> dict[str, Any]:
    return {
        "engine": engine, "target": str(target), "seconds": 0.5, "most_values": 50, "most_rows": 200,
        "most_bytes": 1_000_000, **more,
    }  # fmt: skip


def select(engine: str, target: object, schema: Schema, statement: str, seconds: float = 0.5) -> dict[str, Any]:
    tables = [table.name for table in schema.tables]
    more = {"statement": statement, "tables": tables, "hidden": sorted(schema.hidden), "seconds": seconds}
    return run_job(job(engine, target, do="select", **more))


def schema_of(engine: str, target: object) -> Schema:
    return Schema.of(run_job(job(engine, target, do="describe")))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def schema(shop: Path) -> Schema:
    return schema_of("sqlite", shop)


ALL: list[tuple[Dialect, str]] = [
    *(("sqlite", each) for each in SQLITE), *(("duckdb", each) for each in DUCKDB),
    *(("postgres", each) for each in POSTGRES),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "statement"), ALL)
def test_the_allow_list_refuses_an_attack(dialect: Dialect, statement: str, schema: Schema) -> None:
    with pytest.raises(StatementRefused):
        check_statement(statement, dialect, schema)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
@pytest.mark.parametrize("statement", SECRETS)
def test_the_allow_list_refuses_the_values_of_a_secret_column(
    dialect: Dialect, statement: str, schema: Schema
) -> None:
    with pytest.raises(StatementRefused):
        check_statement(statement, dialect, schema)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_a_replacement_makes_no_value_longer(dialect: Dialect, schema: Schema) -> None:
    check_statement("SELECT REPLACE(city, ',', '') FROM customer", dialect, schema)
    for call in (
        "REPLACE(city, 'a', 'aaaa')",
        "REPLACE(city, '', 'a')",
        "REPLACE(city, name, '')",
        "REPLACE(city, 'a', name)",
    ):
        with pytest.raises(StatementRefused, match="as long or longer"):
            check_statement(f"SELECT {call} FROM customer", dialect, schema)


def test_a_name_of_a_secret_is_refused_in_a_table_without_such_a_column(schema: Schema) -> None:
    with pytest.raises(StatementRefused, match="holds secrets"):
        check_statement("SELECT password FROM customer", "sqlite", schema)
    # A name that the statement gives itself is no column.
    check_statement("SELECT city, COUNT(*) AS n FROM customer GROUP BY city ORDER BY n", "sqlite", schema)


def test_a_statement_that_may_run_is_on_one_line_without_comments(schema: Schema) -> None:
    asked = "SELECT EXTRACT(YEAR FROM since) -- by year\nFROM customer /* all */"
    assert check_statement(asked, "postgres", schema).sql == "SELECT EXTRACT(YEAR FROM since) FROM customer"
    of_two_lines = "SELECT name FROM customer\nWHERE city = 'Bergen\nNord'"
    assert "'Bergen\nNord'" in check_statement(of_two_lines, "sqlite", schema).sql


def test_the_longest_statement_has_8000_characters(schema: Schema) -> None:
    longest = HARMLESS.ljust(8000)
    assert check_statement(longest, "sqlite", schema).sql == HARMLESS
    with pytest.raises(StatementRefused, match="more than 8000 characters"):
        check_statement(f"{longest} ", "sqlite", schema)


def test_there_are_as_many_attacks_as_were_measured() -> None:
    assert (len(POSTGRES), len(SQLITE), len(DUCKDB)) == (37, 10, 12)


@pytest.mark.parametrize("statement", SQLITE)
def test_sqlite_refuses_an_attack_that_the_allow_list_would_miss(statement: str, shop: Path, schema: Schema) -> None:
    before = content_hash(shop.read_bytes())
    with pytest.raises(Exception, match=r"authoriz|denied|prohibited|interrupted|no such table"):
        select("sqlite", shop, schema, statement)
    assert content_hash(shop.read_bytes()) == before


def test_sqlite_reads_no_secret_column_whatever_the_statement(shop: Path, schema: Schema) -> None:
    for statement in SECRETS:
        # There are no whole rows in SQLite, and its authorizer is not asked about the columns of USING.
        if "SELECT u FROM" not in statement and "USING" not in statement:
            with pytest.raises(Exception, match="prohibited"):
                select("sqlite", shop, schema, statement)


def test_a_harmless_statement_gives_its_rows(shop: Path, schema: Schema) -> None:
    checked = check_statement(HARMLESS, "sqlite", schema)
    assert select("sqlite", shop, schema, checked.sql, seconds=20)["rows"] == [["Bergen", "2"], ["Oslo", "1"]]


# DuckDB


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "customer.csv").write_text(
        "customer_id,name,city,age\n1,Ada,Bergen,34\n2,Bo,Oslo,51\n3,Cid,Bergen,28\n"
    )
    (folder / "orders.json").write_text('[{"order_id": 1, "amount": 40.5}]')
    return folder


# Without the allow-list these two would run: a setting that is the process's own, and a table function of numbers.
ONLY_LISTED = {"SELECT getenv('HOME')", "SELECT count(*) FROM range(100000000000)"}


@pytest.mark.parametrize("statement", [each for each in DUCKDB if each not in ONLY_LISTED])
def test_duckdb_refuses_an_attack_that_the_allow_list_would_miss(statement: str, folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    before = {path: content_hash(path.read_bytes()) for path in folder.iterdir()}
    with pytest.raises(duckdb.Error):
        select("files", folder, Schema(()), statement)
    assert {path: content_hash(path.read_bytes()) for path in folder.iterdir()} == before


def test_a_folder_of_files_is_a_database(folder: Path) -> None:
    pytest.importorskip("duckdb")
    found = schema_of("files", folder)
    assert [table.name for table in found.tables] == ["customer", "orders"]
    checked = check_statement(HARMLESS, "duckdb", found)
    assert select("files", folder, found, checked.sql, seconds=20)["rows"] == [["Bergen", "2"], ["Oslo", "1"]]


# PostgreSQL

# Statements that a role with SELECT alone may run in a read-only transaction: the allow-list is their wall. What they
# do ends with the connection, since nothing is committed.
ONLY_LISTED_OF_POSTGRES = {
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT set_config('statement_timeout', '0', false)", "SELECT pg_logical_emit_message(false, 'x', 'y')",
    "SELECT pg_advisory_lock(1)", "SELECT pg_cancel_backend(1)", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
    "SELECT query_to_xml('SELECT * FROM users', true, true, '')", "SELECT 'pg_authid'::regclass",
}  # fmt: skip


def test_postgres_refuses_attacks_that_the_allow_list_would_miss(server: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    got_through = []
    for statement in POSTGRES:
        if statement in ONLY_LISTED_OF_POSTGRES:
            continue
        try:
            select("postgres", server + "reader", Schema(()), statement)
        except (psycopg.Error, Refused):
            continue
        got_through.append(statement)
    assert got_through == []


@pytest.mark.parametrize(
    ("role", "why"),
    [
        ("admin", "superuser"),
        ("owner", "owns tables"),
        ("writer", "may change tables"),
        ("corrector", "may change tables"),
        ("loader", "member of a role"),
    ],
)
def test_a_role_that_can_do_more_than_read_is_refused(role: str, why: str, server: str) -> None:
    with pytest.raises(Refused, match=why):
        schema_of("postgres", server + role)


def test_a_reader_of_postgres_gets_rows_and_no_secret(server: str) -> None:
    found = schema_of("postgres", server + "reader")
    assert ("users", "password") in found.hidden
    assert ("orders", "customer") in [(key.table, key.other) for key in found.keys]
    checked = check_statement(HARMLESS, "postgres", found)
    assert select("postgres", server + "reader", found, checked.sql, seconds=20)["rows"] == [
        ["Bergen", "2"],
        ["Oslo", "1"],
    ]
