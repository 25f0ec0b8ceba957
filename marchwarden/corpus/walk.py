"""Find the files of a corpus: those under its roots that can be read, without hidden files and without links."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from marchwarden.corpus.documents import kind_of

# Folders that programs fill; they are passed over, as are those whose names begin with a dot.
PASSED_OVER = frozenset({"node_modules", "__pycache__", "__MACOSX", "site-packages", "lost+found", "$RECYCLE.BIN"})
_UNNAMEABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass
class Walk:
    """The files below some roots, in order, and what was noticed on the way."""

    files: dict[str, os.stat_result] = field(default_factory=dict)
    """Status of each file, by its absolute path without links in it."""
    refused: dict[str, str] = field(default_factory=dict)
    """Reasons for which a file or folder can't be read, by path."""
    others: int = 0
    """Number of files of kinds that can't be indexed."""
    links: int = 0
    """Number of links, which are not followed: they can lead out of the roots, and in circles."""


def walk(roots: list[Path]) -> Walk:
    """Find the files below the roots.

    A root that is a link is followed; a root that is a file is taken even where its name is one that is passed over.
    """
    found = Walk()
    for root in roots:
        where = os.path.realpath(root)
        if Path(where).is_dir():
            for path in _below(where, found):
                _take(path, found)
        elif kind_of(where) is None:
            found.refused[where] = "files of this kind can't be indexed"
        else:
            _take(where, found)
    return found


def open_ordinary(path: str) -> BinaryIO:
    """Open an ordinary file to read it. Raises OSError, also for links, pipes and devices."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is not a regular file")
    return file


def read_bytes(path: str, most: int, start: int = 0) -> bytes:
    """Read at most `most` bytes of an ordinary file, from byte `start` on. Raises OSError."""
    with open_ordinary(path) as file:
        file.seek(start)
        return file.read(most)


def _below(folder: str, found: Walk) -> Iterator[str]:
    """Yield the paths of files, folder by folder, in the order of their names."""

    def unreadable(error: OSError) -> None:
        found.refused[str(error.filename)] = f"the folder can't be read: {error.strerror}"

    for here, folders, names in os.walk(folder, onerror=unreadable):
        found.links += sum(Path(here, name).is_symlink() for name in folders)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        for name in sorted(names):
            if not name.startswith((".", "~$")):
                yield f"{here.rstrip(os.sep)}{os.sep}{name}"


def _take(path: str, found: Walk) -> None:
    """Put a file where it belongs: among those to read, the refused ones, the links or the others."""
    if kind_of(path) is None:
        found.others += 1
        return
    try:
        state = os.lstat(path)
    except OSError as error:
        found.refused[path] = str(error.strerror or error)
        return
    if stat.S_ISLNK(state.st_mode):
        found.links += 1
    elif not stat.S_ISREG(state.st_mode):
        found.refused[path] = "it is not a regular file"
    elif _UNNAMEABLE.search(path):
        found.refused[path] = "its name holds characters that can't be shown, so that nobody could follow a citation"
    else:
        found.files[path] = state
