"""Files that are whole at every moment, for whoever reads them meanwhile and after a crash."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, body: bytes) -> None:
    """Write a file whole or not at all, on the disk when it returns. Raises OSError."""
    aside = path.with_name(f".{path.name}-{uuid4().hex}")  # not of tempfile, whose files others can't read
    try:
        with aside.open("xb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """So that a crash of the machine keeps the new name; on Windows folders can't be opened, and nothing is done."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
