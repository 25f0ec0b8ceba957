"""A question that sums up, counts or averages rows over joined tables → one SELECT."""

from __future__ import annotations

from marchwarden.sources.database.planning.over_joins.deal_words import ALL_CUES, CONVERSES
from marchwarden.sources.database.planning.over_joins.sum_planning import SumPlanner
from marchwarden.sources.database.planning.over_joins.sum_reading import read_parts
from marchwarden.sources.database.planning.over_joins.sum_writer import write_sum
from marchwarden.sources.database.planning.question_links import SchemaNames, link_question, tokens_of
from marchwarden.sources.database.schema import Schema


def plan_over_joins(question: str, names: SchemaNames, schema: Schema, dialect: str) -> str:
    """Return the statement that answers a question.

    Raises NotLinked where a word names nothing, and Unclear where a part has no meaning in the tables, or two.
    """
    links = link_question(question, names, ALL_CUES, CONVERSES)
    return write_sum(SumPlanner(read_parts(links, tokens_of(question), schema.tables), schema).plan(), dialect)
