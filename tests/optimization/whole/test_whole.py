"""The whole program against the uncompiled one: what is certainly worse from end to end is not put in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from marchwarden.cli.optimization.compile_run import end
from marchwarden.evaluation.runs.run import start_run
from marchwarden.evaluation.runs.runner import info_of
from marchwarden.optimization.compilation import compile_program
from marchwarden.optimization.program_records import Outcome
from marchwarden.programs import NONE
from tests.evaluation.made_runs import a_question, a_record, an_answer
from tests.optimization.compiled import examples, order, run, settings, spending, writing

DEV = [a_question(f"utah-{number:02}") for number in range(4)]


def compiled_with(tmp_path: Path, uncompiled: Any, compiled: Any) -> Outcome:
    """The questions were asked before, and came to this: nothing is asked again."""
    run(tmp_path, order("bootstrap"))
    for name, program, answer in (("uncompiled", NONE, uncompiled), ("compiled", str(tmp_path / "out"), compiled)):
        used = settings().model_copy(update={"program": program})
        done = start_run(tmp_path / "work" / "whole" / name, info_of(DEV, used, name="shipped", split="dev"))
        for question in DEV:
            done.add(a_record(question, answer))
    of = order("bootstrap", questions=4)
    return compile_program(
        of,
        examples(of),
        DEV,
        folder=tmp_path / "work",
        out=tmp_path / "second",
        spending=spending(tmp_path / "work", writing()),
    )


def test_a_program_that_is_certainly_worse_is_not_put_in_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = an_answer(answer="Nobody knows.", citations=[])
    outcome = compiled_with(tmp_path, an_answer(), nothing)
    assert outcome.stages, "each stage by itself is better"
    assert "nugget_recall" in outcome.worse
    assert outcome.file is None
    assert not (tmp_path / "second").exists()
    assert outcome.info.whole is not None
    assert outcome.info.whole.figures["nugget_recall"].high == -1.0
    end(outcome, tmp_path / "second")
    assert "The program was not saved, because the whole program is clearly worse in " in capsys.readouterr().err


def test_one_that_is_as_good_is_put_in_place_with_its_figures(tmp_path: Path) -> None:
    outcome = compiled_with(tmp_path, an_answer(), an_answer())
    assert outcome.worse == []
    assert outcome.file == tmp_path / "second" / "program.json"
    assert outcome.info.whole is not None
    assert outcome.info.whole.questions == 4
    assert outcome.info.whole.figures["nugget_recall"].uncompiled == 1.0


def test_runs_of_another_program_are_not_gone_on_with(tmp_path: Path) -> None:
    run(tmp_path, order("bootstrap"))
    info = info_of(DEV, settings().model_copy(update={"program": NONE}), name="shipped", split="dev")
    folder = tmp_path / "work" / "whole" / "compiled"
    start_run(folder, info)
    from marchwarden.optimization.compilation import _open_run

    used = settings().model_copy(update={"program": str(tmp_path / "out")})
    assert _open_run(folder.parent, "compiled", DEV, used, 1).folder == folder.with_name("compiled-2")
    assert _open_run(folder.parent, "compiled", DEV, used, 1).folder == folder.with_name("compiled-2")


def test_a_budget_that_does_not_reach_for_whole_questions_puts_the_stages_in_place(tmp_path: Path) -> None:
    outcome, _ = run(tmp_path, order("bootstrap", questions=4), tokens=30_000)
    assert outcome.stopped is not None
    assert "whole questions" in outcome.stopped.reason
    assert outcome.file is not None
    assert outcome.info.whole is None


def test_a_service_that_is_gone_for_whole_questions_is_no_figure(tmp_path: Path) -> None:
    """Nothing listens at the address of the settings, which the questions' own processes ask."""
    outcome, _ = run(tmp_path, order("bootstrap", questions=1))
    assert outcome.stopped is not None
    assert "can't be asked" in outcome.stopped.reason
    assert outcome.file is not None, "its stages were proven"
    assert outcome.info.whole is None
