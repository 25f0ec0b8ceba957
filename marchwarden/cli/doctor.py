"""`marchwarden doctor`: is everything there that research needs, and what to do where it isn't."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.early import debugging

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marchwarden.cli.configuration.doctor_check import Check

EPILOGUE = """Examples:

marchwarden doctor
marchwarden doctor --online
    also asks the model and the search service for an answer, which may cost a little
marchwarden doctor --json | jq -r '.[] | select(.state == "broken") | .advice'"""


def command(
    online: Annotated[
        bool, typer.Option("--online", metavar="", help="Also test the keys, with a small call to each service.")
    ] = False,
    json: options.PlainJson = False,
) -> None:
    """Check settings, keys, model, search, folders and libraries, and say what to do."""
    from marchwarden.cli.views import console

    # Some libraries print to stdout when they are used, where only the result belongs.
    with redirect_stdout(sys.stderr if debugging() else io.StringIO()):
        checks = list(_checks(online))
    if json:
        console.json([asdict(check) for check in checks])
    else:
        console.checks(checks)
    if any(check.state == "broken" for check in checks):
        raise typer.Exit(1)


def _checks(online: bool) -> Iterator[Check]:
    from marchwarden.cli.checks import environment_checks, online_checks, settings_checks, variables_check
    from marchwarden.cli.configuration.doctor_check import Check
    from marchwarden.cli.configuration.service_checks import surroundings_checks
    from marchwarden.errors import ConfigurationError
    from marchwarden.settings import load_settings

    yield from environment_checks()
    try:
        settings = load_settings()
    except ConfigurationError as error:
        yield Check("settings", "broken", str(error), error.hint)
        return
    yield variables_check()
    yield from settings_checks(settings)
    yield from surroundings_checks(settings)
    if online:
        yield from online_checks(settings)
