"""Sums, counts and means over joined tables have one meaning in the tables, or end in a gap that says which they have."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from evals.database.joined import DAYS, build_database
from marchwarden.budget import Budget
from marchwarden.contract import Constraints, SourceFilter
from marchwarden.settings import load_settings
from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.everyday.periods import Period, read_relative
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Column, Schema, Table
from marchwarden.sources.source_registry import open_tools
from marchwarden.stages.stage import StageRunner
from marchwarden.trace.writer import TraceWriter
from tests.runs import run
from tests.sources.database.databases import name_databases

TODAY = date(2024, 2, 14)
# Two customers who spent the same; a discount that is a share; lines that hold the price at which they were sold.
TEA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, company_name TEXT, city TEXT, country TEXT);
CREATE TABLE employees (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, title TEXT, city TEXT, country TEXT);
CREATE TABLE categories (id INTEGER PRIMARY KEY, category_name TEXT);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, product_name TEXT, category_id INTEGER REFERENCES categories (id), unit_price REAL,
    units_on_order INTEGER
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id),
    employee_id INTEGER REFERENCES employees (id), order_date DATE, freight REAL
);
CREATE TABLE order_lines (
    id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id), product_id INTEGER REFERENCES products (id),
    unit_price REAL, quantity INTEGER, discount REAL
);
INSERT INTO customers VALUES (1, 'Alster Kontor', 'Berlin', 'Germany'), (2, 'Fjord Te', 'Oslo', 'Norway'),
    (3, 'Spree Stube', 'Berlin', 'Germany');
INSERT INTO employees VALUES (1, 'Nora', 'Falk', 'Clerk', 'Berlin', 'Germany'), (2, 'Iven', 'Moor', 'Clerk', 'Oslo', 'Norway');
INSERT INTO categories VALUES (1, 'Tea'), (2, 'Cups');
INSERT INTO products VALUES (1, 'Assam', 1, 5, 1), (2, 'Sencha', 1, 8, 2), (3, 'Blue mug', 2, 12, 3);
INSERT INTO orders VALUES (1, 1, 1, '2023-12-05', 4), (2, 2, 1, '2024-01-10', 6), (3, 3, 2, '2024-01-20', 2),
    (4, 2, 1, '2024-02-01', 8);
INSERT INTO order_lines VALUES (1, 1, 1, 5, 10, 0), (2, 2, 2, 8, 5, 0.5), (3, 3, 3, 12, 1, 0), (4, 4, 1, 5, 6, 0),
    (5, 3, 2, 8, 1, 0.25);
"""  # fmt: skip


def describe(file: Path) -> Schema:
    job = {"engine": "sqlite", "target": str(file), "seconds": 5, "do": "describe", "most_values": 100}
    return Schema.of(run_job(job))


def make(folder: Path, *more: str) -> Path:
    """Write the database, changed by more statements, and return its file."""
    file = folder / "tea.sqlite"
    connection = sqlite3.connect(file)
    connection.executescript(TEA + ";".join(more))
    connection.close()
    return file


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[sqlite3.Connection, Schema]]:
    file = make(tmp_path_factory.mktemp("tea"))
    connection = sqlite3.connect(file)
    yield connection, describe(file)
    connection.close()


