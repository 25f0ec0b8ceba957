"""Options that several commands share, and the check of a file that one of them is told to write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from marchwarden.cli.configuration.completion import complete_model, complete_source, complete_trace

TraceId: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="TRACE_ID",
        help="Id of the call, or its first characters. Default: the latest answer.",
        autocompletion=complete_trace,
    ),
]
Trace: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="TRACE",
        help="Id of the call, its first characters, or a trace file. Default: the latest answer.",
        autocompletion=complete_trace,
    ),
]
Context: TypeAlias = Annotated[
    str | None, typer.Option(help="What you already know, so that it is not researched again.")
]
Depth: TypeAlias = Annotated[
    Literal["shallow", "balanced", "deep"], typer.Option(help="How thorough to be: a target, not a limit.")
]
Source: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCES",
        autocompletion=complete_source,
        help="Source to search, or several, separated by commas: `marchwarden sources` lists them. Default: web if a "
        "search service has a key, else open; snapshot if there is no network.",
    ),
]
Web: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder of another frozen web; implies --source snapshot.")
]
QuestionsWeb: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Folder of the frozen web that the questions are about. Default: the shipped one."
    ),
]
Model: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ID", autocompletion=complete_model, help="Model id, or extractive for none.")
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", metavar="", help="Print the result as JSON on stdout, and nothing else.")
]
PlainJson: TypeAlias = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]
Output: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "--out",
        "-o",
        metavar="FILE",
        help="Also write the result to a file. Its ending chooses the format: .md, .html (each quote in its "
        "page), .json, "
        "or, for the list of cited works, .bib, .ris or .csl.json.",
    ),
]
Force: TypeAlias = Annotated[
    bool, typer.Option("--force", metavar="", help="Replace the --output file if it exists.")
]
ForceFile: TypeAlias = Annotated[bool, typer.Option("--force", metavar="", help="Replace an existing file.")]
Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Ask on the workers of a Dask cluster: the address of its scheduler, dask://HOST:PORT.",
    ),
]
TotalBudget: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="TOKENS",
        min=1,
        help="Model tokens for all questions together, including those of the run that --resume continues.",
    ),
]


def scheduler(cluster: str | None) -> str | None:
    """Return the address of a cluster's scheduler as Dask has it.

    Raises a usage error for what is none, and ConfigurationError where Dask is not installed.
    """
    if cluster is None:
        return None
    from marchwarden.execution.dask_cluster import scheduler_of

    try:
        return scheduler_of(cluster)
    except ValueError as error:
        raise typer.BadParameter(f"--cluster: {error}") from None


def check_input(path: Path, option: str) -> None:
    """Raise a usage error for a file that can't be read."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise typer.BadParameter(f"{option} {path} can't be read: {error.strerror or error}") from None


def check_output(path: Path, option: str, endings: tuple[str, ...], *, force: bool, replaces: bool = True) -> None:
    """Raise a usage error for a file that can't be written, has none of the endings, or is there without `force`;
    StorageError where the disk is full.

    `replaces`: it is put in the place of one that is there, and not added to it. Called before anything is spent: an
    answer that was paid for has a place to go.
    """
    from marchwarden.files import check_output_place

    try:
        if path.is_dir():
            raise typer.BadParameter(f"{option} {path} is a folder; name a file")
        if not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"{option} {path}: there is no folder {path.parent}")
        # A pipe or a device is written into, and its name says nothing.
        if not path.exists() or path.is_file():
            if not path.name.lower().endswith(endings):
                known = endings[0] if len(endings) == 1 else f"{', '.join(endings[:-1])} or {endings[-1]}"
                raise typer.BadParameter(f"{option} {path}: its ending says what to write: {known}")
            if path.exists() and not force:
                raise typer.BadParameter(f"{option} {path} already exists; choose another name, or add --force")
        check_output_place(path, replaces=replaces)
    except OSError as error:
        raise _unwritable(f"{option} {path} can't be written", error) from None


def check_output_folder(folder: Path, option: str) -> None:
    """Raise a usage error for a folder that can't be made, or in which no file can be written; StorageError where the
    disk is full."""
    from marchwarden.files import check_output_folder

    try:
        check_output_folder(folder)
    except OSError as error:
        raise _unwritable(f"{option} {folder} can't be written into", error) from None


def _unwritable(what: str, error: OSError) -> Exception:
    """Return a usage error for a wrong place, and StorageError for one that has no room."""
    from marchwarden.errors import StorageError
    from marchwarden.files import is_full

    told = f"{what}: {error.strerror or error}"
    if is_full(error):
        return StorageError(told, hint="Free some space, or write it elsewhere.")
    return typer.BadParameter(told)
