"""Answers to everyday questions that need a sum, a count or a mean over joined tables, over public databases.

    python -m evals.database.joined FOLDER --half made-with --show wrong

`joined/questions.csv` holds a question a line, with the gold statement over SQLite that was written and run before
any answer was seen, or `gap` where no table knows the answer. The databases are other people's and lie in FOLDER:

    chinook.sqlite       ChinookDatabase/DataSources/Chinook_Sqlite.sqlite of lerocha/chinook-database, 7f67772
    northwind.sql        src/create.sql of jpwhite3/northwind-SQLite3, 4f56e7f
    car_dealership.sql   defog_data/car_dealership/car_dealership.sql of defog-ai/defog-data, 856295d
    sakila_schema.sql    sqlite-sakila-db/sqlite-sakila-schema.sql of jOOQ/sakila, e089a5b
    sakila_data.sql      postgres-sakila-db/postgres-sakila-insert-data-using-copy.sql of the same

Sakila has questions in `derived/business.csv` alone.

An answer is right where some of its columns are the gold rows: it may tell the sum beside the name that is asked for.
"""

from __future__ import annotations

import argparse
import csv
import re
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from datetime import date, timedelta
from itertools import permutations
from pathlib import Path

from evals.database.comparing import totals
from evals.database.spider import run, schema_of
from marchwarden.evaluation.scoring.row_comparison import is_same
from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement

QUESTIONS = Path(__file__).parent / "joined" / "questions.csv"
# Day on which the questions to a database are asked: `last month` is of it.
DAYS = {"chinook": date(2025, 12, 31), "northwind": date(1998, 5, 7), "car_dealership": date(2024, 2, 14)}
SAKILA_DAY = date(2006, 2, 28)
_INTERVAL = re.compile(r" ([+-]) INTERVAL '(\d+) (day|week|month|year)s?'")
_COPIED = re.compile(r"^COPY public\.(\w+) \((.*?)\) FROM stdin;\n(.*?)^\\\.", re.M | re.S)
_DAYS_OF = {"day": 1, "week": 7, "month": 30, "year": 365}


def build_database(name: str, folder: Path, built: Path) -> Path:
    """Return the SQLite file of a database, made of its statements where it comes as such."""
    if (file := folder / f"{name}.sqlite").exists():
        return file
    if name == "sakila":
        return _build_sakila(folder, built)
    statements = (folder / f"{name}.sql").read_text(encoding="utf-8")
    if name == "car_dealership":
        statements = _as_sqlite(statements, DAYS[name])
    file = built / f"{name}.sqlite"
    connection = sqlite3.connect(file)
    connection.executescript(statements)
    # Views of Northwind say again what its tables hold; a user leaves them out by `tables` in databases.toml.
    for (view,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        connection.execute(f'DROP VIEW "{view}"')
    connection.commit()
    connection.close()
    return file


def _build_sakila(folder: Path, built: Path) -> Path:
    """Return Sakila as a SQLite file: tables as SQLite declares them, rows as PostgreSQL copies them."""
    schema = (folder / "sakila_schema.sql").read_text(encoding="utf-8")
    rows = (folder / "sakila_data.sql").read_text(encoding="utf-8")
    file = built / "sakila.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(schema)
        # Triggers would set the day of the last change, and views say again what the tables hold.
        others = connection.execute("SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')")
        for kind, name in others.fetchall():
            connection.execute(f'DROP {kind} "{name}"')
        for table, listed, lines in _COPIED.findall(rows):
            own = [each[1] for each in connection.execute(f"PRAGMA table_info({table})")]
            named = listed.split(", ")
            values = [dict(zip(named, line.split("\t"), strict=True)) for line in lines.splitlines()]
            # `payment` of PostgreSQL has no day of the last change, but its column must not be empty.
            connection.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(own))})",
                [[_plain(row.get(column, "")) for column in own] for row in values],
            )
        connection.commit()
    return file


def _plain(text: str) -> str | None:
    return None if text == "\\N" else text


def _as_sqlite(statements: str, today: date) -> str:
    """Return statements for PostgreSQL as SQLite reads them, with `today` as the current day."""
    statements = statements.replace("SERIAL PRIMARY KEY", "INTEGER PRIMARY KEY").replace("DEFAULT NOW()", "")
    statements = statements.replace("crtd_ts TIMESTAMP NOT NULL", "crtd_ts TIMESTAMP")
    statements = statements.replace("DATE_TRUNC('week', CURRENT_DATE)", "MONDAY")
    monday = today - timedelta(days=today.weekday())

    def day_of(match: re.Match[str]) -> str:
        day = monday if match[1] == "MONDAY" else today
        for sign, number, unit in _INTERVAL.findall(match[2]):
            day += timedelta(days=int(number) * _DAYS_OF[unit] * (1 if sign == "+" else -1))
        return f"'{day.isoformat()}'"

    return re.sub(rf"(MONDAY|CURRENT_DATE|NOW\(\))((?:{_INTERVAL.pattern})*)", day_of, statements)


def holds(found: Sequence[Sequence[object]], gold: Sequence[Sequence[object]]) -> bool:
    """Return whether some columns of the found rows are the gold rows, in any order; numbers to three decimals."""
    if not gold or not found or len(found[0]) < len(gold[0]):
        return not gold and not found
    wanted = [[_short(value) for value in row] for row in gold]
    return any(
        is_same([[_short(row[place]) for place in places] for row in found], wanted, ordered=False)
        for places in permutations(range(len(found[0])), len(gold[0]))
    )


def _short(value: object) -> object:
    # An answer has four decimals already, so the gold value is rounded twice, too.
    return round(round(value, 4), 3) if isinstance(value, float) else value


def measure(questions: Path, files: dict[str, Path], days: dict[str, date], half: str, show: str | None) -> str:
    """Return the totals of one half of the questions, after printing the answers of the kind `show`."""
    records, refused = [], []
    schemas = {name: schema_of(file) for name, file in files.items()}
    for item in csv.DictReader(questions.open(encoding="utf-8")):
        if item["half"] != half:
            continue
        name, wants_gap = item["database"], item["gold"] == "gap"
        planned = plan_statement(item["question"], schemas[name], today=days[name])
        rows: Sequence[Sequence[object]] = []
        if isinstance(planned, NotPlanned):
            told = "gaps"
        else:
            rows = run(files[name], check_statement(planned, "sqlite", schemas[name]).sql)
            told = "wrong" if wants_gap or not holds(rows, run(files[name], item["gold"])) else "right"
        if wants_gap:
            refused.append(told == "gaps")
        else:
            records.append((told != "gaps", told == "right"))
        if show in (told, "all"):
            reason = planned.reason if isinstance(planned, NotPlanned) else f"{planned} {rows[:5]}"
            print(f"{told} {name}: {item['question']} [{item['gold']}]\n   {reason}")
    return totals(records, refused)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=["made-with", "unseen"], required=True)
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="Another file, such as joined/typed.csv.")
    parser.add_argument("--show", choices=["wrong", "gaps", "right", "all"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as built:
        named = {each["database"] for each in csv.DictReader(given.questions.open(encoding="utf-8"))}
        files = {name: build_database(name, given.folder, Path(built)) for name in DAYS if name in named}
        print(measure(given.questions, files, DAYS, given.half, given.show))


if __name__ == "__main__":
    main()
