"""Compiling a stage: every optimizer finds what helps, dev decides, and what is there is never made worse."""

from __future__ import annotations

import json
from collections import Counter
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest

from marchwarden.errors import EvaluationError
from marchwarden.lm.prompt import prompt_texts
from marchwarden.lm.scripted import Reply
from marchwarden.optimization.compilation import compile_program
from marchwarden.optimization.estimate import estimate
from marchwarden.optimization.optimizers import Effort
from marchwarden.programs import Program, load_program
from marchwarden.stages.gaps import GAPS
from tests.optimization.compiled import (
    BETTER,
    EVERY,
    MODEL,
    ONE_HALF,
    OTHER_HALF,
    answering,
    examples,
    has_demonstrations,
    is_the_stages,
    order,
    questions,
    run,
    settings,
    spending,
    writing,
)
from tests.profiles import IS_NIGHTLY

WRITING = ["gepa", "mipro"]


def program(out: Path) -> Program:
    found = load_program(settings().model_copy(update={"program": str(out)}))
    assert found is not None
    return found


def uneven() -> Any:
    """A model that answers train examples rightly every other time, and dev examples where it is helped."""
    right, wrong = answering(lambda request: True), answering(lambda request: False)
    helped = writing()
    dev = [stage_text(each) for each in examples(order())["gaps"].dev]
    asked: Counter[str] = Counter()

    def answer(request: Any) -> Any:
        text = last(request)
        if not is_the_stages(request) or any(each in text for each in dev):
            return helped(request)
        asked[text] += 1
        return (right if asked[text] % 2 else wrong)(request)

    return answer


@pytest.mark.parametrize("optimizer", ["bootstrap", "random-search"])
def test_demonstrations_that_help_are_found_proven_and_put_in_place(tmp_path: Path, optimizer: str) -> None:
    outcome, _ = run(tmp_path, order(optimizer), answering())
    record = outcome.info.stages["gaps"]
    assert (record.kept, record.uncompiled, record.compiled) == (True, 0.0, 1.0)
    assert record.difference == (1.0, 1.0)
    found = program(tmp_path / "out")
    assert found.in_force == ["gaps"]
    assert not found.notes
    shown = GAPS.compiled(found.stages["gaps"]).predictor.demos
    assert shown
    assert all({"question", "gaps"} <= set(demo.keys()) for demo in shown)


@pytest.mark.parametrize("optimizer", WRITING)
def test_instructions_that_help_are_found_proven_and_put_in_place(tmp_path: Path, optimizer: str) -> None:
    outcome, _ = run(tmp_path, order(optimizer), writing(judge=answering(lambda asked: BETTER in str(asked.system))))
    record = outcome.info.stages["gaps"]
    assert (record.kept, record.uncompiled, record.compiled) == (True, 0.0, 1.0)
    compiled = GAPS.compiled(program(tmp_path / "out").stages["gaps"])
    assert BETTER in compiled.signature().instructions


def test_uneven_answers_teach_simba_a_rule_or_a_demonstration(tmp_path: Path) -> None:
    outcome, _ = run(tmp_path, order("simba", effort=Effort(4, 2, 8, 6, 8)), uneven())
    record = outcome.info.stages["gaps"]
    assert record.kept, record.reason
    found = program(tmp_path / "out").stages["gaps"]
    assert BETTER in found.instructions or found.demos


# What is not kept


def test_noise_is_not_kept_and_nothing_is_written(tmp_path: Path) -> None:
    """Better on one dev example of eight, and on all examples to choose by."""
    dev = {each.id for each in examples(order())["gaps"].dev}
    known = [stage_text(each) for each in examples(order())["gaps"].dev[1:]]
    assert len(dev) == 8
    right = answering(
        lambda request: has_demonstrations(request) and not any(text in last(request) for text in known)
    )
    outcome, _ = run(tmp_path, order(), right)
    record = outcome.info.stages["gaps"]
    assert not record.kept
    assert record.compiled is not None
    assert record.compiled > record.uncompiled
    assert "noise" in record.reason
    assert (record.file, record.sha256) == (None, None)
    assert outcome.file is None
    assert not (tmp_path / "out").exists()


