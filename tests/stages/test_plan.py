"""Planning without a model: aspects, queries, and when there is nothing left to do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from marchwarden.contract import Depth
from marchwarden.ledger import Excerpt, Lead, Ledger
from marchwarden.stages.bounded_lists import UpTo3Texts, UpTo4Texts, UpTo6Numbers
from marchwarden.stages.plan import Plan, PlanGiven, ground, model_free, read


def test_the_first_plan_asks_the_question_and_a_later_one_what_is_open() -> None:
    ledger = Ledger(question="When was Oslo founded, and who founded it?", context="Focus on the harbour.")
    first = model_free(PlanGiven(ledger, Depth.BALANCED, []))
    assert first.queries == ["the harbour (Oslo)", "When was Oslo founded", "who founded it (Oslo)"]
    assert not first.done
    ledger.set_aspects(first.aspects)
    ledger.queries = first.queries
    later = model_free(PlanGiven(ledger, Depth.BALANCED, ledger.aspects[2:]))
    assert len(later.queries) == 1
    assert ledger.is_new_query(later.queries[0])
    assert model_free(PlanGiven(ledger, Depth.BALANCED, [])).done


def test_both_sides_of_a_comparison_are_searched_for() -> None:
    ledger = Ledger(question="Does Oslo or Bergen have more rain?")
    plan = model_free(PlanGiven(ledger, Depth.BALANCED, []))
    assert plan.aspects == ["Does Oslo or Bergen have more rain"]
    assert plan.queries[1:] == ["Does Oslo have more rain?", "Does Bergen have more rain?"]


def test_a_frame_is_neither_an_aspect_nor_searched_for() -> None:
    ledger = Ledger(question="I am writing a quiz for my class. When was Oslo founded? Please answer briefly.")
    plan = model_free(PlanGiven(ledger, Depth.BALANCED, []))
    assert plan.aspects == plan.queries == ["When was Oslo founded"]


def test_what_callers_say_of_themselves_is_not_searched_for() -> None:
    ledger = Ledger(question="Does it help against pain?", context="I take Naproxen since my boss made me ill.")
    plan = Plan(thought="", aspects=[], queries=["naproxen pain ill boss", "boss"], read=[], done=False)
    kept, dropped = ground(PlanGiven(ledger, Depth.BALANCED, []), plan)
    assert kept.queries == ["naproxen pain"]
    assert [drop.what for drop in dropped] == ["query", "query"]


@pytest.mark.parametrize(
    ("aspects", "kept"),
    [
        (["year of construction"], ["When was the Halden Bridge built, and by whom?"]),
        ([], ["When was the Halden Bridge built, and by whom?"]),
        (
            ["when built", "by whom it was built"],
            ["when built (Halden Bridge)", "by whom it was built (Halden Bridge)"],
        ),
        (["Hexagon", "the bridge", "Shadmin"], ["When was the Halden Bridge built, and by whom?"]),
        (["year the Halden Bridge opened", ""], ["When was the Halden Bridge built, and by whom?"]),
    ],
)
def test_a_models_aspects_can_stand_alone(aspects: list[str], kept: list[str]) -> None:
    question = "When was the Halden Bridge built, and by whom?"
    lists = {"aspects": UpTo4Texts(aspects), "queries": UpTo3Texts(["q"]), "read": UpTo6Numbers([])}
    prediction = SimpleNamespace(thought="", done=False, **lists)
    assert read(PlanGiven(Ledger(question=question), Depth.BALANCED, []), prediction).aspects == kept


@pytest.mark.parametrize(
    ("queries", "sent"),
    [
        (["Halden Bridge construction year"], ["Halden Bridge construction year"]),
        ([], ["When was the Halden Bridge built?"]),
        (["history of steel"], ["history of steel", "When was the Halden Bridge built?"]),
    ],
)
def test_a_first_plan_that_asks_about_something_else_asks_the_question_too(
    queries: list[str], sent: list[str]
) -> None:
    lists = {"aspects": UpTo4Texts([]), "queries": UpTo3Texts(queries), "read": UpTo6Numbers([])}
    prediction = SimpleNamespace(thought="", done=False, **lists)
    ledger = Ledger(question="When was the Halden Bridge built?")
    assert read(PlanGiven(ledger, Depth.BALANCED, []), prediction).queries == sent
    ledger.queries = ["asked before"]
    assert read(PlanGiven(ledger, Depth.BALANCED, []), prediction).queries == queries


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("capital of Brazil", False),  # what a hit asks
        ("Brazil", False),
        ("Halden capital", True),
        ("bridge construction records", True),
        ("Tista crossing opened", True),  # the model's own words
        ("Zorn engineering office", True),  # what was found
    ],
)
def test_a_query_on_what_only_a_hit_speaks_of_is_not_sent(query: str, sent: bool) -> None:
    ledger = Ledger(question="When was the Halden Bridge built?", queries=["halden bridge"])
    for title in ("What is the capital of Brazil?", "Zorn: engineering office"):
        url = f"https://{title[:4].lower()}.org/"
        ledger.leads.append(Lead(url=url, title=title, snippet="", published=None, aspect=1, rank=0.1))
    found = "Zorn & Sons built it."
    ledger.excerpts.append(Excerpt(number=1, locator="https://a.org/", aspect=1, start=0, end=len(found), text=found))
    plan = Plan(thought="", aspects=[], queries=[query], read=[], done=False)
    kept, dropped = ground(PlanGiven(ledger, Depth.BALANCED, []), plan)
    assert kept.queries == ([query] if sent else [])
    assert bool(dropped) != sent
