"""Files that are whole at every moment, for whoever reads them meanwhile and after a crash."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

_ASIDE = re.compile(r"\..+-[0-9a-f]{32}")


def write_whole(path: Path, body: bytes, *, synced: bool = True, private: bool = False) -> None:
    """Write a file whole or not at all; `synced`: on the disk when it returns; `private`: only its owner may read it.

    Raises OSError.
    """
    aside = path.with_name(f".{path.name}-{uuid4().hex}")  # not of tempfile, whose files others can't read
    try:
        with open(aside, "xb", opener=_private if private else None) as file:
            file.write(body)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    if synced:
        # The folder too, so that a crash of the machine keeps the new name. On Windows folders can't be opened, and
        # nothing is done.
        with suppress(OSError):
            descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def is_left_behind(path: Path) -> bool:
    """True of a file that `write_whole` had not put in its place yet when its process was killed."""
    return _ASIDE.fullmatch(path.name) is not None


def write_output(path: Path, body: bytes) -> None:
    """Write whole to where a person pointed: links are followed; a pipe or a device is written into, never replaced.
    Raises OSError."""
    path = path.resolve()
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(body)
    else:
        write_whole(path, body)
