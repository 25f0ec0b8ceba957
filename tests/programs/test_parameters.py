"""The model-free stages' numbers are data with bounds, and what they say is what the stages do."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from marchwarden.agent.conclusion import Checkpoint, finish
from marchwarden.contract import ResearchRequest
from marchwarden.evidence.confidence import assess
from marchwarden.evidence.relevance import PageTerms, Relevance
from marchwarden.ledger import Aspect, Ledger
from marchwarden.observations import Page
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.reading.page import read_page
from marchwarden.stages.extract import ExtractGiven, model_free
from tests.webs import article

QUESTION = "When was the Halden Bridge built?"


def a_page() -> Page:
    html = article(
        "Halden Bridge", "The Halden Bridge was built in 1931.", "It was painted green and nobody built more."
    )
    page = read_page(html.encode(), url="https://a.org/", content_type="text/html; charset=utf-8")
    assert page
    return page


def picked(parameters: Parameters) -> list[str]:
    aspects = [Aspect(number=1, text=QUESTION)]
    relevance = Relevance(PageTerms(a_page()), aspects, parameters=parameters)
    given = ExtractGiven(QUESTION, None, aspects, relevance, parameters)
    return [excerpt.text for excerpt in model_free(given)]


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"extract.relevant_too": 0.5}, ["The Halden Bridge was built in 1931."]),
        ({"extract.relevant_too": 1.0}, []),
        (
            {"extract.relevant_too": 0.0},
            ["The Halden Bridge was built in 1931.", "It was painted green and nobody built more."],
        ),
        ({"extract.relevant_too": 0.0, "extract.picks_per_aspect": 1}, ["The Halden Bridge was built in 1931."]),
        ({"relevance.by_words.bias": -30.0}, []),
    ],
)
def test_what_is_picked_follows_the_parameters_that_are_given(changed: dict[str, float], found: list[str]) -> None:
    assert picked(DEFAULT.with_values(changed)) == found


def test_a_call_that_is_ended_from_outside_uses_the_parameters_that_it_ran_with() -> None:
    def confidence(parameters: Parameters) -> float:
        checkpoint = Checkpoint(
            request=ResearchRequest(question=QUESTION),
            ledger=Ledger(question=QUESTION),
            tokens_used=0,
            iterations_run=1,
            exhausted=[],
            model_id="extractive",
            kind="web",
            parameters=parameters,
        )
        read_again = Checkpoint.model_validate_json(checkpoint.model_dump_json())
        trace_id = "00000000-0000-4000-8000-000000000000"
        return asyncio.run(finish(read_again, limit="seconds", trace_id=trace_id, seconds=1.0))[0].confidence

    sure = {"confidence.nothing_cited": 0.9, "confidence.exhausted": 0.0, "confidence.answered_floor": 1.0}
    assert confidence(DEFAULT) < 0.1 < confidence(DEFAULT.with_values(sure))


def test_no_parameter_lifts_the_confidence_over_what_callers_may_rely_on() -> None:
    sure = {name: 1.0 for name in DEFAULT.values() if name.startswith("confidence.")}
    ledger = Ledger(question=QUESTION)
    ledger.set_aspects([QUESTION])
    told = assess(ledger, [], budget_exhausted=True, today=date(2026, 1, 1), parameters=DEFAULT.with_values(sure))
    assert told.confidence <= 0.69


def test_changes_name_each_number_that_differs_with_both_values() -> None:
    other = DEFAULT.with_values({"extract.relevant": 0.5, "synthesize.authority.low": -0.2})
    assert DEFAULT.changes(other) == {"extract.relevant": (0.32, 0.5), "synthesize.authority.low": (-0.1, -0.2)}
    assert DEFAULT.changes(DEFAULT) == {}


@pytest.mark.parametrize(
    "values",
    [
        {"extract.relevant": 1.1},
        {"extract.relevant": float("nan")},
        {"extract.picks_per_aspect": 0},
        {"extract.picks_per_aspect": 2.5},
        {"relevance.by_words.bias": float("inf")},
        {"confidence.one_source": -0.1},
        {"extract.nothing_of_the_kind": 0.5},
    ],
)
def test_a_number_out_of_its_bounds_and_an_unknown_name_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"parameter|Parameters"):
        DEFAULT.with_values(values)


def test_a_field_that_is_not_known_is_refused_and_one_that_is_missing_has_its_default() -> None:
    with pytest.raises(ValidationError):
        Parameters.model_validate({"extract": {"relevant": 0.5, "relevance": 0.5}})
    assert Parameters.model_validate({"extract": {"relevant": 0.5}}).extract.relevant_too == 0.1


@given(st.dictionaries(st.sampled_from(sorted(DEFAULT.values())), st.integers(1, 1), max_size=6))
def test_parameters_survive_json_and_say_what_was_set(values: dict[str, int]) -> None:
    changed = DEFAULT.with_values(dict(values))
    again = Parameters.model_validate_json(changed.model_dump_json())
    assert again == changed
    assert {name: changed.values()[name] for name in values} == values
