"""`marchwarden calibrate`: figures on stdout, the calibration where the model's next answers find it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from marchwarden.programs import Calibration, load_program
from marchwarden.settings import load_settings
from tests.cli.conftest import Run
from tests.evaluation.runs.test_calibration_fit import drawn, run_of


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    return run_of(tmp_path / "dev", drawn(60, slope=1.0, intercept=-1.0)).folder


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return run_of(tmp_path / "test", drawn(40, slope=1.0, intercept=-1.0, seed=1), "t", split="test").folder


def test_the_next_answers_of_the_model_find_it(run: Run, dev: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")
    before = load_program(load_settings(model="extractive"))
    ran = run("calibrate", str(dev))
    after = load_program(load_settings(model="extractive"))
    assert ran.code == 0
    assert before is None
    assert after is not None
    assert after.folder == Path.home() / ".marchwarden" / "programs" / "extractive"
    assert after.calibration.fitted_on == "shipped dev"
    assert f"The calibration is in {after.folder / 'calibration.json'}." in ran.said
    flat = " ".join(ran.out.split())
    assert (
        "extractive: confidence calibrated on 60 answers from the frozen web to the questions of shipped dev" in flat
    )
    assert "shipped dev: cross-validated" in flat
    assert f"0.70 → {after.calibration.apply(0.7):.2f}" in flat


def test_json_is_the_calibration_and_its_figures_on_both_sets(
    run: Run, dev: Path, other: Path, tmp_path: Path
) -> None:
    ran = run("calibrate", str(dev), "--test", str(other), "--out", str(tmp_path / "p"), "--json")
    assert ran.code == 0
    body = json.loads(ran.out)
    kept = Calibration.model_validate_json((tmp_path / "p" / "calibration.json").read_bytes())
    assert body["calibration"] == kept.model_dump(mode="json")
    assert body["file"] == str(tmp_path / "p" / "calibration.json")
    assert (body["own"]["folds"], body["own"]["forecasts"], body["test"]["forecasts"]) == (5, 60, 40)
    for which in ("own", "test"):
        assert set(body[which]["after"]) == {"brier", "calibration_error", "auroc"}
        assert body[which]["after"]["brier"] < body[which]["before"]["brier"]
    assert f"MARCHWARDEN_PROGRAM={tmp_path / 'p'}" in ran.said
    assert not (Path.home() / ".marchwarden").exists()


def test_people_see_before_and_after_on_both_sets(run: Run, dev: Path, other: Path) -> None:
    flat = " ".join(run("calibrate", str(dev), "--test", str(other)).out.split())
    assert "shipped test: uncalibrated 40" in flat
    assert "shipped test: calibrated" in flat


def test_a_score_that_tells_nothing_is_said_to(run: Run, tmp_path: Path) -> None:
    folder = run_of(tmp_path / "flat", [(0.6, n % 3 > 0) for n in range(30)]).folder
    ran = run("calibrate", str(folder))
    assert ran.code == 0
    assert "does not separate right answers from wrong ones" in ran.said
    assert "gets 0.66" in ran.said


def test_what_cannot_be_fitted_is_exit_code_1_and_keeps_nothing(run: Run, dev: Path, tmp_path: Path) -> None:
    few = run_of(tmp_path / "few", drawn(5, slope=1.0, intercept=0.0), "f").folder
    for arguments, said in [
        ((str(tmp_path),), "holds no run"),
        ((str(few),), "has 5 questions whose answers claim something; a calibration takes 20"),
        ((str(dev), "--test", str(dev)), "60 of the 60 questions"),
        ((str(dev), "--test", str(tmp_path / "nowhere")), "holds no run"),
        ((str(dev), "--out", str(dev / "run.json")), "can't be written"),
    ]:
        ran = run("calibrate", *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert said in ran.said
    assert not (Path.home() / ".marchwarden").exists()
    assert run("calibrate").code == 2


def test_help_shows_examples_and_exit_codes(run: Run) -> None:
    out = " ".join(run("calibrate", "--help").out.split())
    assert "marchwarden calibrate runs/extractive-dev --test" in out
    assert "Exit codes: 0 fitted and kept" in out


def test_without_scikit_learn_it_says_what_to_install_and_writes_nothing(
    run: Run, dev: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    ran = run("calibrate", str(dev), "--out", str(tmp_path / "kept"))
    assert ran.code == 1
    assert "fitting needs scikit-learn" in ran.said
    assert "pip install -e '.[evaluate]'" in ran.said
    assert not (tmp_path / "kept").exists()
