"""Answers to questions that need a value which no column holds, over small databases of our own, and public ones.

    python -m evals.database.derived --half made-with --show wrong
    python -m evals.database.derived --questions compared --half made-with
    python -m evals.database.derived --questions business --half made-with --folder FOLDER

`derived/questions.csv` asks for profit, sums by month, sums as conditions, rows without others, and means of counts.
`derived/compared.csv` asks for rows with one thing but not another, ratios, shares, ranks below the first, and growth
between two periods. A share and a growth in percent are of 100 there, and a rank leaves no number out after a tie.
`derived/business.csv` asks for income by other names, quarters, consecutive ranks, growth and shares of each group,
and other things, also of Chinook, Northwind and Sakila, which lie in FOLDER (`joined.py` says where they come from).
`derived/days.csv` asks for days between two dates, weekdays, the last so many days, and other things.
A group with rows in one of two periods has grown from or to nothing; its growth from nothing in percent is NULL.
All are as `joined/questions.csv`; the databases are the SQL files beside them. All were written before the rules.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from contextlib import closing
from datetime import date
from pathlib import Path

from evals.database.joined import DAYS, SAKILA_DAY, build_database, measure

FOLDER = Path(__file__).parent / "derived"
TODAY = date(2024, 12, 31)
PUBLIC = ("chinook", "northwind", "sakila")


def build_databases(folder: Path) -> dict[str, Path]:
    """Write the databases as SQLite files into a folder, and return these by name."""
    files = {}
    for script in sorted(FOLDER.glob("*.sql")):
        files[script.stem] = folder / f"{script.stem}.sqlite"
        with closing(sqlite3.connect(files[script.stem])) as connection:
            connection.executescript(script.read_text(encoding="utf-8"))
    return files


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", choices=["questions", "compared", "business", "days"], default="questions")
    parser.add_argument("--half", choices=["made-with", "unseen"], required=True)
    parser.add_argument("--folder", type=Path, help="where Chinook, Northwind and Sakila lie")
    parser.add_argument("--show", choices=["wrong", "gaps", "right", "all"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as built:
        files = build_databases(Path(built))
        days = dict.fromkeys(files, TODAY)
        if given.folder:
            days |= {name: DAYS.get(name, SAKILA_DAY) for name in PUBLIC}
            files |= {name: build_database(name, given.folder, Path(built)) for name in PUBLIC}
        print(measure(FOLDER / f"{given.questions}.csv", files, days, given.half, given.show))


if __name__ == "__main__":
    main()