def answer(question: str, tea: tuple[sqlite3.Connection, Schema]) -> list[tuple[object, ...]] | str:
    """Return the rows that answer a question, or the reason why none do."""
    connection, schema = tea
    planned = plan_statement(question, schema, today=TODAY)
    if isinstance(planned, NotPlanned):
        return planned.reason
    return connection.execute(check_statement(planned, "sqlite", schema).sql).fetchall()


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        # money: price × quantity, without the discount, and all who tie
        ("Which customer spent the most?", [("Alster Kontor", 50.0), ("Fjord Te", 50.0)]),
        ("How much did each customer spend?", [("Alster Kontor", 50.0), ("Fjord Te", 50.0), ("Spree Stube", 18.0)]),
        ("Which product brings in the most money?", [("Assam", 80.0)]),
        ("What is the total revenue per category?", [("Tea", 106.0), ("Cups", 12.0)]),
        ("How much did we earn last month?", [(38.0,)]),
        ("How much did German customers spend this year?", [(18.0,)]),
        ("How much did Nora Falk sell?", [(100.0,)]),
        ("Who are our top 2 customers by revenue?", [("Alster Kontor", 50.0), ("Fjord Te", 50.0)]),
        ("What is the average order value?", [(29.5,)]),
        ("What is the average order value per employee?", [("Nora", "Falk", 33.3333), ("Iven", "Moor", 18.0)]),
        # pieces, and rows
        ("How many Assam did we sell?", [(16,)]),
        ("How many units of tea did Fjord Te buy?", [(11,)]),
        ("Which employee handled the most orders?", [("Nora", "Falk", 3)]),
        ("How many orders did each employee handle?", [("Nora", "Falk", 3), ("Iven", "Moor", 1)]),
        ("How many orders did Norwegian customers place?", [(2,)]),
        ("How many customers ordered Sencha?", [(2,)]),
        ("Which employee sold the most Assam?", [("Nora", "Falk", 16)]),
        ("How many orders did we get last month?", [(2,)]),
        ("How many products are there in each category?", [("Tea", 2), ("Cups", 1)]),
        ("Which customers from Berlin bought tea?", [("Alster Kontor",), ("Spree Stube",)]),
        ("Which employee sold the most tea?", [("Nora", "Falk", 21)]),
        # a column that is named
        ("What is the total freight by employee?", [("Nora", "Falk", 18.0), ("Iven", "Moor", 2.0)]),
        ("What is the average freight per employee?", [("Nora", "Falk", 6.0), ("Iven", "Moor", 2.0)]),
        # several conditions over joins
        ("Which customers from Berlin ordered Sencha?", [("Spree Stube",)]),
    ],
)  # fmt: skip
def test_a_sum_over_joins_is_planned(
    question: str, rows: list[tuple[object, ...]], tea: tuple[sqlite3.Connection, Schema]
) -> None:
    found = answer(question, tea)
    assert not isinstance(found, str), found
    assert sorted(found, key=str) == sorted(rows, key=str)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("How much did we spend?", "who bought"),
        ("How much did we pay?", "who paid"),
        ("Which customer sold the most tea?", "customers sold"),
        ("Which employee bought the most tea?", "who bought"),
        ("Which employee earned the most?", "what was earned"),
        ("Which employee made the most sales?", "number of sales or their money"),
        ("Which product sold the most?", "pieces, rows or money"),
        ("How much did each customer buy?", "pieces or money"),
        ("What are the total sales by country?", "Country of customers or country of employees"),
        ("Which customers from Berlin and Oslo spent the most?", "hold at once"),
        ("Which employee cancelled the most orders?", "cancelled"),
        ("How many customers does each employee have?", "counted twice"),
        ("How much did the customers of Nora Falk spend?", "spend"),
        ("Which employee has the highest revenue per order?", "per"),
        ("How much did we sell last week?", "week"),
    ],
)
def test_a_sum_with_two_meanings_is_a_gap_that_names_them(
    question: str, reason: str, tea: tuple[sqlite3.Connection, Schema]
) -> None:
    found = answer(question, tea)
    assert isinstance(found, str), found
    assert reason.lower() in found.lower()


@pytest.mark.parametrize(
    ("change", "question", "reason"),
    [
        # two keys lead to the same table
        ("ALTER TABLE orders ADD COLUMN payer_id INTEGER REFERENCES customers (id)", "Which customer spent the most?",
         "several ways, by customer_id or payer_id"),
        # two columns hold money
        ("ALTER TABLE order_lines ADD COLUMN net_total REAL; ALTER TABLE order_lines ADD COLUMN gross_total REAL",
         "Which customer spent the most?", "net_total or gross_total"),
        # percent, and not a share
        ("UPDATE order_lines SET discount = 10 WHERE discount > 0", "Which customer spent the most?", "discount"),
        # orders that were no sales
        ("ALTER TABLE orders ADD COLUMN state TEXT; UPDATE orders SET state = iif(id = 1, 'cancelled', 'sent')",
         "Which customer spent the most?", "cancelled"),
    ],
)  # fmt: skip
def test_tables_with_two_readings_are_told(tmp_path: Path, change: str, question: str, reason: str) -> None:
    planned = plan_statement(question, describe(make(tmp_path, change)))
    assert isinstance(planned, NotPlanned), planned
    assert reason in planned.reason


def test_a_condition_on_the_state_of_sales_settles_which_count(tmp_path: Path) -> None:
    file = make(
        tmp_path,
        "ALTER TABLE orders ADD COLUMN state TEXT; UPDATE orders SET state = iif(id = 1, 'cancelled', 'sent')",
    )
    planned = plan_statement("How much did each customer spend on sent orders?", describe(file))
    assert isinstance(planned, str), planned
    with sqlite3.connect(file) as connection:
        assert connection.execute(planned).fetchall() == [("Fjord Te", 50.0), ("Spree Stube", 18.0)]


def test_files_are_joined_over_columns_that_name_their_keys(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "customers.csv").write_text("customer_id,name\n1,Ada Lemmer\n2,Bo Tennant\n")
    (tmp_path / "orders.csv").write_text(
        "order_id,customer_id,total_eur,gifts_per_customer\n1,1,10,5\n2,1,20,6\n3,2,25,5\n"
    )
    job = {"engine": "files", "target": str(tmp_path), "seconds": 10}
    schema = Schema.of(run_job({**job, "do": "describe", "most_values": 100}))
    planned = plan_statement("Which customer spent the most?", schema, "duckdb")
    assert isinstance(planned, str), planned
    rows = run_job({**job, "do": "select", "statement": planned, "most_rows": 9, "most_bytes": 999})["rows"]
    assert rows == [["Ada Lemmer", "30"]]


