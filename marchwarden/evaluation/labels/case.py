"""What is scored: a question, and what a run made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from marchwarden.contract import Citation, ResearchResult
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import without_markers


@dataclass(frozen=True)
class Case:
    """A question, and what a run made of it."""

    question: Question
    result: ResearchResult | None
    """None where the call failed: then nothing was found, and every metric that applies is at its worst."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of the pages that were read, by their addresses."""
    unverified: int = 0
    """Citations whose excerpt does not stand in the stored text under the recorded hash."""
    pages: int = 0
    """Pages fetched."""
    seconds: float = 0.0
    max_seconds: float = 0.0
    dollars: float | None = None
    """What the model calls cost; None where no price is known."""
    by_model: bool | None = None
    """Whether the model itself worded the answer; None where there is no model, or no trace that could say."""

    @property
    def citations(self) -> list[Citation]:
        return self.result.citations if self.result else []

    @property
    def answer(self) -> str:
        """The answer's text without markers."""
        return without_markers(self.result.answer) if self.result else ""
