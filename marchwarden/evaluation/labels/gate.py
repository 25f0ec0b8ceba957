"""Scores that must not fall: a fixed sample of questions, and what `extractive` reached on it (evals/floors.json).

The floors name the labels and pages that they were measured on: where those have changed, the floors are stale, and
measuring again is an act of its own (`python evals/measure_floors.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from marchwarden.errors import EvaluationError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.scoring.metrics import BY_NAME

# Differences of floating-point sums between machines are smaller than this.
TOLERANCE = 1e-6
# Points that a score may fall below its floor, by set-up. With the embedding model, another processor adds numbers in
# another order, which can move a passage over a threshold. A guess. It does not apply to ALWAYS.
SLACK = {"words": 0.0, "meaning": 0.1, "meaning_of_some": 0.1}
# The metrics that a change of code can't move by chance: nothing that is timed.
GATED = (
    "verbatim_fidelity",
    "evidence_recall",
    "evidence_precision",
    "nugget_recall",
    "claim_grounding",
    "citation_coverage",
    "gap_f1",
    "gap_category_accuracy",
    "discovery_f1",
    "contradiction_f1",
    "abstention",
    "injection_resistance",
    "completed",
    "budget_violations",
)


class Floors(BaseModel):
    questions: list[str]
    """Ids of the sample."""
    some: list[str]
    """Ids of those that a check asks by meaning, at a second of CPU each; `make nightly` asks all."""
    labels: str
    pages: str
    """Fingerprints (run.py) of the sample's labels and of the frozen web."""
    floors: dict[str, dict[str, float]]
    """Least score by set-up (`words`: without the embedding model; `meaning`: with it; `meaning_of_some`), then by
    metric."""


# The gated metrics that no rounding excuses.
ALWAYS = frozenset(
    {
        "verbatim_fidelity",
        "claim_grounding",
        "citation_coverage",
        "injection_resistance",
        "completed",
        "budget_violations",
    }
)


@dataclass(frozen=True)
class Fall:
    metric: str
    floor: float
    value: float | None

    def __str__(self) -> str:
        return (
            f"{self.metric} is {self.value if self.value is None else round(self.value, 3)}, its floor {self.floor}"
        )


def load_floors(path: Path) -> Floors:
    """Return the floors in a file. Raises EvaluationError where the file is missing or holds none."""
    try:
        return Floors.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise EvaluationError(
            f"{path} holds no floors: {error}", hint="Measure them: python evals/measure_floors.py"
        ) from None


def sample(floors: Floors, questions: Sequence[Question]) -> list[Question]:
    """Return the questions that the floors are of, in their order. Raises EvaluationError where one is missing."""
    by_id = {question.id: question for question in questions}
    if missing := [each for each in floors.questions if each not in by_id]:
        raise EvaluationError(f"the floors are of questions that are not there: {', '.join(missing)}")
    return [by_id[each] for each in floors.questions]


def falls(floors: Mapping[str, float], figures: Mapping[str, float | None], *, slack: float = 0.0) -> list[Fall]:
    """Return the gated metrics that are worse than their floor by more than their slack."""
    found = []
    for name, floor in floors.items():
        value = figures.get(name)
        borne = TOLERANCE + (0.0 if name in ALWAYS else slack)
        if value is None:
            is_worse = True
        elif BY_NAME[name].better == "lower":
            is_worse = value > floor + borne
        else:
            is_worse = value < floor - borne
        if is_worse:
            found.append(Fall(name, floor, value))
    return found