@pytest.mark.parametrize(("discount", "paid"), [("0.5", "15"), ("50", "discount of sales")])
def test_a_discount_of_files_is_a_share_or_not_certain(tmp_path: Path, discount: str, paid: str) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "stores.csv").write_text("store_id,name\n1,North\n2,South\n")
    (tmp_path / "sales.csv").write_text(f"sale_id,store_id,price,quantity,discount\n1,1,10,3,{discount}\n2,2,5,2,0\n")
    job = {"engine": "files", "target": str(tmp_path), "seconds": 10}
    schema = Schema.of(run_job({**job, "do": "describe", "most_values": 100}))
    planned = plan_statement("Which store brings in the most money?", schema, "duckdb")
    if isinstance(planned, NotPlanned):
        assert paid in planned.reason
        return
    rows = run_job({**job, "do": "select", "statement": planned, "most_rows": 9, "most_bytes": 999})["rows"]
    assert [(name, str(float(money)).removesuffix(".0")) for name, money in rows] == [("North", paid)]


def test_a_nationality_is_any_name_of_its_country() -> None:
    columns = (
        Column("customer", "id", "INTEGER"),
        Column("customer", "country", "TEXT", ("USA", "Czechia"), complete=True),
    )
    schema = Schema((Table("customer", columns, ("id",)),))
    for adjective, country in (("American", "USA"), ("Czech", "Czechia")):
        planned = plan_statement(f"How many {adjective} customers do we have?", schema)
        assert planned == f"SELECT COUNT(*) FROM customer WHERE country = '{country}'"
    assert isinstance(plan_statement("How many Danish customers do we have?", schema), NotPlanned)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("last month", (Period(1, 2024), 2)),
        ("this quarter", (Period(1, 2024, months=3), 2)),
        ("last quarter", (Period(10, 2023, months=3), 2)),
        ("next month", (Period(3, 2024), 2)),
        ("last year", (2023, 2)),
        ("yesterday", (Period(2, 2024, 13), 1)),
        ("last week", None),
        ("last order", None),
    ],
)
def test_relative_days_are_of_the_day_of_the_question(words: str, wanted: tuple[Period | int, int] | None) -> None:
    assert read_relative(words.split(), 0, TODAY) == wanted
    if wanted and isinstance(wanted[0], Period) and wanted[0].months == 3:
        assert wanted[0].last[5:] in ("03-31", "12-31")


@pytest.mark.anyio
async def test_a_call_tells_its_day_to_the_database(tmp_path: Path) -> None:
    names = name_databases(tmp_path, tea=str(make(tmp_path)))
    tools = open_tools(load_settings(model="extractive", source="db:tea", databases=names))
    writer = TraceWriter(tmp_path, str(uuid.uuid4()))
    tools.begin("How many orders did we get last month?", StageRunner(None, Budget(Constraints(), 10), writer), TODAY)
    found = await tools.search.search("orders", max_results=1, source_filter=SourceFilter(None))
    writer.close()
    assert [hit.title for hit in found.hits] == ["Number of orders where order date is from 2024-01-01 to 2024-01-31"]


@pytest.mark.anyio
async def test_the_answer_is_the_cited_rows(tmp_path: Path) -> None:
    names = name_databases(tmp_path, tea=str(make(tmp_path)))
    settings = load_settings(model="extractive", source="db:tea", databases=names)
    done = await run("Which employee handled the most orders?", settings=settings)
    (citation,) = done.result.citations
    assert citation.raw_excerpt == "first_name,last_name,number of orders\nNora,Falk,3"
    assert "number of orders 3 [1]" in done.result.answer
    assert done.problems == []


def test_the_public_databases_are_built_for_their_day(tmp_path: Path) -> None:
    source = "CREATE TABLE sales (id SERIAL PRIMARY KEY, sale_date DATE);\nINSERT INTO sales VALUES (1, {});"
    day = "DATE_TRUNC('week', CURRENT_DATE) - INTERVAL '1 week' + INTERVAL '1 day'"
    (tmp_path / "car_dealership.sql").write_text(source.format(day))
    (built := tmp_path / "built").mkdir()
    with sqlite3.connect(build_database("car_dealership", tmp_path, built)) as connection:
        assert connection.execute("SELECT sale_date FROM sales").fetchall() == [("2024-02-06",)]
    assert DAYS["car_dealership"] == TODAY
