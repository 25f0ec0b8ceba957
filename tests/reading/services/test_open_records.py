"""Statements of Wikidata, answers of Stack Exchange and discussions of Hacker News become pages that can be quoted."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from marchwarden.observations import Failure, FailureKind, Page, content_hash
from marchwarden.reading.services.hackernews_items import read_hackernews
from marchwarden.reading.services.stackexchange_answers import read_stackexchange
from marchwarden.reading.services.wikidata_statements import ids_to_label, read_wikidata, statements_of

CASSETTES = Path(__file__).parents[2] / "cassettes"
QUESTION = "https://stackoverflow.com/questions/21006707/proper-usage-of-realloc"


def answer(name: str) -> Any:
    return json.loads((CASSETTES / name).read_bytes())


def read(reader: Callable[[Page, bytes], Page | Failure], told: object, url: str = QUESTION) -> Page | Failure:
    body = json.dumps(told).encode()
    return reader(Page(url, content_hash(body), "", content_hash(b""), ()), body)


def a_page(reader: Callable[[Page, bytes], Page | Failure], told: object, url: str = QUESTION) -> Page:
    page = read(reader, told, url)
    assert isinstance(page, Page), page
    assert all(page.text[each.start : each.end] == each.text for each in page.passages)
    return page


def douglas_adams() -> Any:
    entity = statements_of((CASSETTES / "wikidata" / "q42.json").read_bytes())
    assert isinstance(entity, dict)
    labels = answer("wikidata/labels.json")["entities"]
    return {**entity, "shown": {each: told["labels"]["en"]["value"] for each, told in labels.items()}}


def said_of(amount: dict[str, Any], datatype: str = "quantity", **claim: Any) -> list[str]:
    """The sentences of an entity with one statement."""
    snak = {"datatype": datatype, "datavalue": {"value": amount}}
    entity = {
        "labels": {"en": {"value": "Utah"}},
        "claims": {"P1082": [{"rank": "normal", "mainsnak": snak, **claim}]},
        "shown": {"P1082": "population", "Q11573": "metre"},
    }
    return a_page(read_wikidata, entity).text.split("\n\n")[1:]


def test_statements_are_sentences_with_labels() -> None:
    page = a_page(read_wikidata, douglas_adams())
    lines = page.text.split("\n\n")
    assert lines[:2] == ["Douglas Adams", "Douglas Adams: English writer and humorist."]
    assert "Douglas Adams was born in Cambridge." in lines
    assert "Douglas Adams was born on 11 March 1952." in lines
    assert "Douglas Adams: instance of human." in lines
    assert "The spouse of Douglas Adams is Jane Belson (from 1991 until 2001)." in lines
    assert (page.title, page.source, page.modified) == ("Douglas Adams", "wikidata", date(2017, 11, 18))
    assert page.work is not None
    assert (page.work.version, page.work.venue) == ("595492361", "Wikidata")


def test_identifiers_pictures_and_values_without_a_label_are_left_out() -> None:
    entity = douglas_adams()
    text = a_page(read_wikidata, entity).text
    assert "113230702" not in text  # VIAF
    assert ".jpg" not in text
    assert "Category:" not in text
    assert "1.96" not in text  # the label of the metre was not recorded
    entity["shown"]["Q11573"] = "metre"
    assert "The height of Douglas Adams is 1.96 metre." in a_page(read_wikidata, entity).text
    assert not {"P214", "P345", "P18"} & set(ids_to_label(entity))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"amount": "+3271616", "unit": "1"}, "3,271,616"),
        ({"amount": "-12.50", "unit": "http://www.wikidata.org/entity/Q11573"}, "-12.50 metre"),
    ],
)
def test_numbers_have_their_unit_and_the_time_for_which_they_hold(told: dict[str, Any], said: str) -> None:
    at = {"datavalue": {"value": {"time": "+2020-04-01T00:00:00Z", "precision": 11}}}
    assert said_of(told) == [f"The population of Utah is {said}."]
    assert said_of(told, qualifiers={"P585": [at]}) == [f"The population of Utah is {said} (in 2020)."]


@pytest.mark.parametrize(
    ("time", "precision", "said"),
    [
        ("+1952-03-11T00:00:00Z", 11, "11 March 1952"),
        ("+1952-03-00T00:00:00Z", 10, "March 1952"),
        ("+1952-00-00T00:00:00Z", 9, "1952"),
        ("+1950-00-00T00:00:00Z", 8, "1950s"),
        ("+1601-00-00T00:00:00Z", 7, "17th century"),
        ("-0043-03-15T00:00:00Z", 11, "15 March 43 BC"),
    ],
)
def test_a_time_is_as_exact_as_its_statement(time: str, precision: int, said: str) -> None:
    assert said_of({"time": time, "precision": precision}, "time") == [f"The population of Utah is {said}."]
    julian = {"time": time, "precision": precision, "calendarmodel": "http://www.wikidata.org/entity/Q1985786"}
    assert ("(Julian calendar)" in said_of(julian, "time")[0]) is (precision == 11)


def test_the_preferred_value_stands_for_the_others_and_a_deprecated_one_for_nothing() -> None:
    entity = douglas_adams()
    first, second, *_ = entity["claims"]["P106"]
    entity["claims"]["P106"] = [first, {**second, "rank": "preferred"}]
    assert "The occupation of Douglas Adams is screenwriter." in a_page(read_wikidata, entity).text
    entity["claims"]["P106"] = [{**first, "rank": "deprecated"}]
    assert "occupation" not in a_page(read_wikidata, entity).text


def test_answers_stand_in_the_order_of_their_votes_with_author_licence_and_an_address_of_their_own() -> None:
    page = a_page(read_stackexchange, answer("stackexchange/answers.json"))
    first = page.passages[0]
    assert first.text == "Just don't call free() on your original ptr in the happy path."
    assert first.heading == "Answer by Aaron S. Kurland · score 42 · accepted · CC BY-SA 4.0"
    assert first.place == "21006798"
    assert (page.title, page.source) == ("Proper usage of realloc", "stackexchange")
    assert page.work is not None
    assert page.work.authors == ("Aaron S. Kurland", "Keeler", "Paulo Bu")
    assert page.work.venue == "Stack Overflow, CC BY-SA 3.0, CC BY-SA 4.0"
    assert (page.published, page.modified) == (date(2014, 1, 8), date(2018, 8, 8))


def test_an_answer_that_was_voted_down_is_no_evidence() -> None:
    told = answer("stackexchange/answers.json")
    told["items"][1]["score"] = -1
    page = a_page(read_stackexchange, told, "https://cooking.stackexchange.com/questions/21006707/x")
    assert "Keeler" not in page.text
    assert page.work is not None
    assert (page.work.venue or "").startswith("Cooking Stack Exchange, ")
    told["items"] = [told["items"][1]]
    failure = read(read_stackexchange, told)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.NO_TEXT


def test_a_discussion_names_who_said_what() -> None:
    page = a_page(read_hackernews, answer("hackernews/item.json"), "https://news.ycombinator.com/item?id=17")
    said = [(each.heading, each.text, each.place) for each in page.passages]
    assert said == [
        (None, "Is there anywhere to eat on Sandhill Road?", None),
        ("Comment by dmon", "sure", "1079"),
        ("Comment by Arrington", "This is why we can't have nice things.", "454426"),
    ]
    assert (page.source, page.published) == ("hackernews", date(2006, 10, 9))


def broken(told: Any) -> Iterator[Any]:
    """The answer again and again, each time with another value of another type."""
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, child in children:
            places.append((value, key))
            walk(child)

    whole = copy.deepcopy(told)
    walk(whole)
    for holder, key in places:
        before = holder[key]
        for strange in (None, 7, "", [None], {"a": 1}, -1e30):
            holder[key] = strange
            yield whole
        holder[key] = before


def small_entity() -> Any:
    entity = douglas_adams()
    entity["claims"] = {each: entity["claims"][each][:1] for each in ("P26", "P569", "P2048", "P1559")}
    return {**entity, "shown": dict(list(entity["shown"].items())[:2])}


@pytest.mark.parametrize(
    ("reader", "told"),
    [
        (read_wikidata, small_entity()),
        (read_stackexchange, {"items": answer("stackexchange/answers.json")["items"][:1]}),
        (read_hackernews, answer("hackernews/item.json")),
    ],
    ids=["wikidata", "stackexchange", "hackernews"],
)
def test_whatever_breaks_in_an_answer_gives_a_page_or_a_failure(
    reader: Callable[[Page, bytes], Page | Failure], told: Any
) -> None:
    assert isinstance(read(reader, told), Page)
    for strange in broken(told):
        assert isinstance(read(reader, strange), Page | Failure)
    for body in (b"", b"<html>", b"[]", b'"text"', b"{}", b"[" * 100_000):
        page = Page(QUESTION, content_hash(body), "", content_hash(b""), ())
        assert isinstance(reader(page, body), Failure)
