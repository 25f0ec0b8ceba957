from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import DiscoveryEvent, DiscoveryType, Gap, GapCategory, OpenQuestion, Priority, WorkNotice
from marchwarden.server.markdown import TEXT_TOKENS, as_markdown, tokens_at_most
from tests.trace.samples import TRACE_ID, URL, a_citation, a_result


def test_everything_of_a_result_is_in_the_text() -> None:
    text = as_markdown(
        a_result(
            citations=[
                a_citation(title="Gardens", published=date(2025, 3, 1), raw_excerpt="Tomatoes grow.\nPeas too.")
            ],
            discovery_events=[
                DiscoveryEvent(
                    type=DiscoveryType.NEW_SOURCE,
                    suggested_researcher="arxiv",
                    query="soil",
                    reason="it is linked",
                    source_locator=URL,
                )
            ],
            open_questions=[OpenQuestion(question="Which soil?", context="a page", priority=Priority.HIGH)],
        )
    )
    assert text.startswith("Tomatoes grow well [1].\n")
    for part in [
        "## Gaps\n\n- **source not found**: soil. nothing found",
        "Confidence: 0.75 (moderate): 1 corroborating source, source authority high",
        f"## Citations\n\n[1] Gardens\n<{URL}> (web, confidence 0.90, published 2025-03-01)",
        "> Tomatoes grow.\n> Peas too.",
        f"- **new source → arxiv**: soil. it is linked <{URL}>",
        "- **high priority**: Which soil? (a page)",
        f"Cost: 120 tokens, 1 iteration, 0.7 s, extractive. Trace: trace://{TRACE_ID}",
    ]:
        assert part in text
    assert "did not fit" not in text


def test_a_topic_that_ends_as_a_sentence_gets_no_further_stop() -> None:
    event = DiscoveryEvent(type=DiscoveryType.RELATED_RESEARCH, query="What is a crop?", reason="It is named.")
    gap = Gap(topic="Who grows it?", category=GapCategory.SOURCE_NOT_FOUND, detail="Nothing was found.")
    text = as_markdown(a_result(discovery_events=[event], gaps=[gap]))
    assert ": What is a crop? It is named." in text
    assert ": Who grows it? Nothing was found." in text


def test_code_keeps_its_lines_and_its_indent() -> None:
    answer = "Run it [1]:\n  jobs:\n    - id: a\n  1. first\n    2. second [1]"
    text = as_markdown(a_result(answer=answer))
    assert text.startswith(
        "Run it [1]\\:  \n  jobs:  \n  &nbsp;&nbsp;\\- id: a  \n  1\\. first  \n  &nbsp;&nbsp;2\\. second [1]\n"
    )


@pytest.mark.parametrize(
    ("authors", "said"),
    [
        (["Doe, Jane", "Lee, Ann"], ", by Doe, Jane; Lee, Ann, "),
        (None, "(web, confidence"),
        (["Ada *Bee*", "Cy Dee"], "(web, by Ada \\*Bee\\*, Cy Dee, confidence"),
        (["Ada Bee", "Cy Dee", "Ed Eff", "Flo Gee"], "(web, by Ada Bee et al., confidence"),
    ],
)
def test_a_citation_says_who_wrote_the_page(authors: list[str] | None, said: str) -> None:
    assert said in as_markdown(a_result(citations=[a_citation(authors=authors)]))


def test_news_of_a_cited_work_stands_beside_its_citation() -> None:
    notice = WorkNotice(kind="corrected", detail="Crossref has a notice of correction", url="https://doi.org/10.1/x")
    text = as_markdown(a_result(citations=[a_citation(notices=[notice])]))
    assert "\nNews of this work: Crossref has a notice of correction <https://doi.org/10.1/x>\n" in text


def test_a_calibrated_confidence_says_on_what_and_what_it_was_before() -> None:
    result = a_result()
    told = {"uncalibrated": 0.86, "calibration": "calibrated on 70 answers"}
    factors = result.confidence_factors.model_copy(update=told)
    text = as_markdown(result.model_copy(update={"confidence_factors": factors}))
    assert "Confidence: 0.75 (moderate): calibrated on 70 answers (uncalibrated 0.86), 1 corroborating" in text


def test_a_models_estimate_stands_among_what_the_confidence_was_computed_from() -> None:
    result = a_result()
    told = {"estimated": 0.31, "would_change": "a newer source"}
    factors = result.confidence_factors.model_copy(update=told)
    text = as_markdown(result.model_copy(update={"confidence_factors": factors}))
    assert "the model's own estimate 0.31, would change it most: a newer source" in text


@given(
    citations=st.lists(st.text(min_size=1, max_size=500).filter(lambda text: text.strip(" .…[]")), max_size=20),
    answer=st.text(min_size=1, max_size=3000).filter(lambda text: "[" not in text),
    limit=st.integers(400, 6000),
)
def test_a_text_never_has_more_tokens_than_its_limit(citations: list[str], answer: str, limit: int) -> None:
    valid = [a_citation(raw_excerpt=excerpt) for excerpt in citations]
    text = as_markdown(a_result(answer=answer + " [1]" * bool(valid), citations=valid), limit=limit)
    assert tokens_at_most(text) <= limit


def test_what_does_not_fit_is_counted_and_the_trace_named() -> None:
    result = a_result(citations=[a_citation(raw_excerpt="t" * 500)] * 10)
    text = as_markdown(result, limit=1200)
    assert text.startswith("Tomatoes grow well [1].")
    assert "more parts did not fit here" in text
    assert text.rstrip().endswith(f"trace://{TRACE_ID}.*")
    assert 0 < text.count("> ttt") < 10


def test_an_answer_longer_than_the_limit_is_cut_and_says_so() -> None:
    text = as_markdown(a_result(answer="так [1] " * 5000), limit=1000)
    assert text.startswith("так [1]")
    assert "did not fit" in text
    assert tokens_at_most(text) > 700


def test_the_largest_result_with_default_constraints_fits() -> None:
    """Ten sources, each excerpt as long as it may be."""
    text = as_markdown(a_result(citations=[a_citation(raw_excerpt="t" * 500)] * 10))
    assert text.count("> t") == 10
    assert tokens_at_most(text) < TEXT_TOKENS


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("ab", 1), ("abc", 2), ("я", 2), ("a日", 4)])
def test_tokens_are_bounded_by_bytes(text: str, tokens: int) -> None:
    assert tokens_at_most(text) == tokens
