"""Options that `ask`, `serve` and `investigate` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Source: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCES",
        help="What to search, or several with commas: `marchwarden sources` lists all. Default: web where a search "
        "service has a key, else open; without a network, snapshot.",
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", metavar="", help="The result as JSON on stdout, and nothing else there.")
]
Output: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Also write it to a file: JSON for .json, else Markdown."),
]
Force: TypeAlias = Annotated[
    bool, typer.Option("--force", metavar="", help="Replace the --output file where it is there.")
]
