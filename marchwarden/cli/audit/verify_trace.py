"""`marchwarden verify`: one verdict over everything that a trace or a bundle says, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_trace
from marchwarden.cli.early import trace_folder
from marchwarden.cli.library.stored_traces import stored_trace

if TYPE_CHECKING:
    from marchwarden.audit.bundle import Views

EPILOGUE = """Exit codes: 0 verified · 1 damaged · 3 unchecked · 4 missing · 5 made by a newer version.

Examples:

marchwarden verify
    the latest answer
marchwarden verify 3f2a
    the call whose id begins with 3f2a
marchwarden verify answer.zip --signer colleague.pub
    a bundle, which that key must have signed
marchwarden verify --json | jq -r '.checks[] | select(.state != "verified")'"""


def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TRACE|BUNDLE",
            autocompletion=complete_trace,
            help="Id of the call, its first characters, a trace file or a bundle. Default: the latest answer.",
        ),
    ] = None,
    signer: Annotated[
        Path | None,
        typer.Option(
            "--signer",
            metavar="KEY.pub",
            help="OpenSSH public key that the signature must be from. Default: that of MARCHWARDEN_SIGNING_KEY.",
        ),
    ] = None,
    json: options.PlainJson = False,
) -> None:
    """Check a call's trace or bundle offline, and give one verdict.

    Nothing may have changed since the trace was sealed, every quote must be in its page, and the answer and its
    confidence must follow from the recorded evidence.
    """
    from marchwarden.audit.verdict import verdict
    from marchwarden.cli.views import console
    from marchwarden.errors import TraceError

    given = Path(target) if target else None
    if given is not None and not given.exists() and (given.suffix or len(given.parts) > 1):  # no id
        raise TraceError(f"there is no file {given}", hint="Name a trace file, a bundle, or the id of a call.")
    path = given if given is not None and given.exists() else stored_trace(target)
    found = verdict(path, views(), _signer(signer, own=path.resolve().parent == trace_folder().resolve()))
    if json:
        checks = [vars(finding) for finding in found.findings]
        console.json({"verdict": found.state, "path": str(path), "checks": checks})
    else:
        console.verdict(found)
    if found.exit_code:
        raise typer.Exit(found.exit_code)


def views() -> Views:
    """Return the files for people that a bundle is exported with."""
    from marchwarden.audit.bundle import Views
    from marchwarden.audit.evidence_page import evidence_page
    from marchwarden.server.markdown import document

    return Views(report=document, evidence_page=evidence_page)


def _signer(given: Path | None, *, own: bool) -> str | None:
    """Return the public key that must have signed: the one given, or the user's own for a trace of theirs."""
    from marchwarden.errors import ConfigurationError, reason_of
    from marchwarden.settings import load_settings

    key = given
    if given is None and own and (signing := load_settings().signing_key):
        key = signing if signing.suffix == ".pub" else signing.with_name(f"{signing.name}.pub")
    if key is None:
        return None
    try:
        return key.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"the key {key} can't be read: {reason_of(error)}",
            hint="Give the public key of the signer: --signer KEY.pub.",
        ) from error
