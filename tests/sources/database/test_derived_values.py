"""Values that no column holds are planned: profit, sums by month, sums as conditions, rows without others."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from evals.database.derived import build_databases
from evals.database.spider import schema_of
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from tests.sources.database.derived_answers import Built, answer, answer_of_duckdb, build, told_in_words


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("derived"))


GUS, HEDDA = ("Gus", "Nyberg"), ("Hedda", "Lie")


@pytest.mark.parametrize(
    ("name", "question", "rows"),
    [
        # profit: of each piece that was sold, or of two columns of a row
        ("shop", "What was our total profit?", [(1301.0,)]),
        ("shop", "What was our average profit per month?", [(108.4167, 12)]),
        ("shop", "Which products made a profit of more than 300?", [("Perch", 305.0)]),
        ("library", "Which event made the biggest loss?", [("Reading Week", -220.5)]),
        ("library", "Which events made a profit in 2024?", [("Winter Fair", 550.0), ("Crime Evening", 360.0)]),
        # price × number, and differences that are named
        ("clinic", "What did the prescriptions cost in total?", [(274.2,)]),
        ("library", "What are all copies worth?", [(303.3,)]),
        ("shop", "Which product has the biggest difference between price and cost?", [("Plain", 140.0)]),
        # months, quarters and years
        ("clinic", "How many visits were there per quarter in 2024?",
         [("2024-Q1", 3), ("2024-Q2", 3), ("2024-Q3", 1), ("2024-Q4", 1)]),
        ("shop", "In which month did we have the highest revenue?", [("2024-05", 775.0)]),
        ("shop", "What is our average monthly revenue in 2023?", [(216.5, 6)]),
        ("library", "How many visitors did we have per year?", [(2023, 350), (2024, 550)]),
        ("library", "What was the average fine per year?", [(2023, 1.7), (2024, 2.1667)]),
        ("shop", "Which months had more than one order?", [("2024-01", 2), ("2024-05", 2)]),
        ("clinic", "What was the total cost of prescriptions per year?", [(2023, 102.0), (2024, 172.2)]),
        # sums and counts as conditions; who has none has fewer, too
        ("shop", "Which customers from Oslo spent more than 500?", [("Bo", "Tennant", 1054.0), ("Frida", "Haug", 630.0)]),
        ("shop", "How many customers spent more than 300?", [(4,)]),
        ("shop", "Which customers spent less than 100?", [GUS, HEDDA]),
        ("clinic", "Which doctors have fewer than 4 visits?", [("Karin Sole",), ("Leif Amdal",)]),
        ("shop", "Which customers placed at most one order?", [("Cid", "Roth"), ("Dana", "Ostby"), GUS, HEDDA]),
        ("shop", "Which customers placed 3 or more orders?", [("Ada", "Lemmer", 4), ("Bo", "Tennant", 4)]),
        ("library", "Which genres were borrowed fewer than 3 times?", [("poetry",)]),
        ("clinic", "Which patients from Halden had fewer than 3 visits in 2024?",
         [("Mia Stroem",), ("Olga Dahl",), ("Sven Bakke",)]),
        # without any
        ("shop", "Which customers never ordered lamps?", [("Dana", "Ostby"), GUS, HEDDA]),
        ("shop", "Which customers from Bodo have never ordered?", [HEDDA]),
        ("shop", "Which customers spent nothing in 2024?", [("Cid", "Roth"), ("Dana", "Ostby"), GUS, HEDDA]),
        ("clinic", "How many dentists have never had a visit?", [(1,)]),
        ("clinic", "Which doctors never prescribed Cardol?", [("Jonas Brandt",), ("Karin Sole",), ("Leif Amdal",)]),
        ("library", "Which members have never borrowed a book?", [("Britt Lang",), ("Carl Munk",)]),
        # means of counts: over all groups, also those without rows
        ("shop", "What is the average number of orders per customer?", [(1.75,)]),
        ("shop", "What is the average number of orders per customer from Oslo?", [(2.0,)]),
        ("clinic", "How many visits does a doctor have on average?", [(3.25,)]),
        # verbs that name a table
        ("library", "Which book was borrowed the most?", [("Silent Rivers", 3)]),
        ("library", "How many members borrowed a novel?", [(4,)]),
    ],
)  # fmt: skip
def test_a_value_that_no_column_holds_is_planned(
    name: str, question: str, rows: list[tuple[object, ...]], built: Built
) -> None:
    found = answer(question, *built[name])
    assert not isinstance(found, str), found
    assert sorted(found, key=str) == sorted(rows, key=str)


@pytest.mark.parametrize(
    ("name", "question", "reason"),
    [
        ("shop", "What is the total value of our stock?", "number of things"),
        ("shop", "Which customers never ordered twice?", "twice"),
        ("shop", "Which customers spent more than 100 per order?", "per"),
        ("shop", "Which customer spent the most each year?", "each year"),
        ("shop", "Which products did Ada Lemmer never buy?", "Ada"),
        ("shop", "Which customers never sold anything?", "customers sold"),
        ("shop", "What was our net profit?", "net"),
        ("shop", "What is the average spending per customer?", "spending"),
        ("shop", "Which customers never complained?", "complained"),
        ("shop", "In which months did we get fewer than 2 orders?", "months have no rows"),
        ("library", "What was the average income per year?", "rows or of years"),
        ("library", "Which members never returned a book?", "not"),
        ("clinic", "Which patients never paid?", "not"),
        ("clinic", "What was our profit per doctor?", "profit"),
    ],
)
def test_what_may_mean_two_things_is_a_gap(name: str, question: str, reason: str, built: Built) -> None:
    found = answer(question, *built[name])
    assert isinstance(found, str), found
    assert reason in found


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("ALTER TABLE products ADD COLUMN repair_cost REAL", "cost of products or repair_cost of products"),
        ("ALTER TABLE order_items ADD COLUMN cost REAL", "one piece or of all"),
    ],
)
def test_a_profit_with_two_costs_is_a_gap_that_names_them(change: str, reason: str, tmp_path: Path) -> None:
    file = build_databases(tmp_path)["shop"]
    with sqlite3.connect(file) as connection:
        connection.execute(change)
    planned = plan_statement("What was our total profit?", schema_of(file))
    assert isinstance(planned, NotPlanned)
    assert reason in planned.reason


def test_rows_that_belong_to_nobody_make_no_one_a_buyer(tmp_path: Path) -> None:
    file = build_databases(tmp_path)["shop"]
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO orders VALUES (99, NULL, '2024-12-02')")
    shop = file, schema_of(file)
    assert answer("Which customers have never ordered anything?", *shop) == [GUS, HEDDA]
    assert answer("What is the average number of orders per customer?", *shop) == [(1.75,)]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many visits were there per quarter?", "Quarter of visit date, number of visits where visit date is known "
         "for each quarter of visit date by quarter of visit date"),
        ("How much did we earn per month?", "Month of visit date, sum of fee of visits where visit date is known "
         "for each month of visit date by month of visit date"),
        ("How many visits does a doctor have on average?",
         "Number divided by the number of doctors of visits and doctors"),
        ("Which patients never got a prescription?",
         "Name of patients where patient id is not in the patient id of prescriptions and visits where patient id is known"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_the_statement_is_told_in_words_in_each_dialect(
    question: str, words: str, dialect: str, built: Built
) -> None:
    assert told_in_words(question, built["clinic"][1], dialect) == words


def test_duckdb_gives_the_same_months_and_quarters(built: Built) -> None:
    pytest.importorskip("duckdb")
    for question in ("How much did we earn per month?", "How many visits were there per quarter?"):
        assert answer_of_duckdb(question, "clinic", built["clinic"][1]) == answer(question, *built["clinic"])
