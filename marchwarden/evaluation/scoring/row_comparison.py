"""Comparison of a statement's rows with those of a gold statement, as Spider and Defog count execution accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

Row = Sequence[object]
# Columns up to which every order of them is tried. A guess.
MOST_COLUMNS = 5


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
