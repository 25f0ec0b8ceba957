"""Reading of a program's files. Nothing in them is trusted; a wrong file becomes a note and raises nothing."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from marchwarden.programs.calibration import Calibration
from marchwarden.programs.parameters import Parameters
from marchwarden.programs.records import CompiledStage, Note, ProgramInfo, StageRecord

PROGRAM, CALIBRATION = "program.json", "calibration.json"
# The name under which a program records the parameters of the model-free stages, beside the names of stages.
PARAMETERS = "parameters"
# Bytes of a file, at most: instructions and demonstrations are a prompt, and no prompt is so long. A guess.
MOST_BYTES = 1_000_000
# Readings of a program that another process replaces meanwhile. A guess: each needs one more replacement within one
# reading, and three were too few beside a writer that never rests on a busy machine.
_ATTEMPTS = 10

Kind = TypeVar("Kind", bound=BaseModel)


class Unusable(Exception):
    """A fault of a file; its message is the end of a sentence that begins with the path."""


@dataclass(frozen=True)
class Compiled:
    """The parts that program.json names, as far as they can be used."""

    folder: Path
    info: ProgramInfo | None = None
    body: bytes = b""
    stages: Mapping[str, CompiledStage] = field(default_factory=dict)
    parameters: Parameters | None = None
    damage: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Fitted:
    """The content of calibration.json, as far as it can be used."""

    path: Path
    calibration: Calibration | None = None
    body: bytes = b""
    damage: tuple[Note, ...] = ()


def compile_again(model_id: str | None, stage: str | None = None) -> str:
    """Return the command that makes a program, or one stage of it, again."""
    part = f" --stage {stage}" if stage and stage != PARAMETERS else ""
    return f"marchwarden compile --model {model_id or 'MODEL'}{part}"


def read_compiled(folder: Path, model_id: str | None = None) -> Compiled | None:
    """Return the compiled stages in a folder, which must be of the model where one is given; None without any.

    Where another process puts a new program there meanwhile, and removes files of the old one, the new one is read.
    """
    for _ in range(_ATTEMPTS):
        found = _read_compiled(folder, model_id)
        if found is None or not found.damage:
            break
        body = b""
        with suppress(OSError, Unusable):
            body = read_file(folder / PROGRAM)
        # Nobody replaced the file meanwhile: the damage is real.
        if found.body == body:
            break
    return found


def _read_compiled(folder: Path, model_id: str | None) -> Compiled | None:
    path = folder / PROGRAM
    try:
        body = read_file(path)
        info = _parsed(ProgramInfo, body, "is no program")
        if model_id is not None and info.model_id != model_id:
            raise Unusable(f"is of {info.model_id}, not of {model_id}")
    except FileNotFoundError:
        return None
    except Unusable as problem:
        return Compiled(folder, damage=(Note(text=f"{path} {problem}", fix=compile_again(model_id)),))
    stages, parameters, damage = {}, None, []
    for name, record in info.stages.items():
        if not record.kept:
            continue
        try:
            if name == PARAMETERS:
                parameters = _read_part(Parameters, folder, name, record)
            else:
                stage = _read_part(CompiledStage, folder, name, record)
                if (stage.stage, stage.signature) != (name, record.signature):
                    raise Unusable(f"{folder / str(record.file)} is not of the {name} that {PROGRAM} names")
                stages[name] = stage
        except Unusable as problem:
            damage.append(Note(text=str(problem), fix=compile_again(info.model_id, name)))
    return Compiled(folder, info, body, stages, parameters, tuple(damage))


def _read_part(kind: type[Kind], folder: Path, name: str, record: StageRecord) -> Kind:
    """Return the content of a record's file. Raises Unusable, with the whole sentence."""
    if record.file is None or record.sha256 is None:
        raise Unusable(f"{folder / PROGRAM} names no file for the compiled {name}")
    path = folder / record.file
    try:
        body = read_file(path, links=False)
        if hashlib.sha256(body).hexdigest() != record.sha256:
            raise Unusable(f"is not the file that {PROGRAM} names: its content has another hash")
        return _parsed(kind, body, f"is no compiled {name}")
    except FileNotFoundError:
        raise Unusable(f"{path} is missing") from None
    except Unusable as problem:
        raise Unusable(f"{path} {problem}") from None


def read_calibration(folder: Path, model_id: str | None = None) -> Fitted | None:
    """Return the calibration in a folder, which must be of the model where one is given; None where there is none."""
    path = folder / CALIBRATION
    try:
        body = read_file(path)
        calibration = _parsed(Calibration, body, "is no calibration")
        if model_id is not None and calibration.model_id != model_id:
            raise Unusable(f"is of {calibration.model_id}, not of {model_id}")
    except FileNotFoundError:
        return None
    except Unusable as problem:
        return Fitted(path, damage=(Note(text=f"{path} {problem}", fix="marchwarden calibrate RUN"),))
    return Fitted(path, calibration, body)


def read_file(path: Path, *, links: bool = True) -> bytes:
    """Return a regular file's bytes. Raises FileNotFoundError, and Unusable for any other fault."""
    try:
        if not stat.S_ISREG((path.stat() if links else path.lstat()).st_mode):
            raise Unusable("is not a regular file")
        with path.open("rb") as file:
            body = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unusable(f"can't be read: {error.strerror or error}") from None
    if len(body) > MOST_BYTES:
        raise Unusable(f"has over {MOST_BYTES:,} bytes")
    return body


def _parsed(kind: type[Kind], body: bytes, what: str) -> Kind:
    """Return the content of a file. Raises Unusable, which names the wrong field, or a format that is newer."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        try:
            found: Any = from_json(body)
        except ValueError:
            found = None
        format = found.get("format") if isinstance(found, dict) else None
        if isinstance(format, int) and format > 1:
            raise Unusable(f"has format {format}, which is newer than this version of Marchwarden reads") from None
        first = error.errors()[0]
        where = "".join(f"{part}: " for part in [".".join(map(str, first["loc"]))] if part)
        raise Unusable(f"{what}: {where}{first['msg']}") from None
