"""Questions over one table are read by families: extremes, positions, neighbours, comparisons, counts, sums."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema

RACES = """
CREATE TABLE races (Year INTEGER, Rider TEXT, Nation TEXT, Venue TEXT, Laps INTEGER, Points INTEGER);
INSERT INTO races VALUES (2001, 'Ada Lemmer', 'Norway', 'Bergen', 25, 40), (2002, 'Bo Tennant', 'Sweden', 'Lund', 24, 90),
    (2003, 'Cid Roth', 'Norway', 'Bergen Park', 25, NULL), (2004, 'Dan Ostby', 'Denmark', 'Aarhus', 22, 12),
    (NULL, 'Total', NULL, NULL, NULL, 142);
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("races") / "races.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(RACES)
    connection.close()
    return path


@pytest.fixture(scope="module")
def schema(file: Path) -> Schema:
    job = {"engine": "sqlite", "target": str(file), "seconds": 5, "do": "describe", "most_values": 100}
    return Schema.of(run_job(job))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which rider had the most points?", [("Bo Tennant",)]),
        ("who had the least points?", [("Dan Ostby",)]),
        ("which country had the most points?", [("Sweden",)]),
        ("which nation had the most riders?", [("Norway",)]),
        ("who is the last rider on the list?", [("Dan Ostby",)]),
        ("which rider is listed after bo tennant?", [("Cid Roth",)]),
        ("which venue was listed directly before Aarhus?", [("Bergen Park",)]),
        ("who had more points, ada lemmer or dan ostby?", [("Ada Lemmer",)]),
        ("what is the difference in points between ada lemmer and bo tennant?", [(50,)]),
        ("how many more points did bo tennant have than dan ostby?", [(78,)]),
        ("how many points did ada lemmer get?", [(40,)]),
        ("what is the total number of points of riders from norway?", [(40,)]),
        ("how many races were held in bergen?", [(2,)]),
        ("how many riders had more than 22 laps?", [(3,)]),
        ("in what year did cid roth win?", [(2003,)]),
    ],
)
def test_a_question_over_one_table_gives_the_right_rows(
    question: str, answer: list[object], schema: Schema, file: Path
) -> None:
    planned = plan_statement(question, schema)
    assert isinstance(planned, str), planned
    connection = sqlite3.connect(file)
    found = connection.execute(planned).fetchall()
    connection.close()
    assert found == answer, planned


@pytest.mark.parametrize(
    "question",
    [
        "how many riders did not finish?",
        "which other rider was from the same nation as ada lemmer?",
        "how many consecutive races did norway win?",
        "who was ranked first in the race of 2002?",
        "which rider with a broken chain and a red helmet in the rain won in bergen?",
    ],
)
def test_words_that_change_a_question_are_not_passed_over(question: str, schema: Schema) -> None:
    assert isinstance(plan_statement(question, schema), NotPlanned)


def test_rows_of_a_table_without_an_order_have_no_place(schema: Schema) -> None:
    assert isinstance(plan_statement("which rider is listed after bo tennant?", schema, "postgres"), NotPlanned)


def test_a_folder_of_one_file_is_read_so_too_with_numbers_that_are_text(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    rows = ('Lunde,"12,300"', 'Ekeby,"9,870"', "Torsvik,n/a", "Aas,1", "Bo,2", "Vik,3")
    (tmp_path / "towns.csv").write_text("town,people\n" + "\n".join(rows))
    job = {"engine": "files", "target": str(tmp_path), "seconds": 10, "most_values": 100}
    schema = Schema.of(run_job({**job, "do": "describe"}))
    for question, found in (
        ("which town has the most people?", [["Lunde"]]),
        ("which town is listed after Ekeby?", [["Torsvik"]]),
        ("what is the difference in people between Lunde and Ekeby?", [["2430.0"]]),
    ):
        planned = plan_statement(question, schema, "duckdb")
        assert isinstance(planned, str), planned
        sql = check_statement(planned, "duckdb", schema).sql
        told = run_job({**job, "do": "select", "statement": sql, "most_rows": 9, "most_bytes": 999})
        assert told["rows"] == found
