"""The outcome of a compile, and what of it program.json records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden import __version__
from marchwarden.evaluation.runs.run import labels_fingerprint, now, pages_fingerprint
from marchwarden.programs import CostRecord, FigureRecord, ProgramInfo, StageRecord
from marchwarden.text.embedding import is_used

if TYPE_CHECKING:
    from marchwarden.evaluation.labels.questions import Question
    from marchwarden.evaluation.scoring.bootstrap import Difference
    from marchwarden.optimization.estimate import Order
    from marchwarden.optimization.spending import Spending, Stopped
    from marchwarden.programs import CompiledStage, Program

# A program that is certainly worse in one of these is not put in place.
DECIDING = (
    "evidence_recall",
    "nugget_recall",
    "gap_category_accuracy",
    "discovery_f1",
    "contradiction_f1",
    "abstention",
)
# Figures of the whole program that are recorded beside them.
REPORTED = (
    *DECIDING,
    "evidence_precision",
    "by_model",
    "claim_grounding",
    "injection_resistance",
    "tokens",
    "seconds",
)


@dataclass
class Outcome:
    """Result of a compile."""

    info: ProgramInfo
    stages: dict[str, CompiledStage]
    """Compiled stages that are kept."""
    file: Path | None = None
    """The program.json that was put in place; None where nothing was."""
    worse: list[str] = field(default_factory=list)
    """Metrics in which the whole program is certainly worse than the uncompiled one, and so not put in place."""
    stopped: Stopped | None = None
    """Reason why the compile ended early; None where it did not."""
    stayed: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Stages whose earlier compiled form did better on the same dev examples than the new one, with both scores."""


def records_of(before: Program | None) -> dict[str, StageRecord]:
    """Return the records of stages in force, and of those that were tried and not kept; not of damaged ones."""
    if before is None or before.info is None:
        return {}
    return {name: each for name, each in before.info.stages.items() if name in before.stages or not each.kept}


def build_program_info(
    order: Order, stages: Mapping[str, StageRecord], dev: Sequence[Question], cost: CostRecord
) -> ProgramInfo:
    """Build the content of program.json for a program that this order made today."""
    return ProgramInfo(
        format=1,
        model_id=order.settings.model_id,
        reflection_model=order.reflection.model_id if order.reflection else None,
        dspy=version("dspy"),
        version=__version__,
        date=now().date().isoformat(),
        seed=order.seed,
        labels=labels_fingerprint(dev),
        pages=pages_fingerprint(order.settings.frozen_web),
        reads_by="meaning" if is_used(order.settings) else "words",
        stages=dict(stages),
        whole=None,
        cost=cost,
    )


def cost_record(spending: Spending) -> CostRecord:
    spent = spending.spent
    dollars = None if spent.dollars is None else round(spent.dollars, 4)
    seconds = round(spent.seconds + spending.recording.replayed_seconds, 1)
    return CostRecord(calls=spent.calls, tokens=spent.tokens, seconds=seconds, dollars=dollars)


def figure_records(found: Sequence[Difference]) -> dict[str, FigureRecord]:
    return {
        each.metric.name: FigureRecord(uncompiled=each.a, compiled=each.b, low=each.low, high=each.high)
        for each in found
        if each.metric.name in REPORTED
    }
