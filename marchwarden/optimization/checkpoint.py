"""A compile's own folder: its options, every answer that was paid for, and what was found.

It outlives the compile, so that an interrupted one goes on.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from marchwarden import __version__
from marchwarden.errors import EvaluationError, StorageError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.run import labels_fingerprint, now, pages_fingerprint, slug, write_json
from marchwarden.optimization.estimate import Order
from marchwarden.settings import EXTRACTIVE
from marchwarden.text.embedding import is_used

IDENTITY_FILE = "attempt.json"


class CompileIdentity(BaseModel):
    """Options and labels that must be the same for a compile to go on with another's answers.

    The budget may differ.
    """

    model_config = ConfigDict(protected_namespaces=(), frozen=True)

    format: int = 1
    version: str
    model_id: str
    reflection_model: str | None
    stages: tuple[str, ...]
    optimizer: str | None
    """Name of the optimizer; None for the parameters of the model-free stages."""
    effort: str
    seed: int
    labels: str
    pages: str
    reads_by: str


def identity_of(order: Order, train: Sequence[Question], dev: Sequence[Question]) -> CompileIdentity:
    settings = order.settings
    is_model_free = settings.model_id == EXTRACTIVE
    return CompileIdentity(
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


def create_checkpoint(compiles: Path, identity: CompileIdentity) -> Path:
    """Make a new folder for this compile in `compiles`. Raises StorageError."""
    first = compiles / f"{now().strftime('%Y%m%d-%H%M%S')}-{slug(identity.model_id)}"
    folder, number = first, 1
    while True:
        try:
            folder.mkdir(parents=True)
            break
        except FileExistsError:
            number += 1
            folder = first.with_name(f"{first.name}~{number}")
        except OSError as error:
            raise StorageError(
                f"{folder} can't be made: {error.strerror or error}",
                hint="Free some space on the disk, or make the folder writable.",
            ) from None
    write_json(folder / IDENTITY_FILE, identity.model_dump(mode="json"))
    return folder


@contextmanager
def lock_folders(compiles: Path, *folders: Path) -> Iterator[None]:
    """Hold these folders for this compile, until it ends, however it does.

    Two compiles would pay twice, and the last one to end would undo what the other put in place. Raises
    EvaluationError where another compile holds one of them, and StorageError.
    """
    with ExitStack() as held:
        for folder in folders:
            name = hashlib.sha256(str(folder.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
            path = compiles / "locks" / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                file = held.enter_context(path.open("ab"))
            except OSError as error:
                raise StorageError(
                    f"{path} can't be written: {error.strerror or error}",
                    hint="Free some space on the disk, or make the folder writable.",
                ) from None
            if not _try_lock(file.fileno()):
                raise EvaluationError(
                    f"another compile is already running in {folder}", hint="Wait for it, or name another --out."
                )
        yield


# filelock would do the same, for one more dependency.
if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def find_checkpoint(compiles: Path, identity: CompileIdentity) -> Path:
    """Return the newest folder of a compile with the same options. Raises EvaluationError where there is none."""
    for path in sorted(compiles.glob(f"*/{IDENTITY_FILE}"), reverse=True):
        try:
            if CompileIdentity.model_validate_json(path.read_bytes()) == identity:
                return path.parent
        except (OSError, ValidationError):
            continue
    raise EvaluationError(
        f"{compiles} has no compile with these options to resume", hint="To start one, leave out --resume."
    )
