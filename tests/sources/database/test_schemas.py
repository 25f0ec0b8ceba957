"""Tables of every schema that may be read are found, and each statement reads from the schema that was meant."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from marchwarden.audit.citation_check import open_checker, plan_check
from marchwarden.cli.checks import settings_checks
from marchwarden.settings import load_settings
from marchwarden.sources.database.allow_list import Dialect, StatementRefused, check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema
from marchwarden.sources.database.writing.schema_linking import link_schema
from marchwarden.sources.database.writing.statement_grounding import ground_statement
from tests.runs import run
from tests.sources.database.databases import SCHEMAS, SHOP, name_databases

ENGINES: dict[str, Dialect] = {"duckdb": "duckdb", "postgres": "postgres"}


def job(engine: str, target: str, **more: Any) -> dict[str, Any]:
    limits = {"seconds": 20, "most_values": 50, "most_rows": 200, "most_bytes": 1_000_000}
    return {"engine": engine, "target": target, **limits, **more}


def make_duckdb(folder: Path) -> Path:
    duckdb = pytest.importorskip("duckdb")
    path = folder / "firm.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SHOP)
        connection.execute(SCHEMAS)
    return path


@pytest.fixture(scope="module", params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Engine and place of a database with the shop in its usual schema, and two schemas more."""
    if request.param == "postgres":
        return "postgres", request.getfixturevalue("server") + "reader"
    return "duckdb", str(make_duckdb(tmp_path_factory.mktemp("firm")))


@pytest.fixture(scope="module")
def schema(database: tuple[str, str]) -> Schema:
    return Schema.of(run_job(job(*database, do="describe")))


@pytest.mark.parametrize(
    ("question", "rows", "places"),
    [
        ("How many buyers are from Bergen?", [["2"]], ("sales.buyer",)),
        ("How many deliveries did each buyer get?", [["Ada Lemmer", "2"], ["Bo Tennant", "1"]], ("sales.deliveries", "sales.buyer")),
        ("How many customers are there?", [["3"]], ("customer",)),
        ("How many orders are there?", [["4"]], ("orders",)),
        ("How many archive orders are there?", [["2"]], ("archive.orders",)),
        ("How many archived orders are of lamps?", [["1"]], ("archive.orders",)),
        ("How many sales orders are there?", [["5"]], ("sales.orders",)),
    ],
)  # fmt: skip
def test_a_question_reads_from_the_schema_that_it_means(
    question: str, rows: list[list[str]], places: tuple[str, ...], database: tuple[str, str], schema: Schema
) -> None:
    dialect = ENGINES[database[0]]
    planned = plan_statement(question, schema, dialect, today=date(2026, 11, 30))
    assert isinstance(planned, str), planned
    checked = check_statement(planned, dialect, schema)
    assert checked.tables == places
    assert sorted(run_job(job(*database, do="select", statement=checked.sql))["rows"]) == rows
    # The statement of a citation is checked again before it is run again.
    assert check_statement(checked.sql, dialect, schema) == checked


def test_a_name_of_two_schemas_that_is_found_by_itself_in_neither_is_unclear(schema: Schema) -> None:
    planned = plan_statement("How many returns are there?", schema)
    assert planned == NotPlanned("“returns” may be archive.returns or sales.returns") or planned == NotPlanned(
        "“returns” may be sales.returns or archive.returns"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT pin FROM archive.orders",
        "SELECT * FROM sales.orders",
        "SELECT o FROM sales.orders AS o",
        "SELECT orders.api_token FROM sales.orders",
        "SELECT * FROM hr.contracts",
        "SELECT * FROM contracts",
        "SELECT * FROM returns",
        "SELECT * FROM tools.pg_stat_statements",
        "SELECT * FROM pg_catalog.pg_class",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM other.sales.buyer",
        "SELECT * FROM public.buyer",
    ],
)
def test_a_schema_is_no_way_past_the_allow_list(statement: str, database: tuple[str, str], schema: Schema) -> None:
    with pytest.raises(StatementRefused):
        check_statement(statement, ENGINES[database[0]], schema)


