"""`marchwarden eval freeze`: calls as a frozen web and questions to label."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marchwarden.cli.library.stored_traces import named_trace

EPILOGUE = """Examples:

marchwarden eval freeze 3f2a 77c0 --out frozen
marchwarden history --json | jq -r '.[].trace_id' | xargs marchwarden eval freeze --out frozen
marchwarden eval --questions frozen/questions.jsonl --web frozen/web
    once the questions are labelled (evals/README.md)"""


def command(
    traces: Annotated[
        list[str], typer.Argument(metavar="TRACE...", help="Ids of calls, their first characters, or trace files.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write web/ and questions.jsonl to.")],
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print what was made as JSON.")] = False,
) -> None:
    """Make a frozen web from the pages that calls read, and a question to label for each call."""
    # Imported here: `--help` must import none of the heavy modules.
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.evaluation.datasets.freeze import QUESTIONS, WEB, freeze
    from marchwarden.trace.reader import read_trace

    files = [named_trace(each) for each in traces]
    frozen = freeze([read_trace(file) for file in files], out)
    if json:
        console.json(
            {
                "questions": frozen.questions,
                "pages": frozen.pages,
                "addresses": frozen.addresses,
                "left_out": frozen.left_out,
            }
        )
    else:
        console.line(
            f"{count(frozen.questions, 'question')} to label in {out / QUESTIONS}; {count(frozen.pages, 'page')} and "
            f"{count(frozen.addresses - frozen.pages, 'page')} without a body in {out / WEB}"
        )
    for sentence in frozen.left_out:
        console.notice(f"Left out: {sentence}")
