"""Income that no table is called by, parts of a year, places that follow each other, and growth and shares of groups."""

from __future__ import annotations

import sqlite3
from datetime import date
from pathlib import Path

import pytest

from evals.database.spider import schema_of
from marchwarden.sources.database.planning.everyday.periods import Days, Period, read_period, read_relative
from marchwarden.sources.database.planning.planner import plan_statement
from tests.sources.database.derived_answers import Built, answer, answer_of_duckdb, build, told_in_words


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("business")
    file = folder / "rentals.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(_RENTALS)
    return build(folder) | {"rentals": (file, schema_of(file))}


# A film of two categories, two actors of one first name, and payments that tell what rentals brought in.
_RENTALS = """
CREATE TABLE film (film_id INTEGER PRIMARY KEY, title TEXT, length INTEGER);
CREATE TABLE category (category_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE film_category (film_id INTEGER REFERENCES film, category_id INTEGER REFERENCES category,
  last_update TIMESTAMP, PRIMARY KEY (film_id, category_id));
CREATE TABLE actor (actor_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT);
CREATE TABLE film_actor (film_id INTEGER REFERENCES film, actor_id INTEGER REFERENCES actor,
  PRIMARY KEY (film_id, actor_id));
CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT);
CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT);
CREATE TABLE inventory (inventory_id INTEGER PRIMARY KEY, film_id INTEGER REFERENCES film);
CREATE TABLE rental (rental_id INTEGER PRIMARY KEY, rental_date TIMESTAMP, customer_id INTEGER REFERENCES customer,
  inventory_id INTEGER REFERENCES inventory, staff_id INTEGER REFERENCES staff);
CREATE TABLE payment (payment_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,
  rental_id INTEGER REFERENCES rental, staff_id INTEGER REFERENCES staff, amount DECIMAL(5,2), payment_date TIMESTAMP);
INSERT INTO film VALUES (1, 'Alp', 90), (2, 'Bay', 120), (3, 'Cliff', 100);
INSERT INTO category VALUES (1, 'Horror'), (2, 'Comedy'), (3, 'Drama');
INSERT INTO film_category VALUES (1, 1, NULL), (1, 2, NULL), (2, 2, NULL), (3, 3, NULL);
INSERT INTO actor VALUES (1, 'Ann', 'Moe'), (2, 'Ann', 'Roe'), (3, 'Bea', 'Moe');
INSERT INTO film_actor VALUES (1, 1), (1, 3), (2, 2), (2, 3), (3, 3), (3, 1);
INSERT INTO customer VALUES (1, 'Cy', 'Dow'), (2, 'Di', 'Eck');
INSERT INTO staff VALUES (1, 'Flo', 'Gee'), (2, 'Gus', 'Hay');
INSERT INTO inventory VALUES (1, 1), (2, 1), (3, 2), (4, 3);
INSERT INTO rental VALUES (1, '2024-05-01 10:00:00', 1, 1, 1), (2, '2024-06-03 10:00:00', 1, 3, 1),
  (3, '2024-07-05 10:00:00', 2, 2, 2), (4, '2024-07-09 10:00:00', 1, 4, 2);
INSERT INTO payment VALUES (1, 1, 1, 1, 3, '2024-05-02 10:00:00'), (2, 1, 2, 2, 4, '2024-06-04 10:00:00'),
  (3, 2, 3, 2, 5, '2024-07-06 10:00:00'), (4, 1, 4, 2, 6, '2024-07-10 10:00:00');
"""


