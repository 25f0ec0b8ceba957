"""Formats of figures, for all places where people read them: terminals, Markdown, HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.evaluation.runs.scores import Score
    from marchwarden.evaluation.scoring.metrics import Metric

# Questions from which on an interval is shown: resampling fewer gives back the few that there are. A guess.
FEW = 5


def number(metric: Metric, value: float | None) -> str:
    """Return a figure for people: a share with three decimals, an amount with about three digits; a dash for None."""
    if value is None:
        return "–"
    return f"{value:.3f}" if metric.is_share else amount(value)


def amount(value: float) -> str:
    """Return an amount with about three significant digits: `12,345`, `3.78`, `0.0042`."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def words(name: str) -> str:
    """Return a metric's name as words: `gap_f1` → `gap F1`."""
    return name.replace("_", " ").replace("f1", "F1").replace("auroc", "AUROC")


def between(score: Score) -> str:
    """Return the interval; a dash where it is of too few questions, nothing where the metric has none."""
    if score.low is None or score.high is None:
        return ""
    return f"{score.low:.2f} – {score.high:.2f}" if score.questions >= FEW else "–"


def between_epochs(score: Score) -> str:
    """Return the lowest and the highest figure of an epoch, with the standard deviation between epochs; nothing where
    fewer than two have a figure."""
    if score.spread is None:
        return ""
    there = [value for value in score.epochs if value is not None]
    low, high = number(score.metric, min(there)), number(score.metric, max(there))
    return f"{low} – {high}, sd {number(score.metric, score.spread)}"
