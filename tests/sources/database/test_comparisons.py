"""Questions that compare are planned: one thing but not another, ratios, shares, ranks below the first, and growth."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from evals.database.derived import build_databases
from evals.database.spider import schema_of
from tests.sources.database.derived_answers import Built, answer, answer_of_duckdb, build, told_in_words


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("compared"))


@pytest.mark.parametrize(
    ("name", "question", "rows"),
    [
        # one thing but not another
        ("shop", "Which customers ordered chairs but never tables?", [("Bo", "Tennant"), ("Dana", "Ostby")]),
        ("shop", "How many customers bought a lamp but never a chair?", [(2,)]),
        ("shop", "Which customers ordered lamps in 2023 but not in 2024?", [("Cid", "Roth")]),
        ("shop", "Which customers ordered in 2024 but did not order in 2023?", [("Eli", "Moen"), ("Frida", "Haug")]),
        ("shop", "Which customers ordered lamps in 2023 but not chairs in 2024?", [("Ada", "Lemmer"), ("Cid", "Roth")]),
        ("clinic", "Which patients got Cardol but never Sedan?", [("Nils Graff",)]),
        ("freight", "Which clients from Germany shipped food but no furniture?", [("Alder Foods",)]),
        # shares, of rows, of people and of money
        ("shop", "What percentage of orders came from Bergen?", [(50.0, 7, 14)]),
        ("shop", "What share of customers from Oslo bought a lamp?", [(66.6667, 2, 3)]),
        ("shop", "What share of products were sold in 2023?", [(57.1429, 4, 7)]),
        ("shop", "What percentage of revenue was made in 2024?", [(62.1724, 2135.0, 3434.0)]),
        ("shop", "What is the percentage of customers from Oslo?", [(37.5, 3, 8)]),
        ("shop", "Which category accounts for the largest share of revenue?", [("Chair", 36.2551)]),
        ("clinic", "What share of dentists had no visits?", [(50.0, 1, 2)]),
        ("library", "What share of loans does each genre have?", [("guide", 27.2727), ("novel", 63.6364), ("poetry", 9.0909)]),
        ("freight", "What percentage of our clients have filed a claim?", [(50.0, 4, 8)]),
        # ratios and margins: a row counts where both of its numbers are known
        ("shop", "Which products have a profit margin above 40 percent?", [("Firefly", 44.3038), ("Ember", 41.76)]),
        ("shop", "What is the ratio of customers from Oslo to customers from Bergen?", [(1.0,)]),
        ("library", "What was the income per visitor for each event?",
         [("Poetry Night", 10.0), ("Book Fair", 6.9355), ("Reading Week", 2.5), ("Crime Evening", 12.0),
          ("Summer Tales", 2.4706), ("Winter Fair", 6.7857)]),
        # ranks below the first; who ties shares a place
        ("shop", "Which customer placed the second fewest orders?", [("Eli", "Moen"), ("Frida", "Haug")]),
        ("library", "Which event had the second lowest profit margin?", [("Summer Tales", -23.8095)]),
        ("freight", "Which goods were shipped second most often?", [("furniture", 6), ("machinery", 6)]),
        # growth
        ("shop", "How much did revenue grow from January to February 2024?", [(-600.0, 680.0, 80.0)]),
        ("shop", "How much more did we earn this year than last year?", [(836.0, 1299.0, 2135.0)]),
        ("clinic", "How much did the average fee increase from 2023 to 2024?", [(-27.35, 141.1, 113.75)]),
        ("clinic", "By what percentage did the number of visits grow between 2023 and 2024?", [(60.0, 5, 8)]),
        ("shop", "Which cities had more revenue in 2024 than in 2023?", [("Oslo", 154.0, 1530.0)]),
        # who had none in the later year had fewer
        ("clinic", "Which doctors had fewer visits in 2024 than in 2023?", [("Karin Sole",)]),
        # no driver: neither a driver that is none of them, nor one who is not known
        ("freight", "How many shipments have no driver?", [(3,)]),
        # signs are words
        ("shop", "What share of products have a price > 100?", [(57.1429, 4, 7)]),
        ("library", "How many events had visitors >= 85?", [(4,)]),
    ],
)  # fmt: skip
def test_a_comparison_is_planned(name: str, question: str, rows: list[tuple[object, ...]], built: Built) -> None:
    found = answer(question, *built[name])
    assert not isinstance(found, str), found
    rounded = [tuple(round(cell, 4) if isinstance(cell, float) else cell for cell in row) for row in found]
    assert sorted(rounded, key=str) == sorted(rows, key=str)


@pytest.mark.parametrize(
    ("name", "question", "reason"),
    [
        ("shop", "What share of orders were cancelled?", "cancelled"),
        ("shop", "What percentage of lamps?", "which number"),
        ("shop", "What share of units sold were lamps?", "which number"),
        ("shop", "What is the price per stock for each category?", "per stock"),
        ("shop", "Which customers ordered lamps in 2023 but no chairs?", "for both"),
        ("shop", "Which customers bought lamps and chairs but no tables?", "what the rows have"),
        ("shop", "How much did revenue grow from January to February?", "which years"),
        ("shop", "What is the average profit margin?", "profit"),
        ("shop", "What is the ratio of orders to customers from Oslo?", "for both"),
        ("library", "What is the share of visitors by event?", "which number"),
        ("clinic", "What is our profit margin?", "profit"),
        ("clinic", "How much did patient satisfaction grow from 2023 to 2024?", "satisfaction"),
    ],
)
def test_a_comparison_that_may_mean_two_things_is_a_gap(name: str, question: str, reason: str, built: Built) -> None:
    found = answer(question, *built[name])
    assert isinstance(found, str), found
    assert reason in found


def test_a_margin_leaves_out_rows_whose_cost_is_not_known(tmp_path: Path) -> None:
    file = build_databases(tmp_path)["library"]
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO events VALUES (99, 'Open Day', '2024-12-20', 70, 1000, NULL)")
    assert answer("What was our profit margin in 2024?", file, schema_of(file)) == [(20.047,)]


def test_a_share_of_expenses_is_one_of_their_money_and_not_of_their_number(tmp_path: Path) -> None:
    file = tmp_path / "office.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE expenses (id INTEGER PRIMARY KEY, paid_on DATE, category TEXT, amount REAL);"
            "CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT);"
            "INSERT INTO expenses VALUES (1, '2023-02-01', 'travel', 900), (2, '2024-02-01', 'rent', 100);"
        )
    schema = schema_of(file)
    for asked in ("expenses", "the total amount"):
        assert answer(f"What share of {asked} was travel?", file, schema) == [(90.0, 900.0, 1000.0)]
    growth = "By what percentage did the number of expenses grow from 2023 to 2024?"
    assert answer(growth, file, schema) == [(0.0, 1, 1)]
    assert answer("How much did expenses grow from 2023 to 2024?", file, schema) == [(-800.0, 900.0, 100.0)]


def test_a_column_of_that_name_is_meant_where_a_table_has_one(tmp_path: Path) -> None:
    file = tmp_path / "firms.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE firms (id INTEGER PRIMARY KEY, name TEXT, margin REAL, income REAL, costs REAL);"
            "CREATE TABLE owners (id INTEGER PRIMARY KEY, firm_id INTEGER REFERENCES firms (id), name TEXT);"
            "INSERT INTO firms VALUES (1, 'Alder', 12.5, 100, 20), (2, 'Birch', 30, 100, 90);"
        )
    assert answer("Which firm has the highest margin?", file, schema_of(file)) == [("Birch",)]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What percentage of patients are from Halden?",
         "100 times the number of patients where town is Halden divided by the number of patients, "
         "the number of patients where town is Halden, the number of patients"),
        ("Which doctors had more visits in 2024 than in 2023?",
         "Name of visits and doctors where visit date is from 2023-01-01 to 2023-12-31 or visit date is from 2024-01-01 to "
         "2024-12-31 for each doctor id having number of rows where visit date is from 2024-01-01 to 2024-12-31 is more than "
         "number of …"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_a_comparison_is_told_in_words_in_each_dialect(question: str, words: str, dialect: str, built: Built) -> None:
    assert told_in_words(question, built["clinic"][1], dialect) == words


def test_duckdb_gives_the_same_comparisons(built: Built) -> None:
    pytest.importorskip("duckdb")
    for question in (
        "What share of visits had no prescription?",
        "Which doctor had the second most visits?",
        "How much more did we earn in 2024 than in 2023?",
        "What is the fee per minute for each doctor?",
        "Which patients saw a cardiologist but never a dentist?",
    ):
        told = answer_of_duckdb(question, "clinic", built["clinic"][1])
        assert sorted(told) == sorted(answer(question, *built["clinic"]))
