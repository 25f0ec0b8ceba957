"""A question → one SELECT, by rules: look-up, filter, count, sum, mean, maximum, top, group, years, simple joins.

Precision comes first: every word of the question must be used, and whatever can be meant in two ways is no plan.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from marchwarden.sources.database.planning.comparing.compositions import Composer
from marchwarden.sources.database.planning.comparing.frames import Frame, Ranked, read_frame
from marchwarden.sources.database.planning.draft import Unclear
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.over_joins.deal_words import DEAL_CUES
from marchwarden.sources.database.planning.over_joins.join_planner import plan_over_joins
from marchwarden.sources.database.planning.over_joins.sum_planning import NotJoined
from marchwarden.sources.database.planning.question_links import (
    NotLinked,
    SchemaNames,
    link_question,
    tokens_of,
)
from marchwarden.sources.database.planning.question_reader import check_deeds, read_question
from marchwarden.sources.database.planning.rewording.computed_columns import reworded, write_column
from marchwarden.sources.database.planning.rewording.order_tails import with_order, without_order
from marchwarden.sources.database.planning.rewording.typed_words import as_typed
from marchwarden.sources.database.planning.single_table.table_planner import has_sums, names_rows, plan_over_table
from marchwarden.sources.database.planning.statement_writer import StatementWriter
from marchwarden.sources.database.schema import Schema, words_of_name


@dataclass(frozen=True)
class NotPlanned:
    reason: str
    is_unlinked: bool = False
    """True where a word names nothing in the tables."""


def plan_statement(
    question: str, schema: Schema, dialect: str = "sqlite", *, today: date | None = None
) -> str | NotPlanned:
    """Return a statement that answers the whole question, or the reason why there is none.

    `today` is the day on which it is asked: without it, words such as `last month` are not read.
    """
    if not schema.tables:
        return NotPlanned("it has no table that may be read")
    question = re.sub(r"\b(?:took|take|takes|taken|taking) place\b", "happened", question)
    question = _without_hyphens(question, schema)
    schema = _without_copies(question, schema)
    # A table alone is read by families first: they know its rows of sums, and the cells that hold nothing.
    # Where the name of the table says what its rows are, whatever else a question says has to be read, too.
    if len(schema.tables) == 1 and (has_sums(schema.tables[0]) or not names_rows(schema.tables[0])):
        return plan_over_table(question, schema, dialect) or _plan_by_words(
            question, SchemaNames(schema, question, today), schema, dialect
        )
    planned = _plan_as_said(question, schema, dialect, today)
    if isinstance(planned, NotPlanned):
        told = as_typed(question, schema, SchemaNames(schema, question, today))
        planned = _plan_as_said(told, schema, dialect, today) if told != question.strip() else planned
    return planned


def _plan_as_said(question: str, schema: Schema, dialect: str, today: date | None) -> str | NotPlanned:
    planned = _plan_any(question, schema, dialect, today)
    return _plan_in_other_words(question, schema, dialect, today) or planned if _is_gap(planned) else planned


def _without_hyphens(question: str, schema: Schema) -> str:
    """Return a question with the names of tables as these are written: `check-ins`, of check_ins."""
    names = {tuple(map(stem_of, words_of_name(table.name))) for table in schema.tables}

    def apart(found: re.Match[str]) -> str:
        words = found[0].split("-")
        return " ".join(words) if tuple(map(stem_of, words)) in names else found[0]

    return re.sub(r"\b\w+(?:-\w+)+\b", apart, question)


def _without_copies(question: str, schema: Schema) -> Schema:
    """Return the schema without `archive.orders` where SQL finds another table by `orders`, and the question does not
    speak of the archive."""
    asked = {token.stem for token in tokens_of(question)}
    meant = tuple(
        table
        for table in schema.tables
        if table.name == table.own_name
        or table.own_name.lower() not in schema.by_name
        or asked & set(map(stem_of, words_of_name(table.schema)))
    )
    names = {table.name for table in meant}
    keys = tuple(key for key in schema.keys if key.table in names and key.other in names)
    return schema if len(meant) == len(schema.tables) else replace(schema, tables=meant, keys=keys)


def _is_gap(planned: str | NotPlanned) -> bool:
    return isinstance(planned, NotPlanned)


def _plan_any(question: str, schema: Schema, dialect: str, today: date | None) -> str | NotPlanned:
    names = SchemaNames(schema, question, today)
    return _plan_comparison(question, names, schema, dialect) or _plan_plain(question, names, schema, dialect)


def _plan_in_other_words(question: str, schema: Schema, dialect: str, today: date | None) -> str | None:
    """Return the statement of a question that is read once its order, its days or its weekdays are said otherwise."""
    if split := without_order(question):
        asked, by = split
        planned = _plan_any(asked, schema, dialect, today)
        within = _plan_in_other_words(asked, schema, dialect, today) if isinstance(planned, NotPlanned) else planned
        return with_order(within, asked, by, dialect) if within is not None else None
    found = []
    for told in reworded(question, schema):
        planned = _plan_any(told.question, told.schema, dialect, today)
        if isinstance(planned, str) and (written := write_column(planned, told, dialect)) != planned:
            found.append(written)
    return found[0] if len(set(found)) == 1 else None


def _plan_comparison(question: str, names: SchemaNames, schema: Schema, dialect: str) -> str | NotPlanned | None:
    """Return the statement of a question that compares the answers of plainer ones; None for other questions."""
    unlinked: list[NotPlanned] = []

    def plan(plainer: str) -> str | None:
        # The second highest margin, of the highest.
        planned = _plan_comparison(plainer, names, schema, dialect) if isinstance(frame, Ranked) else None
        planned = planned or _plan_by_words(plainer, names, schema, dialect)
        if isinstance(planned, NotPlanned):
            planned = _plan_sums(plainer, names, schema, dialect, planned)
        if isinstance(planned, str):
            return planned
        unlinked.extend([planned] if planned.is_unlinked else [])
        return None

    frame: Frame | None = None
    try:
        frame = read_frame(tokens_of(question), names.has_word, names.units)
        return Composer(plan, schema, dialect).compose(frame) if frame else None
    except Unclear as error:
        return unlinked[0] if unlinked else NotPlanned(str(error))


def _plan_plain(question: str, names: SchemaNames, schema: Schema, dialect: str) -> str | NotPlanned:
    planned = _plan_by_words(question, names, schema, dialect)
    if isinstance(planned, NotPlanned):
        return plan_over_table(question, schema, dialect) or _plan_sums(question, names, schema, dialect, planned)
    return planned


def _plan_sums(
    question: str, names: SchemaNames, schema: Schema, dialect: str, not_planned: NotPlanned
) -> str | NotPlanned:
    try:
        return plan_over_joins(question, names, schema, dialect)
    except NotLinked as error:
        return NotPlanned(f"“{error}” names nothing in it", is_unlinked=True)
    except NotJoined:
        return not_planned
    except Unclear as error:
        # Where a question speaks of sales, what is unclear about the sum says more.
        cues = [DEAL_CUES[word].cue for token in tokens_of(question) if (word := (token.lower,)) in DEAL_CUES]
        says_more = not_planned.is_unlinked or "deal" in cues or "money" in cues
        return NotPlanned(str(error)) if says_more else not_planned


def _plan_by_words(question: str, names: SchemaNames, schema: Schema, dialect: str) -> str | NotPlanned:
    try:
        links = link_question(question, names)
    except NotLinked as error:
        return NotPlanned(f"“{error}” names nothing in it", is_unlinked=True)
    try:
        query = read_question(links, schema)
        check_deeds(question, query, schema)
        return StatementWriter(query, schema, dialect).write()
    except Unclear as error:
        return NotPlanned(str(error))
