"""The compile of the researcher without a model: its parameters, with the same bookkeeping as a model's stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from marchwarden.evaluation.labels.questions import Question
from marchwarden.optimization.estimate import Order
from marchwarden.optimization.model_free.parameter_search import ParametersReport, Trial, compile_parameters
from marchwarden.optimization.program_records import Outcome, build_program_info
from marchwarden.optimization.spending import Stopped
from marchwarden.programs import (
    PARAMETERS,
    CostRecord,
    FigureRecord,
    StageRecord,
    WholeRecord,
    parameters_signature,
    save_program,
)

TRIALS_FILE = "trials.jsonl"


async def compile_model_free(
    order: Order,
    train: Sequence[Question],
    dev: Sequence[Question],
    *,
    folder: Path,
    out: Path,
    on_trial: Callable[[Trial], None] = lambda trial: None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Outcome, ParametersReport]:
    """Search the parameters, from the defaults, and put them in place where dev shows that they help.

    Raises EvaluationError where optuna is missing, ConfigurationError, StorageError.
    """
    report = await compile_parameters(
        train,
        dev,
        order.settings,
        seed=order.seed,
        trials=order.trials,
        resume=folder / TRIALS_FILE,
        on_trial=on_trial,
        stop=stop,
    )
    cost = CostRecord(seconds=report.seconds, dollars=0.0)
    info = build_program_info(order, {PARAMETERS: _record(report)}, dev, cost)
    whole = None
    if report.answers.kept:
        # Else the answers to the dev questions did not change.
        figures = {
            name: FigureRecord(uncompiled=one, compiled=other) for name, (one, other) in report.figures.items()
        }
        whole = WholeRecord(questions=report.questions[1], split="dev", figures=figures)
    outcome = Outcome(info.model_copy(update={"whole": whole}), {})
    if report.stopped:
        outcome.stopped = Stopped("it was interrupted", "--resume goes on.")
    if report.kept:
        outcome.file = save_program(out, outcome.info, [], report.parameters)
    return outcome, report


def _record(report: ParametersReport) -> StageRecord:
    verdict = report.decisive
    before, after = verdict.dev or (0.0, None)
    return StageRecord(
        kept=report.kept,
        reason=f"{report.trials} trials. Answers: {report.answers.reason}. Confidence: {report.confidence.reason}.",
        optimizer="tpe",
        seed=report.seed,
        signature=parameters_signature(),
        dev_examples=report.questions[1],
        uncompiled=before,
        compiled=after,
        difference=verdict.interval,
        seconds=report.seconds,
    )
