"""The two shapes of a public data set: questions with a web of their own, or items that one part is scored on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from marchwarden.evaluation.labels.questions import Question


@dataclass(frozen=True)
class DatasetReport:
    """Scores of one part of Marchwarden on a data set."""

    name: str
    what: str
    """The part that was scored, and its task, in a few words."""
    items: int
    """Number of items that were scored."""
    figures: Mapping[str, float]
    """Figures by name, 0–1 each, higher is better unless a note says otherwise; without those that can't be
    computed."""
    notes: tuple[str, ...] = ()
    """Sentences on the choice of items and the meaning of figures."""


@dataclass(frozen=True)
class QuestionSet:
    """Questions whose documents become a frozen web."""

    name: str
    what: str
    expects: str
    """Name of the file that `path` must be, or must hold."""
    questions_of: Callable[[Path, Path, int | None], list[Question]]
    """Function (path, folder, limit) that writes the set's documents into `folder` as a frozen web and returns its
    labelled questions. With a limit it takes so many of them, the same ones each time. It raises
    EvaluationError where `path` isn't the set, StorageError where the folder can't be written."""


@dataclass(frozen=True)
class ScoredSet:
    """Items that one part of Marchwarden is scored on, without the researcher."""

    name: str
    what: str
    expects: str
    """Name of the files that `path` must be, or must hold."""
    score: Callable[[Path, int | None], DatasetReport]
    """Function (path, limit) that returns the figures over the set, or over so many of its items. It raises
    EvaluationError where `path` isn't the set."""


Dataset: TypeAlias = QuestionSet | ScoredSet
