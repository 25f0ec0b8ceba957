"""Results to show: a usual one, one with nothing found, and one whose texts try to be more than text."""

from __future__ import annotations

from datetime import date
from typing import Any

from marchwarden.contract import (
    Citation,
    ConfidenceFactors,
    CostMetadata,
    DiscoveryEvent,
    DiscoveryType,
    Gap,
    GapCategory,
    OpenQuestion,
    Priority,
    Recency,
    ResearchResult,
    SourceAuthority,
)

TRACE_ID = "3f2a1b2c-0000-4000-8000-000000000001"
ESCAPES = "\x1b[2J\x1b]8;;https://evil.example\x07click\x1b]8;;\x07 \u202egnp.exe [red]red[/red] :smile: <b>"


def a_citation(**changes: Any) -> Citation:
    given: dict[str, Any] = {
        "source": "web",
        "locator": "https://extension.usu.example/gardening/(warm-season)?a=1&b=2",
        "title": "Warm-season vegetables for Utah",
        "raw_excerpt": "Tomatoes, peppers and squash need full sun, at least 8 hours of it.",
        "confidence": 0.8,
        "content_hash": "sha256:" + "a" * 64,
        "published": date(2025, 3, 1),
    }
    return Citation(**(given | changes))


def a_result(**changes: Any) -> ResearchResult:
    given: dict[str, Any] = {
        "answer": "Tomatoes do well in Utah [1]. Peas go in early [2].",
        "citations": [
            a_citation(),
            a_citation(
                locator="https://例え.example/野菜", title="野菜", raw_excerpt="豆は早春に植えます。", published=None
            ),
        ],
        "gaps": [Gap(topic="Yields", category=GapCategory.ACCESS_DENIED, detail="The trial is behind a paywall.")],
        "discovery_events": [
            DiscoveryEvent(
                type=DiscoveryType.RELATED_RESEARCH,
                suggested_researcher="arxiv",
                query="doi:10.1234/crops",
                reason="A page cites this trial.",
                source_locator="https://trial.example/",
            )
        ],
        "open_questions": [
            OpenQuestion(question="Which cultivars stand salt?", context="Two pages warn.", priority=Priority.HIGH)
        ],
        "confidence": 0.78,
        "confidence_factors": _factors(),
        "cost_metadata": CostMetadata(
            tokens_used=12_345, iterations_run=2, wall_time_sec=1.34, budget_exhausted=False, model_id="extractive"
        ),
        "trace_id": TRACE_ID,
    }
    return ResearchResult(**(given | changes))


def _factors() -> ConfidenceFactors:
    return ConfidenceFactors(
        num_corroborating_sources=2,
        source_authority=SourceAuthority.HIGH,
        contradiction_detected=False,
        query_specificity_match=0.83,
        budget_exhausted=False,
        recency=Recency.RECENT,
    )


def an_empty_result() -> ResearchResult:
    return a_result(
        answer="Nothing could be found.",
        citations=[],
        gaps=[Gap(topic="All of it", category=GapCategory.SOURCE_NOT_FOUND, detail="No page speaks of it.")],
        discovery_events=[],
        open_questions=[],
        confidence=0.1,
    )


def a_hostile_result() -> ResearchResult:
    """Every text that can come from a page or a model carries escapes and markup."""
    return a_result(
        answer=f"{ESCAPES} [1]",
        citations=[a_citation(title=ESCAPES, raw_excerpt=ESCAPES, locator=f"https://x.example/{ESCAPES}")],
        gaps=[Gap(topic=ESCAPES, category=GapCategory.ACCESS_DENIED, detail=ESCAPES)],
        discovery_events=[
            DiscoveryEvent(
                type=DiscoveryType.NEW_SOURCE,
                suggested_researcher=ESCAPES,
                query=ESCAPES,
                reason=ESCAPES,
                source_locator=ESCAPES,
            )
        ],
        open_questions=[OpenQuestion(question=ESCAPES, context=ESCAPES, priority=Priority.LOW)],
    )
