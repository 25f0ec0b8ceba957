"""Intervals of accuracy. Rows are compared as the compiler compares them (evaluation/scoring/row_comparison.py)."""

from __future__ import annotations

from collections.abc import Sequence

from marchwarden.evaluation.scoring.bootstrap import mean_interval


def share(flags: Sequence[bool]) -> str:
    """Return a share with its 95 % interval, by a bootstrap over the questions."""
    bounds = mean_interval(flags)
    if bounds is None:
        return "–"
    return f"{sum(flags) / len(flags):.3f} ({bounds[0]:.3f}–{bounds[1]:.3f})"


def summary(records: Sequence[tuple[bool, bool]]) -> str:
    """Return a line for records of (answered, right)."""
    right = [is_right for _, is_right in records]
    answered = [is_right for is_answered, is_right in records if is_answered]
    return f"{len(records)} questions, {len(answered)} answered: accuracy {share(right)}, precision {share(answered)}"


def totals(records: Sequence[tuple[bool, bool]], refused: Sequence[bool]) -> str:
    """Return lines for records of (answered, right), and for questions without an answer: whether each is a gap."""
    answered = sum(each for each, _ in records) + refused.count(False)
    return (
        f"with an answer: {summary(records)}\n"
        f"without one: {len(refused)} questions, {sum(refused)} end in a gap\n"
        f"precision of all answers: {sum(right for _, right in records)} of {answered}"
    )
