"""Questions in everyday words: every word is read, as a form of a name or a value, or it ends in a gap."""

from __future__ import annotations

from functools import cache

import pytest

from evals.database.everyday import FOLDER, is_answer
from marchwarden.sources.database.allow_list import check_statement
from marchwarden.sources.database.planning.everyday.periods import Period, read_period
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement
from marchwarden.sources.database.planning.question_links import SchemaNames
from marchwarden.sources.database.rows_process import Connection, connect
from marchwarden.sources.database.schema import Column, Schema, Table

pytest.importorskip("duckdb")


@cache
def folder_of(name: str) -> tuple[Connection, Schema]:
    """Return a folder of tables, loaded once, and its schema."""
    connection = connect({"engine": "files", "target": str(FOLDER / name)})
    return connection, Schema.of(connection.describe(2_000))


def answer(folder: str, question: str) -> list[list[str]] | str:
    """Return the rows that answer a question, or the reason why none do."""
    connection, schema = folder_of(folder)
    planned = plan_statement(question, schema, "duckdb")
    if isinstance(planned, NotPlanned):
        return planned.reason
    _, _, rows = connection.select(check_statement(planned, "duckdb", schema).sql, 50)
    return [[str(cell) for cell in row] for row in rows]


@pytest.mark.parametrize(
    ("folder", "question", "wanted"),
    [
        # verbs that say no more than the table, and months of its days
        ("shop", "Which orders were placed in May?", "2|3|4"),
        ("shop", "How many orders did we get in 2023?", "6"),
        # values in the plural
        ("staff", "How many engineers work in Bern?", "2"),
        ("club", "How many families are members?", "2"),
        ("staff", "Which engineers work in Bern or Basel?", "Anna Keller|Rita Vogel|Lea Graf"),
        # amounts
        ("expenses", "How much did we spend on travel?", "296"),
        ("expenses", "How much did Mia and Tom pay?", "678.5"),
        ("expenses", "How much was spent on 5 March 2024?", "45.25"),
        ("inventory", "How much is a desk lamp?", "39"),
        ("inventory", "How many pencils are in stock?", "900"),
        # who and when
        ("staff", "Who was hired in 2022?", "Lea Graf|Eva Lang"),
        ("library", "Who wrote The Glass Garden?", "Iven Moor"),
        ("club", "When did Karl Ott join?", "2009-06-01"),
        ("club", "Who has not paid the fee?", "Sara Wyss|Mona Lehner"),
        # all rows that tie, of a column and of a number of rows
        ("inventory", "Which product is cheapest?", "Ballpoint pen|Pencil"),
        ("staff", "Who earns the most?", "Rita Vogel|Noah Baum"),
        ("shop", "Which customer placed the most orders?", "Ada Lemmer|Bo Tennant|Cid Roth"),
        # files joined over a column that holds each value once
        ("library", "Which books did Ada borrow?", "Silent Rivers|Maps of Winter"),
    ],
)
def test_everyday_words_are_read(folder: str, question: str, wanted: str) -> None:
    rows = answer(folder, question)
    assert not isinstance(rows, str), rows
    assert is_answer(rows, wanted), rows


@pytest.mark.parametrize(
    ("folder", "question", "word"),
    [
        ("shop", "How many cancelled orders do we have?", "cancelled"),
        ("shop", "Which orders were shipped in May?", "shipped"),
        ("inventory", "Which products were sold in March?", "sold"),
        ("expenses", "How much did we save on travel?", "save"),
        ("staff", "Who was fired in 2022?", "fired"),
        ("club", "How many honorary members live in Thun?", "honorary"),
    ],
)
def test_a_word_that_changes_the_question_is_not_passed_over(folder: str, question: str, word: str) -> None:
    reason = answer(folder, question)
    assert isinstance(reason, str), reason
    assert word in reason


@pytest.mark.parametrize(
    ("words", "place", "wanted"),
    [
        ("in May", 1, (Period(5), 1)),
        ("in may 2023", 1, (Period(5, 2023), 2)),
        ("on 3 May 2023", 1, (Period(5, 2023, 3), 3)),
        ("on March 5 , 2024", 1, (Period(3, 2024, 5), 4)),
        ("on 31 June 2023", 1, None),
        ("it may rain", 1, None),
        ("may I", 0, None),
    ],
)
def test_days_and_months(words: str, place: int, wanted: tuple[Period, int] | None) -> None:
    assert read_period(words.split(), place) == wanted


def test_values_that_share_no_word_with_the_question_are_passed_over() -> None:
    values = ("Desk lamp", "“Desk lamp”", "Chair", "¿Desk?", "Pencils")
    column = Column("item", "kind", "VARCHAR", values, complete=True)
    names = SchemaNames(Schema((Table("item", (column,)),)), "How many desk lamps?")
    known = {value for found in names.values.values() for value in found.values()}
    assert known == {"Desk lamp", "“Desk lamp”", "¿Desk?"}


@pytest.mark.parametrize(
    ("folder", "question"),
    [
        ("shop", "Which customer spent the most?"),  # in one order, or in all
        ("shop", "Which customers spent more than 5?"),
        ("shop", "How many customers spent more than 5?"),
        ("shop", "How many orders were placed in May or June 2023?"),
        ("staff", "Which engineers are not from Bern or Basel?"),
        ("expenses", "Which expenses were paid in May?"),
        ("club", "When did Jan join?"),
    ],
)
def test_a_question_with_two_readings_is_not_answered(folder: str, question: str) -> None:
    assert isinstance(answer(folder, question), str)
