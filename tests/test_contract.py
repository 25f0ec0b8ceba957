"""The contract's limits, each at its edge and beyond it; and the three worked examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from marchwarden.contract import (
    Citation,
    Constraints,
    Depth,
    GapCategory,
    ResearchRequest,
    ResearchResult,
    SourceFilter,
    confidence_band,
    cut_excerpt,
    json_schema,
    markers_of,
    next_step,
)
from marchwarden.errors import InvalidRequest

EXAMPLES = sorted((Path(__file__).parent / "fixtures").glob("*.json"))


def example(name: str = "capital_of_france") -> dict[str, Any]:
    path = Path(__file__).parent / "fixtures" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def problems(**arguments: object) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        ResearchRequest.model_validate(arguments)
    return InvalidRequest.of(caught.value).problems


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_worked_examples_hold(path: Path) -> None:
    worked = json.loads(path.read_text(encoding="utf-8"))
    ResearchRequest.model_validate(worked["request"])
    result = ResearchResult.model_validate(worked["response"])
    assert json.loads(result.model_dump_json(exclude_unset=True)) == worked["response"]


def test_there_are_three_worked_examples() -> None:
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize(
    ("arguments", "field", "limit"),
    [
        ({"question": ""}, "question", "is empty"),
        ({"question": "   "}, "question", "is empty"),
        ({"question": "x" * 501}, "question", "at most 500"),
        ({"question": "lone surrogate \ud800"}, "question", "Unicode"),
        ({"question": "q", "context": "\ud800"}, "context", "Unicode"),
        ({}, "question", "required"),
        ({"question": 5}, "question", "must be text"),
        ({"question": "q", "context": "x" * 2001}, "context", "at most 2000"),
        ({"question": "q", "depth": "bottomless"}, "depth", "'shallow', 'balanced' or 'deep'"),
        ({"question": "q", "constraints": {"max_iterations": 0}}, "constraints.max_iterations", "must be at least 1"),
        ({"question": "q", "constraints": {"max_iterations": 21}}, "constraints.max_iterations", "must be at most 20"),
        ({"question": "q", "constraints": {"token_budget": 499}}, "constraints.token_budget", "must be at least 500"),
        ({"question": "q", "constraints": {"token_budget": 1_000_001}}, "constraints.token_budget", "1000000"),
        ({"question": "q", "constraints": {"token_budget": True}}, "constraints.token_budget", "whole number"),
        ({"question": "q", "constraints": {"token_budget": "5000"}}, "constraints.token_budget", "whole number"),
        ({"question": "q", "constraints": {"max_sources": 5.5}}, "constraints.max_sources", "whole number"),
        ({"question": "q", "constraints": {"max_sources": 51.0}}, "constraints.max_sources", "must be at most 50"),
        ({"question": None}, "question", "must be text"),
        ({"question": "q", "deph": None}, "deph", "is not known here"),
        ({"question": "q", "depth": "deep", "constraints": []}, "constraints", ""),
        ({"question": "q", "constraints": {"max_sources": 0}}, "constraints.max_sources", "must be at least 1"),
        ({"question": "q", "constraints": {"max_sources": 51}}, "constraints.max_sources", "must be at most 50"),
        ({"question": "q", "constraints": {"source_filter": "not a domain"}}, "constraints.source_filter", "not a domain"),
        ({"question": "q", "constraints": {"budget": 5}}, "constraints.budget", "is not known here"),
        ({"question": "q", "deph": "deep"}, "deph", "is not known here"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_named_with_its_limit(arguments: dict[str, Any], field: str, limit: str) -> None:
    assert [(name, limit in message) for name, message in problems(**arguments)] == [(field, True)]


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": "x"},
        {"question": "x" * 500},
        {"question": "  padded to over five hundred characters " + " " * 500},
        {"question": "q", "context": ""},
        {"question": "q", "context": "x" * 2000},
        {"question": "q", "context": None, "constraints": None},
        {"question": "q", "constraints": {"max_iterations": 20, "token_budget": 500, "max_sources": 50}},
        {"question": "q", "constraints": {"source_filter": "usu.edu, *.gov, -pinterest.com"}},
    ],
)
def test_arguments_at_the_edge_are_taken(arguments: dict[str, Any]) -> None:
    ResearchRequest.model_validate(arguments)


@pytest.mark.parametrize("depth", [None, "deep"])
def test_null_means_not_given(depth: str | None) -> None:
    nulls = dict.fromkeys(Constraints.model_fields)
    told = ResearchRequest.model_validate({"question": "q", "context": None, "depth": depth, "constraints": nulls})
    assert told == ResearchRequest.model_validate({"question": "q", **({"depth": depth} if depth else {})})


def test_an_integer_may_be_written_with_a_fraction_of_zero() -> None:
    told = ResearchRequest.model_validate({"question": "q", "constraints": {"max_sources": 5.0, "token_budget": 6e3}})
    assert told.constraints == Constraints(max_sources=5, token_budget=6000)
    assert isinstance(told.constraints.max_sources, int)


def test_defaults_are_the_contracts() -> None:
    request = ResearchRequest(question="q")
    assert (request.depth, request.constraints) == (Depth.BALANCED, Constraints())
    assert (request.constraints.max_iterations, request.constraints.max_sources) == (5, 10)
    assert request.constraints.token_budget == 20_000


@pytest.mark.parametrize("depth", ["deep", Depth.DEEP])
def test_a_deep_call_has_25000_tokens_unless_told(depth: str) -> None:
    assert ResearchRequest.model_validate({"question": "q", "depth": depth}).constraints.token_budget == 25_000
    told = {"question": "q", "depth": depth, "constraints": {"token_budget": 600, "max_sources": 3}}
    assert ResearchRequest.model_validate(told).constraints.token_budget == 600


def test_a_bad_argument_is_not_echoed() -> None:
    assert "secret" not in str(InvalidRequest(problems(question="q", context="secret" * 400)))


@pytest.mark.parametrize(
    ("text", "host", "allowed"),
    [
        (None, "anything.example", True),
        ("", "anything.example", True),
        ("usu.edu", "usu.edu", True),
        ("usu.edu", "extension.usu.edu", True),
        ("usu.edu", "notusu.edu", False),
        ("*.gov", "nps.gov", True),
        ("*.gov", "gov.uk", False),
        ("-pinterest.com", "www.pinterest.com", False),
        ("-pinterest.com", "usu.edu", True),
        ("usu.edu, -old.usu.edu", "old.usu.edu", False),
        ("usu.edu,,  *.gov ,", "NASA.GOV.", True),
        ("münchen.de", "www.xn--mnchen-3ya.de", True),
    ],
)
def test_source_filter(text: str | None, host: str, allowed: bool) -> None:
    assert SourceFilter(text).allows(host) is allowed


@given(st.text(max_size=2000))
def test_an_excerpt_is_at_most_500_characters_and_a_cut_one_starts_its_text(text: str) -> None:
    excerpt = cut_excerpt(text)
    assert len(excerpt) <= 500
    assert text.startswith(excerpt.removesuffix("[...]")) if len(text) > 500 else excerpt == text


@pytest.mark.parametrize("excerpt", ["", " ", "...", "[...]", "… [...]"])
def test_an_excerpt_without_text_is_none(excerpt: str) -> None:
    citation = example()["response"]["citations"][0] | {"raw_excerpt": excerpt}
    with pytest.raises(ValidationError):
        Citation.model_validate(citation)


@pytest.mark.parametrize("snippet", ["too short", "x" * 201])
def test_a_snippet_has_50_to_200_characters(snippet: str) -> None:
    with pytest.raises(ValidationError):
        Citation.model_validate(example()["response"]["citations"][0] | {"snippet": snippet})


@pytest.mark.parametrize("answer", ["Paris [2].", "Paris [0].", "Paris, without a marker."])
def test_markers_and_citations_belong_together(answer: str) -> None:
    with pytest.raises(ValidationError):
        ResearchResult.model_validate(example()["response"] | {"answer": answer})


def test_a_reader_tolerates_fields_that_it_does_not_know() -> None:
    ResearchResult.model_validate(example()["response"] | {"mood": "good"})


def test_a_trace_id_is_a_uuid() -> None:
    with pytest.raises(ValidationError):
        ResearchResult.model_validate(example()["response"] | {"trace_id": "../../etc/passwd"})


@pytest.mark.parametrize(
    ("score", "band"), [(1.0, "high"), (0.9, "high"), (0.89, "moderate"), (0.7, "moderate"), (0.5, "low"), (0.49, "very low")]
)  # fmt: skip
def test_confidence_bands(score: float, band: str) -> None:
    assert confidence_band(score) == band


@pytest.mark.parametrize("category", GapCategory)
def test_every_gap_category_says_what_a_caller_does_next(category: GapCategory) -> None:
    assert next_step(category)


def test_markers_are_read_in_order() -> None:
    assert markers_of("One [2][10]. Two [2].") == [2, 10, 2]


def test_schemas_name_every_field_and_limit() -> None:
    request = json_schema("request")
    assert set(request["properties"]) == {"question", "context", "depth", "constraints"}
    assert request["additionalProperties"] is False
    assert request["properties"]["question"]["maxLength"] == 500
    assert set(json_schema("result")["properties"]) == set(ResearchResult.model_fields)
