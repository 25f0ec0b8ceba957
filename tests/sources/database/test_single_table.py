"""Questions over one table are read by families: extremes, positions, neighbours, comparisons, counts, sums."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.planning.single_table.typed_cells import read_cells
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema

RACES = """
CREATE TABLE races (Year INTEGER, Rider TEXT, Nation TEXT, Venue TEXT, Laps INTEGER, Points INTEGER);
INSERT INTO races VALUES (2001, 'Ada Lemmer', 'Norway', 'Bergen', 25, 40), (2002, 'Bo Tennant', 'Sweden', 'Lund', 24, 90),
    (2003, 'Cid Roth', 'Norway', 'Bergen Park', 25, NULL), (2004, 'Dan Ostby', 'Denmark', 'Aarhus', 22, 12),
    (NULL, 'Total', NULL, NULL, NULL, 142);
"""


STAGES = """
CREATE TABLE stages (Rider TEXT, Country TEXT, Date TEXT, Finish TEXT, Time TEXT, Height TEXT, Prize TEXT, Gold REAL);
INSERT INTO stages VALUES ('Ada Lemmer', 'Canada (CAN)', 'May 12, 1998', '1st', '1:02:10', '6-1', '$12,000', 2),
    ('Bo Tennant', 'Germany (GER)', '3 April 2001', '3rd', '0:59:40', '5-11', '$9,500', 0),
    ('Cid Roth', 'Canada (CAN)', 'June 2, 2004', '2nd', '1:10:05', '6-3', '$800', 5),
    ('Dan Ostby', 'Norway (NOR)', '30 March 2007', '12th', '1:01:00', '5-9', '$1,050', 0);
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("races") / "races.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(RACES)
    connection.close()
    return path


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stages") / "stages.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(STAGES)
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
        "how many consecutive races did norway win?",
        "who was ranked first in the race of 2002?",
        "which rider with a broken chain and a red helmet in the rain won in bergen?",
    ],
)
def test_words_that_change_a_question_are_not_passed_over(question: str, schema: Schema) -> None:
    assert isinstance(plan_statement(question, schema), NotPlanned)


def test_a_column_with_a_long_text_holds_no_numbers_and_a_column_rowid_no_order(tmp_path: Path) -> None:
    path = tmp_path / "scores.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE scores (Team TEXT, Points TEXT, rowid INTEGER)")
        for number, points in enumerate(("12", "15", "9", "30", "31", f"disqualified {'after a protest ' * 5}")):
            connection.execute(
                "INSERT INTO scores VALUES (?, ?, ?)", (f"Team {'ABCDEF'[number]}x", points, 9 - number)
            )
    connection.close()
    job = {"engine": "sqlite", "target": str(path), "seconds": 5, "do": "describe", "most_values": 100}
    schema = Schema.of(run_job(job))
    for question in ("which team had the least points?", "which team is listed after team bx?"):
        assert isinstance(plan_statement(question, schema), NotPlanned)


@pytest.mark.parametrize("decade", ["the 20s", "the 00's", "50s"])
def test_a_decade_of_two_centuries_and_seconds_are_not_read(decade: str, stages: Path) -> None:
    described = run_job(
        {"engine": "sqlite", "target": str(stages), "seconds": 5, "do": "describe", "most_values": 100}
    )
    assert isinstance(plan_statement(f"how many stages were held in {decade}?", Schema.of(described)), NotPlanned)


def test_names_of_columns_in_a_file_may_hold_quotation_marks(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "pipes.csv").write_text('name,"bore 3"" pipe"\nArl,one\nBex,two\n')
    schema = Schema.of(
        run_job({"engine": "files", "target": str(tmp_path), "seconds": 10, "do": "describe", "most_values": 100})
    )
    assert [column.name for column in schema.tables[0].columns] == ["name", 'bore 3" pipe']
    assert schema.tables[0].columns[1].values


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


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        # days, heights, times, amounts and places inside texts
        ("who is the tallest rider?", "Cid Roth"),
        ("who is taller, ada lemmer or bo tennant?", "Ada Lemmer"),
        ("which rider had the fastest time?", "Bo Tennant"),
        ("which rider had the highest prize?", "Ada Lemmer"),
        ("how many riders had a prize over $1,000?", 3),
        ("how many riders had a date before 2004?", 2),
        ("which riders had a date between 2000 and 2005?", ["Bo Tennant", "Cid Roth"]),
        ("how many riders finished in the top three?", 3),
        ("how many riders had a time under 1:02:00?", 2),
        ("which rider finished in 2nd place?", "Cid Roth"),
        # what is left out, joined, and none
        ("how many riders won no gold?", 2),
        ("which riders are not from Norway (NOR)?", ["Ada Lemmer", "Bo Tennant", "Cid Roth"]),
        ("how many gold did ada lemmer and cid roth win?", 7.0),
        ("how many canadian riders are there?", 2),
        # another row
        ("which rider was from the same country as ada lemmer?", "Cid Roth"),
        ("which riders won more gold than ada lemmer?", "Cid Roth"),
        ("did cid roth win more gold than ada lemmer?", "yes"),
        ("did ada lemmer win more or less gold than cid roth?", "less"),
        # months, decades, and the ends of a ranking
        ("how many stages were held in march?", 1),
        ("how many stages were held in the 1990s?", 1),
        ("how many stages were held in the 90s?", 1),
        ("which rider finished first?", "Ada Lemmer"),
        ("who finished in last place?", "Dan Ostby"),
        # numbers in words, and as a cell spells them
        ("which rider won two gold?", "Ada Lemmer"),
        ("how many riders had a prize of at least 9,500?", 2),
    ],
)
def test_cells_that_hold_dates_times_and_other_rows_are_read(question: str, answer: object, stages: Path) -> None:
    job = {"engine": "sqlite", "target": str(stages), "seconds": 5, "do": "describe", "most_values": 100}
    schema = Schema.of(run_job(job))
    planned = plan_statement(question, schema)
    assert isinstance(planned, str), planned
    connection = sqlite3.connect(stages)
    found = [row[0] for row in connection.execute(check_statement(planned, "sqlite", schema).sql)]
    connection.close()
    assert sorted(map(str, found)) == sorted(map(str, answer if isinstance(answer, list) else [answer])), planned


