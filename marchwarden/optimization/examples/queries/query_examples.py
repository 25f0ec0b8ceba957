"""Examples and metric of `write_query`: labelled questions over an invented workshop (evals/questions/database).

Score: 1 where the statement passes every check and gives the rows of the labelled one, else 0 (execution accuracy).
Of a question that the tables can't answer, 1 where no statement is written.
"""

from __future__ import annotations

import atexit
import json
import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from marchwarden.evaluation.labels.questions import Question, Split
from marchwarden.evaluation.scoring.row_comparison import is_same
from marchwarden.optimization.examples.stage_example import Example, Feedback, StageSet
from marchwarden.settings import shipped
from marchwarden.sources.database.allow_list import StatementRefused, check_statement
from marchwarden.sources.database.rows_process import run_job
from marchwarden.sources.database.schema import Schema
from marchwarden.sources.database.writing.schema_linking import link_schema
from marchwarden.sources.database.writing.statement_grounding import ground_statement
from marchwarden.stages.write_query import WRITE_QUERY, Query, WriteQueryGiven

if TYPE_CHECKING:
    from marchwarden.optimization.examples.labelled_web import LabelledWeb

# Seconds of one statement, and rows and bytes that are compared. Guesses.
_SECONDS, _MOST_ROWS, _MOST_BYTES = 5.0, 200, 1_000_000
_UNANSWERABLE = "cannot be answered"


@dataclass(frozen=True)
class QueryGold:
    statement: str | None
    """A right statement; None where the tables can't answer the question."""


@lru_cache(maxsize=1)
def _workshop() -> tuple[Path, Schema]:
    """Return the database as a file, which is removed when the process ends, and its tables."""
    folder = TemporaryDirectory(prefix="marchwarden-")
    atexit.register(folder.cleanup)
    file = Path(folder.name) / "workshop.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript((shipped("questions") / "database" / "workshop.sql").read_text("utf-8"))
    return file, Schema.of(run_job(_job(file, do="describe", most_values=_MOST_ROWS)))


def _job(file: Path, **more: Any) -> dict[str, Any]:
    return {"engine": "sqlite", "target": str(file), "seconds": _SECONDS, **more}


def labelled(splits: Collection[Split]) -> list[Example[WriteQueryGiven, QueryGold]]:
    """Return the examples of these splits."""
    schema = _workshop()[1]
    lines = (shipped("questions") / "database" / "questions.jsonl").read_text("utf-8").splitlines()
    return [
        Example(
            told["id"],
            told["id"],
            told["kind"],
            WriteQueryGiven(told["question"], link_schema(told["question"], schema), "sqlite"),
            QueryGold(told["statement"]),
        )
        for told in map(json.loads, lines)
        if told["split"] in splits
    ]


async def build(question: Question, web: LabelledWeb) -> list[Example[WriteQueryGiven, QueryGold]]:
    """Return no example: questions about pages say nothing of statements."""
    return []


def score(example: Example[WriteQueryGiven, QueryGold], query: Query) -> Feedback:
    gold = example.gold.statement
    if query.statement is None:
        text = "a statement can" if gold else "no statement can"
        return Feedback(0.0 if gold else 1.0, f"No statement was written, and {text} answer the question.")
    if gold is None:
        return Feedback(0.0, f"The tables do not hold what is asked; written was: {query.statement}")
    try:
        found = _rows(ground_statement(query.statement, example.given.question, _workshop()[1], "sqlite"))
    except (StatementRefused, sqlite3.Error) as error:
        return Feedback(0.0, f"{query.statement} fails: {error}. Right is: {gold}")
    if is_same(found, _rows(gold), ordered="order by" in gold.lower()):
        return Feedback(1.0, "The statement gives the right rows.")
    return Feedback(0.0, f"{query.statement} gives other rows than {gold}")


def _rows(statement: str) -> list[list[str | None]]:
    file, schema = _workshop()
    checked = check_statement(statement, "sqlite", schema).sql
    job = _job(file, do="select", statement=checked, most_rows=_MOST_ROWS, most_bytes=_MOST_BYTES)
    rows: list[list[str | None]] = run_job(job)["rows"]
    return rows


def answer(example: Example[WriteQueryGiven, QueryGold]) -> dict[str, Any]:
    return {"query": example.gold.statement or _UNANSWERABLE}


WRITE_QUERY_SET: StageSet[WriteQueryGiven, Query, QueryGold] = StageSet(
    WRITE_QUERY, build, score, answer=answer, labelled=labelled
)
