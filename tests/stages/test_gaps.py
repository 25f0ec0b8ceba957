"""Why an aspect stayed open, as recorded facts decide it."""

from __future__ import annotations

import pytest

from marchwarden.contract import Gap, GapCategory
from marchwarden.errors import Limit
from marchwarden.evidence.relevance import promise
from marchwarden.ledger import Excerpt, Ledger, ReportedGap
from marchwarden.observations import Failure, FailureKind, SearchHit, SearchOutcome
from marchwarden.stages.gaps import STEPS, GapsGiven, find_decided_gaps, model_free
from marchwarden.stages.registry import STAGES


@pytest.mark.parametrize(
    ("kind", "category"),
    [
        (FailureKind.BAD_KEY, GapCategory.ACCESS_DENIED),
        (FailureKind.SERVICE_DOWN, GapCategory.ACCESS_DENIED),
        (FailureKind.NETWORK, GapCategory.ACCESS_DENIED),
        (FailureKind.TIMEOUT, GapCategory.ACCESS_DENIED),
        (FailureKind.BAD_REQUEST, GapCategory.SOURCE_NOT_FOUND),
    ],
)
def test_a_search_service_that_gives_no_answer_is_no_proof_that_there_is_no_source(
    kind: FailureKind, category: GapCategory
) -> None:
    ledger = Ledger(question="What grows in Utah?")
    ledger.set_aspects(["What grows in Utah"])
    ledger.add_search(SearchOutcome(query="utah", provider="p", failure=Failure(kind, "It failed so.")), 1)
    given = GapsGiven(ledger, [], frozenset())
    (gap,) = find_decided_gaps(given) + model_free(given)
    assert gap.category is category
    assert "It failed so." in gap.detail
    assert (gap.cause == "source_failed") == ledger.have_sources_failed() == (kind is not FailureKind.BAD_REQUEST)


def test_a_source_that_failed_beside_others_that_answered_is_a_gap_of_its_own() -> None:
    ledger = Ledger(question="What grows in Utah?")
    ledger.set_aspects(["What grows in Utah"])
    failure = Failure(FailureKind.NETWORK, "b could not be reached")
    ledger.add_search(SearchOutcome(query="utah", provider="a+b", failure=failure, failed=("b",)), 1)
    (gap,) = find_decided_gaps(GapsGiven(ledger, [], frozenset({1})))
    assert (gap.topic, gap.cause) == ("b", "source_failed")
    assert not ledger.have_sources_failed()


@pytest.mark.parametrize("closed", [False, True])
def test_what_a_search_missed_is_told_where_nothing_answers_and_is_no_gap_where_something_does(closed: bool) -> None:
    ledger = a_ledger_with_closed_pages("What grows in Utah?", *["What grows in Utah, a list"] * closed)
    missing = "SearXNG got nothing from these engines: brave (timeout)."
    for query in ("utah", "utah crops"):
        ledger.add_search(SearchOutcome(query=query, provider="SearXNG", incomplete=(missing,)), 1)
    (gap,) = find_decided_gaps(nothing := GapsGiven(ledger, [], frozenset())) + model_free(nothing)
    assert gap.category is (GapCategory.ACCESS_DENIED if closed else GapCategory.SOURCE_NOT_FOUND)
    assert gap.detail.endswith(f" A search was incomplete: {missing}")
    assert gap.detail.count(missing) == 1
    assert "incomplete" not in "".join(
        each.detail for each in find_decided_gaps(GapsGiven(ledger, [], frozenset({1})))
    )


