"""Which files a corpus is of: those under its roots that can be read, without hidden ones and without links."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from marchwarden.corpus.documents import kind_of

# Folders that programs fill; so are those whose names begin with a dot.
PASSED_OVER = frozenset({"node_modules", "__pycache__", "__MACOSX", "site-packages", "lost+found", "$RECYCLE.BIN"})
_UNNAMEABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass
class Walk:
    """The files below some roots, in order, and what was noticed on the way."""

    files: dict[str, os.stat_result] = field(default_factory=dict)
    """By absolute path without links in it."""
    refused: dict[str, str] = field(default_factory=dict)
    """Path and reason."""
    others: int = 0
    """Files of kinds that can't be indexed."""
    links: int = 0
    """Links, which are not followed: they can lead out of the roots, and in circles."""


def walk(roots: list[Path]) -> Walk:
    """Roots that are links are followed; a root that is a file is taken whatever it is called, if its kind can be."""
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
    """To read. Raises OSError, for links, pipes and devices too."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is no ordinary file")
    return file


def read_bytes(path: str, most: int, start: int = 0) -> bytes:
    """At most so many bytes of an ordinary file, from `start` on. Raises OSError."""
    with open_ordinary(path) as file:
        file.seek(start)
        return file.read(most)


def _below(folder: str, found: Walk) -> Iterator[str]:
    """Paths of files, folder by folder, in the order of their names."""

    def unreadable(error: OSError) -> None:
        found.refused[str(error.filename)] = f"the folder can't be read: {error.strerror}"

    for here, folders, names in os.walk(folder, onerror=unreadable):
        found.links += sum(Path(here, name).is_symlink() for name in folders)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        for name in sorted(names):
            if not name.startswith((".", "~$")):
                yield f"{here.rstrip(os.sep)}{os.sep}{name}"


def _take(path: str, found: Walk) -> None:
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
        found.refused[path] = "it is no ordinary file"
    elif _UNNAMEABLE.search(path):
        found.refused[path] = "its name holds characters that can't be shown, so that nobody could follow a citation"
    else:
        found.files[path] = state