def test_what_is_worse_on_dev_is_not_kept(tmp_path: Path) -> None:
    of_dev = [stage_text(each) for each in examples(order())["gaps"].dev]

    def right(request: Any) -> bool:
        return has_demonstrations(request) is not any(text in last(request) for text in of_dev)

    outcome, _ = run(tmp_path, order(), answering(right))
    record = outcome.info.stages["gaps"]
    assert (record.kept, record.uncompiled, record.compiled) == (False, 1.0, 0.0)
    assert outcome.file is None
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("optimizer", ONE_HALF)
def test_where_nothing_helps_nothing_is_changed(tmp_path: Path, optimizer: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "calibration.json").write_text("{}")
    judge = answering(lambda request: True)
    outcome, _ = run(tmp_path, order(optimizer), writing("Think.", judge))
    assert not outcome.info.stages["gaps"].kept
    assert outcome.stopped is None
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["calibration.json"]


@pytest.mark.parametrize("optimizer", WRITING)
def test_a_template_that_a_weak_model_copied_is_never_kept(tmp_path: Path, optimizer: str) -> None:
    words = "{new_instruction}"
    judge = answering(lambda request: words in str(request.system))
    outcome, _ = run(tmp_path, order(optimizer), writing(words, judge))
    assert not outcome.stages
    assert outcome.file is None


# Unusable answers, broken optimizers


@pytest.mark.parametrize("bad", ["I can't say.", Reply('{"gaps": [', finish="length")])
@pytest.mark.parametrize("optimizer", ["random-search", "gepa"])
def test_an_answer_that_can_not_be_read_counts_nothing_and_the_search_goes_on(
    tmp_path: Path, optimizer: str, bad: Any
) -> None:
    helped = writing()

    def answer(request: Any) -> Any:
        return helped(request) if not is_the_stages(request) or BETTER in str(request.system) else bad

    if optimizer == "random-search":  # it writes no instructions, so that nothing readable comes
        with pytest.raises(EvaluationError, match="no answer of the model could be read"):
            run(tmp_path, order(optimizer), answer)
        return
    outcome, _ = run(tmp_path, order(optimizer), answer)
    record = outcome.info.stages["gaps"]
    assert outcome.stopped is None
    assert (record.valid_uncompiled, record.valid_compiled) == (0.0, 1.0)


def test_an_optimizer_that_breaks_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    def breaks(search: Any) -> Any:
        raise AssertionError("Trainset too small: 3 < 8\nat line 5")

    of = order("simba")
    of = replace(of, optimizer=replace(of.optimizer, run=breaks))
    with pytest.raises(EvaluationError, match="simba failed on gaps: AssertionError: Trainset too small") as caught:
        run(tmp_path, of, answering())
    assert "--optimizer" in str(caught.value.hint)
    assert "line 5" not in str(caught.value)


@pytest.mark.parametrize("optimizer", OTHER_HALF)
def test_the_fewest_examples_that_are_allowed_are_enough(tmp_path: Path, optimizer: str) -> None:
    of = order(optimizer, effort=Effort(candidates=2, demos=2, train=2, choose=2, dev=4))
    outcome, _ = run(tmp_path, of)
    assert outcome.stopped is None
    assert outcome.info.stages["gaps"].dev_examples == 4


# A program that is there


def test_a_stage_that_was_kept_before_stays_when_another_is_compiled(tmp_path: Path) -> None:
    from dataclasses import replace

    run(tmp_path, order(), answering())
    before = program(tmp_path / "out")
    assert before.info is not None
    plan = before.stages["gaps"].model_copy(update={"stage": "plan", "signature": "of plan"})
    record = before.info.stages["gaps"].model_copy(update={"signature": "of plan"})
    info = before.info.model_copy(update={"stages": {**before.info.stages, "plan": record}})
    both = replace(before, info=info, stages={**before.stages, "plan": plan})
    outcome, _ = run(tmp_path, order("bootstrap"), answering(), before=both)
    assert set(outcome.stages) == {"gaps", "plan"}
    saved = program(tmp_path / "out")
    assert saved.stages["plan"].demos == plan.demos


def test_what_was_stale_in_a_program_is_left_out_of_the_next(tmp_path: Path) -> None:
    run(tmp_path, order(), answering())
    before = program(tmp_path / "out")
    assert before.info is not None
    record = before.info.stages["gaps"]
    info = before.info.model_copy(update={"stages": {"plan": record, "gaps": record}})
    stale = Program(before.folder, info, stages={})
    outcome, _ = run(tmp_path, order("bootstrap"), answering(), before=stale)
    assert outcome.file is not None
    assert set(outcome.info.stages) == {"gaps"}


