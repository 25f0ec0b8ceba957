"""A case: a labelled question with its result, as scorers read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from marchwarden.contract import Citation, ResearchResult
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import without_markers


@dataclass(frozen=True)
class Case:
    """A labelled question, its result, and figures of the call."""

    question: Question
    result: ResearchResult | None
    """Result of the call; None where it failed: then every metric that applies is at its worst."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of the pages that were read, by their addresses."""
    unverified: int = 0
    """Citations whose excerpt does not stand in the stored text under the recorded hash."""
    pages: int = 0
    """Pages fetched."""
    seconds: float = 0.0
    max_seconds: float = 0.0
    dollars: float | None = None
    """Cost of the model calls in US dollars; None where no price is known."""
    by_model: bool | None = None
    """True where the model itself worded the answer; None where there is no model, or no trace that could say."""

    @property
    def citations(self) -> list[Citation]:
        return self.result.citations if self.result else []

    @property
    def answer(self) -> str:
        """Text of the answer without markers; empty where the call failed."""
        return without_markers(self.result.answer) if self.result else ""
