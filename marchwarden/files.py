"""Files that are whole at every moment, for whoever reads them meanwhile and after a crash."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

if sys.platform != "win32":
    import fcntl

_ASIDE = re.compile(r"\..+-[0-9a-f]{32}")


# Permissions of a private file and of a private folder. The umask can only take more away.
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700

# Files that are synced side by side: the file system then writes them in one go. 20 files of 20 kB and their folders
# take 18 to 31 ms, where 24 files alone took 52 to 94 ms one after the other (ext4 on a virtual disk).
_SYNCED_AT_ONCE = 8
# Errors of fsync that say that a file system, such as some network ones and those of special files, knows no sync.
_NO_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
# Files for which threads are not worth their start: they were a tenth of the server's CPU time of a call
# (evals/benchmarks/server_load.py).
_SYNCED_ALONE = 2
# Seconds after its last line for which a file counts as being written, where there are no locks: the longest call
# takes three minutes by default. A guess.
_HELD_S = 3600.0
# Errors of a write that say that the disk, the quota or the allowed size of a file is used up.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Bytes that are read at once from the end of a file, whose last line is looked for.
_BLOCK_BYTES = 64 * 1024
# Bytes that a place for output must have room for: more than most answers take. A guess.
_PROBE_BYTES = 64 * 1024


def write_whole(path: Path, body: bytes, *, synced: bool = True, private: bool = False) -> None:
    """Write a file whole or not at all. Raises OSError.

    `synced`: it is on the disk when this returns; `private`: only its owner may read it.
    """
    aside = path.with_name(f".{path.name}-{uuid4().hex}")  # not of tempfile, whose files others can't read
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(aside, flags, PRIVATE_FILE if private else 0o666), "wb") as file:
            file.write(body)
            if synced:
                file.flush()
                sync_open(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    if synced:
        _sync(path.parent)  # else a crash of the machine may lose the new name


def is_full(error: OSError) -> bool:
    """Return whether a write failed because there is no room: another hint than that for missing permissions."""
    return error.errno in _FULL


def append_line(file: int, line: bytes) -> None:
    """Add a line to a file that is open for appending: whole or not at all, also where the disk is full. Raises
    OSError."""
    is_regular = stat.S_ISREG(os.fstat(file).st_mode)
    end = os.lseek(file, 0, os.SEEK_END) if is_regular else 0
    left = line
    try:
        while left:
            left = left[os.write(file, left) :]
    except OSError:
        if is_regular:
            with suppress(OSError):
                os.ftruncate(file, end)
        raise


def remove_torn_end(path: Path, is_whole: Callable[[bytes], bool]) -> None:
    """Make a file of lines one that a program can read, and a line can be added to: after a kill, its last line may
    be cut off. It is removed, or ended where it is whole but for its end. Raises OSError."""
    if not path.is_file():
        return
    with path.open("r+b") as file:
        size = start = file.seek(0, os.SEEK_END)
        read = b""
        while start and b"\n" not in read:
            block = min(_BLOCK_BYTES, start)
            start = file.seek(start - block)
            read = file.read(block) + read
        last = read.rpartition(b"\n")[2]
        if last and is_whole(last):
            file.seek(size)
            file.write(b"\n")
        elif last:
            file.truncate(size - len(last))


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may enter, and each folder above it that is missing. Raises OSError.

    A folder that already exists keeps its permissions: they may be meant.
    """
    if folder.is_dir():
        return
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises where it is a file


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner may read, and its folder, unless it is there: others then write into it.
    Raises OSError."""
    make_private_folder(path.parent)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE))


def sync(paths: Iterable[Path]) -> None:
    """Bring files and the names in their folders to the disk. Raises OSError where the disk is full or broken.

    One that is gone, or that this user may not read, is passed over.
    """
    files = list(paths)
    wanted = [*files, *{path.parent for path in files}]
    if len(wanted) <= _SYNCED_ALONE:
        for path in wanted:
            _sync(path)
        return
    with ThreadPoolExecutor(_SYNCED_AT_ONCE) as threads:
        list(threads.map(_sync, wanted))


def _sync(path: Path) -> None:
    if sys.platform == "win32":  # it opens no folders, and syncs no file that is open for reading only
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, PermissionError):  # pruned meanwhile; a folder that one may write into but not list
        return
    try:
        sync_open(descriptor)
    finally:
        os.close(descriptor)


def sync_open(descriptor: int) -> None:
    """Bring an open file to the disk. Raises OSError; but not where its file system has no way to do so."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def hold(descriptor: int) -> None:
    """Mark an open file as being written, until it is closed or its process ends. Others are not kept from it."""
    if sys.platform != "win32":
        with suppress(OSError):  # another one writes it, or the file system knows no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held(path: Path) -> bool:
    """Return whether a file is being written (`hold`); on Windows, whether it was written in the last hour."""
    try:
        if sys.platform == "win32":
            return time.time() - path.stat().st_mtime < _HELD_S
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def is_left_behind(path: Path) -> bool:
    """True of a file that `write_whole` had not put in its place yet when its process was killed."""
    return _ASIDE.fullmatch(path.name) is not None


def write_output(path: Path, body: bytes) -> None:
    """Write whole to where a person pointed: links are followed; a pipe or a device is written into, never replaced.
    Raises OSError."""
    # Not resolved: /dev/stdout leads to no name where stdout is a pipe.
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(body)
    else:
        write_whole(_followed(path), body)


def check_output_place(path: Path, *, replaces: bool = True) -> None:
    """Raise the OSError that writing a file would meet now: no such folder, no permission, no room for an answer.

    `replaces`: it will be put in the place of one that is there, as `write_output` does, and not be added to that.
    Nothing is left behind. A pipe or a device is not written into, so that one that is full is not noticed.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not (replaces and path.is_file()):
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return
    path = _followed(path)
    aside = path.with_name(f".{path.name}-{uuid4().hex}")  # the name that `write_whole` would make
    try:
        with aside.open("xb", buffering=0) as file:
            if file.write(bytes(_PROBE_BYTES)) < _PROBE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def check_output_folder(folder: Path) -> None:
    """Raise the OSError that making a folder and files in it would meet now. Nothing is made."""
    there = next((each for each in (folder, *folder.absolute().parents) if _stands(each)), folder)
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{there} is {'a file' if there.exists() else 'a link to nothing'}")
    check_output_place(there / uuid4().hex)


def _stands(path: Path) -> bool:
    """Return whether something has this name, be it a link that leads nowhere. Raises OSError for too long a name."""
    try:
        path.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise
        return False
    return True


def _followed(path: Path) -> Path:
    """Return where the links of a path lead. One that leads to itself is a place like any other name."""
    return Path(os.path.realpath(path))  # Path.resolve raises RuntimeError for it before Python 3.13
