"""The stages by name, and the part of a program that is in force.

A stage that was compiled for other fields than it has now runs uncompiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marchwarden.programs import Note, Program, compile_again, load_program
from marchwarden.settings import Settings
from marchwarden.stages.discoveries import DISCOVERIES
from marchwarden.stages.extract import EXTRACT
from marchwarden.stages.gaps import GAPS
from marchwarden.stages.open_questions import OPEN_QUESTIONS
from marchwarden.stages.plan import PLAN
from marchwarden.stages.score_confidence import CONFIDENCE
from marchwarden.stages.stage import Stage
from marchwarden.stages.synthesize import SYNTHESIZE
from marchwarden.stages.verify_claims import VERIFY
from marchwarden.stages.write_query import WRITE_QUERY

if TYPE_CHECKING:
    import dspy

STAGES: dict[str, Stage[Any, Any]] = {
    stage.name: stage
    for stage in (PLAN, EXTRACT, SYNTHESIZE, VERIFY, GAPS, DISCOVERIES, OPEN_QUESTIONS, CONFIDENCE, WRITE_QUERY)
}


def program_in_force(settings: Settings) -> Program | None:
    """Return the program of the model without its stale stages; None where there is no program.

    DSPy is imported only where the program has compiled stages. Raises ConfigurationError as `load_program` does.
    """
    program = load_program(settings)
    return program and without_stale(program, settings.model_id)


def without_stale(program: Program, model_id: str) -> Program:
    """Return the program without stages that were compiled for another signature, and with a note of each."""
    owner = program.info.model_id if program.info else model_id
    stale, notes = [], []
    for name, stage in program.stages.items():
        if name not in STAGES:
            text = f"the compiled {name} of {owner} is of no stage that there is now"
            notes.append(Note(text=text, fix=compile_again(model_id)))
        elif STAGES[name].fingerprint != stage.signature:
            text = f"the compiled {name} of {owner} was made for other words or fields than {name} has now"
            notes.append(Note(text=text, fix=compile_again(model_id, name)))
        else:
            continue
        stale.append(name)
    return program.without(stale, notes) if stale else program


def predictors_in_force(program: Program | None) -> dict[str, dspy.Predict]:
    """Return a new predictor for every stage, by name.

    It has the instructions and demonstrations of the program's compiled form where that was made for the stage's
    present signature, else the stage's own.
    """
    predictors = {}
    for name, stage in STAGES.items():
        by = program.stages.get(name) if program else None
        form = stage.compiled(by) if by and by.signature == stage.fingerprint else stage
        predictors[name] = form.new_predictor()
    return predictors
