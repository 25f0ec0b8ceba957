"""Comparison of a statement's rows with those of a gold statement, and intervals of accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

import numpy as np

Row = Sequence[object]
# Resamples of an interval, and columns up to which every order of them is tried. Guesses.
SAMPLES, MOST_COLUMNS = 1000, 5


def is_same(found: Sequence[Row], gold: Sequence[Row], *, ordered: bool) -> bool:
    """Return whether two results hold the same rows: columns in any order; rows too, unless the gold orders them."""
    if len(found) != len(gold):
        return False
    if not gold:
        return True
    if len(found[0]) != len(gold[0]):
        return False
    wanted = [tuple(map(_value, row)) for row in gold]
    orders = permutations(range(len(gold[0]))) if len(gold[0]) <= MOST_COLUMNS else [range(len(gold[0]))]
    for order in orders:
        rows = [tuple(_value(row[place]) for place in order) for row in found]
        if rows == wanted if ordered else Counter(rows) == Counter(wanted):
            return True
    return False


def _value(value: object) -> object:
    try:
        return round(float(str(value)), 4)
    except ValueError:
        return str(value)


def share(flags: Sequence[bool]) -> str:
    """Return a share with its 95 % interval, by a bootstrap over the questions."""
    if not flags:
        return "–"
    drawn = np.random.default_rng(0).choice(np.array(flags, dtype=float), size=(SAMPLES, len(flags))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{np.mean(flags):.3f} ({low:.3f}–{high:.3f})"


def summary(records: Sequence[tuple[bool, bool]]) -> str:
    """Return a line for records of (answered, right)."""
    right = [is_right for _, is_right in records]
    answered = [is_right for is_answered, is_right in records if is_answered]
    return f"{len(records)} questions, {len(answered)} answered: accuracy {share(right)}, precision {share(answered)}"