GAMES = """
CREATE TABLE data (Date TEXT, Opponent TEXT, Result TEXT, "Lead scorer" TEXT, Crowd INTEGER, Season INTEGER);
INSERT INTO data VALUES ('Thu., Feb. 2, 1995', 'Lund', 'W 41-29', 'José Ruz', 2000, 1995),
    ('Feb. 9, 1995', '@ Bergen', 'L 30-36', 'Per Lie', 1400, 1995),
    ('March 1, 1996', '@ Aarhus', 'W 50-41', 'José Ruz', 900, 1996),
    ('March 8, 1996', 'Turku', 'L 22-51', 'Ole Dahl', 1200, 1996),
    ('March 9, 1996', 'Lund', 'T 22-22', 'Ole Dahl', 1250, 1996);
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how many games did they win?", [2]),
        ("how many games did the team not win?", [3]),
        ("what is the number of losses?", [2]),
        ("how many games ended tied?", [1]),
        ("how many away games did the bears lose?", [1]),
        ("how many home games were there?", [3]),
        ("how many games did they play in february?", [2]),
        ("how many times did they play lund?", [2]),
        ("which opponents did they play in march?", ["@ Aarhus", "Turku", "Lund"]),
        ("which season had a higher crowd, 1995 or 1996?", [1995]),
        ("who was the lead scorer against turku?", ["Ole Dahl"]),
        # as a keyboard without accents writes it
        ("how many games was jose ruz the lead scorer?", [2]),
        ("how many games had a crowd of at least 1,250?", [3]),
    ],
)
def test_games_that_were_won_at_home_or_in_a_month_are_told_by_how_cells_begin(
    question: str, answer: list[object], tmp_path: Path
) -> None:
    file = tmp_path / "games.sqlite"
    connection = sqlite3.connect(file)
    connection.executescript(GAMES)
    schema = Schema.of(
        run_job({"engine": "sqlite", "target": str(file), "seconds": 5, "do": "describe", "most_values": 100})
    )
    planned = plan_statement(question, schema)
    assert isinstance(planned, str), planned
    found = [row[0] for row in connection.execute(check_statement(planned, "sqlite", schema).sql)]
    connection.close()
    assert sorted(map(str, found)) == sorted(map(str, answer)), planned


@pytest.mark.parametrize(
    ("name", "values", "kind", "numbers"),
    [
        ("Date", ("12 May 2004", "May 3, 1999", "1 June 2001 (a)"), "date", [20040512, 19990503, 20010601]),
        ("Date", ("12 May", "3 June"), "date", [512, 603]),
        ("Span", ("1998–99", "2001-2004", "1961"), "year", [1998, 2001, 1961]),
        ("Time", ("1:55.45", "2:00:01", "0:59"), "time", [115.45, 7201, 59]),
        ("Height", ("6-4", "5'11\""), "height", [76, 71]),
        ("Fee", ("£1.5 million", "$2,000", "free"), "amount", [1_500_000, 2_000]),
        ("Finish", ("1st", "10th (h)", "T3rd"), "place", [1, 10, 3]),
    ],
)
def test_a_column_of_texts_of_one_kind_has_numbers(
    name: str, values: tuple[str, ...], kind: str, numbers: list[float]
) -> None:
    read = read_cells(name, values)
    assert read is not None
    assert (read[0], list(read[1].values())) == (kind, numbers)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Score", ("3-1", "2-2", "0-4")),  # no height
        ("Length of use", ("14 days", "2 hours", "20 days")),  # two units
        ("Date", ("12 May 2004", "3 June", "4 June 2004")),  # no order among each other
        ("City", ("Bergen", "Oslo", "1")),
        # Stars and fractions can be read in one way only: else these take hours.
        ("Stars", ("12 " + "*" * 56 + "!", "2004 " + "#" * 54 + "!")),
        ("Share", ("12 " + "/1 " * 18 + "!", "1:02 " + "/1 " * 18 + "!")),
    ],
)
def test_texts_of_no_kind_have_none(name: str, values: tuple[str, ...]) -> None:
    assert read_cells(name, values) is None
