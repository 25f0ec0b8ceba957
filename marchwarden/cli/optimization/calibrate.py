"""`marchwarden calibrate`: fits a model's confidence to how often it was right, for its next answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marchwarden.cli.configuration.completion import complete_run

EPILOGUE = """Examples:

marchwarden calibrate runs/extractive-dev
    fit, and keep it where the model's next answers find it
marchwarden calibrate runs/extractive-dev --test runs/extractive-test
    and see how it does on questions that it was not fitted to
marchwarden calibrate runs/extractive-train runs/extractive-dev
    fit to the answers of both
marchwarden calibrate runs/extractive-dev --out programs/extractive --json | jq .own.after
    keep it elsewhere: MARCHWARDEN_PROGRAM and eval --program name that folder

Exit codes: 0 fitted and kept · 1 a failure, such as a run with too few answers · 2 wrong usage.
MARCHWARDEN_PROGRAM=none does without; `marchwarden doctor` says which calibration is in force."""


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", autocompletion=complete_run, help="Folders of the runs to fit to (marchwarden eval)."
        ),
    ],
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            autocompletion=complete_run,
            help="Folder of a run on other questions, to test the calibration on.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder to write the calibration to. Default: ~/.marchwarden/programs/MODEL."
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print the calibration and its figures as JSON.")
    ] = False,
) -> None:
    """Fit a model's confidence to how often its answers in these runs were right, and store the fit with the model.

    The fit is logistic in the log-odds (Platt 1999), from the score before any calibration. Brier score, expected
    calibration error and AUROC are shown before and after: on the runs themselves 5-fold cross-validated, and on
    --test.
    """
    from marchwarden.cli.views import console
    from marchwarden.evaluation.runs.calibration_fit import calibrate, joined, save
    from marchwarden.evaluation.runs.run import open_run
    from marchwarden.programs import model_slug, own_programs

    report = calibrate(joined([open_run(run) for run in runs]), open_run(test) if test else None)
    calibration = report.calibration
    file = save(calibration, out or own_programs() / model_slug(calibration.model_id))
    if json:
        console.json({**report.as_json(), "file": str(file)})
    else:
        console.calibration(report)
    # The fit never gives a better score a worse chance: where it would, the slope is 0.
    if not calibration.slope:
        console.notice(
            "On this run, the score does not separate right answers from wrong ones.",
            f"Every answer that cites something gets {calibration.apply(0.5):.2f}, or its upper bound.",
        )
    use = f" MARCHWARDEN_PROGRAM={out} uses it, as does `marchwarden eval --program {out}`." if out else ""
    console.done(f"The calibration is in {file}.{use}")
