"""`marchwarden open`: a call's evidence page in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.library.stored_traces import stored_trace

EPILOGUE = """Examples:

marchwarden open
    the latest answer
marchwarden open 3f2a
    the call whose id begins with 3f2a; `marchwarden history` lists ids
marchwarden open 3f2a --no-browser
    only writes the page and prints its path"""


def command(
    trace_id: options.TraceId = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", metavar="", help="Open the page, or only write it.")
    ] = True,
) -> None:
    """Show a call in the browser: the answer, and each quote marked in the stored text of its page.

    The page works offline and requests nothing. It is stored beside the trace, and its path goes to stdout.
    """
    import webbrowser

    from marchwarden.audit.evidence_page import evidence_page
    from marchwarden.audit.verdict import evidence_of_trace
    from marchwarden.cli.audit.export import write
    from marchwarden.cli.views import console
    from marchwarden.store.check_record import last_check

    trace = stored_trace(trace_id)
    page = trace.with_suffix(".html")
    elsewhere = f"Write it elsewhere: marchwarden export {trace.stem[:8]} --html FILE.html"
    write(page, evidence_page(evidence_of_trace(trace), last_check(trace)), hint=elsewhere)
    # As private as the trace that it shows.
    page.chmod(trace.stat().st_mode & 0o777)
    console.line(str(page))
    if browser and not webbrowser.open(page.absolute().as_uri()):
        console.notice("No browser could be opened.", "Open the file named above.")
