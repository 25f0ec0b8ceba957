"""A question over one table → one SELECT, by families of questions, where the reading word by word gives no plan.

A table alone is asked about in more ways than its columns tell: `entry` is a game, a nation or a film. So words that
name rows may stay unread here, as many as each family bears. Over several tables, every word must be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from marchwarden.sources.database.planning.question_words import FILLERS
from marchwarden.sources.database.planning.single_table.table_families import (
    FAMILIES,
    alternatives,
    difference,
)
from marchwarden.sources.database.planning.single_table.table_links import Span, TableQuestion
from marchwarden.sources.database.planning.single_table.table_parts import Family, Plan, Writer
from marchwarden.sources.database.planning.single_table.table_words import SIGNALS, SUMS
from marchwarden.sources.database.schema import Schema, Table


@dataclass(frozen=True)
class Borne:
    """Most words that may stay unread in a family, and most choices that could have been made otherwise."""

    words: int
    doubts: int


# Chosen so that about three of four answers are right, over half of the tables of WikiTableQuestions' dev set
# (evals/database/table_questions.py --half seen).
_BORNE: dict[Family, Borne] = {
    "yes or no": Borne(2, 0),
    "same": Borne(1, 0),
    "difference": Borne(1, 0),
    "alternatives": Borne(1, 0),
    "alternatives in time": Borne(2, 1),
    "alternatives in order": Borne(1, 1),
    "alternatives by rows": Borne(1, 1),
    "neighbour": Borne(2, 1),
    "extreme": Borne(2, 1),
    "extreme value": Borne(0, 0),
    "most rows": Borne(1, 1),
    "position": Borne(1, 0),
    "first year": Borne(1, 0),
    "number": Borne(1, 1),
    "sum": Borne(0, 0),
    "mean": Borne(0, 0),
    "count": Borne(4, 1),
    "count different": Borne(0, 1),
    "count all": Borne(0, 0),
    "look-up": Borne(2, 1),
}


def plan_over_table(question: str, schema: Schema, dialect: str) -> str | None:
    """Return a statement over one table; None where no family reads the question, or several tables answer it."""
    is_alone = len(schema.tables) == 1
    # Among several tables, only what compares named rows means one of them whichever others there are.
    families = FAMILIES if is_alone else (difference, alternatives)
    found = []
    for table in schema.tables:
        asked = TableQuestion(question, table, dialect)
        write = Writer(asked)
        plan = next((plan for family in families if (plan := family(asked, write)) is not None), None)
        # A column of this name hides the one that tells the order of rows.
        has_order = all(column.name.lower() != write.row for column in table.columns)
        if plan is None or (plan.by_row and not has_order):
            continue
        left = asked.left_over(plan.used)
        if is_alone and names_rows(table) and asked.left_over(_spans_read(plan, asked, write), is_strict=True):
            continue
        if _is_certain(plan, left, is_alone=is_alone, dialect=dialect):
            found.append(write.statement(plan))
    return found[0] if len(found) == 1 else None


def _spans_read(plan: Plan, asked: TableQuestion, write: Writer) -> list[Span]:
    """Return the words that a plan uses, with those that name a column it uses: `had a date before 2004`."""
    told = " ".join((plan.select, *plan.where, plan.order))
    names = [each for each in asked.table.columns if re.search(rf"(?<!\w){re.escape(write.name(each))}(?!\w)", told)]
    return [*plan.used, *(named.span for named in asked.columns if set(named.columns) & set(names))]


def names_rows(table: Table) -> bool:
    """Return whether the name of a table says what its rows are: `staff`, and not `data` or `Sheet1`."""
    words = {*re.findall(r"[^\W\d_]+", table.name.lower())}
    return bool(words - FILLERS - _NAMELESS)


def has_sums(table: Table) -> bool:
    """Return whether rows of a table sum up the others."""
    return any(value.strip().casefold() in SUMS for column in table.columns for value in column.values)


_NAMELESS = frozenset({"sheet", "export", "untitled", "file", "csv", "query", "result", "results", "report", "list"})


def _is_certain(plan: Plan, left: list[str], *, is_alone: bool, dialect: str) -> bool:
    if set(left) & SIGNALS or (plan.by_row and (dialect == "postgres" or not is_alone)):
        return False
    borne = _BORNE[plan.family] if is_alone else Borne(0, 1)
    if not left and plan.family == "neighbour":  # where each word is read, one choice more is borne
        return plan.doubts <= borne.doubts + 1
    return len(left) <= borne.words and plan.doubts <= borne.doubts
