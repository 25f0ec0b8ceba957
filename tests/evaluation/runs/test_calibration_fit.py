"""Confidence fitted to correctness: the fit itself, what it is measured on, and which runs it can't be made of."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import EvaluationError, StorageError
from marchwarden.evaluation.runs.calibration_fit import FOLDS, LEAST, calibrate, fit, forecasts_of, save
from marchwarden.evaluation.runs.run import Record, Run
from marchwarden.programs import CALIBRATION, Calibration, log_odds
from tests.evaluation.made_runs import a_question, a_record, a_run, an_answer

scored = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60)


def a_forecast(name: str, confidence: float, *, right: bool, **factors: object) -> Record:
    said = "Tomatoes need full sun [1]." if right else "Peas need full sun [1]."
    result = an_answer(answer=said, confidence=confidence)
    told = result.confidence_factors.model_copy(update=factors)
    return a_record(a_question(name), result.model_copy(update={"confidence_factors": told}))


def drawn(count: int, *, slope: float, intercept: float, seed: int = 0) -> list[tuple[float, bool]]:
    """Forecasts that come true as a known calibration says."""
    chance = random.Random(seed)
    scores = [round(chance.uniform(0.05, 0.95), 2) for _ in range(count)]
    return [(score, chance.random() < logistic(slope * log_odds(score) + intercept)) for score in scores]


def logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def run_of(folder: Path, forecasts: Sequence[tuple[float, bool]], prefix: str = "q", **info: object) -> Run:
    records = [a_forecast(f"{prefix}{n:03}", score, right=right) for n, (score, right) in enumerate(forecasts)]
    return a_run(folder, records, **info)


def cross_entropy(scored: Sequence[tuple[float, bool]], slope: float, intercept: float) -> float:
    """To Platt's targets."""
    ups = sum(right for _, right in scored)
    high, low = (ups + 1) / (ups + 2), 1 / (len(scored) - ups + 2)
    total = 0.0
    for score, right in scored:
        odds, target = slope * log_odds(score) + intercept, high if right else low
        total += max(odds, 0) + math.log1p(math.exp(-abs(odds))) - target * odds
    return total


# The fit


@given(scored)
def test_no_fit_to_the_targets_of_platt_is_better(scored: list[tuple[float, bool]]) -> None:
    slope, intercept = fit(scored)
    assert slope >= 0
    least = cross_entropy(scored, slope, intercept)
    assert math.isfinite(least)
    for steeper in (-0.01, 0, 0.01):
        for higher in (-0.01, 0, 0.01):
            if slope + steeper >= 0:
                assert cross_entropy(scored, slope + steeper, intercept + higher) >= least - 1e-6


def test_what_forecasts_were_drawn_from_is_found_again() -> None:
    slope, intercept = fit(drawn(4000, slope=0.6, intercept=0.8))
    assert slope == pytest.approx(0.6, abs=0.1)
    assert intercept == pytest.approx(0.8, abs=0.1)


def test_a_score_that_is_worth_nothing_or_less_gives_one_confidence_for_all() -> None:
    upside_down = [(0.2, True)] * 30 + [(0.9, False)] * 10
    slope, intercept = fit(upside_down)
    assert slope == 0
    assert logistic(intercept) == pytest.approx(0.75, abs=0.02)
    assert fit([(0.7, True)] * 30 + [(0.7, False)] * 10) == (slope, intercept)


def test_forecasts_that_a_threshold_divides_give_no_certainty() -> None:
    slope, intercept = fit([(0.4, False)] * 10 + [(0.41, True)] * 10)
    assert slope > 1
    assert 0.8 < logistic(slope * log_odds(0.41) + intercept) < 0.95


# On which questions


