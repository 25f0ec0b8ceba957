"""Find the program of a model, and refuse parts that are damaged, of another model, or made for something else.

A program that was found never ends a call: a part that can't be used becomes a note, and its stage runs uncompiled. A
program that the settings name and that can't be used is an error. stages/registry.py compares the stages' signatures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path

from marchwarden.errors import ConfigurationError
from marchwarden.programs.calibration import Calibration
from marchwarden.programs.names import family, model_slug
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.programs.reading import (
    PARAMETERS,
    PROGRAM,
    Compiled,
    Fitted,
    compile_again,
    read_calibration,
    read_compiled,
)
from marchwarden.programs.records import CompiledStage, Note, ProgramInfo
from marchwarden.settings import Settings, shipped

# The value of the setting `program` that uses none.
NONE = "none"


@dataclass(frozen=True)
class Program:
    """The parts of a program that are in force, and notes on the others."""

    folder: Path
    info: ProgramInfo | None = None
    calibration: Calibration | None = None
    stages: Mapping[str, CompiledStage] = field(default_factory=dict)
    parameters: Parameters | None = None
    """Parameters of the model-free stages, where they are others than the package's own."""
    notes: tuple[Note, ...] = ()
    relative: str | None = None
    """Id of the model that the program was compiled for, where that is another of the same family."""
    program_json: bytes = b""
    calibration_json: bytes = b""

    @property
    def stages_hash(self) -> str | None:
        """Hash of the compiled stages in force; None where every stage runs uncompiled."""
        if self.info is None or not self.in_force:
            return None
        named = [f"{name} {self.info.stages[name].sha256}" for name in self.in_force]
        return hashlib.sha256("\n".join(named).encode()).hexdigest()[:16]

    @property
    def in_force(self) -> list[str]:
        """Names of the compiled stages, in alphabetical order; `parameters` is one where there are some."""
        return sorted([*self.stages, *([PARAMETERS] if self.parameters else [])])

    @property
    def without_model(self) -> list[str]:
        """Names of the compiled stages that run without the model."""
        return sorted(name for name, stage in self.stages.items() if stage.form == "model_free")

    @property
    def fingerprint(self) -> str | None:
        """Name of the folder and start of the hash of the parts in force; None where no part is."""
        content = self.calibration_json if self.calibration else b""
        if self.info and self.in_force:
            # The parts that are refused change the answers, so they change the fingerprint.
            refused = [name for name, record in self.info.stages.items() if record.kept and name not in self.in_force]
            content = self.program_json + content + " ".join(sorted(refused)).encode()
        return f"{self.folder.name}@{hashlib.sha256(content).hexdigest()[:12]}" if content else None

    def without(self, stages: Iterable[str], notes: Iterable[Note]) -> Program:
        """Return the program with these stages uncompiled, for the reasons in the notes."""
        refused = set(stages)
        left = {name: stage for name, stage in self.stages.items() if name not in refused}
        parameters = None if PARAMETERS in refused else self.parameters
        return replace(self, stages=left, parameters=parameters, notes=(*self.notes, *notes)).calibrated()

    def calibrated(self) -> Program:
        """Return the program without a calibration that was fitted to answers of other stages than are in force."""
        if self.calibration is None or self.calibration.stages == self.stages_hash:
            return self
        model_id = self.calibration.model_id
        before = "before its stages were compiled" if self.calibration.stages is None else "to other compiled stages"
        said = Note(
            text=f"the calibration of {model_id} was fitted {before}, and is not used",
            fix="marchwarden eval, then marchwarden calibrate RUN",
        )
        return replace(self, calibration=None, notes=(*self.notes, said))


def load_program(settings: Settings) -> Program | None:
    """Return the program of the model in force; None where there is none.

    It is the one that the settings name, else the user's own, else the shipped one, else that of a model of the same
    family. Raises ConfigurationError where the named one is missing, damaged or of another family.
    """
    if settings.program == NONE:
        return None
    if settings.program:
        try:
            return _named(Path(settings.program).expanduser(), settings.model_id)
        # expanduser finds no user of that name.
        except RuntimeError as error:
            raise ConfigurationError(f"{settings.program}: {error}", hint=_WITHOUT) from None
    model_id = settings.model_id
    homes = [place / model_slug(model_id) for place in places()]
    compiled = next((part for folder in homes if (part := read_compiled(folder, model_id))), None)
    compiled = compiled or _find_relative(model_id)
    fitted = next((each for folder in homes if (each := read_calibration(folder, model_id))), None)
    if compiled:
        return _put_together(compiled.folder, model_id, compiled, fitted)
    return _put_together(fitted.path.parent, model_id, None, fitted) if fitted else None


def own_programs() -> Path:
    """Return the folder into which `marchwarden compile` and `marchwarden calibrate` put programs."""
    return Path("~/.marchwarden/programs").expanduser()


