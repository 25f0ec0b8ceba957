"""Find the files of a corpus: those under its roots that can be read, without hidden files and without links."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import BinaryIO

from marchwarden.corpus.documents import kind_of

# Folders that programs fill; they are passed over, as are those whose names begin with a dot.
PASSED_OVER = frozenset({"node_modules", "__pycache__", "__MACOSX", "site-packages", "lost+found", "$RECYCLE.BIN"})
# Files and folders that are named as skipped; the others are only counted. A guess.
MOST_SKIPPED = 10_000
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
    skipped: dict[str, str] = field(default_factory=dict)
    """Reasons for which a file, link or folder was passed over, by path; the first MOST_SKIPPED."""

    def skip(self, path: str, reason: str) -> None:
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped[path] = reason


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
        for name in sorted(folders):
            if Path(here, name).is_symlink():
                found.links += 1
                found.skip(_join(here, name), _IS_LINK)
            elif name.startswith("."):
                found.skip(_join(here, name), _IS_HIDDEN)
            elif name in PASSED_OVER:
                found.skip(_join(here, name), "folders with this name hold generated files")
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        for name in sorted(names):
            if name.startswith((".", "~$")):
                found.skip(_join(here, name), _IS_HIDDEN if name[0] == "." else "it only marks a document as open")
            else:
                yield _join(here, name)


_IS_LINK = "links are not followed"
_IS_HIDDEN = "its name begins with a dot"


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip(os.sep)}{os.sep}{name}"


def _take(path: str, found: Walk) -> None:
    """Put a file where it belongs: among those to read, the refused ones, the links or the others."""
    if kind_of(path) is None:
        found.others += 1
        ending = PurePath(path).suffix.lower()
        found.skip(
            path, f"files that end with {ending} can't be read" if ending else "files without an ending can't be read"
        )
        return
    try:
        state = os.lstat(path)
    except OSError as error:
        found.refused[path] = str(error.strerror or error)
        return
    if stat.S_ISLNK(state.st_mode):
        found.links += 1
        found.skip(path, _IS_LINK)
    elif not stat.S_ISREG(state.st_mode):
        found.refused[path] = "it is not a regular file"
    elif _UNNAMEABLE.search(path):
        found.refused[path] = "its name has unprintable characters, so a citation could not name it"
    else:
        found.files[path] = state
