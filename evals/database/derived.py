"""Answers to questions that need a value which no column holds, over three small databases of our own.

    python -m evals.database.derived --half made-with --show wrong

Profit, sums by month, sums as conditions, rows without others, and means of counts. `derived/questions.csv` is as
`joined/questions.csv`; its databases are the SQL files beside it. All were written before the rules that read them.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from contextlib import closing
from datetime import date
from pathlib import Path

from evals.database.joined import measure

FOLDER = Path(__file__).parent / "derived"
TODAY = date(2024, 12, 31)


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
    parser.add_argument("--half", choices=["made-with", "unseen"], required=True)
    parser.add_argument("--show", choices=["wrong", "gaps", "right", "all"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as built:
        files = build_databases(Path(built))
        days = dict.fromkeys(files, TODAY)
        print(measure(FOLDER / "questions.csv", files, days, given.half, given.show))


if __name__ == "__main__":
    main()
