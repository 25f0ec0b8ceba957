"""Execution accuracy of the planner on Defog's sql-eval, per category, on a PostgreSQL server that runs already.

    python -m evals.database.defog ../shared/data/sql-defog postgresql://admin@127.0.0.1:5432/postgres

The URL is that of a superuser: it makes one database for each of the 11, and a role `mw_reader` that can only read.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from evals.database.comparing import share, summary
from marchwarden.evaluation.scoring.row_comparison import is_same
from marchwarden.sources.database.allow_list import StatementRefused, check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema

DIGEST = "SELECT string_agg(md5(t::text), '' ORDER BY t::text) FROM {} AS t"
SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"


def golds(query: str) -> list[str]:
    """Return all statements that a gold query stands for."""
    found = []
    for each in filter(None, (part.strip() for part in query.split(";"))):
        braces = re.search(r"\{(.+?)\}", each)
        if not braces:
            found.append(each)
            continue
        columns = [column.strip() for column in braces[1].split(",")]
        for length in range(1, len(columns) + 1):
            for some in combinations(columns, length):
                found.append(each.replace(braces[0], ", ".join(some), 1).replace("{}", ", ".join(some)))
    return found


def load(admin: str, name: str, script: Path) -> None:
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
        connection.execute(f'CREATE DATABASE "{name}"')
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'mw_reader'").fetchone():
            connection.execute("CREATE ROLE mw_reader LOGIN")
    with psycopg.connect(database(admin, name), autocommit=True) as connection:
        connection.execute(script.read_text(encoding="utf-8"))
        for (schema,) in connection.execute(SCHEMAS).fetchall():
            connection.execute(f'GRANT USAGE ON SCHEMA "{schema}" TO mw_reader')
            connection.execute(f'GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO mw_reader')


def database(url: str, name: str, user: str | None = None) -> str:
    parts = urlsplit(url)
    place = f"{user}@{parts.netloc.rpartition('@')[2]}" if user else parts.netloc
    return urlunsplit((parts.scheme, place, f"/{name}", parts.query, ""))


def digest(url: str, schema: Schema) -> dict[str, object]:
    with psycopg.connect(url) as connection:
        return {
            t.name: connection.execute(DIGEST.format(f'"{t.schema}"."{t.own_name}"')).fetchone()
            for t in schema.tables
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("url")
    parser.add_argument("--show", choices=["wrong", "gaps", "right"])
    given = parser.parse_args()
    questions = list(csv.DictReader((given.folder / "questions_gen_postgres.csv").open(encoding="utf-8")))
    idk = list(csv.DictReader((given.folder / "idk.csv").open(encoding="utf-8")))
    records = defaultdict(list)
    unanswerable = []
    for name in sorted({each["db_name"] for each in questions}):
        load(given.url, name, given.folder / "defog_data" / name / f"{name}.sql")
        reader = database(given.url, name, "mw_reader")
        job = {"engine": "postgres", "target": reader, "seconds": 20, "most_values": 2_000}
        schema = Schema.of(run_job({**job, "do": "describe"}))
        before = digest(database(given.url, name), schema)
        for each in (each for each in questions if each["db_name"] == name):
            planned = plan_statement(each["question"], schema, "postgres")
            if isinstance(planned, NotPlanned):
                records[each["query_category"]].append((False, False))
                if given.show == "gaps":
                    print(f"{name}: {each['question']}\n   {planned.reason}")
                continue
            try:
                checked = check_statement(planned, "postgres", schema).sql
                told = run_job(
                    {**job, "do": "select", "statement": checked, "most_rows": 10_000, "most_bytes": 10**8}
                )
            except (psycopg.Error, StatementRefused) as error:  # the fetch fails, which ends in a gap
                records[each["query_category"]].append((False, False))
                print(f"FAULT {planned}\n   {error}")
                continue
            is_right = False
            with psycopg.connect(reader, autocommit=True) as connection:
                for gold in golds(each["query"]):
                    rows = connection.execute(gold.encode()).fetchall()
                    is_right = is_right or is_same(told["rows"], rows, ordered="order by" in gold.lower())
            records[each["query_category"]].append((True, is_right))
            if given.show == ("right" if is_right else "wrong"):
                print(f"{name}: {each['question']}\n   {planned}\n   {each['query']}")
        for each in (each for each in idk if each["db_name"] == name):
            unanswerable.append(isinstance(plan_statement(each["question"], schema, "postgres"), NotPlanned))
        assert digest(database(given.url, name), schema) == before, f"{name} was changed"
    for category, found in sorted(records.items()):
        print(f"{category}: {summary(found)}")
    print(f"all: {summary([record for found in records.values() for record in found])}; databases unchanged")
    print(f"unanswerable questions that end in a gap: {share(unanswerable)}")


if __name__ == "__main__":
    main()
