"""What of a program is in force: a stage that was compiled for other fields than it has now runs uncompiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marchwarden.programs import Note, Program, compile_again, load_program
from marchwarden.settings import Settings
from marchwarden.stages.discoveries import DISCOVERIES
from marchwarden.stages.extract import EXTRACT
from marchwarden.stages.gaps import GAPS
from marchwarden.stages.open_questions import OPEN_QUESTIONS
from marchwarden.stages.plan import PLAN
from marchwarden.stages.stage import Stage
from marchwarden.stages.synthesize import SYNTHESIZE

if TYPE_CHECKING:
    import dspy

STAGES: dict[str, Stage[Any, Any]] = {
    stage.name: stage for stage in (PLAN, EXTRACT, SYNTHESIZE, GAPS, DISCOVERIES, OPEN_QUESTIONS)
}


def program_in_force(settings: Settings) -> Program | None:
    """The program of the model, without what is stale. Builds signatures, with DSPy, only where it has compiled
    stages. Raises ConfigurationError as `load_program` does."""
    program = load_program(settings)
    return program and without_stale(program, settings.model_id)


def without_stale(program: Program, model_id: str) -> Program:
    """The program without the stages whose signature is another than they were compiled for, and a note of each."""
    stale = [name for name, stage in program.stages.items() if not _is_current(name, stage.signature)]
    return program.without(stale, [_note(program, name, model_id) for name in stale]) if stale else program


def _is_current(name: str, signature: str) -> bool:
    return name in STAGES and STAGES[name].fingerprint == signature


def _note(program: Program, name: str, model_id: str) -> Note:
    its = program.info.model_id if program.info else model_id
    if name not in STAGES:
        return Note(
            text=f"the compiled {name} of {its} is of no stage that there is now", fix=compile_again(model_id)
        )
    said = f"the compiled {name} of {its} was made for other words or fields than {name} has now"
    return Note(text=said, fix=compile_again(model_id, name))


def predictors_in_force(program: Program | None) -> dict[str, dspy.Predict]:
    """New predictors, one for every stage, by name: with the words and demonstrations of the program's compiled form
    where it has one for this very signature, else with the stage's own."""
    return {name: _form(stage, program).new_predictor() for name, stage in STAGES.items()}


def _form(stage: Stage[Any, Any], program: Program | None) -> Stage[Any, Any]:
    by = program.stages.get(stage.name) if program else None
    return stage.compiled(by) if by and by.signature == stage.fingerprint else stage
