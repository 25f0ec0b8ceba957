"""`marchwarden export`: a call as one file that anyone can check, as one page that anyone can read, or what it cites
for a reference manager."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from marchwarden.cli import options
from marchwarden.cli.ask import NOTHING_FOUND
from marchwarden.cli.library.stored_traces import stored_trace

# The same as in audit/bibliography.py, which takes long to import.
BibliographyFormat: TypeAlias = Literal["bibtex", "ris", "csl"]

EPILOGUE = """Exit codes: 0 it was written · 3 the answer cites nothing to list.

Examples:

marchwarden export --bundle answer.zip
    the latest answer
marchwarden export 3f2a --bundle answer.zip
    the call whose id begins with 3f2a; `marchwarden history` lists ids
marchwarden export 3f2a --html answer.html
    one page for a browser: the answer, and each quote in its stored page
marchwarden export 3f2a -o sources.bib
    what the answer cites, as BibTeX; also sources.ris and sources.csl.json
marchwarden export 3f2a --format ris
    the same on standard output
unzip answer.zip -d answer && python3 -I -S answer/verify.py
    what the receiver does: no Marchwarden, no packages, no network"""


def command(
    trace_id: options.TraceId = None,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", "-b", metavar="FILE.zip", help="The bundle to write."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE.html", help="The evidence page to write."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the list of cited works: FILE.bib, FILE.ris or FILE.csl.json.",
        ),
    ] = None,
    form: Annotated[
        BibliographyFormat | None,
        typer.Option("--format", metavar="bibtex|ris|csl", help="Format of that list. Without -o it goes to stdout."),
    ] = None,
    force: options.ForceFile = False,
) -> None:
    """Export a call as a bundle that anybody can check, as one HTML page, or as a list of cited works.

    The bundle holds the answer, trace, pages, quotes as Web Annotations, and a script that checks all of it. The
    HTML page shows each quote in the stored text of its page. The list is for a reference manager (BibTeX, RIS,
    CSL-JSON).
    """
    from marchwarden.audit.bibliography import ENDINGS, format_of
    from marchwarden.audit.bundle import files_of, packed
    from marchwarden.audit.evidence_page import evidence_page
    from marchwarden.audit.verdict import evidence_of_trace
    from marchwarden.cli.audit.verify_trace import views
    from marchwarden.cli.views import console

    if bundle is None and html is None and output is None and form is None:
        raise typer.BadParameter("say what to write: --bundle FILE.zip, --html FILE.html or -o FILE.bib")
    if bundle is not None:
        options.check_output(bundle, "--bundle", (".zip",), force=force)
    if html is not None:
        options.check_output(html, "--html", (".html", ".htm"), force=force)
    if output is not None:
        options.check_output(output, "--output", tuple(ENDINGS) if form is None else ("",), force=force)
        form = form or format_of(output)
    trace, listed = stored_trace(trace_id), True
    if form is not None:
        listed = _list_works(trace, form, output)
        if bundle is None and html is None:
            raise typer.Exit(0 if listed else NOTHING_FOUND)
    evidence = evidence_of_trace(trace)
    if bundle is not None:
        files = files_of(evidence, views())
        body = packed(files)
        write(bundle, body)
        console.done(f"{bundle}: {len(files)} files, {len(body):,} bytes")
    if html is not None:
        body = evidence_page(evidence)
        write(html, body)
        console.done(f"{html}: {len(body):,} bytes")
    if not listed:
        raise typer.Exit(NOTHING_FOUND)


def _list_works(trace: Path, form: BibliographyFormat, output: Path | None) -> bool:
    """Write what an answer cites; return False where that is nothing, and nothing was written."""
    from marchwarden.audit.bibliography import bibliography
    from marchwarden.cli.views import console
    from marchwarden.errors import TraceError
    from marchwarden.trace.reader import read_trace

    read = read_trace(trace)
    if read.result is None:
        raise TraceError(f"{read.trace_id} is {read.outcome}: it has no result")
    if not read.result.citations:
        console.notice(f"The answer cites nothing{f': {output} was not written' if output else ''}.")
        return False
    body = bibliography(read.result.citations, form, read.started.date() if read.started else None).encode()
    if output is None:
        console.data(body)
        return True
    write(output, body)
    console.done(f"{output}: {len(body):,} bytes")
    return True


def write(path: Path, body: bytes, *, hint: str = "Choose another.") -> None:
    """Write a file whole or not at all. Raises StorageError where the folder can't be written."""
    from marchwarden.errors import StorageError
    from marchwarden.files import write_output

    try:
        write_output(path, body)
    except OSError as error:
        raise StorageError(f"{path} can't be written: {error.strerror or error}", hint=hint) from error
