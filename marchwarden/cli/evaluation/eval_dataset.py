"""`marchwarden eval --dataset`: a public data set, as questions with a web of their own or scored by itself."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from marchwarden.evaluation.datasets import Dataset, QuestionSet, ScoredSet
    from marchwarden.evaluation.labels.questions import Question

# Folder in a run's folder that holds the web of its questions.
WEB = "web"


def find(name: str, path: Path | None) -> tuple[Dataset, Path]:
    """Return the data set of this name, and its path. Raises BadParameter for an unknown name, or without a path."""
    from marchwarden.evaluation.datasets import DATASETS

    dataset = DATASETS.get(name)
    if dataset is None:
        raise typer.BadParameter(f"--dataset {name}: there is no such data set; there are {', '.join(DATASETS)}")
    if path is None:
        raise typer.BadParameter(f"--dataset {name} needs --path: {dataset.expects}, or the folder that holds it")
    return dataset, path


def questions_of(dataset: QuestionSet, path: Path, web: Path, limit: int | None) -> list[Question]:
    """Return the set's questions, after writing their documents into the folder `web`.

    Raises EvaluationError where `path` holds no question of the set.
    """
    from marchwarden.cli.views import console
    from marchwarden.errors import EvaluationError

    with console.progress() as tell:
        tell(f"writing the pages of {dataset.name}")
        questions = dataset.questions_of(path, web, limit)
    if not questions:
        raise EvaluationError(f"{path} holds no question that can be asked", hint=f"It takes {dataset.expects}.")
    return questions


def keep_web(web: Path, run: Path) -> Path:
    """Copy a web into a run's folder, where it stays, and return its new path. Raises StorageError."""
    from marchwarden.errors import StorageError

    try:
        shutil.copytree(web, run / WEB, dirs_exist_ok=True)
    except OSError as error:  # shutil.Error is one
        raise StorageError(f"{run / WEB} can't be written: {error.strerror or error}") from None
    return run / WEB


def score(dataset: ScoredSet, path: Path, limit: int | None, *, json: bool) -> None:
    """Score the part of Marchwarden that the set is for, without the researcher, and show the figures."""
    from marchwarden.cli.views import console

    with console.progress() as tell:
        tell(f"scoring {dataset.name}")
        report = dataset.score(path, limit)
    if json:
        console.json(asdict(report))
    else:
        console.dataset(report)
