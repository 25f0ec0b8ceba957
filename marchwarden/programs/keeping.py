"""The program of a call in the content store, so that the call can be made again when the program has changed."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from marchwarden.errors import TraceError
from marchwarden.programs.calibration import Calibration
from marchwarden.programs.loading import Program
from marchwarden.programs.parameters import Parameters
from marchwarden.programs.records import CompiledStage, Note, ProgramInfo
from marchwarden.store.content_store import Store


class _KeptProgram(BaseModel):
    """A Program without the place of its folder."""

    model_config = ConfigDict(frozen=True)

    name: str
    info: ProgramInfo | None
    calibration: Calibration | None
    stages: dict[str, CompiledStage]
    parameters: Parameters | None
    notes: tuple[Note, ...]
    relative: str | None
    program_json: str
    calibration_json: str


class _Kept(BaseModel):
    """The program of a call, and the parameters in force, which are the package's own where it has none."""

    model_config = ConfigDict(frozen=True)

    parameters: Parameters
    program: _KeptProgram | None


def kept_program(program: Program | None, parameters: Parameters) -> bytes:
    """Return the program and the parameters as the store keeps them."""
    kept = program and _KeptProgram(
        name=program.folder.name,
        info=program.info,
        calibration=program.calibration,
        stages=dict(program.stages),
        parameters=program.parameters,
        notes=program.notes,
        relative=program.relative,
        program_json=program.program_json.decode("utf-8", "replace"),
        calibration_json=program.calibration_json.decode("utf-8", "replace"),
    )
    return _Kept(parameters=parameters, program=kept).model_dump_json().encode("utf-8", "replace")


def read_kept_program(store: Store, key: str) -> tuple[Program | None, Parameters]:
    """Return the program and the parameters under `key`.

    Raises TraceError where they are missing or damaged, or where this version has other parameters than they name.
    """
    return parse_kept_program(store.get(key))


def parse_kept_program(body: bytes) -> tuple[Program | None, Parameters]:
    """Return the program and the parameters that the store keeps as `body`.

    Raises TraceError where this version has other parameters than they name.
    """
    try:
        kept = _Kept.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise TraceError(f"its program is of another version: {where}: {first['msg']}") from None
    found = kept.program
    if found is None:
        return None, kept.parameters
    program = Program(
        Path(found.name),
        found.info,
        found.calibration,
        found.stages,
        found.parameters,
        found.notes,
        found.relative,
        found.program_json.encode(),
        found.calibration_json.encode(),
    )
    return program, kept.parameters
