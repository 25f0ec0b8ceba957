"""`marchwarden export`: a call as one file that anyone can check, or as one page that anyone can read."""

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
marchwarden export 3f2a --html answer.html
    one page for a browser: the answer, and each quote in its stored page
unzip answer.zip -d answer && python3 -I -S answer/verify.py
    what the receiver does: no Marchwarden, no packages, no network"""


def command(
    trace_id: Annotated[
        str | None,
        typer.Argument(metavar="[TRACE_ID]", help="The trace's id or the start of it; the latest without."),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", "-b", metavar="FILE.zip", dir_okay=False, help="The bundle to write."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE.html", dir_okay=False, help="The evidence page to write."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace a file that is there.")] = False,
) -> None:
    """Write a call to hand on: as a bundle (answer, trace, pages, quotes as Web Annotations, and a script that checks
    all of it), as one HTML page that shows each quote in the stored text of its page, or as both."""
    from marchwarden.audit.bundle import files_of, packed
    from marchwarden.audit.evidence_page import evidence_page
    from marchwarden.audit.verdict import evidence_of_trace
    from marchwarden.cli.audit.verify_trace import views
    from marchwarden.cli.views import console
    from marchwarden.errors import StorageError
    from marchwarden.trace.reader import find_trace

    targets = [path for path in (bundle, html) if path is not None]
    if not targets:
        raise typer.BadParameter("name a file to write: --bundle FILE.zip or --html FILE.html")
    for target in targets:
        if target.exists() and not force:
            raise StorageError(
                f"{target} is there already", hint="Choose another name, or add --force to replace it."
            )
    evidence = evidence_of_trace(find_trace(trace_folder(), trace_id))
    if bundle is not None:
        files = files_of(evidence, views())
        body = packed(files)
        write(bundle, body)
        console.done(f"{bundle}: {len(files)} files, {len(body):,} bytes")
    if html is not None:
        body = evidence_page(evidence)
        write(html, body)
        console.done(f"{html}: {len(body):,} bytes")


def write(path: Path, body: bytes) -> None:
    """Write a file whole or not at all. Raises StorageError where the folder can't be written."""
    from marchwarden.errors import StorageError
    from marchwarden.files import write_output

    try:
        write_output(path, body)
    except OSError as error:
        raise StorageError(f"{path} can't be written: {error.strerror or error}", hint="Choose another.") from error