def test_settings_allow_tables_of_other_schemas_only_by_their_schema(database: tuple[str, str]) -> None:
    told = run_job(job(*database, do="describe"))

    def places(*allowed: str) -> list[str]:
        return [table.place for table in Schema.of(told, allowed).tables]

    assert places("orders", "buyer") == ["orders"]
    assert sorted(places("sales.buyer", "Archive.orders")) == ["archive.orders", "sales.buyer"]
    assert sorted(places("archive.*")) == ["archive.orders", "archive.returns"]
    only = Schema.of(told, ["archive.orders"])
    assert (
        plan_statement("How many orders are there?", only, ENGINES[database[0]])
        == 'SELECT COUNT(*) FROM "archive.orders"'
    )
    with pytest.raises(StatementRefused):
        check_statement("SELECT COUNT(*) FROM orders", ENGINES[database[0]], only)


def test_a_model_sees_tables_as_sql_names_them_and_may_name_them_so(
    database: tuple[str, str], schema: Schema
) -> None:
    dialect = ENGINES[database[0]]
    asked = "How many lamps did Ada order?"
    shown = link_schema(asked, schema)
    assert "archive.orders: order_id" in shown
    assert "sales.deliveries.buyer_id = sales.buyer.buyer_id" in shown
    written = "SELECT COUNT(*) FROM archive.orders WHERE archive.orders.item = 'lamp'"
    checked = check_statement(ground_statement(written, asked, schema, dialect), dialect, schema)
    assert run_job(job(*database, do="select", statement=checked.sql))["rows"] == [["1"]]


def test_a_name_that_needs_quotation_marks_is_read(server: str) -> None:
    target = server + "reader"
    schema = Schema.of(run_job(job("postgres", target, do="describe")))
    planned = plan_statement("How many gift cards are there?", schema, "postgres")
    assert isinstance(planned, str), planned
    checked = check_statement(planned, "postgres", schema)
    assert checked.sql == 'SELECT COUNT(*) FROM "Odd Name"."Gift Card"'
    assert run_job(job("postgres", target, do="select", statement=checked.sql))["rows"] == [["2"]]


def test_tables_without_the_right_to_read_them_and_those_of_extensions_are_left_out(server: str) -> None:
    schema = Schema.of(run_job(job("postgres", server + "reader", do="describe")))
    assert schema.closed == ("hr",)
    assert not [table.place for table in schema.tables if table.schema in ("hr", "tools")]


def test_doctor_names_a_schema_that_the_role_may_not_read(server: str, tmp_path: Path) -> None:
    names = name_databases(tmp_path, firm=server + "reader")
    found = settings_checks(load_settings(model="extractive", source="db:firm", databases=names))
    (told,) = [check for check in found if check.name == "database"]
    assert told.state == "ok"
    assert told.detail.startswith("firm: 10 tables in")
    assert told.detail.endswith("; not read: archive.orders.pin, sales.orders.api_token, users.password, schema hr")


@pytest.mark.anyio
async def test_an_answer_cites_the_schema_and_can_be_checked(tmp_path: Path) -> None:
    names = name_databases(tmp_path, firm=str(make_duckdb(tmp_path)))
    settings = load_settings(model="extractive", source="db:firm", databases=names)
    done = await run("How many archive orders are there?", settings=settings)
    assert done.result.answer == "Number of archive orders: 2 [1]."
    (citation,) = done.result.citations
    assert citation.locator.startswith("db:firm/archive.orders?sha256=")
    assert done.problems == []
    plans = [plan_check(done.trace)]
    async with open_checker(settings, plans) as checker:
        (check,) = await checker.check(plans)
    assert [each.state for each in check.citations] == ["same"]
