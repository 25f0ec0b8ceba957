"""Each stage can be compiled: its right answers become demonstrations that are plain JSON, and where labels give no
answer away, the model's own do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from marchwarden.lm.prompt import prompt_texts
from marchwarden.optimization.compilation import compile_program
from marchwarden.optimization.optimizers import Effort
from marchwarden.optimization.stage_sets import STAGE_SETS
from marchwarden.programs import load_program
from tests.optimization.compiled import examples, fields_of, has_demonstrations, order, questions, settings, spending
from tests.profiles import some


def right_answers(name: str, examples: Any) -> Any:
    """A model that answers as the labels would have it, or as the stage does without a model, once it is shown an
    example; and nothing that can be used before."""
    stage_set = STAGE_SETS[name]
    known = []
    for each in examples.learn + examples.choose + examples.dev:
        shown = stage_set.stage.show(each.given)
        answer = stage_set.answer(each)
        known.append(([str(value) for value in shown.values() if isinstance(value, str)], answer))

    def answer(request: Any) -> str:
        asked = list(prompt_texts(request))[-1]
        told = next((answer for texts, answer in known if all(text in asked for text in texts)), None)
        if told is None or not has_demonstrations(request):
            return "{}"
        return json.dumps({field: told[field] for field in fields_of(request)}, default=TypeAdapter(Any).dump_python)

    return answer


# Of open questions nothing is labelled, so that there is no right answer to write.
@pytest.mark.parametrize("name", some([name for name in STAGE_SETS if name != "open_questions"], 2))
def test_a_stage_is_compiled_with_demonstrations_that_are_json(tmp_path: Path, name: str) -> None:
    effort = Effort(candidates=1, demos=2, train=6, choose=4, dev=6)
    of = order("random-search", stages=(name,), effort=effort)
    found = examples(of, step=None if name == "discoveries" else 6)
    paid = spending(tmp_path / "work", right_answers(name, found[name]))
    outcome = compile_program(
        of, found, questions("dev"), folder=tmp_path / "work", out=tmp_path / "out", spending=paid
    )
    assert outcome.stopped is None
    record = outcome.info.stages[name]
    assert record.calls > 0
    assert record.kept or name != "extract", "on which it certainly helps"
    if record.kept:
        program = load_program(settings().model_copy(update={"program": str(tmp_path / "out")}))
        assert program is not None
        assert program.in_force == [name]
        assert program.stages[name].demos
        assert not program.notes
