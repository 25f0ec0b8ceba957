"""Prompts that do not fit a budget get shorter step by step, and lose first what matters least."""

from __future__ import annotations

from datetime import date
from typing import Any

from marchwarden.contract import Depth, Gap, GapCategory
from marchwarden.evidence.relevance import PageTerms, Relevance
from marchwarden.ledger import Aspect, Ledger
from marchwarden.observations import Page
from marchwarden.reading.page import read_page
from marchwarden.stages.extract import EXTRACT, ExtractGiven, shown_passages
from marchwarden.stages.open_questions import OPEN_QUESTIONS, OpenQuestionsGiven
from marchwarden.stages.stage import Given, Stage
from marchwarden.stages.synthesize import SYNTHESIZE, SynthesizeGiven
from tests.stages.test_rendering import a_ledger
from tests.webs import article

BUILT, NAMED = "The Halden Bridge was built in 1931.", "The bridge has the name of its builder."


def steps(stage: Stage[Given, Any], given: Given) -> list[Given]:
    """Every input that a stage is asked with where nothing fits."""
    found: list[Given] = []
    left: Given | None = given
    while left is not None:
        found.append(left)
        left = stage.shorten(left)
    return found


def two_excerpts() -> Ledger:
    ledger = a_ledger(f"It stands in Halden. {BUILT}", f"{NAMED} It is painted green.")
    ledger.excerpts[0].key = (len("It stands in Halden. "), len(ledger.excerpts[0].text))
    ledger.excerpts[1].key, ledger.excerpts[1].relevance = (0, len(NAMED)), 0.4
    return ledger


def test_an_answer_loses_the_least_relevant_excerpt_and_before_that_all_but_its_best_sentence() -> None:
    given = SynthesizeGiven(two_excerpts(), Depth.SHALLOW)
    shown = [[text for _, text in each.shown] for each in steps(SYNTHESIZE, given)]
    whole = f"It stands in Halden. {BUILT}"
    assert shown == [[whole, f"{NAMED} It is painted green."], [whole, NAMED], [whole], [BUILT]]
    assert SYNTHESIZE.least_answer is not None
    floors = [SYNTHESIZE.least_answer(each) for each in steps(SYNTHESIZE, given)]
    assert floors == sorted(floors, reverse=True)


def test_a_question_that_is_still_open_is_asked_for_with_one_sentence_at_last() -> None:
    ledger = two_excerpts()
    gap = Gap(topic="its length", category=GapCategory.SOURCE_NOT_FOUND, detail="no page tells it")
    given = OpenQuestionsGiven(ledger, ledger.excerpts, [gap], date(2026, 1, 1))
    prompts = [OPEN_QUESTIONS.show(each) for each in steps(OPEN_QUESTIONS, given)]
    assert [each["already_open"] for each in prompts] == [["its length"], ["its length"], []]
    assert prompts[-1]["excerpts"] == f"<1> {BUILT}"


def test_a_model_is_never_asked_to_pick_from_one_passage_of_several() -> None:
    sentences = (BUILT, NAMED, "It is painted green.", "It has five arches.", "A toll was set.", "It is of granite.")
    page = read_page(
        article("The Halden Bridge", *sentences).encode(), url="https://a.org/", content_type="text/html"
    )
    assert isinstance(page, Page)
    aspects = [Aspect(number=1, text="When was the Halden Bridge built?")]
    given = ExtractGiven("When was it built?", None, aspects, Relevance(PageTerms(page), aspects))
    counts = [len(shown_passages(each)) for each in steps(EXTRACT, given)]
    assert counts[0] > counts[-1] == 2
    assert counts == sorted(set(counts), reverse=True)
