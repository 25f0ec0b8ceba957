"""A compile's own folder: what was ordered, every answer that was paid for, what was found. It outlives the compile,
so that an interrupted one goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from marchwarden import __version__
from marchwarden.embedding import is_used
from marchwarden.errors import EvaluationError, StorageError
from marchwarden.evaluation.compiling.plan import Order
from marchwarden.evaluation.questions import Question
from marchwarden.evaluation.runs import labels_fingerprint, now, pages_fingerprint, slug, write_json
from marchwarden.settings import EXTRACTIVE

ATTEMPT = "attempt.json"


class Attempt(BaseModel):
    """What must be the same for a compile to go on with another's answers. How much may be spent may differ."""

    model_config = ConfigDict(protected_namespaces=(), frozen=True)

    format: int = 1
    version: str
    model_id: str
    reflection_model: str | None
    stages: tuple[str, ...]
    optimizer: str | None
    """None for the parameters of the model-free stages."""
    effort: str
    seed: int
    labels: str
    pages: str
    reads_by: str


def attempt_of(order: Order, train: Sequence[Question], dev: Sequence[Question]) -> Attempt:
    settings = order.settings
    is_model_free = settings.model_id == EXTRACTIVE
    return Attempt(
        version=__version__,
        model_id=settings.model_id,
        reflection_model=order.reflection.model_id if order.reflection else None,
        stages=order.stages,
        optimizer=None if is_model_free else order.optimizer.name,
        effort=str(order.trials if is_model_free else order.effort),
        seed=order.seed,
        labels=labels_fingerprint([*train, *dev]),
        pages=pages_fingerprint(settings.frozen_web),
        reads_by="meaning" if is_used(settings) else "words",
    )


def begin(shelf: Path, attempt: Attempt) -> Path:
    """A new folder on the shelf. Raises StorageError."""
    folder = shelf / f"{now().strftime('%Y%m%d-%H%M%S')}-{slug(attempt.model_id)}"
    number = 1
    while folder.exists():
        number += 1
        folder = folder.with_name(f"{folder.name.partition('~')[0]}~{number}")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise StorageError(
            f"{folder} can't be made: {error.strerror or error}", hint="Make room on the disk."
        ) from None
    write_json(folder / ATTEMPT, attempt.model_dump(mode="json"))
    return folder


def latest(shelf: Path, attempt: Attempt) -> Path:
    """The newest folder of the same order. Raises EvaluationError where there is none."""
    for path in sorted(shelf.glob(f"*/{ATTEMPT}"), reverse=True):
        try:
            if Attempt.model_validate_json(path.read_bytes()) == attempt:
                return path.parent
        except (OSError, ValidationError):
            continue
    raise EvaluationError(
        f"no compile with these options is in {shelf} to go on with", hint="Start one without --resume."
    )
