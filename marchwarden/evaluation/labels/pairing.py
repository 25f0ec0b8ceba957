"""Pair labels with reports: each counts once, so nothing is gained by saying a thing twice or all at once.

Own code rather than scipy.sparse.csgraph.maximum_bipartite_matching: a question has a handful of labels, so that
these lines are less than a sparse matrix and the dependency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Label = TypeVar("Label")
Report = TypeVar("Report")


def paired(
    labels: Sequence[Label], reports: Sequence[Report], fits: Callable[[Label, Report], bool]
) -> list[tuple[Label, Report]]:
    """Return as many pairs as there can be, so that their number depends on no order (augmenting paths, Kuhn
    1955)."""
    label_of: dict[int, int] = {}  # places in `labels`, by places in `reports`

    def meet(label: int, tried: set[int]) -> bool:
        for place, report in enumerate(reports):
            if place in tried or not fits(labels[label], report):
                continue
            tried.add(place)
            if place not in label_of or meet(label_of[place], tried):
                label_of[place] = label
                return True
        return False

    for label in range(len(labels)):
        meet(label, set())
    return [(labels[label], reports[place]) for place, label in label_of.items()]