def program_in(folder: Path, beside: Path | None = None) -> Program | None:
    """Return the program in a folder, as it would be used for its own model; None where the folder holds none.

    A calibration without compiled stages goes with those in the folder `beside`: the shipped one for the user's own,
    or the other way round.
    """
    compiled, fitted = read_compiled(folder), read_calibration(folder)
    if compiled is None and fitted is None:
        return None
    model_id = compiled.info.model_id if compiled and compiled.info else ""
    others = read_compiled(beside) if beside and compiled is None else None
    if others is None:
        return _put_together(folder, model_id, compiled, fitted)
    with_them = _put_together(folder, model_id, others, fitted)
    without = _put_together(folder, model_id, others, None)
    notes = tuple(note for note in with_them.notes if note not in without.notes)
    return Program(
        folder, calibration=with_them.calibration, notes=notes, calibration_json=with_them.calibration_json
    )


def places() -> tuple[Path, Path]:
    """Return the folders in which programs are looked for, the user's own first."""
    return own_programs(), shipped("programs")


def _named(folder: Path, model_id: str) -> Program:
    compiled, fitted = read_compiled(folder), read_calibration(folder)
    if compiled is None and fitted is None:
        raise ConfigurationError(
            f"{folder} holds no program", hint=f"A program's folder holds a {PROGRAM} or a calibration.json."
        )
    # A program that the user named is refused where a part is damaged; one that was found runs without that part.
    if damage := [*(compiled.damage if compiled else ()), *(fitted.damage if fitted else ())]:
        raise ConfigurationError(damage[0].text, hint=f"Make it again: {damage[0].fix}. {_WITHOUT}")
    if compiled and family(_model_of(compiled)) != family(model_id):
        raise _foreign(folder / PROGRAM, _model_of(compiled), model_id)
    if fitted and fitted.calibration and fitted.calibration.model_id != model_id:
        if compiled is None or family(fitted.calibration.model_id) != family(model_id):
            raise _foreign(fitted.path, fitted.calibration.model_id, model_id)
        # Compiled stages serve a model of the same family, but a calibration serves its own model only.
        fitted = None
    return _put_together(folder, model_id, compiled, fitted)


def _foreign(path: Path, its: str, model_id: str) -> ConfigurationError:
    return ConfigurationError(f"{path} is of {its}, not of {model_id}", hint=f"Name another program. {_WITHOUT}")


def _find_relative(model_id: str) -> Compiled | None:
    """Return the newest usable program of a model of the same family, the user's own before shipped ones."""
    for place in places():
        usable = [
            compiled
            for folder in folders(place)
            if (compiled := read_compiled(folder))
            and compiled.info
            and compiled.stages
            and _fits_dspy(compiled.info)
            and folder.name == model_slug(_model_of(compiled))
            and family(_model_of(compiled)) == family(model_id)
        ]
        if usable:
            return max(
                usable, key=lambda compiled: (compiled.info.date if compiled.info else "", compiled.folder.name)
            )
    return None


def folders(place: Path) -> Iterator[Path]:
    """Yield the folders in a folder, in the order of their names; none where it can't be listed."""
    try:
        yield from sorted(path for path in place.iterdir() if path.is_dir())
    except OSError:
        return


def _put_together(folder: Path, model_id: str, compiled: Compiled | None, fitted: Fitted | None) -> Program:
    """Return the program with the parts that can be used now, and notes on the others."""
    notes = [*(compiled.damage if compiled else ()), *(fitted.damage if fitted else ())]
    program = Program(
        folder,
        compiled.info if compiled else None,
        fitted.calibration if fitted else None,
        compiled.stages if compiled else {},
        compiled.parameters if compiled else None,
        tuple(notes),
        program_json=compiled.body if compiled else b"",
        calibration_json=fitted.body if fitted else b"",
    )
    info = program.info
    if info is None:
        return program.calibrated()
    # Another major version of DSPy shows a stage to the model in other words.
    if program.stages and not _fits_dspy(info):
        said = Note(
            text=f"the compiled stages of {info.model_id} were made with DSPy {info.dspy}, "
            f"and {_installed_dspy()} is installed",
            fix=compile_again(model_id),
        )
        program = program.without(program.stages, [said])
    if program.stages and info.model_id != model_id:
        said = Note(
            text=f"there is no program of {model_id}; the compiled stages of {info.model_id} are used meanwhile",
            fix=compile_again(model_id),
        )
        program = replace(program, relative=info.model_id, notes=(*program.notes, said))
    if program.parameters and info.stages[PARAMETERS].signature != parameters_signature():
        said = Note(
            text=f"the parameters of {info.model_id} were searched among others than there are now",
            fix=compile_again(info.model_id),
        )
        program = program.without([PARAMETERS], [said])
    return program.calibrated()


def _fits_dspy(info: ProgramInfo) -> bool:
    installed = _installed_dspy()
    return installed is None or installed.partition(".")[0] == info.dspy.partition(".")[0]


def parameters_signature() -> str:
    """Return the fingerprint of the names of all parameters."""
    # Values that were searched among other parameters say nothing about those that there are now.
    return hashlib.sha256("\n".join(DEFAULT.values()).encode()).hexdigest()[:16]


def _installed_dspy() -> str | None:
    try:
        return metadata.version("dspy")
    except metadata.PackageNotFoundError:
        return None


def _model_of(compiled: Compiled) -> str:
    return compiled.info.model_id if compiled.info else ""


_WITHOUT = "MARCHWARDEN_PROGRAM=none does without."
