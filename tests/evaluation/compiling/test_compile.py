"""Compiling a stage: every optimizer finds what helps, the budget holds, dev decides, and a broken run goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from marchwarden.evaluation.compiling.job import compile_program
from marchwarden.evaluation.compiling.optimizers import OPTIMIZERS
from marchwarden.lm.prompt import prompt_texts
from marchwarden.programs import load_program
from tests.evaluation.compiling.compiled import (
    answering,
    examples,
    has_demonstrations,
    order,
    purse,
    questions,
    settings,
)

DEMONSTRATING = ["bootstrap", "random-search", "mipro", "simba"]


def run(tmp_path: Path, of: Any, answer: Any = None, **limits: int) -> Any:
    found = examples(of)
    paid = purse(tmp_path / "work", answer or answering(found), **limits)
    outcome = compile_program(
        of, found, questions("dev"), folder=tmp_path / "work", out=tmp_path / "out", purse=paid
    )
    return outcome, paid


@pytest.mark.parametrize("optimizer", ["bootstrap", "random-search"])
def test_demonstrations_that_help_are_found_proven_and_put_in_place(tmp_path: Path, optimizer: str) -> None:
    outcome, _ = run(tmp_path, order(optimizer))
    record = outcome.info.stages["gaps"]
    assert (record.kept, record.uncompiled, record.compiled) == (True, 0.0, 1.0)
    assert record.difference == (1.0, 1.0)
    program = load_program(settings().model_copy(update={"program": str(tmp_path / "out")}))
    assert program is not None
    assert program.in_force == ["gaps"]
    assert program.stages["gaps"].demos


BETTER = "Say scope_exceeded only where a paper, a register or a court file is asked for."
ORDERED = "in the following order of fields:"


def writing(found: Any) -> Any:
    """A model that writes better instructions whenever it is asked to write anything, and follows them."""
    judge = answering(found, right=lambda request: BETTER in str(request.system) or has_demonstrations(request))

    def answer(request: Any) -> str:
        asked = "\n".join(prompt_texts(request))
        fields = re.findall(r"`(\w+)`", asked[asked.rindex(ORDERED) :])
        if fields == ["gaps"]:
            return judge(request)
        return json.dumps(dict.fromkeys(fields, BETTER))

    return answer


@pytest.mark.parametrize("optimizer", ["gepa", "mipro", "simba"])
def test_x(tmp_path: Path, optimizer: str) -> None:
    of = order(optimizer)
    outcome, paid = run(tmp_path, of, writing(examples(of)))
    print(outcome.info.stages["gaps"], outcome.stopped, len(paid.engine.requests))
    print(outcome.stages)
    assert 0
