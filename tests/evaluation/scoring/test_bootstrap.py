"""How sure a difference between two runs is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.scoring.aggregates import Cells
from marchwarden.evaluation.scoring.bootstrap import Difference, difference, differences, interval, mean_interval
from marchwarden.evaluation.scoring.metrics import BY_NAME, score
from tests.evaluation.samples import cases

RECALL, TOKENS, PAGES = BY_NAME["nugget_recall"], BY_NAME["tokens"], BY_NAME["pages"]
Scored = dict[str, Cells | None]


def run_of(*hits: int | None) -> list[Scored]:
    return [{"nugget_recall": None if each is None else {"hits": each, "of": 2}} for each in hits]


shares = st.lists(st.tuples(*[st.none() | st.integers(0, 2)] * 2), min_size=1, max_size=8)


@settings(max_examples=5)
@given(st.lists(cases(), min_size=1, max_size=3))
def test_a_run_differs_from_itself_in_nothing(scored: list[Case]) -> None:
    cells = [score(each) for each in scored]
    for found in differences(cells, cells):
        assert found.value in (None, 0)
        assert (found.low, found.high) in ((None, None), (0, 0)), found.metric.name
        assert not found.is_certain
        assert found.is_better is None


@settings(max_examples=20)
@given(shares)
def test_a_difference_turned_round_is_its_opposite(hits: list[tuple[int | None, int | None]]) -> None:
    a, b = (run_of(*each) for each in zip(*hits, strict=True))
    there, back = difference(RECALL, a, b), difference(RECALL, b, a)
    assert (there.a, there.b, there.questions) == (back.b, back.a, back.questions)
    if there.value is None or back.value is None:
        assert there.value is back.value is None
        return
    assert there.value == -back.value
    if there.low is not None and there.high is not None:
        assert back.low == pytest.approx(-there.high)
        assert back.high == pytest.approx(-there.low)
        assert there.low <= there.high
    assert there.is_certain == back.is_certain


@settings(max_examples=20)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=8))
def test_an_interval_is_within_the_metrics_range_and_the_same_every_time(hits: list[int]) -> None:
    found = interval(RECALL, run_of(*hits))
    assert found is not None
    assert min(hits) / 2 <= found[0] <= found[1] <= max(hits) / 2
    assert found == interval(RECALL, run_of(*hits))


def test_more_questions_make_an_interval_narrower() -> None:
    few, many = interval(RECALL, run_of(*[0, 2] * 4)), interval(RECALL, run_of(*[0, 2] * 40))
    assert few is not None
    assert many is not None
    assert many[1] - many[0] < 0.5 * (few[1] - few[0])
    assert few[0] < 0.5 < few[1]


@settings(max_examples=10)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.integers(2, 5))
def test_asking_the_same_questions_again_makes_no_interval_narrower(hits: list[int], epochs: int) -> None:
    """Answers that repeat say nothing new; counted as questions of their own, they would."""
    names = [str(number) for number in range(len(hits))]
    once, often = run_of(*hits), run_of(*hits * epochs)
    assert interval(RECALL, often, names * epochs) == interval(RECALL, once)
    one, many = (
        difference(RECALL, run_of(*[1] * len(hits)), once),
        difference(RECALL, run_of(*[1] * len(hits) * epochs), often, names * epochs),
    )
    assert (many.low, many.high, many.questions) == (one.low, one.high, one.questions)


def test_where_nothing_can_be_scored_there_is_no_interval() -> None:
    assert interval(RECALL, run_of(None, None)) is interval(RECALL, []) is None
    found = difference(RECALL, run_of(None), run_of(None))
    assert found == Difference(RECALL, None, None, None, None, 0)
    assert found.value is None
    assert not found.is_certain


def test_a_clear_difference_is_certain_and_better_one_way() -> None:
    worse, better = run_of(*[0] * 12), run_of(*[2, 1] * 6)
    up, down = difference(RECALL, worse, better), difference(RECALL, better, worse)
    assert (up.value, up.is_certain, up.is_better) == (0.75, True, True)
    assert (down.is_certain, down.is_better) == (True, False)


def test_fewer_tokens_are_better_and_fewer_pages_neither() -> None:
    many = [{"tokens": {"value": 100 + place}, "pages": {"value": 5}} for place in range(8)]
    few = [{"tokens": {"value": 10 + place}, "pages": {"value": 2}} for place in range(8)]
    assert difference(TOKENS, many, few).is_better
    assert difference(TOKENS, few, many).is_better is False
    neither = difference(PAGES, many, few)
    assert neither.is_certain
    assert neither.is_better is None


def test_one_unlucky_question_is_no_certain_difference() -> None:
    assert not difference(RECALL, run_of(*[2] * 11, 2), run_of(*[2] * 11, 0)).is_certain


def test_questions_are_paired() -> None:
    """Two runs that are far apart on each question, but equally far on all: pairing makes that certain."""
    a, b = run_of(*[0, 1] * 10), run_of(*[1, 2] * 10)
    found = difference(RECALL, a, b)
    assert found.low == pytest.approx(0.5)
    assert found.high == pytest.approx(0.5)
    with pytest.raises(ValueError, match="shorter"):
        difference(RECALL, a, b[1:])


def test_a_question_that_one_run_has_nothing_to_score_on_is_kept() -> None:
    found = difference(RECALL, run_of(2, None), run_of(1, 1))
    assert (found.questions, found.a, found.b) == (2, 1, 0.5)


def test_the_interval_of_a_mean_holds_it_and_is_that_of_the_normal_distribution_for_many_values() -> None:
    flags = [True] * 300 + [False] * 100
    low, high = mean_interval(flags) or (0.0, 0.0)
    half = 1.96 * (0.75 * 0.25 / len(flags)) ** 0.5
    assert (low, high) == pytest.approx((0.75 - half, 0.75 + half), abs=0.005)
    assert mean_interval([]) is None


@pytest.mark.parametrize(("values", "interval"), [([], None), ([0.5], (0.5, 0.5)), ([1.0] * 9, (1.0, 1.0))])
def test_the_interval_of_a_mean_is_as_wide_as_its_values_differ(
    values: list[float], interval: tuple[float, float] | None
) -> None:
    assert mean_interval(values) == interval
