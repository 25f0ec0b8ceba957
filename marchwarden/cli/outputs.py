"""Files that a command is told to write: what is wrong with one is said before anything is done."""

from __future__ import annotations

from pathlib import Path

import typer


def check_output(path: Path, option: str, endings: tuple[str, ...], *, force: bool) -> None:
    """Raise a usage error for a file that can't be written, has none of the endings, or is there without `force`."""
    if path.is_dir():
        raise typer.BadParameter(f"{option} {path} is a folder; name a file")
    if not path.absolute().parent.is_dir():
        raise typer.BadParameter(f"{option} {path}: there is no folder {path.parent}")
    # A pipe or a device is written into, and its name says nothing.
    if path.exists() and not path.is_file():
        return
    if not path.name.lower().endswith(endings):
        known = endings[0] if len(endings) == 1 else f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise typer.BadParameter(f"{option} {path}: its ending says what to write: {known}")
    if path.exists() and not force:
        raise typer.BadParameter(f"{option} {path} is there already; choose another name, or add --force")
