"""What was fitted for one model and is used with it: a program's folder, found by the model's id.

A program holds a calibration of the confidence. It is plain JSON; nothing in it is imported or unpickled.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marchwarden.errors import ConfigurationError
from marchwarden.settings import Settings, shipped

CALIBRATION = "calibration.json"
NONE = "none"
_NEAREST = 0.01
"""Scores are kept this far from 0 and 1, whose log-odds are infinite."""


class Calibration(BaseModel):
    """From the rubric's score to the chance of a right answer: logistic in the log-odds (Platt 1999)."""

    model_config = ConfigDict(frozen=True, protected_namespaces=(), extra="forbid")

    format: int = Field(1, ge=1, le=1)
    model_id: str
    slope: float = Field(allow_inf_nan=False)
    intercept: float = Field(allow_inf_nan=False)
    questions: int = Field(gt=0)
    """How many forecasts it was fitted on."""
    fitted_on: str
    """Which questions, in words: `shipped dev`."""
    labels: str
    """Hash of their labels."""
    source: str = "snapshot"
    """The kind of source that those answers came from: what they were worth says nothing about another."""
    date: str
    """The day, ISO."""

    def apply(self, score: float) -> float:
        """The calibrated confidence, 0–1, two decimals."""
        odds = self.intercept + self.slope * log_odds(score)
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))), 2)

    @property
    def described(self) -> str:
        """What a result says of its confidence."""
        where = " from the frozen web" if self.source == "snapshot" else ""
        return f"calibrated on {self.questions} answers{where} to the questions of {self.fitted_on}, {self.date}"


def log_odds(score: float) -> float:
    inside = min(max(score, _NEAREST), 1 - _NEAREST)
    return math.log(inside / (1 - inside))


@dataclass(frozen=True)
class Program:
    folder: Path
    calibration: Calibration
    fingerprint: str
    """The folder's name and the start of its content's hash."""


def load_program(settings: Settings) -> Program | None:
    """The program of the model in force: the one that is set, else the user's own, else the shipped one, else none.

    Raises ConfigurationError where the one that is set is missing, and where one is damaged or of another model.
    """
    if settings.program == NONE:
        return None
    if settings.program:
        try:
            program = _load(Path(settings.program).expanduser(), settings.model_id)
        except RuntimeError as error:  # a ~name of nobody
            raise ConfigurationError(f"{settings.program}: {error}", hint=_HINT) from None
        if program is None:
            raise ConfigurationError(
                f"{settings.program} holds no program", hint=f"A program's folder holds a {CALIBRATION}."
            )
        return program
    name = model_slug(settings.model_id)
    own, with_package = own_programs() / name, shipped("programs") / name
    return _load(own, settings.model_id) or _load(with_package, settings.model_id)


def own_programs() -> Path:
    """Where `marchwarden calibrate` puts programs."""
    return Path("~/.marchwarden/programs").expanduser()


def model_slug(model_id: str) -> str:
    """A model's id as the name of its program's folder."""
    return re.sub(r"[^a-z0-9.]+", "-", model_id.lower()).strip("-.") or "unnamed"


def _load(folder: Path, model_id: str) -> Program | None:
    path = folder / CALIBRATION
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"{path} can't be read: {error.strerror or error}", hint=_HINT) from None
    try:
        calibration = Calibration.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise ConfigurationError(f"{path} is no calibration: {where}: {first['msg']}", hint=_HINT) from None
    if calibration.model_id != model_id:
        raise ConfigurationError(f"{path} is of {calibration.model_id}, not of {model_id}", hint=_HINT)
    return Program(folder, calibration, f"{folder.name}@{hashlib.sha256(body).hexdigest()[:12]}")


_HINT = "Fit it again with `marchwarden calibrate`, or do without: MARCHWARDEN_PROGRAM=none."
