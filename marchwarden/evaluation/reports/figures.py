"""How figures are written wherever people read them: terminals, Markdown, pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.evaluation.runs.scores import Score
    from marchwarden.evaluation.scoring.metrics import Metric

# Of fewer questions an interval says little: resampling them gives back the few that there are.
FEW = 5


def number(metric: Metric, value: float | None) -> str:
    """A figure as people read it: shares with three decimals, amounts as they are."""
    if value is None:
        return "–"
    return f"{value:.3f}" if metric.is_share else amount(value)


def amount(value: float) -> str:
    """`12,345`, `3.78`, `0.0042`: about three digits that count."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def words(name: str) -> str:
    """`gap_f1` → `gap F1`."""
    return name.replace("_", " ").replace("f1", "F1").replace("auroc", "AUROC")


def between(score: Score) -> str:
    """The interval; a dash where too few questions make one, nothing where the metric has none."""
    if score.low is None or score.high is None:
        return ""
    return f"{score.low:.2f} – {score.high:.2f}" if score.questions >= FEW else "–"


def counted(number: int, noun: str) -> str:
    """`1 page`, `3 pages`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
