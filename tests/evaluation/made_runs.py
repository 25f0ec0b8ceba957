"""Runs made by hand: questions with labels, results that meet some of them, and folders that hold both."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from marchwarden.contract import ResearchResult
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.run import Record, Run, RunInfo, start_run
from marchwarden.evaluation.scoring.metrics import score
from tests.cli.results import a_citation, a_result

URL = "https://garden.example/crops"
QUOTE = "Tomatoes, peppers and squash need full sun, at least 8 hours of it."


def a_nugget(**changes: Any) -> dict[str, Any]:
    given = {
        "id": "n1",
        "text": "Tomatoes need sun",
        "answers": ["Tomatoes"],
        "evidence": [{"url": URL, "quote": QUOTE}],
    }
    return given | changes


def a_question(id: str = "utah-01", **changes: Any) -> Question:
    given: dict[str, Any] = {
        "id": id,
        "question": f"What grows in Utah ({id})?",
        "split": "dev",
        "tags": ["one-fact"],
        "nuggets": [a_nugget()],
    }
    return Question.model_validate(given | changes)


def an_answer(**changes: Any) -> ResearchResult:
    """It says what `a_question` wants, and cites the page for it."""
    given: dict[str, Any] = {
        "answer": "Tomatoes need full sun [1].",
        "citations": [a_citation(locator=URL, raw_excerpt=QUOTE, title="Crops of Utah")],
        "gaps": [],
        "discovery_events": [],
        "open_questions": [],
    }
    return a_result(**(given | changes))


def a_record(question: Question | None = None, result: ResearchResult | None = None, **changes: Any) -> Record:
    """The record of a question that was answered; one that failed where `error` is given."""
    question = question or a_question()
    answered = None if "error" in changes else result or an_answer()
    given: dict[str, Any] = {
        "trace_id": str(uuid.uuid4()),
        "seconds": 1.5,
        "pages": 3,
        "unverified": 0,
        "dollars": None,
    }
    given |= changes
    case = Case(question, answered, pages=given["pages"], seconds=given["seconds"], dollars=given["dollars"])
    return Record(id=question.id, question=question, result=answered, cells=score(case), **given)


def a_run(folder: Path, records: Sequence[Record], **changes: Any) -> Run:
    given: dict[str, Any] = {
        "version": "0.1.0",
        "started": datetime(2026, 11, 28, 3, 45, tzinfo=timezone.utc),
        "model_id": "extractive",
        "questions": "shipped",
        "split": "dev",
        "labels": "1abe15",
        "pages": "9a6e5",
    }
    run = start_run(folder, RunInfo(**(given | changes)))
    for record in records:
        run.add(record)
    return run