@pytest.mark.parametrize(
    ("provider", "advice"),
    [
        ("wikipedia", " Ask again later."),
        ("db:shop", " `marchwarden sources` checks it."),
        ("corpus:notes", ""),
    ],
)
def test_only_what_may_mend_itself_is_to_be_asked_again_later(provider: str, advice: str) -> None:
    ledger = Ledger(question="What grows in Utah?")
    ledger.set_aspects(["What grows in Utah"])
    failure = Failure(FailureKind.SERVICE_DOWN, "it can't be searched")
    ledger.add_search(SearchOutcome(query="utah", provider=provider, failure=failure), 1)
    (gap,) = find_decided_gaps(GapsGiven(ledger, [], frozenset()))
    assert gap.detail == f"The search failed: {provider}: it can't be searched.{advice}"


def test_where_nothing_answers_the_gap_shows_the_closest_passage() -> None:
    ledger = Ledger(question="What grows in Utah?")
    ledger.set_aspects(["What grows in Utah"])
    for start, relevance, answers in [(0, 0.12, False), (40, 0.28, False)]:
        ledger.excerpts.append(
            Excerpt(
                number=start, locator="/notes/crops.md", aspect=1, start=start, end=start + 23, key=(7, 23),
                text="Beans. Beets like\nsalt.", relevance=relevance, answers=answers, place=f"L{start}",
            )
        )  # fmt: skip
    (gap,) = model_free(GapsGiven(ledger, [], frozenset()))
    assert gap.detail.endswith("The closest passage is in /notes/crops.md#L40: “Beets like salt.”")
    ledger.excerpts[-1] = ledger.excerpts[-1].model_copy(update={"text": "word " * 100, "key": None})
    (gap,) = model_free(GapsGiven(ledger, [], frozenset()))
    assert gap.detail.endswith("word word …”")
    assert len(gap.detail) < 450
    ledger.excerpts.pop()  # what a judge finds next to no chance in is in no ledger, and a tenth is worth a look
    (gap,) = model_free(GapsGiven(ledger, [], frozenset()))
    assert gap.detail.endswith("The closest passage is in /notes/crops.md#L0: “Beets like salt.”")
    ledger.excerpts.clear()
    (gap,) = model_free(GapsGiven(ledger, [], frozenset()))
    assert "closest" not in gap.detail


def a_ledger_with_closed_pages(question: str, *titles: str) -> Ledger:
    ledger = Ledger(question=question)
    ledger.set_aspects([question.rstrip("?")])
    hits = [SearchHit(f"https://closed.example/{number}", title, "") for number, title in enumerate(titles)]
    ledger.add_search(SearchOutcome(query=question, provider="p", hits=tuple(hits)), 1)
    for lead in list(ledger.leads):
        relevance = promise(lead, ledger.aspects)
        ledger.add_failure(lead, Failure(FailureKind.FORBIDDEN, "the server refuses access to the page"), relevance)
    return ledger


@pytest.mark.parametrize(
    ("question", "exhausted"),
    [
        ("What grows best in Utah?", []),
        ("What grows best in Utah?", ["iterations"]),
        ("Which rows of the raw data of the census name Utah?", []),
    ],
)
def test_the_gap_of_an_open_aspect_names_the_closed_pages_whatever_its_category(
    question: str, exhausted: list[Limit]
) -> None:
    ledger = a_ledger_with_closed_pages(question, "Beans")
    if exhausted:
        ledger.leads[0].state = "unread"
    given = GapsGiven(ledger, exhausted, frozenset())
    told = [gap.detail for gap in find_decided_gaps(given) + model_free(given)]
    assert any(
        "https://closed.example/0 could not be read: the server refuses access to the page." in each for each in told
    )


def test_the_gap_of_an_open_part_names_the_closed_pages_that_were_tried_for_an_answered_one() -> None:
    """Parts of a question are often answered by one page."""
    ledger = a_ledger_with_closed_pages("Why has England the oldest bank of the world?", "Old banks", "Beans")
    ledger.set_aspects([ledger.aspects[0].text, "what was the bank set up to pay for", "which beans grow in Peru"])
    told = {gap.topic: gap.detail for gap in model_free(GapsGiven(ledger, [], frozenset({1})))}
    assert "https://closed.example/0 could not be read" in told["what was the bank set up to pay for"]
    assert "closed.example" not in told["which beans grow in Peru"]
    assert "closed.example/1" not in str(told), "it shares no word with what was asked"