def test_a_confidence_that_was_off_is_better_after_than_before_on_own_and_on_other_questions(tmp_path: Path) -> None:
    own = run_of(tmp_path / "dev", drawn(120, slope=1.0, intercept=-1.5))
    other = run_of(
        tmp_path / "test", drawn(120, slope=1.0, intercept=-1.5, seed=1), "t", labels="other", split="test"
    )
    report = calibrate(own, other)
    assert report.test is not None
    for measured in (report.own, report.test):
        assert measured.forecasts == 120
        assert measured.after.brier < measured.before.brier
        assert measured.after.calibration_error < measured.before.calibration_error / 1.5
    assert report.test.after.auroc == pytest.approx(report.test.before.auroc, abs=0.01)
    assert (report.own.questions, report.test.questions) == ("shipped dev", "shipped test")
    fitted = report.calibration
    assert (fitted.model_id, fitted.questions, fitted.fitted_on, fitted.labels) == (
        "extractive",
        120,
        "shipped dev",
        "1abe15",
    )
    assert report.as_json()["own"]["folds"] == FOLDS


def test_what_is_reported_of_the_own_questions_is_not_what_was_fitted_to_them(tmp_path: Path) -> None:
    """A confidence that says nothing can't become better than the share of right answers by looking at them."""
    coin = random.Random(3)
    own = run_of(tmp_path / "dev", [(round(coin.random(), 2), coin.random() < 0.5) for _ in range(40)])
    report = calibrate(own)
    assert report.own.after.brier > 0.25
    assert report.test is None


def test_the_fit_does_not_depend_on_the_order_of_the_records(tmp_path: Path) -> None:
    forecasts = drawn(50, slope=1.0, intercept=0.0)
    one = run_of(tmp_path / "one", forecasts)
    other = a_run(tmp_path / "other", one.records[::-1])
    assert calibrate(one).own.after == calibrate(other).own.after
    assert calibrate(one).calibration == calibrate(other).calibration


def with_estimates(folder: Path, forecasts: Sequence[tuple[float, bool]], *, telling: bool) -> Run:
    """A run whose model knows what is right, or says the opposite."""
    records = [
        a_forecast(f"q{n:03}", score, right=right, estimated=0.8 if right is telling else 0.3)
        for n, (score, right) in enumerate(forecasts)
    ]
    return a_run(folder, records)


def test_estimates_that_tell_right_from_wrong_are_fitted_beside_the_score(tmp_path: Path) -> None:
    forecasts = drawn(80, slope=0.3, intercept=0.0)
    alone = calibrate(run_of(tmp_path / "alone", forecasts))
    both = calibrate(with_estimates(tmp_path / "both", forecasts, telling=True))
    assert alone.calibration.with_estimate is None
    curve = both.calibration.with_estimate
    assert curve is not None
    assert curve.questions == 80
    assert curve.apply(0.6, 0.8) > 0.9 > 0.1 > curve.apply(0.6, 0.3)
    assert both.calibration.slope == alone.calibration.slope
    assert both.own.after.brier < alone.own.after.brier / 2


def test_estimates_that_mislead_count_nothing(tmp_path: Path) -> None:
    forecasts = drawn(80, slope=0.6, intercept=0.0)
    curve = calibrate(with_estimates(tmp_path / "run", forecasts, telling=False)).calibration.with_estimate
    assert curve is not None
    assert curve.of_estimate == 0
    assert curve.apply(0.6, 0.3) == curve.apply(0.6, 0.9)


def test_a_few_estimates_are_too_few_for_a_fit(tmp_path: Path) -> None:
    forecasts = drawn(60, slope=0.6, intercept=0.0)
    few = [
        a_forecast(f"q{n:03}", score, right=right, **({"estimated": 0.5} if n < LEAST - 1 else {}))
        for n, (score, right) in enumerate(forecasts)
    ]
    assert calibrate(a_run(tmp_path / "run", few)).calibration.with_estimate is None


def test_a_run_that_was_calibrated_is_fitted_from_the_score_before(tmp_path: Path) -> None:
    forecasts = drawn(60, slope=1.0, intercept=-1.0)
    raw = run_of(tmp_path / "raw", forecasts)
    told = [
        a_forecast(f"q{n:03}", 0.5, right=right, uncalibrated=score, calibration="calibrated on others")
        for n, (score, right) in enumerate(forecasts)
    ]
    assert calibrate(a_run(tmp_path / "told", told)).calibration == calibrate(raw).calibration


