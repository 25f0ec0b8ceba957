"""List all programs, the user's own and the shipped ones, each with its state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from marchwarden.programs.loading import Program, folders, own_programs, program_in
from marchwarden.programs.names import model_slug
from marchwarden.programs.reading import CALIBRATION, PROGRAM
from marchwarden.programs.records import Note
from marchwarden.settings import shipped

State: TypeAlias = Literal["in force", "in force in part", "stale", "shadowed by own"]
Where: TypeAlias = Literal["own", "shipped", "elsewhere"]


@dataclass(frozen=True)
class Listed:
    """A program as it would be used for its own model."""

    program: Program
    where: Where
    shadowed: tuple[str, ...] = ()
    """Names of its files that are not used, since the user's own program has others in their place."""

    @property
    def model_id(self) -> str:
        """Id of the model that the program is for; the folder's name where no file of it can be read."""
        if self.program.info:
            return self.program.info.model_id
        fitted = self.program.calibration
        return fitted.model_id if fitted else self.program.folder.name

    @property
    def state(self) -> State:
        if self.shadowed == _files(self.program.folder):
            return "shadowed by own"
        if self.program.notes:
            return "stale"
        return "in force in part" if self.shadowed else "in force"


def all_programs() -> list[Listed]:
    """Return the user's own programs, then the shipped ones, each in the order of their names.

    Stages that are stale by their signature are not found here: that takes DSPy.
    """
    # A user's own program shadows the shipped one in a folder of the same name.
    with_package = shipped("programs")
    own = {folder.name: folder for folder in folders(own_programs())}
    found = [_listed(folder, "own", beside=with_package / name) for name, folder in own.items()]
    for folder in folders(with_package):
        over = own.get(folder.name)
        found.append(_listed(folder, "shipped", beside=over, over=over))
    return [each for each in found if each is not None]


def find_program(named: str) -> Listed | None:
    """Return the program of a model, by its id or its folder's name, or in a folder; None where there is none."""
    for each in all_programs():
        if each.program.folder.name in (named, model_slug(named)):
            return each
    try:
        return _listed(Path(named).expanduser(), "elsewhere")
    # expanduser finds no user of that name.
    except RuntimeError:
        return None


def _listed(folder: Path, where: Where, *, beside: Path | None = None, over: Path | None = None) -> Listed | None:
    """Return the program in a folder; `over` is the user's own folder that takes precedence, where there is one."""
    program = program_in(folder, beside)
    if program is None:
        return None
    files, others = _files(folder), _files(over) if over else ()
    # A calibration goes with the compiled stages that it was fitted with, so that both are shadowed together.
    both = PROGRAM in files and PROGRAM in others
    shadowed = files if both else tuple(name for name in files if name in others)
    listed = Listed(program, where, shadowed)
    if where == "elsewhere" or model_slug(listed.model_id) == folder.name:
        return listed
    # No model finds it, since its folder has another model's name.
    said = Note(
        text=f"{program.folder} is of {listed.model_id}, and no model finds it by that name",
        fix=f"name the folder {model_slug(listed.model_id)}",
    )
    return replace(listed, program=replace(program, stages={}, parameters=None, calibration=None, notes=(said,)))


def _files(folder: Path) -> tuple[str, ...]:
    return tuple(name for name in (PROGRAM, CALIBRATION) if (folder / name).exists())