def test_a_database_that_is_no_source_for_a_question_is_told_last_and_decides_no_category() -> None:
    question = "Who discovered penicillin"
    ledger = Ledger(question=question)
    ledger.set_aspects([question])
    for researcher, category, detail in [
        ("db:world", GapCategory.SCOPE_EXCEEDED, "No table is about it."),
        ("people", GapCategory.SOURCE_NOT_FOUND, "3 pages were read."),
    ]:
        gap = Gap(topic=question, category=category, detail=detail)
        ledger.reported.append(ReportedGap(aspect=1, researcher=researcher, gap=gap))
    (gap,) = find_decided_gaps(GapsGiven(ledger, [], frozenset()))
    assert gap.category is GapCategory.SOURCE_NOT_FOUND
    assert gap.detail == "people: 3 pages were read. db:world: No table is about it."


def test_a_closed_page_that_a_researcher_met_for_two_questions_is_one_gap() -> None:
    ledger = Ledger(question="Who discovered penicillin?")
    ledger.set_aspects(["Who discovered penicillin"])
    detail = "https://closed.example/0 could not be read: the page requires payment."
    for topic in ("Which antibiotics are safe? An analysis", "Who discovered penicillin"):
        gap = Gap(topic=topic, category=GapCategory.ACCESS_DENIED, detail=detail)
        ledger.reported.append(ReportedGap(aspect=1, researcher="web", gap=gap))
    gaps = find_decided_gaps(GapsGiven(ledger, [], frozenset({1})))
    assert [(gap.topic, gap.detail) for gap in gaps] == [
        ("Which antibiotics are safe? An analysis", f"web: {detail}")
    ]


def test_a_closed_page_among_the_first_hits_is_a_gap_although_others_answered() -> None:
    titles = ["Gardens in Utah", "Bread", "Beans", "Gardens of Utah"]
    ledger = a_ledger_with_closed_pages("Which crops do gardens in Utah grow for market?", *titles)
    gaps = find_decided_gaps(GapsGiven(ledger, [], frozenset({1})))
    assert [gap.topic for gap in gaps] == ["Gardens in Utah"]


@pytest.mark.parametrize(
    ("used", "told"),
    [
        (
            382,
            "Of 500 tokens 118 were left, too few for the model to plan the search, to pick quotes from pages and to "
            "word the answer, so rules did that.",
        ),
        (
            490,
            "The token budget was used up before the research was complete. Too few tokens were left for the model to "
            "plan the search, to pick quotes from pages and to word the answer, so rules did that.",
        ),
    ],
)
def test_steps_that_had_too_few_tokens_for_the_model_are_told(used: int, told: str) -> None:
    ledger = Ledger(question="When was it opened?")
    ledger.set_aspects([ledger.question])
    unpaid = ("synthesize", "plan", "extract")
    given = GapsGiven(ledger, ["tokens"], frozenset({1}), unpaid=unpaid, token_budget=500, tokens_used=used)
    (gap,) = find_decided_gaps(given)
    assert (gap.category, gap.detail) == (GapCategory.BUDGET_EXHAUSTED, told)
    assert {name for name, stage in STAGES.items() if stage.essential} == set(STEPS)


@pytest.mark.parametrize(
    ("has_answered", "told"), [(True, "Some steps ran without it."), (False, "No step ran with it.")]
)
def test_a_model_that_never_answered_ran_no_step(has_answered: bool, told: str) -> None:
    ledger = Ledger(question="When was it opened?")
    given = GapsGiven(ledger, [], frozenset(), model_trouble="it is down", has_model_answered=has_answered)
    (gap,) = find_decided_gaps(given)
    assert gap.detail == f"The model failed (it is down). {told}"
