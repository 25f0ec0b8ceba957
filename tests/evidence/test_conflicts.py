"""Which excerpts of a ledger disagree, and which of them stands."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Literal

import pytest

from marchwarden.contract import SourceAuthority
from marchwarden.evidence.conflicts import find_conflicts
from marchwarden.ledger import Conflict, Excerpt, Ledger, Source

Standing = Literal["retracted", "superseded"] | None


class Pages:
    """A ledger in the making: what each page says, told in its order."""

    def __init__(self, question: str) -> None:
        self.ledger = Ledger(question=question)
        self.ledger.set_aspects([question])

    def say(
        self,
        host: str,
        *texts: str,
        published: date | None = None,
        standing: Standing = None,
        relevance: float = 0.9,
        copy_of: str | None = None,
        title: str | None = None,
        authority: SourceAuthority = SourceAuthority.MEDIUM,
    ) -> Pages:
        locator = f"https://{host}/"
        source = Source(
            locator=locator,
            organisation=host,
            title=title,
            published=published,
            modified=None,
            content_hash="0",
            text_hash=host,
            authority=authority,
            standing=standing,
            language="en",
            has_text=True,
            copy_of=copy_of,
        )
        self.ledger.sources.append(source)
        for start, text in enumerate(texts):
            excerpt = Excerpt(
                number=0, locator=locator, aspect=1, start=start, end=start + 1, text=text, relevance=relevance
            )
            self.ledger.add_excerpt(excerpt)
        return self

    @property
    def conflicts(self) -> list[Conflict]:
        return find_conflicts(self.ledger)

    def stands(self) -> str | None:
        """The host whose side stands in the only conflict; None where it is open."""
        (conflict,) = self.conflicts
        if conflict.preferred is None:
            assert conflict.resolved is None
            return None
        return self.ledger.excerpts[conflict.preferred - 1].locator.removeprefix("https://").rstrip("/")


LENGTH = "How long is the Halden Bridge?"
SHORT, LONG = "The Halden Bridge is 352 metres long.", "The Halden Bridge is 410 metres long."


def test_pages_of_two_organisations_that_state_other_values_conflict() -> None:
    (conflict,) = Pages(LENGTH).say("a.org", SHORT).say("b.org", LONG).conflicts
    assert (conflict.about, conflict.sides) == ("352 metres against 410 metres", (1, 2))


_PAIRS = [
    json.loads(line) for line in Path(__file__).with_name("conflict_pairs.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("pair", _PAIRS, ids=[f"{pair['kind']}: {pair['one']}" for pair in _PAIRS])
def test_two_statements_conflict_only_where_both_cannot_be_right(pair: dict[str, str]) -> None:
    for one, other in ((pair["one"], pair["other"]), (pair["other"], pair["one"])):
        conflicts = Pages(pair["question"]).say("a.org", one).say("b.org", other).conflicts
        assert bool(conflicts) is pair["conflict"], [conflict.about for conflict in conflicts]


def test_what_one_page_says_twice_is_no_conflict() -> None:
    assert Pages(LENGTH).say("a.org", SHORT, LONG).conflicts == []


def test_an_excerpt_that_bears_far_less_on_the_aspect_than_the_best_is_on_something_else() -> None:
    assert Pages(LENGTH).say("a.org", SHORT, relevance=0.4).say("b.org", LONG).conflicts == []


def test_a_copy_is_no_side_unless_it_says_something_else_in_the_same_sentence() -> None:
    original = "The Halden Bridge, built by Selma Orr in 1931, is the longest of the county."
    pages = Pages("Who built the Halden Bridge?").say("a.org", original)
    pages.say("copy.org", original, "It is not the longest of the Halden Bridge's kind.", copy_of="https://a.org/")
    assert pages.conflicts == []
    pages.say("edited.org", original.replace("Selma Orr", "Nils Dahl"), copy_of="https://a.org/")
    assert {conflict.about for conflict in pages.conflicts} == {"Selma Orr against Nils Dahl"}


def test_two_pages_conflict_once_in_what_bears_most_on_the_aspect() -> None:
    pages = Pages(LENGTH)
    pages.say("a.org", SHORT, relevance=0.7).say("b.org", LONG, relevance=0.7)
    pages.ledger.add_excerpt(_also("a.org", "The Halden Bridge, all told, is 360 metres long."))
    pages.ledger.add_excerpt(_also("b.org", "The Halden Bridge, all told, is 420 metres long."))
    (conflict,) = pages.conflicts
    assert conflict.about == "360 metres against 420 metres"


def _also(host: str, text: str) -> Excerpt:
    return Excerpt(number=0, locator=f"https://{host}/", aspect=1, start=9, end=10, text=text, relevance=0.95)


def test_what_a_page_reports_of_others_does_not_hide_its_own_claim() -> None:
    pages = Pages("In what year did the first AI winter begin?")
    pages.say("college.edu", "The first AI winter began in 1974, when DARPA cut its funding.")
    pages.say(
        "essays.net",
        "Textbooks tell you that the first AI winter began in 1974.",
        "The first AI winter began in 1973, when Britain published the Lighthill report.",
    )
    (conflict,) = pages.conflicts
    assert conflict.about == "1974 against 1973"
    assert conflict.sides == (1, 3)


OLD, RECENT, NEW = date(2008, 8, 13), date(2022, 1, 14), date(2024, 11, 8)


@pytest.mark.parametrize(
    ("question", "older", "newer", "years_apart"),
    [
        (  # words of change in the question
            "How many countries use the euro today?",
            "Nineteen countries use the euro.",
            "In all, 21 countries use the euro.",
            (RECENT, NEW),
        ),
        (
            "When did Mauna Loa last erupt?",
            "The last eruption of Mauna Loa was in 1984.",
            "The most recent eruption of Mauna Loa was in 2022.",
            (OLD, NEW),
        ),
        (  # in what the older side says
            "How many flights has Ingenuity made?",
            "As of May, Ingenuity has made five flights.",
            "Ingenuity has made 72 flights.",
            (RECENT, NEW),
        ),
        (  # in neither, but years lie between
            "How much caffeine does a cup of coffee have?",
            "A cup of coffee contains 135 mg of caffeine.",
            "A cup of coffee contains 95 mg of caffeine.",
            (OLD, NEW),
        ),
    ],
)
def test_the_newer_side_stands_where_things_change_or_the_older_is_much_older(
    question: str, older: str, newer: str, years_apart: tuple[date, date]
) -> None:
    before, after = years_apart
    assert Pages(question).say("old.org", older, published=before).say(
        "new.org", newer, published=after
    ).stands() == ("new.org")
    assert Pages(question).say("new.org", newer, published=after).say(
        "old.org", older, published=before
    ).stands() == ("new.org")


@pytest.mark.parametrize(
    ("question", "one", "other", "dates"),
    [
        (  # a count of the past does not change with the page's age
            "How many people lost their lives at the Berlin Wall?",
            "More than 200 people were killed at the Berlin Wall.",
            "At least 140 people were killed at the Berlin Wall.",
            (OLD, NEW),
        ),
        (  # too few years for what does not change
            "What is the surface area of Lake Geneva?",
            "Lake Geneva has an area of 560 square kilometres.",
            "Lake Geneva has an area of 582 square kilometres.",
            (RECENT, NEW),
        ),
        (  # who is undated is not known to be older
            "How many countries use the euro today?",
            "Nineteen countries use the euro.",
            "In all, 21 countries use the euro.",
            (None, NEW),
        ),
        (
            "How many countries use the euro today?",
            "Nineteen countries use the euro.",
            "In all, 21 countries use the euro.",
            (date(2024, 9, 1), NEW),
        ),
    ],
)
def test_else_it_stays_open(question: str, one: str, other: str, dates: tuple[date | None, date | None]) -> None:
    pages = Pages(question).say("a.org", one, published=dates[0], authority=SourceAuthority.LOW)
    pages.say("b.gov", other, published=dates[1], authority=SourceAuthority.HIGH)
    assert pages.stands() is None


@pytest.mark.parametrize("standing", ["retracted", "superseded"])
def test_what_was_retracted_or_superseded_does_not_stand_however_new(standing: Standing) -> None:
    pages = Pages(LENGTH).say("a.org", SHORT, published=NEW, standing=standing).say("b.org", LONG, published=OLD)
    assert pages.stands() == "b.org"
    assert str(standing) in (pages.conflicts[0].resolved or "")


def test_an_excerpt_that_lost_keeps_no_other_conflict_open() -> None:
    pages = Pages("How many countries use the euro today?")
    pages.say("old.org", "Nineteen countries use the euro.", published=RECENT)
    pages.say("new.org", "In all, 21 countries use the euro.", published=NEW)
    pages.say("undated.org", "Some 21 countries use the euro.")
    assert pages.stands() == "new.org"
