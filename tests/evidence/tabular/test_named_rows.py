"""All rows that a question names by the values of their cells are found; a question that names none is told apart."""

from __future__ import annotations

from functools import cache

import pytest

from marchwarden.evidence.tabular.named_rows import TableRows
from marchwarden.observations import Page
from marchwarden.reading.page import read_page

STAFF = """Name,City,Role,Salary,Start,Notes
Alice Smith,Bern,Engineer,104000,2015-03-01,
Bob Jones,Zurich,Accountant,88000,2018-07-15,moved here from Bern with the design team of Basel
Carla Rossi,Bern,Designer,79000,2019-01-10,
Hans Muller,Basel,Engineer,99000,2012-05-20,
Dana Lee,Bern,Engineer,101000,2020-09-01,
Jonas Weber,Zurich,Engineer,108000,2014-08-19,
Erik Olsen,Geneva,IT,125000,2010-11-30,
"""


@cache
def staff() -> TableRows:
    page = read_page(STAFF.encode(), url="/home/ada/employees.csv", content_type="text/csv")
    assert isinstance(page, Page)
    return TableRows(page.passages, "employees")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which employees work in Bern?", "Alice Carla Dana"),
        ("Which employees work in Bern or Basel?", "Alice Carla Hans Dana"),
        ("Which engineers work in Bern or Basel?", "Alice Hans Dana"),
        ("Which employees do not work in Bern or Basel?", "Bob Jonas Erik"),
        ("Which employees work neither in Bern nor in Basel?", "Bob Jonas Erik"),
        ("Which employees work outside Bern, Basel and Zurich?", "Erik"),
        ("Who works anywhere but Bern?", "Bob Hans Jonas Erik"),
        ("Which employees work anywhere apart from Bern?", "Bob Hans Jonas Erik"),
        ("Qui ne travaille pas à Bern?", "Bob Hans Jonas Erik"),
        # A negation is of the value after it only.
        ("Who works in Bern but not in Basel?", "Alice Carla Dana"),
        ("Which employees work in Zurich, not in Bern?", "Bob Jonas"),
        ("Who works not in Bern but in Basel?", "Hans"),
        ("Who is not an engineer in Bern?", "Carla"),
        ("Not only in Bern: who works in Basel?", "Alice Carla Hans Dana"),
        ("Does Bob Jones smoke?", "Bob"),
        ("does bob jones smoke", "Bob"),
        ("What is Dr. Hans Muller's salary?", "Hans"),
        ("What does Dana earn?", "Dana"),
        ("Compare the salaries of Alice Smith and Bob Jones.", "Alice Bob"),
        ("Compare the salaries of Alice Smith, Bob Jones.", "Alice Bob"),
        ("Who works in IT?", "Erik"),
        ("Who started in 2012?", "Hans"),
        ("Who earns 101000?", "Dana"),
        ("Who works as an engineer?", "Alice Hans Dana Jonas"),
    ],
)
def test_the_rows_that_a_question_names_are_all_found(question: str, names: str) -> None:
    rows = staff().named(question)
    assert rows is not None
    assert [row[0].cells[0][1].split()[0] for row in rows] == names.split()


def test_a_number_and_a_name_with_no_are_not_negated() -> None:
    page = read_page(
        b"Name,Locker\nNo One,12\nCid Roth,13\nBo Ten,14\n", url="/home/ada/lockers.csv", content_type="text/csv"
    )
    assert isinstance(page, Page)
    for question in ("Whose locker is no. 12?", "Whose locker is no 12?", "What is the locker of No One?"):
        rows = TableRows(page.passages, "lockers").named(question)
        assert rows is not None
        assert [row[0].cells[0][1] for row in rows] == ["No One"], question


@pytest.mark.parametrize(
    "question",
    [
        "What is the salary of Hans Weber?",  # a Hans Muller and a Jonas Weber
        "When did Alice Munro start?",
        "Which accountants work in Geneva?",
    ],
)
def test_no_row_is_about_a_name_that_none_holds_or_values_that_none_holds_together(question: str) -> None:
    assert staff().named(question) == []


@pytest.mark.parametrize(
    "question",
    [
        "Who earns more than 100000?",
        "Which employees started before 2012?",
        "Who has the highest salary?",
        "What is the boiling point of basel salt?",
        "Which employee is from Paris?",
    ],
)
def test_a_question_that_names_no_row_is_left_to_relevance(question: str) -> None:
    assert staff().named(question) is None


def test_a_long_row_is_its_parts_that_bear_on_the_question() -> None:
    long = "It was read by the whole committee and found to be in good order but for a few words on heating. " * 3
    body = f"Plan,Text,Author,Remarks,Cost\nNorth hall,{long},Ada Berg,{long},4000\nPond,{long},Bo Lind,{long},700\n"
    page = read_page(body.encode(), url="/home/ada/plans.csv", content_type="text/csv")
    assert isinstance(page, Page)
    (row,) = TableRows(page.passages, "plans").named("What is the cost of the plan of Bo Lind?") or []
    assert row[0].text.startswith("Plan: Pond")
    assert any("Cost: 700" in part.text for part in row)
