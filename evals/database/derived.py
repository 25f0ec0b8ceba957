"""Answers to questions that need a value which no column holds, over four small databases of our own.

    python -m evals.database.derived --half made-with --show wrong
    python -m evals.database.derived --questions compared --half made-with

`derived/questions.csv` asks for profit, sums by month, sums as conditions, rows without others, and means of counts.
`derived/compared.csv` asks for rows with one thing but not another, ratios, shares, ranks below the first, and growth
between two periods. A share and a growth in percent are of 100 there, and a rank leaves no number out after a tie.
Both are as `joined/questions.csv`; the databases are the SQL files beside them. All were written before the rules.
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
    parser.add_argument("--questions", choices=["questions", "compared"], default="questions")
    parser.add_argument("--half", choices=["made-with", "unseen"], required=True)
    parser.add_argument("--show", choices=["wrong", "gaps", "right", "all"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as built:
        files = build_databases(Path(built))
        days = dict.fromkeys(files, TODAY)
        print(measure(FOLDER / f"{given.questions}.csv", files, days, given.half, given.show))


if __name__ == "__main__":
    main()
