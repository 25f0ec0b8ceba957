"""Fit of a model's confidence to the share of its answers that are right, and a measurement of the fit.

The fit is Platt's (1999): logistic in the log-odds of the rubric's score, with his smoothed targets, always from the
score before any calibration. Figures "after" are of what a result would show, upper bounds included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from marchwarden.contract import ConfidenceFactors
from marchwarden.errors import EvaluationError, StorageError
from marchwarden.evaluation.runs.run import Run, RunInfo, fingerprint, now
from marchwarden.evaluation.scoring.aggregates import auroc, brier, calibration_error
from marchwarden.evaluation.scoring.answer_scorers import forecast
from marchwarden.evaluation.scoring.logistic import fit_logistic
from marchwarden.evidence.confidence import calibrated
from marchwarden.files import write_whole
from marchwarden.programs import CALIBRATION, Calibration, EstimateCurve, log_odds

# Questions with forecasts that a fit needs: fewer say too little about two numbers. A guess.
LEAST = 20
# Penalty on the two slopes of a fit with estimates, which may be the same for all answers. A guess: next to nothing.
_PENALTY = 0.01
# Parts of the questions in the cross-validation. A guess: the usual number.
FOLDS = 5


@dataclass(frozen=True)
class Forecast:
    """An answer that claimed something, with its score by the rubric alone and its label."""

    question: str
    """Id of the question."""
    score: float
    right: bool
    factors: ConfidenceFactors


@dataclass(frozen=True)
class Quality:
    """0–1 each; metrics.forecast has the formulas."""

    brier: float
    calibration_error: float
    auroc: float | None
    """Area under the ROC curve, 0–1; None where all answers are right, or all wrong."""


@dataclass(frozen=True)
class BeforeAfter:
    questions: str
    """Name of the questions: `shipped dev`."""
    forecasts: int
    right: float
    """Share of the forecasts that came true, 0–1."""
    before: Quality
    after: Quality


@dataclass(frozen=True)
class CalibrationReport:
    calibration: Calibration
    own: BeforeAfter
    """Figures on the questions of the fit; each was calibrated by a fit to the other folds."""
    test: BeforeAfter | None
    """Figures on other questions; None where no test run was given."""

    def as_json(self) -> dict[str, Any]:
        return {
            "calibration": self.calibration.model_dump(mode="json"),
            "own": {**asdict(self.own), "folds": FOLDS},
            "test": self.test and asdict(self.test),
        }


def calibrate(run: Run, test: Run | None = None) -> CalibrationReport:
    """Fit a calibration to a run, and measure it there (cross-validated) and on a second run of other questions.

    Raises EvaluationError where the run has too few forecasts or only right or wrong ones, and where the second one
    shares questions with it, is of another model or program, or has no forecast.
    """
    forecasts = forecasts_of(run)
    # Answers to one question, of several epochs, say little more than one of them.
    if (questions := len({each.question for each in forecasts})) < LEAST:
        raise EvaluationError(
            f"{run.folder} has {questions} questions whose answers claim something; a calibration takes {LEAST}",
            hint="Ask more questions: marchwarden eval.",
        )
    if len({each.right for each in forecasts}) == 1:
        what = "right" if forecasts[0].right else "wrong"
        raise EvaluationError(
            f"all answers of {run.folder} are {what} ({len(forecasts)}): nothing tells when to be sure",
            hint="Ask more questions: marchwarden eval.",
        )
    slope, intercept = fit([(each.score, each.right) for each in forecasts])
    calibration = Calibration(
        format=1,
        with_estimate=_curve_with_estimates(forecasts),
        model_id=run.info.model_id,
        slope=slope,
        intercept=intercept,
        questions=len(forecasts),
        fitted_on=_named(run.info),
        labels=run.info.labels,
        web=run.info.web,
        stages=run.info.compiled,
        date=now().date().isoformat(),
    )
    own = _measured(_named(run.info), forecasts, _cross_validated(calibration, forecasts))
    return CalibrationReport(calibration, own, _tested(calibration, run, test) if test else None)


def joined(runs: Sequence[Run]) -> Run:
    """Return several runs of one model as one, to fit to all of their answers.

    Raises EvaluationError where they are of different models or programs, or share a question.
    """
    first = runs[0]
    if len(runs) == 1:
        return first
    records = [record for run in runs for record in run.records]
    asked = [question for run in runs for question in {record.question.question for record in run.records}]
    if len({(run.info.model_id, run.info.program) for run in runs}) > 1:
        raise EvaluationError("the runs are of different models or programs", hint="Fit to runs of one.")
    if len(set(asked)) < len(asked):
        raise EvaluationError("the runs share questions", hint="Fit to runs of different questions.")
    split = "+".join(run.info.split or run.info.questions for run in runs)
    labels = fingerprint([run.info.labels for run in runs])
    return Run(first.folder, first.info.model_copy(update={"split": split, "labels": labels}), records)


def forecasts_of(run: Run) -> list[Forecast]:
    """Return the forecasts of a run, from the records' cells of the metric `forecast`."""
    return [
        Forecast(record.id, cells["uncalibrated"], bool(cells["right"]), record.result.confidence_factors)
        for record in run.records
        if record.result and (cells := record.cells.get(forecast.__name__))
    ]


