"""What a public data set is to us: questions with a web of their own, or items that one of our parts is scored on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from marchwarden.evaluation.labels.questions import Question


@dataclass(frozen=True)
class DatasetReport:
    """What a part of ours scored on a data set."""

    name: str
    what: str
    """Which part was scored on what, in a sentence."""
    items: int
    figures: Mapping[str, float]
    """0–1 each, higher is better, unless a note says otherwise; one that can't be computed is left out."""
    notes: tuple[str, ...] = ()
    """How items were chosen and figures are meant."""


@dataclass(frozen=True)
class QuestionSet:
    """Questions whose documents become a frozen web."""

    name: str
    what: str
    expects: str
    """The file that `path` is, or is the folder of."""
    questions_of: Callable[[Path, Path, int | None], list[Question]]
    """(path, folder, limit): the labelled questions of the set, after writing their documents into `folder` as a
    frozen web. With a limit, so many of them, the same ones each time. Raises EvaluationError where `path` isn't the
    set, StorageError where the folder can't be written."""


@dataclass(frozen=True)
class ScoredSet:
    """Items that a part of ours is scored on, without the researcher."""

    name: str
    what: str
    expects: str
    score: Callable[[Path, int | None], DatasetReport]
    """(path, limit): the figures over the set, or over so many of its items. Raises EvaluationError where `path`
    isn't the set."""


Dataset: TypeAlias = QuestionSet | ScoredSet
