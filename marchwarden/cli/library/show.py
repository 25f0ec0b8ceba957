"""`marchwarden show`: an earlier answer once more, on the terminal or as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.ask import NOTHING_FOUND
from marchwarden.cli.early import trace_folder
from marchwarden.cli.library.stored_traces import stored_trace

EPILOGUE = """Exit codes: 0 it was shown or written · 3 the answer cites nothing to list.

Examples:

marchwarden show
    the latest answer
marchwarden show 3f2a -o answer.md
    the call whose id begins with 3f2a; `marchwarden history` lists ids
marchwarden show 3f2a -o answer.html
    each quote marked in the stored text of its page
marchwarden show 3f2a -o sources.bib
    what it cites, as BibTeX; also sources.ris and sources.csl.json
marchwarden show 3f2a --json | jq .confidence"""


def command(
    trace_id: options.TraceId = None,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print the result as JSON.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write it to a file instead; its ending chooses the format."
        ),
    ] = None,
    force: options.ForceFile = False,
) -> None:
    """Show an earlier answer, or write it to a file.

    The file's ending chooses the format: Markdown, HTML, JSON, or the cited works as BibTeX, RIS or CSL-JSON.
    """
    from marchwarden.cli.views import console
    from marchwarden.cli.views.result_file import ENDINGS, write_report
    from marchwarden.errors import TraceError
    from marchwarden.trace.reader import latest_answer, read_trace

    if output is not None:
        options.check_output(output, "--output", ENDINGS, force=force)
    folder = trace_folder()
    latest = latest_answer(folder) if trace_id is None else None
    trace = read_trace(latest or stored_trace(trace_id))
    result = trace.result
    if result is None:
        raise TraceError(
            f"{trace.trace_id} is {trace.outcome}: it has no answer",
            hint=f"To see how far it got: marchwarden replay {trace.trace_id[:8]}",
        )
    if output is not None:
        question = str(trace.raw[0].get("question", ""))
        if not write_report(result, question, output, trace=trace.path, force=force):
            console.notice(f"The answer cites nothing: {output} was not written.")
            raise typer.Exit(NOTHING_FOUND)
        console.done(f"Written to {output}")
    elif json:
        console.json(result.model_dump(mode="json"))
    else:
        console.line(f"{trace.raw[0].get('question', '')}\n")
        console.result(result)