def test_what_is_measured_keeps_the_bounds_that_a_result_keeps(tmp_path: Path) -> None:
    records = [a_forecast(f"q{n:02}", 0.6, right=n > 0, budget_exhausted=True) for n in range(30)]
    report = calibrate(a_run(tmp_path / "dev", records))
    assert report.calibration.apply(0.6) > 0.9
    assert report.own.after.calibration_error == pytest.approx(29 / 30 - 0.69, abs=0.001)


def test_only_answers_that_claim_something_are_forecasts(tmp_path: Path) -> None:
    nothing = an_answer(answer="No source that could be read answers this question.", citations=[])
    run = a_run(
        tmp_path / "r",
        [
            a_forecast("claims", 0.7, right=True),
            a_record(a_question("claims-nothing"), nothing),
            a_record(a_question("failed"), error="SIGKILL"),
        ],
    )
    assert [(each.question, each.score, each.right) for each in forecasts_of(run)] == [("claims", 0.7, True)]


# What is refused


def test_too_few_forecasts_or_only_right_ones_are_refused_with_what_to_do(tmp_path: Path) -> None:
    few = run_of(tmp_path / "few", drawn(LEAST - 1, slope=1.0, intercept=0.0))
    with pytest.raises(EvaluationError, match=f"has {LEAST - 1} questions whose answers claim something") as caught:
        calibrate(few)
    assert caught.value.hint
    with pytest.raises(EvaluationError, match=r"are right \(.*\): nothing tells when to be sure"):
        calibrate(run_of(tmp_path / "right", [(0.5, True)] * LEAST))
    with pytest.raises(EvaluationError, match=r"are wrong \(.*\): nothing"):
        calibrate(run_of(tmp_path / "wrong", [(0.5, False)] * LEAST))


def test_a_test_on_questions_of_the_fit_on_another_model_or_on_nothing_is_refused(tmp_path: Path) -> None:
    forecasts = drawn(30, slope=1.0, intercept=0.0)
    own = run_of(tmp_path / "dev", forecasts)
    half = a_run(tmp_path / "half", [*own.records[:2], a_forecast("new", 0.5, right=True)], labels="others")
    with pytest.raises(EvaluationError, match=r"2 of the 3 questions of .*half are in .*dev too"):
        calibrate(own, half)
    with pytest.raises(EvaluationError, match=r"is of anthropic/x, .* of extractive"):
        calibrate(own, run_of(tmp_path / "x", forecasts, "t", model_id="anthropic/x"))
    with pytest.raises(EvaluationError, match="no answer that claims something"):
        calibrate(own, a_run(tmp_path / "empty", [a_record(a_question("failed"), error="SIGKILL")]))


# Kept


def test_a_calibration_is_of_the_compiled_stages_that_answered(tmp_path: Path) -> None:
    pairs = drawn(60, slope=1.0, intercept=-1.0)
    run = run_of(tmp_path / "a", pairs, compiled="0123456789abcdef")
    assert calibrate(run).calibration.stages == "0123456789abcdef"
    uncompiled = run_of(tmp_path / "b", pairs, "t")
    assert calibrate(uncompiled).calibration.stages is None
    with pytest.raises(EvaluationError, match="answered by other compiled stages"):
        calibrate(run, uncompiled)


def test_a_calibration_is_kept_in_place_of_the_one_before(tmp_path: Path) -> None:
    fitted = calibrate(run_of(tmp_path / "dev", drawn(30, slope=1.0, intercept=0.0))).calibration
    for each in (fitted, fitted.model_copy(update={"slope": 9.0})):
        file = save(each, tmp_path / "programs" / "extractive")
        assert file == tmp_path / "programs" / "extractive" / CALIBRATION
        assert Calibration.model_validate_json(file.read_bytes()) == each
    assert [path.name for path in file.parent.iterdir()] == [CALIBRATION]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    fitted = calibrate(run_of(tmp_path / "dev", drawn(30, slope=1.0, intercept=0.0))).calibration
    with pytest.raises(StorageError, match=r"calibration\.json can't be written") as caught:
        save(fitted, tmp_path / "file")
    assert "--out" in (caught.value.hint or "")
