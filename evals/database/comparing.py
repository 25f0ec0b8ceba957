"""Intervals of accuracy. Rows are compared as the compiler compares them (evaluation/scoring/row_comparison.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Resamples of an interval. A guess.
SAMPLES = 1000


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