@pytest.mark.parametrize(
    ("name", "question", "rows"),
    [
        # price × seats, price for a day × days, and what was paid for what has no price
        ("theatre", "What was our income from tickets in 2024?", [(1011.5,)]),
        ("theatre", "Which play brought in the most money?", [("Hamlet", 706.5)]),
        ("theatre", "How much did Anna Lund spend?", [(342.0,)]),
        ("bikes", "How much did we earn from mountain bikes?", [(251.0,)]),
        ("bikes", "What was our turnover in the second half of 2024?", [(163.0,)]),
        ("rentals", "What is our income from horror films?", [(8.0,)]),
        ("rentals", "How much money did each staff member take in?", [("Flo", "Gee", 3), ("Gus", "Hay", 15)]),
        # over a table of pairs each group has all its rows, and a condition counts none twice
        ("rentals", "What is our income by category?", [("Comedy", 12.0), ("Drama", 6.0), ("Horror", 8.0)]),
        ("rentals", "How many films has Ann Moe?", [(2,)]),
        ("rentals", "How many films did each customer rent?", [("Cy", "Dow", 3), ("Di", "Eck", 1)]),
        ("rentals", "How many copies of Alp do we have in the inventory?", [(2,)]),
        # parts of a year
        ("theatre", "How much did we earn in Q3 2024?", [(266.0,)]),
        ("theatre", "How much did we earn between November 2023 and March 2024?", [(587.5,)]),
        ("shop", "How many orders were there in the last quarter of 2024?", [(1,)]),
        ("library", "How many loans were there in the first half of 2024?", [(4,)]),
        # places that follow each other
        ("theatre", "What are the second and third best-selling plays?", [("Peer Gynt", 16), ("The Birds", 14)]),
        ("theatre", "Which plays rank 2 to 3 by income?", [("Peer Gynt", 466.0), ("The Birds", 265.5)]),
        ("theatre", "What are the top 2 plays by income after the first?", [("Peer Gynt", 466.0), ("The Birds", 265.5)]),
        ("rentals", "What are the 2nd to 3rd longest films?", [("Alp",), ("Cliff",)]),
        # growth and shares of groups
        ("theatre", "How much did income grow from 2023 to 2024 for each genre?",
         [("comedy", 169.5, 90.0, 259.5), ("drama", 74.0, 196.0, 270.0), ("tragedy", 41.5, 440.5, 482.0)]),
        ("theatre", "Which play's income grew the most from 2023 to 2024?", [("Macbeth", 216.0, None, 0, 216.0)]),
        ("theatre", "What share of income does each genre have?",
         [("comedy", 20.1093), ("drama", 26.8124), ("tragedy", 53.0783)]),
        ("theatre", "What percentage of income came from each genre in 2024?",
         [("comedy", 25.655), ("drama", 26.693), ("tragedy", 47.652)]),
        ("shop", "What share of revenue came from Oslo in 2024?", [(71.6628, 1530.0, 2135.0)]),
        ("library", "What percentage of books were borrowed in 2024?", [(71.4286, 5, 7)]),
    ],
)  # fmt: skip
def test_a_question_of_business_is_planned(
    name: str, question: str, rows: list[tuple[object, ...]], built: Built
) -> None:
    found = answer(question, *built[name])
    assert not isinstance(found, str), found
    assert sorted(map(repr, found)) == sorted(map(repr, rows))


@pytest.mark.parametrize(
    ("name", "question", "reason"),
    [
        ("gym", "What was our revenue in 2024?", "revenue"),  # of a fee a month, nobody says how many were paid
        ("gym", "How much turnover did we make with kettlebells?", "turnover"),
        ("bikes", "What is our income from repairs?", "income"),
        ("bikes", "How much revenue did we lose on repairs?", "lose"),
        ("freight", "What was our revenue in 2024?", "cancelled"),
        ("library", "What was the average income per year?", "rows or of years"),
        ("theatre", "How much did we earn in Q5 2024?", "Q5"),
        ("theatre", "How much did we earn in the third fiscal quarter of 2024?", "third"),
        ("theatre", "How much did we earn in Q3?", "Q3"),
        ("theatre", "How much did we earn in March and May 2024?", "two values"),
        ("theatre", "How much did we earn in the summer of 2024?", "summer"),
        ("theatre", "Which plays have the second and fourth most bookings?", "do not follow"),
        ("theatre", "What share of income does comedy have in each city?", "which number"),  # within each, or of all comedies
        ("theatre", "Which sales region grew the most from 2023 to 2024?", "region"),
        ("theatre", "How much did the average ticket price grow from 2023 to 2024 for each play?", "what grew"),
        ("rentals", "How many horror films were rented?", "counts once"),  # twice, but one film
        ("rentals", "How many comedies are there?", "row of category"),
        ("rentals", "What share of income does each category have?", "which number"),  # a film of two has 100 percent of both
    ],
)  # fmt: skip
def test_what_is_not_certain_is_a_gap(name: str, question: str, reason: str, built: Built) -> None:
    found = answer(question, *built[name])
    assert isinstance(found, str), found
    assert reason in found


def test_a_share_by_lines_is_one_of_all_lines_where_the_head_tells_the_total(tmp_path: Path) -> None:
    file = tmp_path / "music.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Name TEXT, Style TEXT);"
            "CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, InvoiceDate DATE, Country TEXT, Total REAL);"
            "CREATE TABLE InvoiceLine (InvoiceLineId INTEGER PRIMARY KEY, InvoiceId INTEGER REFERENCES Invoice,"
            " TrackId INTEGER REFERENCES Track, UnitPrice REAL, Quantity INTEGER);"
            "INSERT INTO Track VALUES (1, 'Ode', 'Jazz'), (2, 'Hum', 'Rock'), (3, 'Lay', NULL);"
            "INSERT INTO Invoice VALUES (1, '2023-05-01', 'Brazil', 5), (2, '2024-05-01', 'Chile', 4);"
            "INSERT INTO InvoiceLine VALUES (1, 1, 1, 1, 1), (2, 1, 2, 2, 1), (3, 1, 3, 1, 2), (4, 2, 1, 2, 2);"
        )
    schema = schema_of(file)
    told = {"Jazz": 20.0, "Rock": 40.0}
    assert dict(answer("What share of revenue does each style have in 2023?", file, schema)) == told  # type: ignore[arg-type]
    assert answer("What share of revenue came from jazz in 2023?", file, schema) == [(20.0, 1.0, 5.0)]
    # Of all that is sold, or of what is sold there.
    assert "which number" in answer("What share of revenue does each style have in Brazil?", file, schema)
    planned = plan_statement("What share of revenue does each style have?", schema, "postgres")
    assert isinstance(planned, str)
    assert '"InvoiceLine"."UnitPrice"' in planned
    assert "invoiceline" not in planned


