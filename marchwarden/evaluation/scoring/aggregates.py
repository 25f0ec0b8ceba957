"""Reduce the cells of many cases to one figure. Each label counts alike, whichever question it belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, TypeAlias

# Counts that a scorer found in one case, as JSON.
Cells: TypeAlias = dict[str, Any]
Reduce: TypeAlias = Callable[[Sequence[Cells]], float | None]
# In a confusion matrix: the column of labelled gaps that were not reported, and the row of gaps without a label.
MISSED, NONE_GOLD = "missed", "not labelled"
# Equal bins of confidence, the usual number since Guo et al. (2017).
BINS = 10


def has_something(cells: Cells | None) -> bool:
    """Return whether a case counts towards a figure's n."""
    if cells is None:
        return False
    if "wanted" in cells:  # findings: something was found or wanted
        return bool(cells["found"] or cells["wanted"])
    if "pairs" in cells:  # gap categories: a label has one
        return any(gold != NONE_GOLD for gold, _ in cells["pairs"])
    return True


def share(cells: Sequence[Cells]) -> float | None:
    """Return Σ hits / Σ of; None where there is nothing to hit."""
    return _ratio(sum(cell["hits"] for cell in cells), sum(cell["of"] for cell in cells))


def precision(cells: Sequence[Cells]) -> float | None:
    """Return Σ right / Σ found; None where nothing was found."""
    return _ratio(sum(cell["right"] for cell in cells), sum(cell["found"] for cell in cells))


def recall(cells: Sequence[Cells]) -> float | None:
    """Return Σ met / Σ wanted; None where nothing was wanted."""
    return _ratio(sum(cell["met"] for cell in cells), sum(cell["wanted"] for cell in cells))


def f1(cells: Sequence[Cells]) -> float | None:
    """Return the harmonic mean of precision and recall, 0 where one of them is 0.

    None where nothing was found and nothing was wanted.
    """
    of_found, of_wanted = precision(cells), recall(cells)
    if of_found is None and of_wanted is None:
        return None
    if not of_found or not of_wanted:
        return 0.0
    return 2 * of_found * of_wanted / (of_found + of_wanted)


def macro_recall(cells: Sequence[Cells]) -> float | None:
    """Return the mean over gold categories of the share whose category was reported right; None without a label."""
    by_gold: dict[str, list[bool]] = {}
    for cell in cells:
        for gold, told in cell["pairs"]:
            if gold != NONE_GOLD:
                by_gold.setdefault(gold, []).append(gold == told)
    return fmean(fmean(right) for right in by_gold.values()) if by_gold else None


def confusion(cells: Sequence[Cells]) -> Counter[tuple[str, str]]:
    """Count how often a gold category (or `not labelled`) was reported as each category (or `missed`)."""
    return Counter((gold, told) for cell in cells for gold, told in cell["pairs"])


def brier(cells: Sequence[Cells], which: str = "confidence") -> float | None:
    return fmean((cell[which] - cell["right"]) ** 2 for cell in cells) if cells else None


@dataclass(frozen=True)
class Bin:
    """The forecasts of one tenth of the scale."""

    low: float
    high: float
    count: int
    confidence: float
    """Mean confidence of the forecasts in the bin, 0–1."""
    right: float
    """Share of the forecasts in the bin that came true, 0–1."""


def reliability(cells: Sequence[Cells], which: str = "confidence") -> list[Bin]:
    """Return the bins that are not empty, of ten equal bins of confidence; 1.0 is in the last."""
    by_bin: dict[int, list[Cells]] = {}
    for cell in cells:
        by_bin.setdefault(min(int(cell[which] * BINS), BINS - 1), []).append(cell)
    return [
        Bin(
            low=number / BINS,
            high=(number + 1) / BINS,
            count=len(inside),
            confidence=fmean(cell[which] for cell in inside),
            right=fmean(cell["right"] for cell in inside),
        )
        for number, inside in sorted(by_bin.items())
    ]


def calibration_error(cells: Sequence[Cells], which: str = "confidence") -> float | None:
    if not cells:
        return None
    return sum(each.count * abs(each.confidence - each.right) for each in reliability(cells, which)) / len(cells)


def auroc(cells: Sequence[Cells], which: str = "confidence") -> float | None:
    return area_under_roc([(cell[which], bool(cell["right"])) for cell in cells])


def area_under_roc(scored: Sequence[tuple[float, bool]]) -> float | None:
    """Return the chance that a positive scores higher than a negative (Mann–Whitney U); None for one class alone.

    A tie counts half.
    """
    positives = sum(label for _, label in scored)
    negatives = len(scored) - positives
    if not positives or not negatives:
        return None
    by_score: dict[float, list[bool]] = {}
    for score, label in scored:
        by_score.setdefault(score, []).append(label)
    below, wins = 0, 0.0
    for _, labels in sorted(by_score.items()):
        ups = sum(labels)
        downs = len(labels) - ups
        wins += ups * (below + downs / 2)
        below += downs
    return wins / (positives * negatives)


def mean_value(cells: Sequence[Cells]) -> float | None:
    return fmean(cell["value"] for cell in cells) if cells else None


def median_value(cells: Sequence[Cells]) -> float | None:
    return median(cell["value"] for cell in cells) if cells else None


def total_value(cells: Sequence[Cells]) -> float | None:
    return sum(cell["value"] for cell in cells) if cells else None


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


# Figures that are the same of many cells and of one cell that holds the sums of these counts.
OF_SUMS: Mapping[Reduce, tuple[str, ...]] = {
    share: ("hits", "of"),
    precision: ("right", "found"),
    recall: ("met", "wanted"),
    f1: ("right", "found", "met", "wanted"),
}
