"""`marchwarden export`: a call as one file that anyone can check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marchwarden.cli.early import trace_folder

EPILOGUE = """Examples:

marchwarden export --bundle answer.zip
    the latest call
marchwarden export 3f2a --bundle answer.zip
    the one whose id begins so; `marchwarden traces` lists them
unzip answer.zip -d answer && python3 -I -S answer/verify.py
    what the receiver does: no Marchwarden, no packages, no network"""


def command(
    bundle: Annotated[
        Path, typer.Option("--bundle", "-b", metavar="FILE.zip", dir_okay=False, help="The file to write.")
    ],
    trace_id: Annotated[
        str | None,
        typer.Argument(metavar="[TRACE_ID]", help="The trace's id or the start of it; the latest without."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace the file where it is there.")] = False,
) -> None:
    """Write a call as one file to hand on: answer, trace, pages, quotes as Web Annotations, and a script that checks
    all of it."""
    from marchwarden.audit.bundle import files_of, packed
    from marchwarden.audit.verdict import evidence_of_trace
    from marchwarden.cli.audit.verify_trace import views
    from marchwarden.cli.views import console
    from marchwarden.errors import StorageError
    from marchwarden.files import write_output
    from marchwarden.trace.reader import find_trace

    if bundle.exists() and not force:
        raise StorageError(f"{bundle} is there already", hint="Choose another name, or add --force to replace it.")
    path = find_trace(trace_folder(), trace_id)
    files = files_of(evidence_of_trace(path), views())
    body = packed(files)
    try:
        write_output(bundle, body)
    except OSError as error:
        raise StorageError(
            f"{bundle} can't be written: {error.strerror or error}", hint="Choose another --bundle."
        ) from error
    console.done(f"{bundle}: {len(files)} files, {len(body):,} bytes")
