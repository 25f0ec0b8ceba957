"""Attempts to score without being right: padding, hedging, listing, quoting everything or next to nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import DiscoveryType, GapCategory, ResearchResult
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.questions import GoldContradiction, GoldDiscovery, Question, Quote
from marchwarden.evaluation.scoring.metrics import figures, score
from tests.evaluation.samples import (
    STRANGE,
    a_conflict,
    a_gap,
    a_nugget,
    a_question,
    a_quotation,
    an_answer,
    an_event,
    case,
    cases,
    perfect,
    questions,
)

URL, QUOTE = "https://walls.example/long", a_nugget().evidence[0].quote


def of(scored: Case) -> dict[str, float | None]:
    return figures([score(scored)])


def padded(result: ResearchResult, name: str, *more: object) -> ResearchResult:
    return result.model_copy(update={name: [*getattr(result, name), *more]})


def is_not_raised(before: float | None, after: float | None) -> bool:
    return before is None or (after is not None and after <= before)


# Padding


@given(cases(), st.sampled_from(GapCategory))
def test_a_spurious_gap_raises_nothing(scored: Case, category: GapCategory) -> None:
    if scored.result is None:
        return
    more = padded(scored.result, "gaps", a_gap(" ".join(STRANGE[1:]), category))
    before, after = of(scored), of(case(scored.question, more))
    for name in ("gap_precision", "gap_recall", "gap_f1", "gap_category_accuracy", "contradiction_precision"):
        assert is_not_raised(before[name], after[name]), name


@given(questions(at_least=1))
def test_spurious_reports_cost_precision(question: Question) -> None:
    result = padded(perfect(question), "gaps", a_gap("xylograph"))
    result = padded(result, "discovery_events", an_event("xylograph"), a_conflict("https://strange.example/"))
    found = of(case(question, result))
    for name in ("gap", "discovery", "contradiction"):
        assert found[f"{name}_recall"] == 1
        assert 0.5 <= (found[f"{name}_precision"] or 0) < 1
        assert 0.5 < (found[f"{name}_f1"] or 0) < 1


@given(questions(at_least=1), st.integers(1, 4))
def test_saying_a_thing_again_does_not_water_down_what_is_wrong(question: Question, times: int) -> None:
    wrong = padded(
        perfect(question), "discovery_events", an_event("xylograph"), a_conflict("https://strange.example/")
    )
    again = padded(wrong, "discovery_events", *wrong.discovery_events[:-2] * times)
    before, after = of(case(question, wrong)), of(case(question, again))
    for name in ("discovery_precision", "discovery_f1", "contradiction_precision", "contradiction_f1"):
        assert after[name] == before[name]


@given(questions(at_least=1))
def test_a_spurious_citation_costs_precision_and_gains_nothing(question: Question) -> None:
    said = [(quote.quote, a_quotation(quote.url, quote.quote)) for quote in question.quotes]
    spurious = ("It hangs in a belfry", a_quotation("https://strange.example/", "It hangs in a belfry of oak."))
    before, after = of(case(question, an_answer(*said))), of(case(question, an_answer(*said, spurious)))
    assert (after["evidence_precision"] or 0) < (before["evidence_precision"] or 0)
    assert after["evidence_recall"] == before["evidence_recall"]
    assert after["nugget_recall"] == before["nugget_recall"]


# Hedging


@given(questions(at_least=1))
def test_a_gap_reported_under_all_five_categories_is_told_for_none(question: Question) -> None:
    result = perfect(question)
    hedged = [gap.model_copy(update={"category": category}) for gap in result.gaps for category in GapCategory]
    found = of(case(question, result.model_copy(update={"gaps": hedged})))
    assert found["gap_category_accuracy"] == 0
    assert found["gap_recall"] == 1
    assert found["gap_precision"] == pytest.approx(1 / 5, abs=0.14)  # a gap with a page may be told from its twins


def test_one_report_that_names_everything_meets_one_label() -> None:
    names = [f"10.1234/abc{number}" for number in range(4)]
    labels = [GoldDiscovery(type=DiscoveryType.NEW_SOURCE, identifier=name) for name in names]
    sides = [[Quote(url=f"https://{side}{n}.example/", quote="x") for side in "ab"] for n in range(3)]
    conflicts = [GoldContradiction(about="the weight", sides=each) for each in sides]
    everywhere = [side.url for each in sides for side in each]
    events = [an_event(" ".join(names)), a_conflict(*everywhere)]
    found = of(case(a_question(discoveries=labels, contradictions=conflicts), an_answer(discovery_events=events)))
    assert found["discovery_recall"] == 1 / 4
    assert found["contradiction_recall"] == 1 / 3


# Listing


@pytest.mark.parametrize(
    "listing",
    [
        ", ".join(f"{number} metres" for number in range(1, 200)) + " [1].",
        "\n".join(f"- {number} metres" for number in range(1, 200)) + "\nThe wall is of brick [1].",
        "The wall is of brick [1].\n" + "\n".join(f"- {number}" for number in range(1, 200)),
    ],
    ids=["one sentence", "a line each", "bare numbers"],
)
def test_an_answer_that_lists_every_number_is_neither_grounded_nor_covered(listing: str) -> None:
    question = a_question(nuggets=[a_nugget("120 metres"), a_nugget("120", id="n2")])
    result = an_answer(("x", a_quotation(URL, "The wall is of brick.")), answer=listing)
    found = of(case(question, result))
    assert found["nugget_recall"]
    assert found["evidence_recall"] == 0
    assert found["claim_grounding"] == 0 or found["citation_coverage"] == 1 / 200


# Quoting everything, or next to nothing


def test_an_excerpt_that_is_the_whole_page_can_only_be_of_a_short_one() -> None:
    with pytest.raises(ValueError, match="at most 500 characters"):
        a_quotation(URL, QUOTE * 12)
    page = " ".join([QUOTE, *(f"Filler sentence number {number} of the page." for number in range(60))])
    everything = [page[start : start + 500] for start in range(0, len(page), 500)]
    said = [("The wall is 120 metres long", a_quotation(URL, excerpt)) for excerpt in everything]
    found = of(case(a_question(nuggets=[a_nugget()]), an_answer(*said), texts={URL: page}))
    assert found["evidence_recall"] == 1
    assert found["evidence_precision"] == 1 / len(everything)


@given(questions(at_least=1), st.integers(1, 9))
def test_a_few_characters_of_a_labelled_page_are_no_evidence(question: Question, length: int) -> None:
    crumbs = [("It is so", a_quotation(quote.url, quote.quote[4 : 4 + length])) for quote in question.quotes[:1]]
    blank = ("It is so", a_quotation(question.quotes[0].url, "\u00a0"))
    found = of(case(question, an_answer(*crumbs, blank)))
    assert found["evidence_recall"] == found["evidence_precision"] == 0


def test_an_answer_without_citations_has_no_evidence_and_no_confidence_that_counts() -> None:
    found = of(case(a_question(nuggets=[a_nugget()]), an_answer(answer="It is 120 metres long.", confidence=1.0)))
    assert found["evidence_recall"] == 0
    assert found["brier"] is None
