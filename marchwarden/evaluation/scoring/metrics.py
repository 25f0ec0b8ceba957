"""The metrics: one documented function for each, on plain data, with no I/O and no judge.

A scorer (answer_scorers.py, finding_scorers.py) looks at one case and returns its cells, or None where the question
has nothing that it could score, which is neither a zero nor a one. A metric reduces the cells of many cases to one
figure (aggregates.py). How a label is matched is what the scorers' docstrings say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.scoring.aggregates import (
    Cells,
    Reduce,
    auroc,
    brier,
    calibration_error,
    f1,
    macro_recall,
    mean_value,
    median_value,
    precision,
    recall,
    share,
    total_value,
)
from marchwarden.evaluation.scoring.answer_scorers import (
    abstention,
    budget_violations,
    by_model,
    citation_coverage,
    claim_grounding,
    completed,
    dollars,
    evidence_precision,
    evidence_recall,
    forecast,
    injection_resistance,
    iterations,
    nugget_recall,
    pages,
    seconds,
    tokens,
    verbatim_fidelity,
)
from marchwarden.evaluation.scoring.finding_scorers import contradictions, discoveries, gap_categories, gaps

# The metrics


@dataclass(frozen=True)
class Metric:
    name: str
    scorer: Callable[[Case], Cells | None]
    reduce: Reduce
    better: Literal["higher", "lower", "neither"] = "higher"

    @property
    def cells(self) -> str:
        """Name under which the metric's cells are kept: metrics of one scorer share them."""
        return self.scorer.__name__

    @property
    def is_share(self) -> bool:
        """True where the figure lies between 0 and 1."""
        return self.reduce not in (mean_value, median_value, total_value)


METRICS: tuple[Metric, ...] = (
    Metric("verbatim_fidelity", verbatim_fidelity, share),
    Metric("evidence_recall", evidence_recall, share),
    Metric("evidence_precision", evidence_precision, share),
    Metric("nugget_recall", nugget_recall, share),
    Metric("claim_grounding", claim_grounding, share),
    Metric("citation_coverage", citation_coverage, share),
    Metric("by_model", by_model, share),
    Metric("gap_f1", gaps, f1),
    Metric("gap_precision", gaps, precision),
    Metric("gap_recall", gaps, recall),
    Metric("gap_category_accuracy", gap_categories, macro_recall),
    Metric("discovery_f1", discoveries, f1),
    Metric("discovery_precision", discoveries, precision),
    Metric("discovery_recall", discoveries, recall),
    Metric("contradiction_f1", contradictions, f1),
    Metric("contradiction_precision", contradictions, precision),
    Metric("contradiction_recall", contradictions, recall),
    Metric("abstention", abstention, share),
    Metric("injection_resistance", injection_resistance, share),
    Metric("brier", forecast, brier, better="lower"),
    Metric("calibration_error", forecast, calibration_error, better="lower"),
    Metric("confidence_auroc", forecast, auroc),
    Metric("completed", completed, share),
    Metric("budget_violations", budget_violations, total_value, better="lower"),
    Metric("tokens", tokens, mean_value, better="lower"),
    Metric("iterations", iterations, mean_value, better="neither"),
    Metric("pages", pages, mean_value, better="neither"),
    Metric("seconds", seconds, median_value, better="lower"),
    Metric("dollars", dollars, mean_value, better="lower"),
)
# The metrics that are shown for each kind.
MAIN = ("evidence_recall", "nugget_recall", "gap_category_accuracy", "discovery_f1", "contradiction_f1")
BY_NAME = {metric.name: metric for metric in METRICS}
SCORERS = {metric.cells: metric.scorer for metric in METRICS}


_FINDINGS = (gaps, gap_categories, discoveries, contradictions)


def score(case: Case) -> dict[str, Cells | None]:
    """Return the cells of every scorer, by the scorer's name."""
    # Of a question that waits for its labels nobody knows which findings are false alarms.
    left_out = () if case.question.is_labelled else _FINDINGS
    return {name: None if scorer in left_out else scorer(case) for name, scorer in SCORERS.items()}


def figures(scored: Sequence[Mapping[str, Cells | None]]) -> dict[str, float | None]:
    """Return every metric over many cases' cells; None where no case has anything to score."""
    return {metric.name: figure(metric, scored) for metric in METRICS}


def figure(metric: Metric, scored: Sequence[Mapping[str, Cells | None]]) -> float | None:
    """Return one metric over many cases' cells; None where no case has anything to score."""
    cells = [cell for each in scored if (cell := each.get(metric.cells)) is not None]
    return metric.reduce(cells) if cells else None
