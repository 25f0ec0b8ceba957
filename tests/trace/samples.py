"""One event of each kind, as a real call has them, and the page that they speak of."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import Any

from marchwarden.agent.conclusion import Checkpoint
from marchwarden.contract import (
    Citation,
    ConfidenceFactors,
    Constraints,
    CostMetadata,
    Depth,
    DiscoveryEvent,
    DiscoveryType,
    Gap,
    GapCategory,
    OpenQuestion,
    Priority,
    ResearchRequest,
    ResearchResult,
    SourceAuthority,
)
from marchwarden.ledger import Aspect, Attempt, Excerpt, Lead, Ledger, Source
from marchwarden.observations import FailureKind, content_hash
from marchwarden.trace.events import (
    Assessed,
    ClaimRecord,
    Concluded,
    Dropped,
    Event,
    Extracted,
    FailureRecord,
    FellBack,
    Fetched,
    Finished,
    HitRecord,
    ModelCalled,
    PickRecord,
    Planned,
    Searched,
    Started,
    Stopped,
    Synthesized,
)

TRACE_ID = "3f2b8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"
URL = "https://extension.usu.edu/garden"
CLOSED = "https://closed.example/"
BODY = b"<p>Tomatoes grow well in Utah.</p>"
TEXT = "Tomatoes grow well in Utah. Peas like cool springs."
GAP = Gap(topic="soil", category=GapCategory.SOURCE_NOT_FOUND, detail="nothing found")

DISCOVERY = DiscoveryEvent(type=DiscoveryType.NEW_SOURCE, query="soil maps", reason="it is linked")
OPEN = OpenQuestion(question="Which soil?", context="the page", priority=Priority.LOW)


def a_citation(**changes: Any) -> Citation:
    given = {
        "source": "web",
        "locator": URL,
        "raw_excerpt": "Tomatoes grow well in Utah.",
        "title": "Gardens",
        "confidence": 0.9,
        "content_hash": content_hash(BODY),
        "published": date(2025, 3, 1),
    }
    return Citation(**(given | changes))


def a_result(**changes: Any) -> ResearchResult:
    given = {
        "answer": "Tomatoes grow well [1].",
        "citations": [a_citation()],
        "gaps": [GAP],
        "discovery_events": [],
        "open_questions": [],
        "confidence": 0.75,
        "confidence_factors": ConfidenceFactors(
            num_corroborating_sources=1,
            source_authority=SourceAuthority.HIGH,
            contradiction_detected=False,
            query_specificity_match=0.8,
            budget_exhausted=False,
        ),
        "cost_metadata": CostMetadata(
            tokens_used=120, iterations_run=1, wall_time_sec=0.7, budget_exhausted=False, model_id="extractive"
        ),
        "trace_id": TRACE_ID,
    }
    return ResearchResult(**(given | changes))


def started(question: str = "What grows in Utah?") -> Started:
    return Started(
        decision="a new question",
        question=question,
        context="raised beds",
        depth=Depth.BALANCED,
        constraints=Constraints(),
        max_seconds=55,
        model_id="extractive",
        source="snapshot",
        version="0.1.0",
    )


def fetched(**changes: Any) -> Fetched:
    given: dict[str, Any] = {
        "decision": "the best hit",
        "url": URL,
        "final_url": URL,
        "status": 200,
        "content_type": "text/html",
        "content_hash": content_hash(BODY),
        "content_length": len(BODY),
        "text_hash": content_hash(TEXT.encode()),
        "title": "Gardens",
        "published": date(2025, 3, 1),
        "redirects": ["http://usu.edu/g"],
        "duration_sec": 0.2,
    }
    return Fetched(**(given | changes))


def concluded() -> Concluded:
    """What the result of `a_whole_call` was made from, as far as its steps tell."""
    ledger = Ledger(
        question="What grows in Utah?",
        context="raised beds",
        aspects=[Aspect(number=1, text="crops")],
        queries=["utah crops"],
        leads=[
            Lead(url=URL, title="Gardens", snippet="", published=None, aspect=1, rank=0.1, state="read"),
            Lead(url=CLOSED, title="Closed", snippet="", published=None, aspect=1, rank=0.09, state="failed"),
        ],
        sources=[
            Source(
                locator=URL,
                organisation="usu.edu",
                title="Gardens",
                published=date(2025, 3, 1),
                modified=None,
                content_hash=content_hash(BODY),
                text_hash=content_hash(TEXT.encode()),
                authority=SourceAuthority.HIGH,
                standing=None,
                language=None,
                has_text=True,
            )
        ],
        excerpts=[Excerpt(number=1, locator=URL, aspect=1, start=0, end=27, text=TEXT[:27])],
        failures=[
            Attempt(
                service="fetch",
                target=CLOSED,
                title=None,
                kind=FailureKind.TIMEOUT,
                detail="no answer in 10 s",
                aspect=1,
            )
        ],
    )
    request = ResearchRequest(question=ledger.question, context=ledger.context, depth=Depth.BALANCED)
    state = Checkpoint(
        request=request,
        ledger=ledger,
        tokens_used=120,
        iterations_run=1,
        exhausted=[],
        model_id="extractive",
        kind="web",
    )
    return Concluded(
        decision="it follows",
        claims=[ClaimRecord(text="Tomatoes grow well", excerpts=[1])],
        state=state.model_dump(mode="json"),
        estimate=None,
        day=datetime.now(timezone.utc).date(),
        model_free=False,
    )


def a_whole_call() -> list[Event]:
    return [
        started(),
        Planned(
            decision="start broad",
            iteration=1,
            aspects=["crops"],
            queries=["utah crops"],
            read=[],
            done=False,
            stage_form="model_free",
        ),
        Searched(
            decision="open aspect",
            query="utah crops",
            provider="snapshot",
            hits=[HitRecord(url=URL, title="Gardens"), HitRecord(url=CLOSED, title="Closed")],
            duration_sec=0.1,
        ),
        fetched(),
        fetched(
            url=CLOSED,
            final_url=CLOSED,
            status=None,
            content_hash=None,
            failure=FailureRecord(kind="timeout", detail="no answer in 10 s"),
        ),
        Extracted(
            decision="it speaks of crops",
            url=URL,
            passages=2,
            picks=[PickRecord(start=0, end=27, excerpt=TEXT[:27], aspect="crops", stance="supports")],
            stage_form="model_free",
        ),
        ModelCalled(
            decision="extract",
            stage="extract",
            model_id="extractive",
            input_tokens=100,
            output_tokens=20,
            cached_tokens=50,
            reserved_tokens=300,
            charged_tokens=120,
            tokens_used=120,
            duration_sec=0.7,
            error="ReadTimeout",
        ),
        FellBack(decision="go on", stage="plan", reason="unusable output"),
        Dropped(decision="not carried", what="open_question", text="Why?"),
        Stopped(decision="enough", reason="covered", iterations_run=1),
        Synthesized(decision="write", claims=1, dropped=0, stage_form="model_free"),
        concluded(),
        Assessed(
            decision="look back",
            gaps=[GAP],
            discovery_events=[DISCOVERY],
            open_questions=[OPEN],
            confidence=0.75,
        ),
        Finished(decision="done", result=a_result(discovery_events=[DISCOVERY], open_questions=[OPEN])),
    ]
