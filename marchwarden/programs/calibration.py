"""Calibration: a map from a confidence score to the share of right answers with that score on labelled questions."""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict, Field

# Least distance of a score from 0 and 1, whose log-odds are infinite. Scores have two decimals.
_MIN_SCORE_DISTANCE = 0.01


class EstimateCurve(BaseModel):
    """A map from the rubric's score and a model's own estimate to the chance of a right answer, as Calibration is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slope: float = Field(ge=0, allow_inf_nan=False)
    of_estimate: float = Field(ge=0, allow_inf_nan=False)
    """Slope of the estimate's log-odds."""
    intercept: float = Field(allow_inf_nan=False)
    questions: int = Field(gt=0)
    """Number of forecasts with an estimate that the curve was fitted on."""

    def apply(self, score: float, estimated: float) -> float:
        """Return the calibrated confidence for a score and an estimate of 0–1: 0–1, with two decimals."""
        return _chance(self.intercept + self.slope * log_odds(score) + self.of_estimate * log_odds(estimated))


class Calibration(BaseModel):
    """A map from the rubric's score to the chance of a right answer: logistic in the log-odds (Platt 1999)."""

    model_config = ConfigDict(frozen=True, protected_namespaces=(), extra="forbid")

    format: int = Field(1, ge=1, le=1)
    model_id: str
    slope: float = Field(allow_inf_nan=False)
    intercept: float = Field(allow_inf_nan=False)
    questions: int = Field(gt=0)
    """Number of forecasts that the calibration was fitted on."""
    fitted_on: str
    """Name of the set and split of those questions: `shipped dev`."""
    labels: str
    """Hash of the labels of those questions."""
    source: str = "snapshot"
    """Kind of source that the answers came from; the calibration says nothing about answers from another kind."""
    web: str | None = None
    """Hash of the manifest of the frozen web that the answers came from; None for the shipped web."""
    stages: str | None = None
    """Hash of the compiled stages that gave the answers (`Program.stages_hash`); None where none was compiled."""
    date: str
    """Day of the fit, in ISO form."""
    with_estimate: EstimateCurve | None = None
    """Curve for answers of which the model gave an estimate; None where the fit had too few of them."""

    def apply(self, score: float) -> float:
        """Return the calibrated confidence for a score of 0–1: 0–1, with two decimals."""
        return _chance(self.intercept + self.slope * log_odds(score))

    def fits(self, kind: str, web: str | None) -> bool:
        """Return whether it says anything about answers from sources of this kind, in the frozen web of this hash."""
        return self.source == kind and (kind != "snapshot" or self.web == web)

    @property
    def described(self) -> str:
        """Phrase with which a result says what its confidence was calibrated on."""
        where = " from the frozen web" if self.source == "snapshot" else ""
        return f"calibrated on {self.questions} answers{where} to the questions of {self.fitted_on}, {self.date}"


def log_odds(score: float) -> float:
    """Return the log-odds of a score of 0–1; scores near 0 and 1 count as 0.01 and 0.99."""
    inside = min(max(score, _MIN_SCORE_DISTANCE), 1 - _MIN_SCORE_DISTANCE)
    return math.log(inside / (1 - inside))


def _chance(odds: float) -> float:
    """Return the chance, 0–1 with two decimals, of these log-odds."""
    # Beyond ±30 the chance is 0 or 1 to twelve decimals, and exp() would overflow far beyond.
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))), 2)
