from __future__ import annotations

from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evaluation.labels.pairing import paired

edges = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


def most(fitting: set[tuple[int, int]]) -> int:
    return max(
        sum((label, report) in fitting for label, report in enumerate(order)) for order in permutations(range(4))
    )


@given(edges, st.randoms(use_true_random=False))
def test_there_are_as_many_pairs_as_can_be_in_any_order_and_nothing_is_in_two(
    fitting: set[tuple[int, int]], random: Any
) -> None:
    labels, reports = random.sample(range(4), 4), random.sample(range(4), 4)
    pairs = paired(labels, reports, lambda label, report: (label, report) in fitting)
    assert set(pairs) <= fitting
    assert len(pairs) == most(fitting)
    assert len({label for label, _ in pairs}) == len({report for _, report in pairs}) == len(pairs)


def test_a_label_gives_way_to_one_that_has_no_other_report() -> None:
    fits = {("a", 1), ("a", 2), ("b", 1)}
    pairs = paired(["a", "b"], [1, 2], lambda label, report: (label, report) in fits)
    assert sorted(pairs) == [("a", 2), ("b", 1)]
