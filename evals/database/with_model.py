"""Execution accuracy with a model: a sample of Spider's development set, or of Defog's questions on PostgreSQL.

    export MARCHWARDEN_MODEL=openai/NAME MARCHWARDEN_API_BASE=http://127.0.0.1:8101/v1
    python -m evals.database.with_model spider ../shared/data/sql-spider --sample 60
    python -m evals.database.with_model defog ../shared/data/sql-defog --sample 30 --url postgresql://admin@…/postgres

The model is asked every question of the sample, so that both orders can be compared: the rules first, or the model.
`--program` names a folder with the compiled stage. Each result is a line of `--out`; a run goes on where it ended.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio
import psycopg

from evals.database.comparing import summary
from evals.database.defog import database, digest, golds, load
from evals.database.spider import run as run_sqlite
from marchwarden import lm
from marchwarden.budget import Budget
from marchwarden.contract import Constraints
from marchwarden.evaluation.scoring.row_comparison import is_same
from marchwarden.observations import Failure, content_hash
from marchwarden.settings import load_settings
from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.database_names import Database
from marchwarden.sources.database.database_search import DatabaseReader, dialect_of
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema
from marchwarden.sources.database.writing.query_writer import write_query
from marchwarden.stages.registry import predictors_in_force, program_in_force
from marchwarden.stages.stage import StageRunner
from marchwarden.trace.events import Event, ModelCalled

# Tokens of one question, and seconds of one statement.
TOKENS, SECONDS = 30_000, 20.0


@dataclass(frozen=True)
class Asked:
    id: str
    question: str
    gold: str
    database: Database
    rows_of: Callable[[str], list[list[tuple[object, ...]]]]
    """Runs a gold query and returns the rows of all statements that it stands for."""


@dataclass(frozen=True)
class Record:
    id: str
    question: str
    planned: str | None
    is_planned_right: bool
    written: str | None
    is_written_right: bool
    failure: str | None
    calls: int
    tokens: int
    seconds: float


class Tally:
    def __init__(self) -> None:
        self.calls: list[ModelCalled] = []

    def record(self, event: Event) -> None:
        if isinstance(event, ModelCalled):
            self.calls.append(event)

    def progress(self, message: str) -> None:
        pass


def of_spider(folder: Path) -> Iterator[Asked]:
    for number, item in enumerate(json.loads((folder / "dev.json").read_text())):
        file = folder / "database" / f"{item['db_id']}.sqlite"
        found = Database(item["db_id"], "sqlite", str(file))
        yield Asked(
            f"spider-{number}",
            item["question"],
            item["query"],
            found,
            lambda gold, file=file: [run_sqlite(file, gold)],
        )


def of_defog(folder: Path, url: str) -> Iterator[Asked]:
    items = list(csv.DictReader((folder / "questions_gen_postgres.csv").open(encoding="utf-8")))
    for name in sorted({each["db_name"] for each in items}):
        load(url, name, folder / "defog_data" / name / f"{name}.sql")
    for number, item in enumerate(items):
        reader = database(url, item["db_name"], "mw_reader")

        def rows_of(gold: str, reader: str = reader) -> list[list[tuple[object, ...]]]:
            with closing(psycopg.connect(reader, autocommit=True)) as connection:
                return [connection.execute(each.encode()).fetchall() for each in golds(gold)]

        found = Database(item["db_name"], "postgres", reader)
        yield Asked(f"defog-{number}-{item['query_category']}", item["question"], item["query"], found, rows_of)


def is_right(statement: str, asked: Asked, schema: Schema) -> bool:
    checked = check_statement(statement, dialect_of(asked.database), schema).sql
    job = {"do": "select", "engine": asked.database.engine, "target": asked.database.target, "seconds": SECONDS}
    told = run_job({**job, "statement": checked, "most_rows": 10_000, "most_bytes": 10**8})
    ordered = "order by" in asked.gold.lower()
    return any(is_same(told["rows"], rows, ordered=ordered) for rows in asked.rows_of(asked.gold))


async def ask(asked: Asked, program: str | None) -> Record:
    settings = load_settings(program=program or "none")
    reader = DatabaseReader(asked.database, seconds=SECONDS)
    schema = await reader.schema()
    assert isinstance(schema, Schema), schema
    dialect = dialect_of(asked.database)
    planned = plan_statement(asked.question, schema, dialect)
    tally, budget = Tally(), Budget(Constraints(token_budget=TOKENS), 600.0)
    model = lm.connect(settings, budget, tally)
    assert model is not None
    try:
        stages = StageRunner(model, budget, tally, predictors=predictors_in_force(program_in_force(settings)))
        found = await write_query(asked.question, schema, dialect, stages, reader.try_statement)
    finally:
        await model.aclose()
    checked = reader.statement(found) if isinstance(found, str) else None
    if found is None and stages.trouble:
        raise SystemExit(f"the model can't be asked: {stages.trouble}")
    return Record(
        asked.id,
        asked.question,
        None if isinstance(planned, NotPlanned) else planned,
        not isinstance(planned, NotPlanned) and is_right(planned, asked, schema),
        checked.sql if checked else None,
        checked is not None and is_right(checked.sql, asked, schema),
        found.detail if isinstance(found, Failure) else None,
        len(tally.calls),
        sum(each.charged_tokens for each in tally.calls),
        round(sum(each.duration_sec for each in tally.calls), 1),
    )


def report(records: list[Record]) -> None:
    planned = [(each.planned is not None, each.is_planned_right) for each in records]
    written = [(each.written is not None, each.is_written_right) for each in records]
    print("rules alone:", summary(planned))
    print("model alone:", summary(written))
    print("rules first:", summary([one if one[0] else other for one, other in zip(planned, written, strict=True)]))
    print("model first:", summary([other if other[0] else one for one, other in zip(planned, written, strict=True)]))
    for tries in (1, 2, 3):
        here = [each for each in records if each.calls == tries and each.written]
        print(f"answered after {tries} calls: {len(here)}, right {sum(each.is_written_right for each in here)}")
    tokens, seconds = sum(each.tokens for each in records), sum(each.seconds for each in records)
    print(f"{tokens / len(records):.0f} tokens and {seconds / len(records):.1f} s a question")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("set", choices=["spider", "defog"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", help="of a PostgreSQL superuser, for Defog")
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    every = list(of_spider(given.folder) if given.set == "spider" else of_defog(given.folder, given.url))
    drawn = random.Random(given.seed).sample(every, given.sample)
    done = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    records = [Record(**each) for each in done]
    known = {each.id for each in records}
    before = _hashes(drawn, given.url)
    for asked in (each for each in drawn if each.id not in known):
        records.append(anyio.run(ask, asked, given.program))
        with given.out.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(records[-1])) + "\n")
    assert _hashes(drawn, given.url) == before, "a database was changed"
    report(records)


def _hashes(drawn: list[Asked], url: str | None) -> dict[str, object]:
    found: dict[str, object] = {}
    for each in {asked.database.name: asked.database for asked in drawn}.values():
        if each.engine == "sqlite":
            found[each.name] = content_hash(Path(each.target).read_bytes())
        elif url:
            job = {"do": "describe", "engine": each.engine, "target": each.target, "seconds": 20, "most_values": 1}
            found[each.name] = digest(database(url, each.name), Schema.of(run_job(job)))
    return found


if __name__ == "__main__":
    main()
