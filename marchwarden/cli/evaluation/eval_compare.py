"""`marchwarden eval compare`: the differences between two runs, each with its interval."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_run


def command(
    run_a: Annotated[
        Path, typer.Argument(metavar="RUN_A", autocompletion=complete_run, help="Folder of the run to compare with.")
    ],
    run_b: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_B", autocompletion=complete_run, help="Folder of the run that may be better or worse."
        ),
    ],
    json: options.PlainJson = False,
) -> None:
    """Show how RUN_B differs from RUN_A: every metric with the 95 % interval of its difference, then the questions
    that moved."""
    # Imported here: `--help` must import none of the heavy modules.
    from marchwarden.cli.views import console
    from marchwarden.evaluation.runs.compare import compare
    from marchwarden.evaluation.runs.run import open_run

    found = compare(open_run(run_a), open_run(run_b))
    if json:
        console.json(found.as_json())
    else:
        console.comparison(found)
