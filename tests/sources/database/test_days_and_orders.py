"""Days between two dates, weekdays, the last so many days, and the order in which rows are asked for."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
import sqlglot

from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema
from marchwarden.sources.database.statement_words import describe_statement

HOTEL = """
CREATE TABLE guests (guest_id INTEGER PRIMARY KEY, name TEXT, country TEXT);
CREATE TABLE stays (stay_id INTEGER PRIMARY KEY, guest_id INTEGER REFERENCES guests (guest_id), check_in DATE,
    check_out DATE, total REAL);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, supplier TEXT, order_date DATE, required_date DATE, shipped_date DATE);
CREATE TABLE wake_ups (wake_up_id INTEGER PRIMARY KEY, day DATE);
INSERT INTO guests VALUES (1, 'Anke Rue', 'Germany'), (2, 'Berto Sala', 'Italy'), (3, 'Chloe Dune', 'France');
INSERT INTO stays VALUES (1, 1, '2024-02-03', '2024-02-05', 180), (2, 2, '2024-04-10', '2024-04-20', 600),
    (3, 3, '2024-07-22', '2024-07-25', 240), (4, 1, '2024-12-07', '2024-12-08', 90), (5, 2, '2024-12-29', NULL, NULL);
INSERT INTO orders VALUES (1, 'Linen', '2024-03-01', '2024-03-10', '2024-03-05'),
    (2, 'Soap', '2024-05-02', '2024-05-09', '2024-05-30'), (3, 'Linen', '2024-11-11', '2024-11-20', NULL);
INSERT INTO wake_ups VALUES (1, '2024-12-02'), (2, '2024-12-07'), (3, '2024-12-08'), (4, '2024-12-09');
"""
TODAY = date(2024, 12, 31)


@pytest.fixture(scope="module")
def hotel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[sqlite3.Connection, Schema]]:
    file = tmp_path_factory.mktemp("hotel") / "hotel.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(HOTEL)
        yield connection, schema_of(file)


def schema_of(file: Path) -> Schema:
    job = {"engine": "sqlite", "target": str(file), "seconds": 5, "do": "describe", "most_values": 100}
    return Schema.of(run_job(job))


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How long is a stay on average?", None),
        ("How many days does a stay take on average?", [(4.0,)]),
        ("What is the average length of a stay?", [(4.0,)]),
        ("How long was the longest stay?", [(10.0,)]),
        ("What was the shortest stay in days?", [(1.0,)]),
        ("How many stays lasted longer than a week?", [(1,)]),
        ("How many stays were shorter than 3 days?", [(2,)]),
        ("What is the average duration of stays of German guests?", [(1.5,)]),
        ("How many days on average lie between check in and check out?", [(4.0,)]),
        ("What is the average number of days between order date and shipped date?", [(16.0,)]),
        ("How many orders took more than 20 days to ship?", [(1,)]),
        ("How many orders were shipped after the required date?", [(1,)]),
        # A stay of a month is one that began then.
        ("What is the total of the stays in July 2024?", [(240.0,)]),
        # What was done in the meantime is not told.
        ("How many stays were booked within 3 days?", None),
        ("How long do guests wait for breakfast?", None),
        ("How many wake-ups were there on Mondays?", [(2,)]),
        ("How many wake-ups were there at the weekend?", [(2,)]),
        ("How many wake-ups took place on a Saturday?", [(1,)]),
        ("Which day of the week has the most wake-ups?", [("Monday",)]),
        ("On how many weekdays are we open?", None),
        ("On which weekday do we get the most wake-ups?", [("Monday",)]),
        ("On which weekday do we ship the most orders?", [("Thursday",), ("Tuesday",)]),
        ("On which weekday do we pay the most orders?", None),
        ("How many days did each stay take?", None),
        ("How many days did the stays take?", None),
        ("How many days did the stays take in total?", [(16.0,)]),
        ("What is the average check out of the stays?", None),
        ("How many wake-ups were there in the last 24 days?", [(3,)]),
        ("How many wake-ups were there in the first half of December 2024?", [(4,)]),
        ("How many stays were there from 10 April 2024 to 22 July 2024?", [(2,)]),
        ("What was our revenue in the past 60 days?", [(90.0,)]),
        ("How much business did we do in February 2024?", [(180.0,)]),
        ("How many stays did we have in winter 2024?", None),
        ("How many stays did we have in fiscal year 2024?", None),
        ("How many stays did we have last week?", None),
        ("How many orders are there for each supplier, ordered by supplier?", [("Linen", 2), ("Soap", 1)]),
        ("How many orders are there for each supplier? Sort the results from lowest to highest.",
         [("Soap", 1), ("Linen", 2)]),
        ("How many orders are there for each supplier, ordered by count, highest first?", [("Linen", 2), ("Soap", 1)]),
        ("How many orders are there for each supplier, ordered by number of orders desc?",
         [("Linen", 2), ("Soap", 1)]),
        ("How many orders are there for each supplier, sorted by smallest first?", [("Soap", 1), ("Linen", 2)]),
        # An order by what is not asked for, or by two things.
        ("How many orders are there for each supplier, ordered by revenue?", None),
        ("How many stays are there per country, ordered by the number of guests?", None),
        ("How many stays are there per country, ordered by country and number of stays?", None),
        ("List the names of the guests, sorted by the number of years they have worked.", None),
        # Signs that are digits, and no numbers.
        ("How many stays were there in the last ² days?", None),
        ("How many stays were there in the last ① months of 2024?", None),
        ("Which are the ² longest stays?", None),
    ],
)  # fmt: skip
def test_days_and_orders_are_read_or_are_a_gap(
    question: str, rows: list[tuple[object, ...]] | None, hotel: tuple[sqlite3.Connection, Schema]
) -> None:
    connection, schema = hotel
    planned = plan_statement(question, schema, today=TODAY)
    if rows is None:
        assert isinstance(planned, NotPlanned), planned
        return
    assert isinstance(planned, str), planned
    assert connection.execute(check_statement(planned, "sqlite", schema).sql).fetchall() == rows, planned


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_computed_days_are_told_in_words_in_each_dialect(
    dialect: str, hotel: tuple[sqlite3.Connection, Schema]
) -> None:
    told = []
    for question in ("How long was the longest stay?", "How many wake-ups were there on Mondays?"):
        planned = plan_statement(question, hotel[1], dialect)
        assert isinstance(planned, str), planned
        told.append(describe_statement(sqlglot.parse_one(planned, dialect=dialect)))
    assert told == [
        "Maximum days from check in to check out of stays",
        "Number of wake ups where weekday of day is Monday",
    ]


def test_days_that_are_kept_as_texts_are_days(tmp_path: Path) -> None:
    file = tmp_path / "texts.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(HOTEL.replace(" DATE", " TEXT"))
        schema = schema_of(file)
        for question, row in (
            ("How long was the longest stay?", (10.0,)),
            ("How many wake-ups were there on Mondays?", (2,)),
            ("How many orders were there in May 2024?", (1,)),
            ("How much business did we do in February?", (180.0,)),
        ):
            planned = plan_statement(question, schema, today=TODAY)
            assert isinstance(planned, str), planned
            assert connection.execute(check_statement(planned, "sqlite", schema).sql).fetchall() == [row]
