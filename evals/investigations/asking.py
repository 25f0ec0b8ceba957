"""Labelled questions to teams of servers in this process; each call still runs in a worker process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from marchwarden.contract import ResearchResult
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.matches import texts_of
from marchwarden.evaluation.scoring.answer_scorers import evidence_recall, nugget_recall
from marchwarden.orchestrator.investigator_call import run_investigation
from marchwarden.orchestrator.members import McpMember
from marchwarden.orchestrator.team import Team, TeamMember
from marchwarden.server.mcp import build
from marchwarden.server.worker import warm_up
from marchwarden.settings import Settings, load_settings
from marchwarden.sources.snapshot_search import SnapshotSearch
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.verify import verify


@dataclass(frozen=True)
class Answered:
    question: Question
    result: ResearchResult
    trace: Trace
    found: int
    """Vital nuggets that a citation gives evidence for."""
    said: int
    """Vital nuggets whose words the answer has."""
    vital: int
    unverified: int


def settings_for(web: Path, traces: Path) -> Settings:
    """Return settings of a server over a part of the web, without a model and by words alone."""
    settings = load_settings(web=web, trace_dir=traces, model="extractive", semantic=False, source="snapshot")
    SnapshotSearch(settings).prepare()
    return settings


def member_of(name: str, settings: Settings, answers: Sequence[str] = ()) -> TeamMember:
    return TeamMember(
        name=name,
        open=lambda: McpMember(name, lambda: build(settings)),
        identity=name,
        answers=tuple(answers),
        at_once=2,
    )


async def ask(question: Question, team: Sequence[TeamMember], settings: Settings, seconds: float = 300) -> Answered:
    """Investigate, and count the vital nuggets that were found."""
    trace_id = str(uuid4())
    result = await run_investigation(
        question.request, Team(tuple(team)), settings, trace_id=trace_id, seconds=seconds, at_once=3
    )
    return score(question, result, read_trace(settings.traces / f"{trace_id}.jsonl"), settings)


def score(question: Question, result: ResearchResult, trace: Trace, settings: Settings) -> Answered:
    store = Store(settings.store_folder)
    case = Case(question=question, result=result, texts=texts_of(trace, store))
    evidence, words = evidence_recall(case) or {}, nugget_recall(case) or {}
    return Answered(
        question,
        result,
        trace,
        evidence.get("hits", 0),
        words.get("hits", 0),
        len(question.vital),
        len(verify(result, trace, store)),
    )


def start(settings: Settings) -> None:
    """Begin importing what calls need, before the first of them."""
    warm_up(settings)