def test_a_stale_stage_that_nothing_takes_the_place_of_is_told_of_no_more(tmp_path: Path) -> None:
    run(tmp_path, order(), answering())
    before = program(tmp_path / "out")
    stale = Program(before.folder, before.info, stages={})
    outcome, _ = run(tmp_path / "again", order("bootstrap"), answering(lambda request: True), before=stale)
    assert outcome.file is not None
    saved = program(tmp_path / "again" / "out")
    assert saved.info is not None
    assert not saved.info.stages["gaps"].kept
    assert not saved.stages


def test_a_stage_compiled_again_without_gain_stays_as_it_was(tmp_path: Path) -> None:
    run(tmp_path, order(), answering())
    before = program(tmp_path / "out")
    assert before.info is not None
    body = (tmp_path / "out" / "program.json").read_bytes()
    outcome, _ = run(tmp_path / "again", order("bootstrap"), answering(lambda request: True), before=before)
    assert outcome.file is None
    assert outcome.stages == before.stages
    assert outcome.info.stages == before.info.stages
    assert (tmp_path / "out" / "program.json").read_bytes() == body


def test_an_earlier_compiled_stage_that_did_better_on_the_same_examples_stays(tmp_path: Path) -> None:
    run(tmp_path, order(), answering())
    before = program(tmp_path / "out")
    missed = stage_text(examples(order())["gaps"].dev[0])
    second = answering(lambda request: has_demonstrations(request) and missed not in last(request))
    outcome, _ = run(tmp_path / "again", order("bootstrap"), second, before=before)
    assert outcome.stayed == {"gaps": (1.0, 0.875)}
    assert outcome.stages == before.stages
    assert outcome.file is None
    other = order("bootstrap", effort=Effort(2, 2, 8, 6, 7))
    outcome, _ = run(tmp_path / "other", other, second, before=before)
    assert not outcome.stayed, "of other examples nothing can be said"
    assert outcome.file is not None


# What it costs


@pytest.mark.parametrize(
    ("optimizer", "helps"), [*(product(EVERY, [True, False]) if IS_NIGHTLY else zip(EVERY, cycle([True, False])))]
)
def test_an_estimate_is_at_most_what_is_called_and_about_what_is_spent_and_optimizers_print_nothing(
    tmp_path: Path, optimizer: str, helps: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    of = order(optimizer, jobs=1 if helps else 2)
    judge = answering(lambda request: helps and BETTER in str(request.system))
    told = estimate(gaps_set(), examples(of)["gaps"], of.optimizer, of.effort, (MODEL, MODEL))
    outcome, paid = run(tmp_path, of, writing(judge=judge))
    reflected = [each for each in paid.engine.requests if not is_the_stages(each)]
    assert len(paid.engine.requests) - len(reflected) <= told.calls
    assert len(reflected) <= told.reflection_calls
    assert told.tokens / 3 <= outcome.info.cost.tokens <= 3 * told.tokens
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("optimizer", ["random-search", "gepa"])
def test_a_model_that_answers_nothing_readable_makes_no_more_calls_than_estimated(
    tmp_path: Path, optimizer: str
) -> None:
    of = order(optimizer)
    told = estimate(gaps_set(), examples(of)["gaps"], of.optimizer, of.effort, (MODEL, MODEL))
    paid = spending(tmp_path / "work", writing("Think.", lambda request: "nothing"))
    with pytest.raises(EvaluationError, match="no answer of the model could be read"):
        compile_program(
            of, examples(of), questions("dev"), folder=tmp_path / "work", out=tmp_path / "out", spending=paid
        )
    reflected = [each for each in paid.engine.requests if not is_the_stages(each)]
    assert len(paid.engine.requests) - len(reflected) <= told.calls
    assert len(reflected) <= told.reflection_calls


def gaps_set() -> Any:
    from marchwarden.optimization.stage_sets import STAGE_SETS

    return STAGE_SETS["gaps"]


def stage_text(example: Any) -> str:
    from tests.optimization.compiled import stage_shown

    return stage_shown(example.given)


def last(request: Any) -> str:
    return list(prompt_texts(request))[-1]


def test_the_record_of_a_compile_is_json(tmp_path: Path) -> None:
    run(tmp_path, order(), answering())
    told = json.loads((tmp_path / "out" / "program.json").read_text())
    assert told["stages"]["gaps"]["calls"] == told["cost"]["calls"] > 0
    assert told["model_id"] == MODEL
