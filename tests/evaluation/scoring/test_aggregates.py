"""From cells to figures: against naive forms of the same definitions."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evaluation.scoring.aggregates import (
    MISSED,
    NONE_GOLD,
    Cells,
    area_under_roc,
    auroc,
    brier,
    calibration_error,
    confusion,
    f1,
    has_something,
    macro_recall,
    mean_value,
    median_value,
    precision,
    recall,
    reliability,
    share,
    total_value,
)

confidences = st.integers(0, 100).map(lambda hundredths: hundredths / 100)
forecasts: st.SearchStrategy[list[Cells]] = st.lists(
    st.builds(dict, confidence=confidences, right=st.booleans()), max_size=30
)
names = st.sampled_from(["a", "b", "c"])
pairs = st.lists(st.tuples(names | st.just(NONE_GOLD), names | st.just(MISSED)).map(list), min_size=1, max_size=6)


@st.composite
def counted(draw: st.DrawFn) -> Cells:
    met = draw(st.integers(0, 4))
    return {"found": met + draw(st.integers(0, 4)), "right": met, "wanted": met + draw(st.integers(0, 4)), "met": met}


def shuffled(cells: list[Cells], random: Any) -> list[Cells]:
    again: list[Cells] = random.sample(cells, len(cells))
    return again


# Shares


def test_labels_count_alike_whichever_question_they_belong_to() -> None:
    assert share([{"hits": 1, "of": 1}, {"hits": 0, "of": 3}]) == 1 / 4
    assert share([{"hits": 0, "of": 0}]) is None


@given(st.lists(counted(), max_size=6), st.randoms(use_true_random=False))
def test_precision_recall_and_f1_keep_to_their_range_and_their_definition(cells: list[Cells], random: Any) -> None:
    of_found, of_wanted, both = precision(cells), recall(cells), f1(cells)
    assert (both is None) == (of_found is None and of_wanted is None)
    for value in (of_found, of_wanted, both):
        assert value is None or 0 <= value <= 1
    if of_found and of_wanted:
        assert both == pytest.approx(2 / (1 / of_found + 1 / of_wanted))
        assert min(of_found, of_wanted) - 1e-9 <= (both or 0) <= (of_found + of_wanted) / 2 + 1e-9
    elif both is not None:
        assert both == 0
    again = shuffled(cells, random)
    assert (precision(again), recall(again), f1(again)) == (of_found, of_wanted, both)


@given(st.lists(counted(), min_size=1, max_size=6), st.integers(1, 5))
def test_what_is_found_besides_lowers_precision_and_leaves_recall(cells: list[Cells], more: int) -> None:
    spurious = [*cells, {"found": more, "right": 0, "wanted": 0, "met": 0}]
    assert recall(spurious) == recall(cells)
    before, after = precision(cells), precision(spurious)
    assert before is None or (after is not None and (after < before or before == after == 0))


def test_nothing_found_is_no_precision_and_nothing_wanted_no_recall() -> None:
    nothing = {"found": 0, "right": 0, "wanted": 0, "met": 0}
    assert precision([nothing]) is recall([nothing]) is f1([nothing]) is None
    assert f1([{**nothing, "wanted": 2}]) == f1([{**nothing, "found": 2}]) == 0


# Categories


def test_rare_categories_weigh_as_much_as_common_ones() -> None:
    cells = [{"pairs": [["a", "a"]] * 9 + [["b", "a"]]}, {"pairs": [[NONE_GOLD, "b"]]}]
    assert macro_recall(cells) == 0.5
    assert confusion(cells) == {("a", "a"): 9, ("b", "a"): 1, (NONE_GOLD, "b"): 1}
    assert macro_recall([{"pairs": [[NONE_GOLD, "b"]]}]) is None


@given(st.lists(st.builds(dict, pairs=pairs), max_size=5), st.randoms(use_true_random=False))
def test_category_accuracy_keeps_to_its_range_and_counts_every_pair(cells: list[Cells], random: Any) -> None:
    value = macro_recall(cells)
    assert value is None or 0 <= value <= 1
    assert macro_recall(shuffled(cells, random)) == pytest.approx(value)
    assert confusion(cells).total() == sum(len(cell["pairs"]) for cell in cells)
    right = [{"pairs": [[gold, gold] for gold, _ in cell["pairs"]]} for cell in cells]
    assert macro_recall(right) in (None, 1)


# Confidence


@given(forecasts)
def test_auroc_is_the_pairwise_count(cells: list[Cells]) -> None:
    ups = [cell["confidence"] for cell in cells if cell["right"]]
    downs = [cell["confidence"] for cell in cells if not cell["right"]]
    naive = [(up > down) + (up == down) / 2 for up, down in product(ups, downs)]
    value = auroc(cells)
    assert value == (pytest.approx(sum(naive) / len(naive)) if naive else None)
    turned = [(-cell["confidence"], cell["right"]) for cell in cells]
    assert area_under_roc(turned) == (None if value is None else pytest.approx(1 - value))


def test_auroc_of_a_perfect_order_and_of_none() -> None:
    assert area_under_roc([(0.1, False), (0.2, False), (0.9, True)]) == 1
    assert area_under_roc([(0.5, False), (0.5, True), (0.5, True)]) == 0.5
    assert area_under_roc([(0.5, True)]) is area_under_roc([]) is None


@given(forecasts, st.randoms(use_true_random=False))
def test_brier_and_calibration_error_keep_to_their_range_and_to_no_order(cells: list[Cells], random: Any) -> None:
    for reduce in (brier, calibration_error):
        value = reduce(cells)
        assert (value is None) == (not cells)
        assert value is None or 0 <= value <= 1
        assert reduce(shuffled(cells, random)) == pytest.approx(value)


@given(st.dictionaries(st.integers(1, 10), st.integers(0, 10), min_size=1))
def test_where_every_bin_is_right_as_often_as_it_says_the_error_is_0(groups: dict[int, int]) -> None:
    cells = [
        {"confidence": right / of, "right": place < right}
        for of, right in ((of, min(right, of)) for of, right in groups.items())
        for place in range(of)
    ]
    assert calibration_error(cells) == pytest.approx(0)


def test_certain_and_right_is_0_certain_and_wrong_is_1() -> None:
    for reduce in (brier, calibration_error):
        assert reduce([{"confidence": 1.0, "right": True}, {"confidence": 0.0, "right": False}]) == 0
        assert reduce([{"confidence": 1.0, "right": False}, {"confidence": 0.0, "right": True}]) == 1


@given(forecasts)
def test_the_bins_of_the_reliability_diagram_hold_every_forecast_once(cells: list[Cells]) -> None:
    bins = reliability(cells)
    assert sum(each.count for each in bins) == len(cells)
    for each in bins:
        assert each.high == pytest.approx(each.low + 0.1)
        assert each.low - 1e-9 <= each.confidence <= each.high + 1e-9
        assert 0 <= each.right <= 1
    assert [each.low for each in bins] == sorted({each.low for each in bins})


def test_a_bin_holds_its_lower_bound_and_the_last_one_both() -> None:
    cells = [{"confidence": tenth / 10, "right": True} for tenth in range(11)]
    assert [each.count for each in reliability(cells)] == [1] * 9 + [2]


def test_the_uncalibrated_score_can_be_measured_instead() -> None:
    cells = [
        {"confidence": 0.5, "uncalibrated": 1.0, "right": True},
        {"confidence": 0.5, "uncalibrated": 0.0, "right": 0},
    ]
    assert brier(cells, "uncalibrated") == calibration_error(cells, "uncalibrated") == 0
    assert auroc(cells, "uncalibrated") == 1


# Amounts


def test_amounts_have_a_mean_a_median_and_a_total() -> None:
    cells = [{"value": value} for value in (1, 2, 9)]
    assert (mean_value(cells), median_value(cells), total_value(cells)) == (4, 2, 12)
    assert mean_value([]) is median_value([]) is total_value([]) is None


@pytest.mark.parametrize(
    ("cells", "has"),
    [
        (None, False),
        ({"found": 0, "right": 0, "wanted": 0, "met": 0}, False),
        ({"found": 1, "right": 0, "wanted": 0, "met": 0}, True),
        ({"found": 0, "right": 0, "wanted": 2, "met": 0}, True),
        ({"pairs": [[NONE_GOLD, "a"]]}, False),
        ({"pairs": [["a", MISSED]]}, True),
        ({"hits": 0, "of": 2}, True),
        ({"value": 0}, True),
    ],
)
def test_a_case_counts_for_a_figure_where_it_holds_anything_of_it(cells: Cells | None, has: bool) -> None:
    assert has_something(cells) is has
