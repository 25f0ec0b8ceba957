"""`marchwarden eval list`: the runs that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.evaluation.eval_run import usual_folder

EPILOGUE = """Examples:

marchwarden eval list
marchwarden eval list runs --json | jq -r '.[0].folder'
    the newest of another folder"""


def command(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Folder of the runs. Default: ~/.marchwarden/evals."),
    ] = None,
    json: options.PlainJson = False,
) -> None:
    """List runs, the newest first, with their main scores."""
    # Imported here: `--help` must import none of the heavy modules.
    from marchwarden.cli.views import console
    from marchwarden.errors import EvaluationError
    from marchwarden.evaluation.runs.run import RUN, Run, open_run

    place = folder or usual_folder()
    runs: list[Run] = []
    for path in place.glob(f"*/{RUN}"):
        try:
            runs.append(open_run(path.parent))
        except EvaluationError as error:
            console.notice(str(error))
    runs.sort(key=lambda run: run.info.started, reverse=True)
    if json:
        console.json(
            [
                {
                    "folder": str(run.folder),
                    "run": run.info.model_dump(mode="json"),
                    "questions": len({record.id for record in run.records}),
                    "figures": run.figures(),
                }
                for run in runs
            ]
        )
    elif runs:
        console.runs(runs)
    else:
        console.done(f"There are no runs in {place}.")
