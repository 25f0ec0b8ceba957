"""Write a query: one SELECT for a question that the rules of sources/database/planning leave alone.

The statement is the model's; its rows are the evidence. Who runs the stage grounds the statement, checks
it and runs it, and asks again with what came of it (sources/database/writing).
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from marchwarden.stages.stage import Stage
from marchwarden.trace.events import Dropped

if TYPE_CHECKING:
    import dspy

_FENCE = re.compile(r"```(?:\w+\n|\s)?(?P<inner>.*?)```", re.DOTALL)
_UNANSWERABLE = re.compile(
    r"\W*(?:it |this |the question )?(?:can ?not|can't|could not) be answered\b", re.IGNORECASE
)
_STATEMENT = re.compile(r"(?:select|with)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Attempt:
    statement: str
    problem: str
    """Reason why its rows are no answer: an error, or that there are none."""


@dataclass(frozen=True)
class WriteQueryGiven:
    question: str
    tables: str
    """Tables and columns that the question may be about, with sample values."""
    dialect: str
    attempts: tuple[Attempt, ...] = ()
    """Statements that were tried before, in order."""


@dataclass(frozen=True)
class Query:
    statement: str | None
    """One SELECT; None where the tables can't answer the question."""


def signature() -> "type[dspy.Signature]":
    import dspy

    class WriteQuery(dspy.Signature):
        """Write one SELECT statement of this SQL dialect that answers the question from these tables. Select the
        columns that are asked for, in their order, and no others. Join tables by the keys that are listed. Spell
        values as the samples do. Write "cannot be answered" where the tables lack what is asked. Where earlier
        attempts are listed, write a statement without their problem."""

        question: str = dspy.InputField()
        tables: str = dspy.InputField(desc="columns with types and sample values")
        dialect: str = dspy.InputField()
        earlier_attempts: str = dspy.InputField()
        query: str = dspy.OutputField(desc='one SELECT statement, or "cannot be answered"')

    return WriteQuery


def show(given: WriteQueryGiven) -> dict[str, Any]:
    told = "\n".join(f"{each.statement}\n-- {each.problem}" for each in given.attempts)
    return {
        "question": given.question,
        "tables": given.tables,
        "dialect": given.dialect,
        "earlier_attempts": told or "none",
    }


def read(given: WriteQueryGiven, prediction: "dspy.Prediction") -> Query:
    """Return the statement of an answer. Raises ValueError where it holds none."""
    text = str(prediction.query)
    if fenced := _FENCE.search(text):
        text = fenced["inner"]
    text = text.strip().rstrip(";").strip()
    if _UNANSWERABLE.match(text):
        return Query(None)
    if not _STATEMENT.match(text):
        raise ValueError('the query is neither a SELECT statement nor "cannot be answered"')
    return Query(text)


def model_free(given: WriteQueryGiven) -> Query:
    """Return no statement: the rules were asked before."""
    return Query(None)


def ground(given: WriteQueryGiven, query: Query) -> tuple[Query, list[Dropped]]:
    """Return the query as it is: sources/database/writing/statement_grounding.py knows the tables."""
    return query, []


WRITE_QUERY: Stage[WriteQueryGiven, Query] = Stage(
    name="write_query",
    max_tokens=300,
    signature=signature,
    show=show,
    read=read,
    model_free=model_free,
    ground=ground,
    time_share=0.5,
)