def test_claims_that_were_paid_are_no_income(tmp_path: Path) -> None:
    file = tmp_path / "insurer.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT);"
            "CREATE TABLE claims (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients, amount REAL, paid_on DATE);"
            "CREATE TABLE quotes (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients, price REAL, made_on DATE);"
            "INSERT INTO claims VALUES (1, 1, 900, '2024-02-01'); INSERT INTO quotes VALUES (1, 1, 50, '2024-02-01');"
        )
    assert isinstance(answer("What was our income in 2024?", file, schema_of(file)), str)


def test_a_price_beside_seats_may_be_that_of_all(tmp_path: Path) -> None:
    file = tmp_path / "buses.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE passengers (id INTEGER PRIMARY KEY, name TEXT);"
            "CREATE TABLE bookings (id INTEGER PRIMARY KEY, passenger_id INTEGER REFERENCES passengers, seats INTEGER,"
            " price REAL, booked_on DATE); INSERT INTO bookings VALUES (1, 1, 2, 30, '2024-02-01');"
        )
    assert "one of seats or of all" in str(answer("What was our revenue in 2024?", file, schema_of(file)))


@pytest.mark.parametrize(
    ("words", "period"),
    [
        ("Q3 2023", Period(7, 2023, months=3)),
        ("2023 Q3", Period(7, 2023, months=3)),
        ("H2 of 1997", Period(7, 1997, months=6)),
        ("4th quarter of 1997", Period(10, 1997, months=3)),
        ("last quarter of 1997", Period(10, 1997, months=3)),
        ("first three months of 2024", Period(1, 2024, months=3)),
        ("last 2 months of 2024", Period(11, 2024, months=2)),
        ("from November 2023 to February 2024", Period(11, 2023, months=4)),
        ("between March and May 1998", Period(3, 1998, months=3)),
        ("June and July 2005", Period(6, 2005, months=2)),
        ("from May to March 2005", None),
        ("Q3", None),
        ("third quarter", None),
        ("second half of July 2005", Days(7, 2005, 16, until=date(2005, 7, 31))),
        ("from 3 May to 8 June 2024", Days(5, 2024, 3, until=date(2024, 6, 8))),
        ("from 30 February to 8 June 2024", None),
    ],
)
def test_a_part_of_a_year_is_read(words: str, period: Period | None) -> None:
    read = read_period(["in", *words.split()], 1)
    assert read == ((period, len(words.split())) if period else None)


def test_the_last_month_of_a_period_may_be_one_of_the_next_year() -> None:
    period = Period(11, 2023, months=4)
    assert (period.first, period.last) == ("2023-11-01", "2024-02-29")


def test_the_last_quarter_of_a_year_is_not_the_one_before_today() -> None:
    today = date(2024, 5, 1)
    assert read_relative(["last", "quarter", "of", "2022"], 0, today) is None
    assert read_relative(["last", "quarter"], 0, today) == (Period(1, 2024, months=3), 2)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What are the second and third best-selling plays?",
         "Title, sum of seats of bookings and performances and plays for each play id with the 2nd to 3rd highest sum of "
         "seats by sum of seats, highest first, first 20"),
        ("Which play has the third highest income?",
         "Title, sum of ticket price times seats of bookings and performances and plays for each play id with the 3rd "
         "highest sum of ticket price times seats, at most 20 rows"),
    ],
)  # fmt: skip
def test_places_are_told_in_words(question: str, words: str, built: Built) -> None:
    assert told_in_words(question, built["theatre"][1], "sqlite") == words


def test_duckdb_gives_the_same(built: Built) -> None:
    pytest.importorskip("duckdb")
    for question in (
        "How much did income grow from 2023 to 2024 for each genre?",
        "Which play's income grew the most from 2023 to 2024?",
        "Which plays rank 2 to 3 by income?",
        "How much did we earn in Q3 2024?",
    ):
        told = [[each if isinstance(each, str) else each and float(each) for each in row]  # type: ignore[arg-type]
                for row in answer_of_duckdb(question, "theatre", built["theatre"][1])]  # fmt: skip
        assert sorted(told) == sorted(map(list, answer(question, *built["theatre"])))
