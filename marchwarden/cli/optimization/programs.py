"""`marchwarden programs`: the programs that were compiled and fitted for models, and which parts are in force.

The list goes by files, hashes and the version of DSPy. `show` also compares the signatures of compiled stages, for
which it imports DSPy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_model

if TYPE_CHECKING:
    from marchwarden.cli.views.programs_view import Shown
    from marchwarden.programs import Listed

EPILOGUE = """Examples:

marchwarden programs
    each with its stages' scores on dev, uncompiled and compiled
marchwarden programs show openai/NAME --stage plan
    the instructions with what changed in them, and the demonstrations
marchwarden programs --json | jq '.[] | select(.state == "stale") | .notes'

Exit codes: 0 shown · 1 there is no such program · 2 wrong usage."""

SHOW_EPILOGUE = """Examples:

marchwarden programs show extractive
marchwarden programs show programs/openai-name --stage gaps
    of a folder
marchwarden programs show openai/NAME --json | jq -r .stages.plan.instructions

Exit codes: 0 shown · 1 there is no such program, or no such stage in it · 2 wrong usage."""

app = typer.Typer(
    help="List programs: what was compiled and calibrated for each model.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(epilog=EPILOGUE)
def command(
    context: typer.Context,
    json: options.PlainJson = False,
) -> None:
    """List programs: what was compiled and calibrated for each model, where it is, and whether it is in use."""
    if context.invoked_subcommand:
        return
    from marchwarden.cli.views import console
    from marchwarden.programs import all_programs

    found = all_programs()
    if json:
        console.json([_plain(each) for each in found])
    elif found:
        console.programs(found)
    else:
        console.done("There are no programs yet. To make one: marchwarden compile")


@app.command("show", epilog=SHOW_EPILOGUE)
def show(
    named: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|FOLDER", autocompletion=complete_model, help="A model's id, or a program's folder."
        ),
    ],
    stage: Annotated[str | None, typer.Option(metavar="NAME", help="Show only this stage.")] = None,
    json: options.PlainJson = False,
) -> None:
    """Show a program: instructions and what changed in them, demonstrations, scores, cost."""
    from marchwarden.cli.views import console
    from marchwarden.cli.views.programs_view import Shown

    found = _found(named)
    names = _names(found, stage)
    compared, uncompiled = found, {}
    if found.program.stages:  # their signatures take DSPy, which is slow to import
        from marchwarden.stages.registry import STAGES, without_stale

        compared = replace(found, program=without_stale(found.program, found.model_id))
        uncompiled = {name: STAGES[name].signature().instructions for name in found.program.stages if name in STAGES}
    shown = Shown(compared, found.program.stages, uncompiled)
    if json:
        console.json(_in_full(shown, names))
    else:
        console.program(shown, names)


def _found(named: str) -> Listed:
    """Return the program of a model or in a folder. Raises ConfigurationError, which names those that there are."""
    from marchwarden.errors import ConfigurationError
    from marchwarden.programs import all_programs, find_program

    listed = find_program(named)
    if listed is None:
        there = list(dict.fromkeys(each.model_id for each in all_programs()))
        hint = (
            f"There are programs of {', '.join(there)}."
            if there
            else "There is no program yet. To make one: marchwarden compile"
        )
        raise ConfigurationError(f"there is no program for {named}", hint=hint)
    return listed


def _names(listed: Listed, stage: str | None) -> list[str]:
    """Return the stages to show, in the order in which they were compiled.

    Raises ConfigurationError for an unknown one.
    """
    from marchwarden.errors import ConfigurationError

    there = list(listed.program.info.stages) if listed.program.info else []
    if stage is None:
        return there
    if stage not in there:
        hint = f"It has {', '.join(there)}." if there else "It has only a calibration."
        raise ConfigurationError(f"the program of {listed.model_id} has no stage {stage}", hint=hint)
    return [stage]


def _plain(listed: Listed) -> dict[str, Any]:
    program, info = listed.program, listed.program.info
    return {
        "model_id": listed.model_id,
        "where": listed.where,
        "folder": str(program.folder),
        "state": listed.state,
        "shadowed": list(listed.shadowed),
        "notes": [note.model_dump() for note in program.notes],
        "fingerprint": program.fingerprint,
        "in_force": program.in_force,
        "calibrated": program.calibration is not None,
        "date": info.date if info else program.calibration and program.calibration.date,
        "stages": {name: each.model_dump(mode="json") for name, each in info.stages.items()} if info else {},
    }


def _in_full(shown: Shown, names: list[str]) -> dict[str, Any]:
    from marchwarden.programs import PARAMETERS
    from marchwarden.programs.parameters import DEFAULT

    program, plain = shown.listed.program, _plain(shown.listed)
    stages = {name: record for name, record in plain["stages"].items() if name in names}
    for name in names:
        if compiled := shown.stages.get(name):
            words = {"instructions": compiled.instructions, "uncompiled_instructions": shown.uncompiled.get(name)}
            stages[name] |= {**words, "diff": shown.difference(name), "demos": compiled.demos}
        if name == PARAMETERS and program.parameters:
            stages[name] |= {"changes": DEFAULT.changes(program.parameters)}
    info = program.info.model_dump(mode="json", exclude={"stages"}) if program.info else None
    calibration = program.calibration and program.calibration.model_dump(mode="json")
    return {**plain, "stages": stages, "info": info, "calibration": calibration}
