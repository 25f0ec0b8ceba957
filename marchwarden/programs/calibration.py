"""What a confidence score is worth: the share of right answers that it stood for, by a fit to labelled answers."""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict, Field

# Scores are kept this far from 0 and 1, whose log-odds are infinite.
_NEAREST = 0.01


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
    stages: str | None = None
    """Hash of the compiled stages that gave those answers (`Program.stages_hash`); None where none was compiled."""
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
