"""Answers to questions in everyday words over small folders of CSV files, as people have them.

    python -m evals.database.everyday --show wrong

`everyday/questions.csv` holds a question a line, with the rows that answer it, or `gap` where its words say something
that no table knows. All were written before the rules that read them.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.database.comparing import totals
from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema

FOLDER = Path(__file__).parent / "everyday"


def is_row(row: Sequence[Any], wanted: str) -> bool:
    """Return whether a row holds what is wanted: a number as a cell, a text in it, or both parts of `Meals=2`."""
    cells = [str(cell) for cell in row]
    for part in wanted.split("="):
        try:
            number = float(part)
            held = any(cell.replace(".", "", 1).isdigit() and abs(float(cell) - number) < 1e-6 for cell in cells)
        except ValueError:
            held = part.casefold() in " ".join(cells).casefold()
        if not held:
            return False
    return True


def is_answer(rows: Sequence[Sequence[Any]], answer: str) -> bool:
    """Return whether the rows are those that an answer such as `Bern|Basel` names, in any order."""
    wanted = answer.split("|")
    return len(rows) == len(wanted) and all(any(is_row(row, each) for row in rows) for each in wanted)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=Path, default=FOLDER / "questions.csv")
    parser.add_argument("--show", choices=["wrong", "gaps", "right", "all"])
    given = parser.parse_args()
    folder = given.questions.parent
    schemas: dict[str, Schema] = {}
    records, refused = [], []
    for item in csv.DictReader(given.questions.open(encoding="utf-8")):
        job = {"engine": "files", "target": str(folder / item["folder"]), "seconds": 30, "most_values": 2_000}
        if item["folder"] not in schemas:
            schemas[item["folder"]] = Schema.of(run_job({**job, "do": "describe"}))
        schema = schemas[item["folder"]]
        planned = plan_statement(item["question"], schema, "duckdb")
        wants_gap = item["answer"] == "gap"
        rows: list[list[Any]] = []
        if isinstance(planned, NotPlanned):
            told = "gaps"
        else:
            statement = check_statement(planned, "duckdb", schema).sql
            rows = run_job({**job, "do": "select", "statement": statement, "most_rows": 50, "most_bytes": 100_000})[
                "rows"
            ]
            told = "wrong" if wants_gap or not is_answer(rows, item["answer"]) else "right"
        if wants_gap:
            refused.append(told == "gaps")
        else:
            records.append((told != "gaps", told == "right"))
        if given.show in (told, "all") and not (given.show == "gaps" and wants_gap):
            reason = planned.reason if isinstance(planned, NotPlanned) else f"{planned} {rows}"
            print(f"{told} {item['folder']}: {item['question']} [{item['answer']}]\n   {reason}")
    print(totals(records, refused))


if __name__ == "__main__":
    main()
