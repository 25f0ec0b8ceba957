"""Every program that there is, the user's own and the shipped ones, with what of each is in force."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from marchwarden.programs.loading import Program, folders, own_programs, program_in
from marchwarden.programs.names import model_slug
from marchwarden.programs.reading import CALIBRATION, PROGRAM
from marchwarden.programs.records import Note
from marchwarden.settings import shipped

State: TypeAlias = Literal["in force", "stale", "shadowed"]
Where: TypeAlias = Literal["own", "shipped", "elsewhere"]


@dataclass(frozen=True)
class Listed:
    """A program as it would be used for its own model."""

    program: Program
    where: Where
    shadowed: tuple[str, ...] = ()
    """Files of it that are not used, since the user's own program has them too."""

    @property
    def model_id(self) -> str:
        """What it is for; the folder's name where no file of it can be read."""
        if self.program.info:
            return self.program.info.model_id
        fitted = self.program.calibration
        return fitted.model_id if fitted else self.program.folder.name

    @property
    def state(self) -> State:
        if self.program.notes:
            return "stale"
        has = [name for name in (PROGRAM, CALIBRATION) if (self.program.folder / name).exists()]
        return "shadowed" if has and set(has) <= set(self.shadowed) else "in force"


def all_programs() -> list[Listed]:
    """The user's own, then the shipped ones, by name. Signatures are not looked at: that takes DSPy."""
    with_package = shipped("programs")
    own = {folder.name: folder for folder in folders(own_programs())}
    found = [_listed(folder, "own", beside=with_package / name) for name, folder in own.items()]
    found += [_listed(folder, "shipped", over=own.get(folder.name)) for folder in folders(with_package)]
    return [each for each in found if each is not None]


def find_program(named: str) -> Listed | None:
    """The program of a model, by its id or its folder's name, or of a folder; None where there is none."""
    for each in all_programs():
        if each.program.folder.name in (named, model_slug(named)):
            return each
    try:
        return _listed(Path(named).expanduser(), "elsewhere")
    except RuntimeError:  # a ~name of nobody
        return None


def _listed(folder: Path, where: Where, *, beside: Path | None = None, over: Path | None = None) -> Listed | None:
    program = program_in(folder, beside)
    if program is None:
        return None
    shadowed = [name for name in (PROGRAM, CALIBRATION) if over and (over / name).exists()]
    listed = Listed(program, where, tuple(shadowed))
    return listed if where == "elsewhere" or model_slug(listed.model_id) == folder.name else _foreign(listed)


def _foreign(listed: Listed) -> Listed:
    """One that no model finds: its folder has another model's name."""
    program = listed.program
    said = Note(
        text=f"{program.folder} is of {listed.model_id}, and no model finds it by that name",
        fix=f"name the folder {model_slug(listed.model_id)}",
    )
    return replace(listed, program=replace(program, stages={}, parameters=None, calibration=None, notes=(said,)))