def save(calibration: Calibration, folder: Path) -> Path:
    """Write a calibration into a program's folder, in place of an earlier one. Raises StorageError."""
    path = folder / CALIBRATION
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, calibration.model_dump_json(indent=2).encode("utf-8") + b"\n")
    except OSError as error:
        raise StorageError(
            f"{path} can't be written: {error.strerror or error}", hint="Name another folder with --out."
        ) from None
    return path


def _named(info: RunInfo) -> str:
    return f"{info.questions} {info.split}" if info.split else info.questions


# On which questions


def _cross_validated(calibration: Calibration, forecasts: Sequence[Forecast]) -> list[float]:
    """Return the confidence of each forecast by a fit to the folds that it is not in."""
    # Right and wrong forecasts are divided evenly among the folds, in the order of their ids; those of one question,
    # of several epochs, are in one.
    ranked = sorted(forecasts, key=lambda each: (each.right, each.question))
    fold_of = {name: rank % FOLDS for rank, name in enumerate(dict.fromkeys(each.question for each in ranked))}
    folds = [fold_of[each.question] for each in forecasts]
    found = [0.0] * len(forecasts)
    for fold in range(FOLDS):
        others = [each for each, own in zip(forecasts, folds, strict=True) if own != fold]
        slope, intercept = fit([(each.score, each.right) for each in others])
        curve = _curve_with_estimates(others) if calibration.with_estimate else None
        fitted = calibration.model_copy(update={"slope": slope, "intercept": intercept, "with_estimate": curve})
        for place, each in enumerate(forecasts):
            if folds[place] == fold:
                found[place] = calibrated(each.score, each.factors, fitted, each.factors.estimated)
    return found


def _tested(calibration: Calibration, run: Run, test: Run) -> BeforeAfter:
    if test.info.model_id != run.info.model_id:
        raise EvaluationError(
            f"{test.folder} is of {test.info.model_id}, {run.folder} of {run.info.model_id}",
            hint="A calibration is of one model: test it on a run of that model.",
        )
    if test.info.compiled != run.info.compiled:
        raise EvaluationError(
            f"{test.folder} and {run.folder} were answered by other compiled stages",
            hint="A calibration is of what answered: test it on a run of the same program.",
        )
    asked = {record.question.question for record in run.records}
    tested = {record.question.question for record in test.records}
    if shared := len(asked & tested):
        raise EvaluationError(
            f"{shared} of the {len(tested)} questions of {test.folder} are in {run.folder} too",
            hint="Test on other questions than those that are fitted to, such as another split.",
        )
    forecasts = forecasts_of(test)
    if not forecasts:
        raise EvaluationError(f"{test.folder} has no answer that claims something", hint="Test on another run.")
    after = [calibrated(each.score, each.factors, calibration, each.factors.estimated) for each in forecasts]
    return _measured(_named(test.info), forecasts, after)


def _measured(questions: str, forecasts: Sequence[Forecast], after: Sequence[float]) -> BeforeAfter:
    right = [each.right for each in forecasts]
    qualities = []
    for confidences in ([each.score for each in forecasts], after):
        cells = [{"confidence": one, "right": other} for one, other in zip(confidences, right, strict=True)]
        qualities.append(Quality(brier(cells) or 0.0, calibration_error(cells) or 0.0, auroc(cells)))
    return BeforeAfter(questions, len(right), fmean(right), *qualities)


# The fit


def fit(scored: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Return slope and intercept, in log-odds, from the score to the chance of a right answer.

    They minimise the cross entropy to Platt's targets, (right + 1) / (right + 2) for a right answer and 1 / (wrong +
    2) for a wrong one. A better score never means a worse chance: where it would, the slope is 0, and every score
    gets the same.
    """
    right = np.array([label for _, label in scored], dtype=bool)
    odds = np.array([log_odds(score) for score, _ in scored])
    targets = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))
    level = float(np.log(targets.mean() / (1 - targets.mean())))
    middle = float(odds.mean())
    slope, intercept = 0.0, level
    if spread := float(np.ptp(odds)):
        slopes, intercept = fit_logistic((odds - middle)[:, None] / spread, targets)
        slope = float(slopes[0]) / spread
    if slope <= 0:
        return 0.0, round(level, 6)
    return round(slope, 6), round(intercept - slope * middle, 6)


def _curve_with_estimates(forecasts: Sequence[Forecast]) -> EstimateCurve | None:
    """Fit the score and the model's own estimate together, as `fit` does the score alone.

    None where fewer than `LEAST` questions have forecasts with an estimate, or all of those are right or all wrong.
    An estimate that does not rise with the chance of a right answer counts nothing.
    """
    told = [(each, estimated) for each in forecasts if (estimated := each.factors.estimated) is not None]
    right = np.array([each.right for each, _ in told], dtype=bool)
    if len({each.question for each, _ in told}) < LEAST or right.all() or not right.any():
        return None
    targets = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))
    odds = np.array([[log_odds(each.score), log_odds(estimated)] for each, estimated in told])
    slopes, intercept = fit_logistic(odds, targets, penalty=_PENALTY)
    slope, of_estimate = (float(each) for each in slopes)
    if slope < 0 or of_estimate <= 0:
        slope, intercept = fit([(each.score, each.right) for each, _ in told])
        of_estimate = 0.0
    return EstimateCurve(
        slope=round(slope, 6), of_estimate=round(of_estimate, 6), intercept=round(intercept, 6), questions=len(told)
    )
