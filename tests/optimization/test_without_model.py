"""A stage that does certainly better without the model goes without it; one that does as well asks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.budget import Budget
from marchwarden.contract import Constraints
from marchwarden.lm import Model
from marchwarden.lm.scripted import ScriptedEngine
from marchwarden.optimization.examples.example_scoring import score_examples
from marchwarden.optimization.stage_sets import STAGE_SETS
from marchwarden.programs import Program
from marchwarden.stages.gaps import GAPS
from marchwarden.stages.registry import program_in_force
from marchwarden.stages.stage import StageRunner
from marchwarden.trace.events import Event, Recorder
from tests.optimization.compiled import answering, examples, order, run, settings


def always(right: bool) -> Any:
    return answering(lambda request: right)


def in_force(out: Path) -> Program:
    found = program_in_force(settings().model_copy(update={"program": str(out)}))
    assert found is not None
    return found


def model(engine: ScriptedEngine, budget: Budget, recorder: Recorder) -> Model:
    return Model("scripted", engine, budget, recorder, retries=0)


class Heard:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> None:
        self.events.append(event)

    def progress(self, message: str) -> None:
        pass


def test_a_model_that_is_mostly_wrong_is_not_asked_any_more(tmp_path: Path) -> None:
    outcome, _ = run(tmp_path, order(always_model=False), always(right=False))
    record = outcome.info.stages["gaps"]
    assert record.kept
    assert record.form == "model_free"
    assert record.compiled == record.model_free
    assert record.difference is not None
    assert record.difference[0] > 0
    assert "without the model" in record.verdict
    found = in_force(tmp_path / "out")
    assert (found.in_force, found.without_model, found.notes) == (["gaps"], ["gaps"], ())


def test_the_stage_runs_without_a_call_and_without_a_fallback(tmp_path: Path) -> None:
    run(tmp_path, order(always_model=False), always(right=False))
    engine, heard = ScriptedEngine(always(right=False)), Heard()
    budget = Budget(Constraints(token_budget=100_000), 60)
    without = in_force(tmp_path / "out").without_model
    runner = StageRunner(model(engine, budget, heard), budget, heard, without_model=without)
    given = examples(order())["gaps"].dev[0].given
    output, form = anyio.run(runner.run, GAPS, given)
    assert (output, form) == (GAPS.model_free(given), "model_free")
    assert not engine.requests
    assert not heard.events


@pytest.mark.parametrize(("is_right", "always_model"), [(True, False), (False, True)])
def test_the_model_is_asked_where_it_does_as_well_or_where_that_is_wanted(
    tmp_path: Path, is_right: bool, always_model: bool
) -> None:
    outcome, _ = run(tmp_path, order(always_model=always_model), always(is_right))
    assert outcome.info.stages["gaps"].form == "model"
    assert not outcome.stages
    assert outcome.info.stages["gaps"].model_free is not None


def test_scoring_a_stage_that_goes_without_scores_the_model_free_form(tmp_path: Path) -> None:
    run(tmp_path, order(always_model=False), always(right=False))
    stage = GAPS.compiled(in_force(tmp_path / "out").stages["gaps"])
    engine, dev = ScriptedEngine(always(right=False)), examples(order())["gaps"].dev
    stage_set = STAGE_SETS["gaps"]

    async def scored() -> list[float]:
        found = await score_examples(stage_set, stage, dev, lambda *given: model(engine, *given), at_once=1)
        return [each.score for each in found]

    expected = [stage_set.score(each, GAPS.model_free(each.given)).score for each in dev]
    assert anyio.run(scored) == pytest.approx(expected, abs=1e-4)
    assert not engine.requests
