"""Execution accuracy of the planner on Spider's development set.

    python -m evals.database.spider ../shared/data/sql-spider --half odd --show wrong

The rules were written with the databases at odd places (of their names in order) in sight.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from pathlib import Path

from evals.database.comparing import summary
from marchwarden.evaluation.scoring.row_comparison import is_same
from marchwarden.observations import content_hash
from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.planning.statement_writer import MOST_TIES
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema


def schema_of(file: Path) -> Schema:
    job = {"engine": "sqlite", "target": str(file), "seconds": 30, "do": "describe", "most_values": 2_000}
    return Schema.of(run_job(job))


def run(file: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=["odd", "even", "all"], default="all")
    parser.add_argument("--show", choices=["wrong", "gaps", "right"])
    given = parser.parse_args()
    items = json.loads((given.folder / "dev.json").read_text())
    names = sorted({item["db_id"] for item in items})
    chosen = names[0::2] if given.half == "odd" else names[1::2] if given.half == "even" else names
    records, but_for_ties = [], []
    for name in chosen:
        file = given.folder / "database" / f"{name}.sqlite"
        before = content_hash(file.read_bytes())
        schema = schema_of(file)
        for item in (each for each in items if each["db_id"] == name):
            planned = plan_statement(item["question"], schema)
            if isinstance(planned, NotPlanned):
                records.append((False, False))
                but_for_ties.append((False, False))
                if given.show == "gaps":
                    print(f"{name}: {item['question']}\n   {planned.reason}")
                continue
            found = run(file, check_statement(planned, "sqlite", schema).sql)
            is_right = is_same(found, run(file, item["query"]), ordered="order by" in item["query"].lower())
            records.append((True, is_right))
            gold = run(file, item["query"])
            is_tie = planned.endswith(f" LIMIT {MOST_TIES}") and item["query"].lower().endswith("limit 1")
            but_for_ties.append((True, is_right or (is_tie and bool(gold) and gold[0] in found)))
            if given.show == ("right" if is_right else "wrong"):
                print(f"{name}: {item['question']}\n   {planned}\n   {item['query']}")
        assert content_hash(file.read_bytes()) == before, f"{file} was changed"
    print(f"{summary(records)}; databases unchanged")
    print(f"where one of several rows that tie is the gold answer, as right: {summary(but_for_ties)}")


if __name__ == "__main__":
    main()
