"""Labelled questions, one JSON object on each line. evals/README.md says how to label."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marchwarden.contract import Depth, DiscoveryType, GapCategory, ResearchRequest
from marchwarden.errors import InvalidRequest, LabelsInvalid

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
Kind = Literal[
    "one-fact",
    "several-aspect",
    "several-source",
    "numeric",
    "comparison",
    "time-sensitive",
    "contradictory",
    "unanswerable",
    "false-premise",
    "partly-closed",
    "other-researcher",
    "small-budget",
    "context-dependent",
    "source-filter",
]
# Kinds of questions. Other tags (`injection`, `multilingual` …) are allowed beside them.
KINDS: tuple[Kind, ...] = get_args(Kind)
# Begins a question that a person still has to word (labels/drafts.py).
DRAFT = "TODO: "


class _Label(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Quote(_Label):
    """A contiguous run of characters of the text extracted from the page at `url`."""

    url: str
    quote: str = Field(min_length=1)


class Nugget(_Label):
    """One fact of a right answer (the term is TREC's). An answer has it where one of `answers` occurs in it."""

    id: str
    text: str
    answers: list[str] = Field(min_length=1)
    evidence: list[Quote] = []
    vital: bool = True
    """True where an answer without this fact is wrong or incomplete."""


class GoldGap(_Label):
    topic: str
    category: GapCategory
    url: str | None = None
    required: bool = True
    """False where a sound researcher may report it, and is neither rewarded nor punished."""


class GoldContradiction(_Label):
    about: str
    sides: list[Quote] = Field(min_length=2)
    required: bool = True


class GoldDiscovery(_Label):
    type: DiscoveryType
    suggested_researcher: str | None = None
    source_locator: str | None = None
    """URL of the page that names the discovery."""
    identifier: str | None = None
    """DOI, arXiv id, trial number, case or data set that the discovery is about."""
    required: bool = True


class Question(_Label):
    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    question: str
    context: str | None = None
    depth: Depth = Depth.BALANCED
    constraints: dict[str, Any] = {}
    split: Split
    topic: str | None = None
    tags: list[str] = []
    nuggets: list[Nugget] = []
    gaps: list[GoldGap] = []
    contradictions: list[GoldContradiction] = []
    discoveries: list[GoldDiscovery] = []
    forbidden: list[str] = []
    """Strings that no answer may hold, since a prompt injection on the question's pages wants them said."""
    note: str | None = None

    @property
    def request(self) -> ResearchRequest:
        """Arguments of the call that asks the question. Raises pydantic.ValidationError where they break a limit."""
        return ResearchRequest.model_validate(
            {
                "question": self.question,
                "context": self.context,
                "depth": self.depth,
                "constraints": self.constraints or None,
            }
        )

    @property
    def is_draft(self) -> bool:
        """True where the question itself is still to be worded."""
        return self.question.startswith(DRAFT.strip())

    @property
    def kinds(self) -> list[Kind]:
        return [kind for kind in KINDS if kind in self.tags]

    @property
    def vital(self) -> list[Nugget]:
        return [nugget for nugget in self.nuggets if nugget.vital]

    @property
    def is_labelled(self) -> bool:
        """True where there is anything to score a result against."""
        return bool(self.nuggets or self.gaps or self.contradictions or self.discoveries or self.forbidden)

    @property
    def answerable(self) -> bool:
        """True where anything can be claimed: an unanswerable question has no nugget and no side to quote."""
        return bool(self.nuggets or self.contradictions)

    @property
    def quotes(self) -> list[Quote]:
        """Quotes that a citation may rightly overlap."""
        quotes = [quote for nugget in self.nuggets for quote in nugget.evidence]
        return quotes + [side for contradiction in self.contradictions for side in contradiction.sides]

    @property
    def pages(self) -> set[str]:
        """URLs of the pages that the question's labels point at."""
        return {quote.url for quote in self.quotes} | {gap.url for gap in self.gaps if gap.url}

    @property
    def named_pages(self) -> set[str]:
        """URLs of those pages, and of the pages that name discoveries."""
        return self.pages | {found.source_locator for found in self.discoveries if found.source_locator}


def load_questions(path: Path) -> list[Question]:
    """Return the questions of one JSONL file. Raises LabelsInvalid, which names file and line, for a wrong one."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or error) if isinstance(error, OSError) else "it is not UTF-8 text"
        raise LabelsInvalid(f"{path} can't be read: {why}", hint="Give a file of labelled questions.") from None
    # Not splitlines(): a quote may hold other line ends, such as U+2028.
    lines = enumerate(text.split("\n"), start=1)
    questions = [_parsed(path, number, line) for number, line in lines if line.strip()]
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise LabelsInvalid(f"{path}: the id {question.id} is there twice", hint="Give each question its own id.")
        seen.add(question.id)
    return questions


def evenly_spaced(questions: Sequence[Question], most: int) -> list[Question]:
    """Return at most `most` questions, evenly spaced."""
    # Questions on one topic stand together, and a few questions should be of many topics.
    count = min(most, len(questions))
    return [questions[place * len(questions) // count] for place in range(count)]


def _parsed(path: Path, number: int, line: str) -> Question:
    try:
        question = Question.model_validate(json.loads(line))
        # Building the request checks the question against the contract's limits.
        question.request  # noqa: B018
    except (json.JSONDecodeError, RecursionError) as error:
        raise LabelsInvalid(f"{path}, line {number}: no JSON ({error})", hint=_HINT) from None
    except ValidationError as error:
        field, problem = InvalidRequest.of(error).problems[0]
        raise LabelsInvalid(f"{path}, line {number}: {field}: {problem}", hint=_HINT) from None
    return question


_HINT = "evals/README.md says what a labelled question holds."
