"""`marchwarden eval report`: a run as Markdown, and as one page that opens in any browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marchwarden.cli.configuration.completion import complete_run

EPILOGUE = """Examples:

marchwarden eval report runs/extractive-dev
marchwarden eval report runs/extractive-dev --out evals/reports/extractive-dev
marchwarden eval report runs/extractive-dev --json | jq '.not_met | keys'"""


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", autocompletion=complete_run, help="Folder of the run.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to write the two files to. Default: the run's folder.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Also print the report as JSON.")] = False,
) -> None:
    """Write report.md and report.html, which shows every question beside its labels."""
    # Imported here: `--help` must import none of the heavy modules.
    from marchwarden.cli.views import console
    from marchwarden.errors import StorageError
    from marchwarden.evaluation.reports.report import report_of
    from marchwarden.evaluation.reports.report_html import html
    from marchwarden.evaluation.reports.report_markdown import markdown
    from marchwarden.evaluation.runs.run import open_run
    from marchwarden.files import write_whole

    opened = open_run(run)
    report = report_of(opened)
    folder = out or opened.folder
    files = {"report.md": markdown(report), "report.html": html(report)}
    for name, text in files.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, text.encode("utf-8", "replace"))
        except OSError as error:
            raise StorageError(
                f"{folder / name} can't be written: {error.strerror or error}",
                hint="Name another folder with --out.",
            ) from None
    if json:
        console.json({**report.as_json(), "files": [str(folder / name) for name in files]})
    else:
        console.done(f"{' and '.join(files)} are in {folder}; the page shows every question beside its labels.")
