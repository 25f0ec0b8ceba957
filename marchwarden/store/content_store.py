"""Content store: bytes under their SHA-256, compressed, written whole, shared between traces."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import zstandard

from marchwarden.errors import StorageError, TraceError
from marchwarden.files import make_private_folder, sync, write_whole
from marchwarden.observations import ContentHash, content_hash

_HASH = re.compile(r"^sha256:([0-9a-f]{2})([0-9a-f]{62})$")


class Store:
    """Store of pages and texts in `folder`, for several threads and processes: a file appears whole or not at all.

    Only the user may read it. What is read is compared with its hash: a damaged file is told from a whole one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, body: bytes) -> ContentHash:
        """Store `body` and return its hash. A damaged file is written again. Raises StorageError."""
        key = content_hash(body)
        path = self._path(key)
        if self._read(key) != body:
            self._write(path, zstandard.ZstdCompressor().compress(body))
        else:
            with suppress(OSError):
                os.utime(path)  # what a running call names is young: trace/pruning.py leaves it
        return key

    def get(self, key: str) -> bytes:
        """Return the bytes under `key`. Raises TraceError where they are missing or damaged."""
        body = self._read(key)
        if body is None:
            state = "damaged" if self.has(key) else "missing"
            raise TraceError(
                f"{key} is {state} in {self.folder}", hint="The page can be fetched again, from its URL."
            )
        return body

    def has(self, key: str) -> bool:
        return self._path(key).is_file()

    def get_packed(self, key: str) -> bytes | None:
        """Return the compressed bytes under `key`, to be stored elsewhere; None where they are missing or damaged."""
        try:
            packed = self._path(key).read_bytes()
        except OSError:
            return None
        return packed if unpacked(packed, key) is not None else None

    def put_packed(self, key: str, packed: bytes) -> bool:
        """Store compressed bytes that come from elsewhere. False where they are not what `key` is the hash of.

        Raises StorageError.
        """
        if unpacked(packed, key) is None:
            return False
        self._write(self._path(key), packed)
        return True

    def files(self) -> list[Path]:
        """Return the store's files, also those that a killed process left behind."""
        return sorted(self.folder.glob("??/*"))

    def key_of(self, file: Path) -> str:
        """Return the hash that a file of the store is named by; no hash for a file that was left behind."""
        return f"sha256:{file.parent.name}{file.name.removesuffix('.zst')}"

    def sync(self, keys: Iterable[str]) -> None:
        """Bring what is stored under these hashes to the disk, so that a crash of the machine keeps it.

        Raises StorageError.
        """
        paths = [self._path(key) for key in keys]
        try:
            sync([*paths, *{path.parent for path in paths}])
        except OSError as error:
            raise _cannot_write(self.folder, error) from error

    def _path(self, key: str) -> Path:
        parts = _HASH.match(key)
        if not parts:
            raise TraceError(f"{key!r} is not a content hash", hint="They look like sha256:… with 64 digits.")
        return self.folder / parts[1] / f"{parts[2]}.zst"

    def _read(self, key: str) -> bytes | None:
        """Return the bytes under `key`; None where they are missing or damaged."""
        try:
            packed = self._path(key).read_bytes()
        except OSError:
            return None
        return unpacked(packed, key)

    def _write(self, path: Path, packed: bytes) -> None:
        try:
            make_private_folder(path.parent)
            # Not synced, since that costs 8 ms a page: the end of the call syncs all of them at once.
            write_whole(path, packed, synced=False, private=True)
        except OSError as error:
            raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path} can't be written: {error.strerror or error}",
        hint="Free some space, or set MARCHWARDEN_TRACE_DIR to a folder that can be written.",
    )


def unpacked(packed: bytes, key: str) -> bytes | None:
    """Return compressed bytes as they were; None where they are not what `key` is the hash of."""
    try:
        body = zstandard.ZstdDecompressor().decompress(packed)
    # Damaged bytes may declare any size: then the memory is not enough.
    except (MemoryError, zstandard.ZstdError):
        return None
    return body if content_hash(body) == key else None
