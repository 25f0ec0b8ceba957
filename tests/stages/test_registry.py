"""A stage's compiled form: what the model is shown of it, when it is used, and what tells that it is out of date."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import pytest
from pydantic import BaseModel, Field

from marchwarden.agent.program import Researcher
from marchwarden.budget import Budget
from marchwarden.contract import Depth, ResearchRequest
from marchwarden.ledger import Ledger
from marchwarden.lm import Model
from marchwarden.lm.prompt import prompt_texts
from marchwarden.lm.scripted import ScriptedEngine
from marchwarden.programs import CompiledStage, Program
from marchwarden.settings import load_settings
from marchwarden.stages.plan import PLAN, PlanGiven
from marchwarden.stages.registry import STAGES, predictors_in_force, program_in_force
from marchwarden.stages.stage import Stage, StageRunner
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.writer import TraceWriter
from tests.cli.running import python
from tests.models import connected
from tests.programs.made import DEMO, MODEL, WORDS, a_program, compiled, settings
from tests.webs import article, make_web

ANSWER = json.dumps({"thought": "Look.", "aspects": [], "queries": ["crops utah"], "read": [], "done": False})
QUESTION = "What grows in Utah?"


class Fruit(BaseModel):
    name: str
    seeds: int = Field(0, le=9)


class Berry(Fruit):
    seeds: int = Field(0, le=99)


def stage(instructions: str = "Do it.", **fields: tuple[type, Any]) -> Stage[Any, Any]:
    fields = fields or {"question": (str, dspy.InputField(desc="asked")), "fruit": (Fruit, dspy.OutputField())}
    return replace(PLAN, signature=lambda: dspy.make_signature(fields, instructions))


CHANGES: Mapping[str, Stage[Any, Any]] = {
    "instructions": stage("Do that."),
    "name": stage(asked=(str, dspy.InputField(desc="asked")), fruit=(Fruit, dspy.OutputField())),
    "description": stage(question=(str, dspy.InputField(desc="told")), fruit=(Fruit, dspy.OutputField())),
    "role": stage(question=(str, dspy.OutputField(desc="asked")), fruit=(Fruit, dspy.OutputField())),
    "type": stage(question=(str, dspy.InputField(desc="asked")), fruit=(str, dspy.OutputField())),
    "bound": stage(question=(str, dspy.InputField(desc="asked")), fruit=(Berry, dspy.OutputField())),
    "added": stage(
        question=(str, dspy.InputField(desc="asked")),
        context=(str, dspy.InputField(desc="")),
        fruit=(Fruit, dspy.OutputField()),
    ),
}


# The fingerprint


@pytest.mark.parametrize("changed", CHANGES)
def test_a_fingerprint_changes_with_every_word_and_field(changed: str) -> None:
    assert CHANGES[changed].fingerprint != stage().fingerprint
    assert stage().fingerprint == stage().fingerprint


def test_the_order_of_inputs_and_of_outputs_counts() -> None:
    asked, told = (str, dspy.InputField(desc="a")), (str, dspy.InputField(desc="b"))
    fruit = (Fruit, dspy.OutputField())
    assert stage(x=asked, y=told, fruit=fruit).fingerprint != stage(y=told, x=asked, fruit=fruit).fingerprint


def test_fingerprints_are_the_same_in_another_process() -> None:
    script = "from marchwarden.stages.registry import STAGES; print([each.fingerprint for each in STAGES.values()])"
    ran = python(script, PYTHONHASHSEED="7")
    assert ran.stdout.decode().strip() == str([each.fingerprint for each in STAGES.values()])
    assert len({each.fingerprint for each in STAGES.values()}) == len(STAGES)


# What the model is shown


def test_a_compiled_stage_has_other_words_and_demonstrations_and_the_same_fields() -> None:
    form = PLAN.compiled(compiled())
    signature = form.signature()
    assert signature.instructions == WORDS
    assert list(signature.fields) == list(PLAN.signature().fields)
    assert [dict(demo) for demo in form.predictor.demos] == [DEMO]
    assert (form.show, form.read, form.model_free, form.ground) == (
        PLAN.show,
        PLAN.read,
        PLAN.model_free,
        PLAN.ground,
    )
    assert PLAN.predictor.demos == []
    assert PLAN.signature().instructions != WORDS


async def asked(program: Program | None, script: Callable[[Any], str] | list[str]) -> list[str]:
    """The prompts that the model got for one plan."""
    engine = ScriptedEngine(script)
    configured = load_settings(model=MODEL)
    ledger = Ledger(question=QUESTION)
    budget = Budget(ResearchRequest(question=QUESTION).constraints, 30.0)
    with TraceWriter(configured.traces, str(uuid.uuid4())) as writer:
        model = Model(MODEL, engine, budget, writer, retries=0)
        runner = StageRunner(model, budget, writer, predictors=predictors_in_force(program))
        _, form = await runner.run(PLAN, PlanGiven(ledger, Depth.BALANCED, []))
        await model.aclose()
    assert form == "model"
    return ["\n".join(prompt_texts(request)) for request in engine.requests]


def in_force(**changes: Any) -> Program | None:
    return program_in_force(settings(**changes))


@pytest.fixture
def _with_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")


@pytest.mark.anyio
@pytest.mark.usefixtures("_with_programs")
async def test_the_compiled_form_is_asked_where_the_program_has_one() -> None:
    a_program()
    (prompt,) = await asked(in_force(), [ANSWER])
    assert WORDS in prompt
    assert "crops utah" in prompt  # of the demonstration
    (prompt,) = await asked(None, [ANSWER])
    assert WORDS not in prompt
    assert "crops utah" not in prompt


@pytest.mark.anyio
@pytest.mark.usefixtures("_with_programs")
async def test_a_second_attempt_keeps_words_and_demonstrations() -> None:
    a_program()
    first, second = await asked(in_force(), ["no JSON at all", ANSWER])
    for prompt in (first, second):
        assert WORDS in prompt
        assert "crops utah" in prompt
    assert "Your previous answer could not be used" in second


@pytest.mark.anyio
@pytest.mark.usefixtures("_with_programs")
async def test_a_demonstration_with_fields_that_there_are_not_does_no_harm() -> None:
    a_program(None, compiled(demos=[{"weather": "fine", "question": {"deep": [None]}}, {}]))
    (prompt,) = await asked(in_force(), [ANSWER])
    assert "fine" not in prompt


# In a call


async def research() -> Trace:
    """A call with the program in force."""
    web = make_web(
        Path.cwd() / f"web{uuid.uuid4().hex[:6]}",
        {"https://farm.example/crops": article("Crops of Utah", "Alfalfa and wheat grow in Utah.")},
    )
    configured = load_settings(model=MODEL, source="snapshot", web=web)
    program = in_force()
    engine = ScriptedEngine(lambda request: ANSWER)
    asked = await Researcher(configured, connect=connected(engine, MODEL)).acall(question=QUESTION)
    assert any(WORDS in "\n".join(prompt_texts(request)) for request in engine.requests) is bool(
        program and "plan" in program.stages
    )
    return read_trace(configured.traces / f"{asked.result.trace_id}.jsonl")


@pytest.mark.anyio
@pytest.mark.usefixtures("_with_programs")
async def test_a_trace_says_which_program_and_which_stages_of_it_were_in_force() -> None:
    a_program()
    program = in_force()
    start = (await research()).events[0][2]
    assert start.action == "start"
    assert program is not None
    assert (start.program, start.compiled, start.program_of) == (program.fingerprint, ["plan"], None)
    assert start.program_notes == []


@pytest.mark.anyio
@pytest.mark.usefixtures("_with_programs")
async def test_a_trace_says_what_of_a_program_was_not_used_and_what_to_do() -> None:
    a_program(None, compiled(signature="0123456789abcdef"))
    trace = await research()
    start = trace.events[0][2]
    assert start.action == "start"
    assert (start.program, start.compiled) == (None, [])
    assert start.program_notes == trace.program_notes
    assert trace.program_notes == [
        f"The compiled plan of {MODEL} was made for other words or fields than plan has now. "
        f"To do: marchwarden compile --model {MODEL} --stage plan"
    ]


@pytest.mark.anyio
@pytest.mark.usefixtures("_with_programs")
async def test_a_trace_names_the_relative_whose_program_it_was() -> None:
    a_program(model_id="openai/some-model-1")
    start = (await research()).events[0][2]
    assert start.action == "start"
    assert (start.program_of, start.compiled) == ("openai/some-model-1", ["plan"])
    assert "used meanwhile" in start.program_notes[0]


def test_a_compiled_stage_is_plain_data() -> None:
    assert CompiledStage.model_validate_json(compiled().model_dump_json()) == compiled()
