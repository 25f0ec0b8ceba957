"""Whatever is asked over whatever pages: a whole, valid result whose every excerpt verifies and whose trace ends with it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from marchwarden.contract import ResearchResult, confidence_band, markers_of
from marchwarden.settings import load_settings
from tests.runs import Run, run
from tests.webs import article

pytestmark = pytest.mark.anyio

BRIDGE = article("Halden bridge", "The Halden bridge was built in 1931 [3].")
WORDS = (  # noqa: SIM905
    "Halden bridge built 1931 metres 410 Tista not more than river Wer baute die Brücke когда мост 橋 建てられた جسر "
    "[1] [12] [[1]1] (.*) **bold** `x` doi:10.1016/S0004-3702(01)00129-1 NCT01234567 2:00:35 1,500 to 2,000 IU "
    "https://evil.example/?q=1 and when who is it what 🌉 \u200f \u00ad \x00 # | the of"
).split(" ")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join)
SAID = [
    "The Halden bridge was built in 1931 [3].", "The Halden bridge was built between 1928 and 1940.",
    "The Halden bridge is 410 metres long[[1]2].", "The Halden bridge is 352 metres long, at https://evil.example/[9].",
    "The Halden bridge was not built by Otto Krag. Otto Krag built it. 12 men helped.", "Halden | bridge | built | 1931",
]  # fmt: skip
ASKED = ["When was the Halden bridge built", "how long is the Halden bridge", "who built it", "why", "where is it"]
SENTENCES = st.lists(st.one_of(TEXTS, st.sampled_from(SAID)), max_size=5)
QUESTIONS = st.one_of(
    st.lists(st.tuples(st.sampled_from(ASKED), st.sampled_from(["", " [1]", " [[7]2]"])), min_size=1, max_size=3).map(
        lambda parts: ", and ".join("".join(part) for part in parts) + "?"
    ),
    TEXTS.map(lambda text: text[:500]).filter(lambda text: text.strip()),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=120).filter(lambda text: text.strip()),
)
PAGES = st.dictionaries(
    st.sampled_from([f"https://{host}/{path}" for host in ("a.halden.gov", "b.org", "blog.c.net") for path in "xy"]),
    st.builds(lambda title, said: article(title, *said), st.one_of(st.just(""), TEXTS), SENTENCES),
    min_size=1,
    max_size=4,
)
LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "max_iterations": st.sampled_from([1, 2, 20]),
        "max_sources": st.sampled_from([1, 2, 50]),
        "token_budget": st.just(500),
        "source_filter": st.sampled_from(["*.gov", "-b.org", "nowhere.example"]),
    },
)


def check(done: Run) -> None:
    result = done.result
    assert ResearchResult.model_validate_json(result.model_dump_json()) == result
    assert done.problems == []
    assert done.trace.result == result
    assert set(markers_of(result.answer)) == set(range(1, len(result.citations) + 1))
    if result.citations:
        assert all(markers_of(line) or line.endswith(":") for line in result.answer.splitlines())
    else:
        assert result.gaps
        assert confidence_band(result.confidence) == "very low"
    exhausted = result.cost_metadata.budget_exhausted
    assert exhausted == result.confidence_factors.budget_exhausted == ("budget_exhausted" in done.categories())
    assert result.cost_metadata.tokens_used == sum(call.charged_tokens for call in done.events("model_call"))
    assert not (result.confidence_factors.contradiction_detected and confidence_band(result.confidence) == "high")


@given(QUESTIONS, PAGES, LIMITS, st.sampled_from(["shallow", "balanced", "deep"]), st.none() | TEXTS)
@example("What is [3], and when was the Halden bridge [7] built?", {"https://b.org/x": BRIDGE}, {}, "deep", None)
@example("🌉" * 500, {"https://b.org/x": BRIDGE}, {}, "balanced", None)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_question_over_any_web_ends_in_a_whole_result(
    question: str, pages: dict[str, str], limits: dict[str, Any], depth: str, context: str | None
) -> None:
    check(await run(question, pages=pages, depth=depth, constraints=limits, context=context))


@pytest.mark.parametrize("question", ["the of and", "42 1931 7", "؟متى بني الجسر", "Wer baute die Brücke von Halden?",
                                      "(.*)+[a-z]{2,}\\d$", "# **When** was `it` built? | a | b |", "\u202eegdirb nedlaH"])  # fmt: skip
@pytest.mark.parametrize("seconds", [0.05, 5.0])
async def test_an_odd_question_under_any_clock_ends_in_a_whole_result(question: str, seconds: float) -> None:
    configured = load_settings(model="extractive", source="snapshot", max_seconds=seconds)
    done = await run(question, settings=configured)
    check(done)
    assert done.result.cost_metadata.wall_time_sec < seconds + 0.5
