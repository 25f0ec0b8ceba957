"""Questions as people type them: misspelt, short, with units and flags; what may be another word stays a gap."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from evals.database.spider import run, schema_of
from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.schema import Schema

RECORDS = """
CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, city TEXT, ship_date TEXT);
CREATE TABLE track (track_id INTEGER PRIMARY KEY, name TEXT, genre TEXT, milliseconds INTEGER, unit_price REAL);
CREATE TABLE playlist_track (playlist_id INTEGER, track_id INTEGER REFERENCES track (track_id));
CREATE TABLE invoice (invoice_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (customer_id),
    invoice_date TEXT, total REAL);
CREATE TABLE invoice_line (line_id INTEGER PRIMARY KEY, invoice_id INTEGER REFERENCES invoice (invoice_id),
    track_id INTEGER REFERENCES track (track_id), unit_price REAL, quantity INTEGER);
CREATE TABLE products (product_id INTEGER PRIMARY KEY, product_name TEXT, units_in_stock INTEGER, price REAL,
    discontinued TEXT);
INSERT INTO customer VALUES (1, 'Zoë', 'Gonçalves', 'Bern', '2024-01-05'), (2, 'Ida', 'Moe', 'Oslo', '2024-02-06');
INSERT INTO track VALUES (1, 'Slow Tide', 'Jazz', 300, 0.99), (2, 'Quick Step', 'Rock', 100, 1.29),
    (3, 'Long Way', 'Rock', 500, 0.99);
INSERT INTO playlist_track VALUES (1, 1), (1, 2);
INSERT INTO invoice VALUES (1, 1, '2023-05-01', 30), (2, 1, '2023-06-02', 5), (3, 1, '2024-01-03', 25);
INSERT INTO invoice_line VALUES (1, 1, 3, 0.99, 5), (2, 2, 1, 0.99, 2), (3, 3, 2, 1.29, 1);
INSERT INTO products VALUES (1, 'Stand', 0, 40, '1'), (2, 'Cable', 7, 4, '0'), (3, 'Case', 3, 12, '1');
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "records.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(RECORDS)
    connection.close()
    return path


@pytest.fixture(scope="module")
def schema(file: Path) -> Schema:
    return schema_of(file)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        # misspelt words that ask, and names of the tables
        ("wich custmers are from bern", [("Zoë", "Gonçalves")]),
        ("how many invocies are there in 2023", [(2,)]),
        # a name typed without its accents
        ("which city is zoe goncalves from", [("Bern",)]),
        # a song is a row of track, not of playlist_track
        ("how many songs are there per genre", [("Jazz", 1), ("Rock", 2)]),
        ("longest song", [("Long Way",)]),
        ("avg track length", [(300.0,)]),
        ("products over 10 dollars", [("Stand",), ("Case",)]),
        ("invoices over 20 dollars", [(1,), (3,)]),
        ("invoices in may 2023", [(1,)]),
        ("products that are out of stock", [("Stand",)]),
        ("how many products are out of stock", [(1,)]),
        ("products that are in stock", [("Cable",), ("Case",)]),
        ("discontinued products", [("Stand",), ("Case",)]),
        ("how many products are not discontinued", [(1,)]),
        ("customers who never bought anything", [("Ida", "Moe")]),
        ("top 2 best-selling tracks", [("Long Way", 5), ("Slow Tide", 2)]),
        ("the 2 best selling tracks", [("Long Way", 5), ("Slow Tide", 2)]),
    ],
)
def test_a_question_as_it_is_typed_is_answered(
    question: str, rows: list[tuple[object, ...]], file: Path, schema: Schema
) -> None:
    planned = plan_statement(question, schema)
    assert isinstance(planned, str), planned.reason
    assert sorted(run(file, check_statement(planned, "sqlite", schema).sql)) == sorted(rows)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("how many invoices were late", "late"),
        ("how many customers have a ship dale", "dale"),  # an English word, one letter from `date`
        ("how many custmers are from brn", "brn"),  # values are not respelt
        ("customers over 10 dollars", "dollars"),
        ("how many Invoyces are there", "Invoyces"),  # it may be a name
    ],
)
def test_a_word_that_may_be_another_is_not_respelt(question: str, word: str, schema: Schema) -> None:
    planned = plan_statement(question, schema)
    assert isinstance(planned, NotPlanned)
    assert word in planned.reason


def test_names_that_differ_by_accents_alone_are_not_matched_without_them(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE person (person_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, town TEXT);"
            "CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES person (person_id));"
            "INSERT INTO person VALUES (1, 'Luis', 'Rojas', 'Quito'), (2, 'Luís', 'Gonçalves', 'Porto');"
        )
    connection.close()
    assert isinstance(plan_statement("which town is luis goncalves from", schema_of(path)), NotPlanned)
