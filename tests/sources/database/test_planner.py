"""Questions become statements where every word is used, and reasons where it is not certain what is meant."""

from __future__ import annotations

import pytest

from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Column, Schema, Table
from tests.sources.database.databases import make_shop


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    target = str(make_shop(tmp_path_factory.mktemp("shop")))
    job = {"engine": "sqlite", "target": target, "seconds": 5, "do": "describe", "most_values": 100}
    return Schema.of(run_job(job))


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("How many orders are there?", "SELECT COUNT(*) FROM orders"),
        ("What is the total amount of all orders?", "SELECT SUM(amount) FROM orders"),
        ("What is the name of the youngest customer?", "SELECT name FROM customer WHERE age = (SELECT MIN(age) FROM customer) LIMIT 20"),
        ("What is the age of the oldest customer?", "SELECT MAX(age) FROM customer"),
        ("Show the name and age of customers older than 30.", "SELECT name, age FROM customer WHERE age > 30"),
        ("What are the different cities of customers?", "SELECT DISTINCT city FROM customer"),
        ("How many customers are there in each city?", "SELECT city, COUNT(*) FROM customer GROUP BY city"),
        ("How many orders were made between 2021 and 2022?", "SELECT COUNT(*) FROM orders WHERE \"year\" BETWEEN 2021 AND 2022"),
        ("List the items of orders with an amount above 50.", "SELECT item FROM orders WHERE amount > 50"),
        ("What are the names of customers without any orders?", "SELECT name FROM customer WHERE customer.customer_id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL)"),
        ("What is the average age of customers who bought a Lamp?", "SELECT AVG(customer.age) FROM customer JOIN orders ON customer.customer_id = orders.customer_id WHERE orders.item = 'Lamp'"),
    ],
)  # fmt: skip
def test_a_question_is_planned(question: str, statement: str, schema: Schema) -> None:
    assert plan_statement(question, schema) == statement


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("How many orders were late?", "late"),
        ("Which customers are from Bergen and from Oslo?", "can't have two values"),
        ("Wie viele Kunden gibt es?", "names nothing"),
        ("What is the password of ada?", "password"),
        ("", "does not say what to look up"),
    ],
)
def test_what_is_not_certain_is_not_planned(question: str, reason: str, schema: Schema) -> None:
    planned = plan_statement(question, schema)
    assert isinstance(planned, NotPlanned)
    assert reason in planned.reason


def _with_days(kind: str, *tables: Table) -> Schema:
    staff = (
        Column("staff", "name", "VARCHAR", ("Anna Keller", "Hans Muller"), complete=True),
        Column("staff", "town", "VARCHAR", ("Bern", "Basel"), complete=True),
        Column("staff", "salary", "BIGINT"),
        Column("staff", "started", kind),
    )
    return Schema((Table("staff", staff), *tables))


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("Which staff started before 2019?", "started < '2019-01-01'"),
        ("Which staff started after 2019?", "started > '2019-12-31'"),
        ("Which staff started in 2019?", "started BETWEEN '2019-01-01' AND '2019-12-31'"),
        ("Which staff did not start in 2019?", "started NOT BETWEEN '2019-01-01' AND '2019-12-31'"),
        ("Which staff started between 2018 and 2020?", "started BETWEEN '2018-01-01' AND '2020-12-31'"),
        ("Which staff in Bern started in 2019?", "town = 'Bern' AND started BETWEEN '2019-01-01' AND '2019-12-31'"),
        ("Which staff have a salary of more than 100,000?", "salary > 100000"),
    ],
)
def test_years_of_a_column_of_days(question: str, condition: str) -> None:
    other = Table("room", (Column("room", "floor", "BIGINT"),))
    for schema in (_with_days("DATE"), _with_days("DATE", other)):
        assert plan_statement(question, schema, "duckdb") == f"SELECT name FROM staff WHERE {condition}"


def test_a_year_with_no_word_for_its_column_is_of_the_only_days() -> None:
    schema = _with_days("TIMESTAMP", Table("room", (Column("room", "floor", "BIGINT"),)))
    days = "started BETWEEN '2023-01-01' AND '2023-12-31 23:59:59.999999'"
    assert plan_statement("What is the total salary of staff in 2023?", schema, "duckdb") == (
        f"SELECT SUM(salary) FROM staff WHERE {days}"
    )


def test_a_number_that_is_no_year_is_not_compared_with_days() -> None:
    planned = plan_statement("Which staff started after 5?", _with_days("DATE"), "duckdb")
    assert isinstance(planned, NotPlanned)
    assert planned.reason == "started of staff holds dates, and 5 is not one"


def test_the_first_and_last_are_told_by_days_and_not_by_rows() -> None:
    schema = _with_days("DATE")
    first = "SELECT name FROM staff WHERE started = (SELECT MIN(started) FROM staff) LIMIT 20"
    assert plan_statement("Who started first?", schema, "duckdb") == first
    assert isinstance(plan_statement("Which staff in Bern started first?", schema, "duckdb"), NotPlanned)
    listed = plan_statement("Who is listed first?", schema, "duckdb")
    assert listed == "SELECT name FROM staff ORDER BY rowid ASC LIMIT 1"
