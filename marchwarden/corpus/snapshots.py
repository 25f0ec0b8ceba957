"""Snapshots of corpora in the object store, so that other machines answer from a corpus that one of them indexed.

    corpora/notes/20261129T101500Z-DIGEST.tar.zst    the catalogue and the index, as of a time
    tables/notes/….lance/…                           tables of an engine that searches them in the store
    objects/ab/….zst                                 the files, as in the content store

A machine that lacks a corpus fetches its newest snapshot, and each file when it is read first; tables stay in the
store. Corpora that were indexed here are never replaced by one.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import zstandard
from filelock import FileLock

from marchwarden.corpus.catalogue import Catalogue, FileRecord, state_of
from marchwarden.errors import ConfigurationError, StorageError
from marchwarden.files import make_private_folder, write_whole
from marchwarden.observations import content_hash
from marchwarden.sharing.object_store import PATIENT_S, ObjectStore, open_store
from marchwarden.sharing.publication import object_name
from marchwarden.store.content_store import unpacked

_log = logging.getLogger(__name__)

# In the folder of a corpus that was fetched: the name of its snapshot, and its files as far as they were read.
MARK, FILES = "snapshot", "files"
# Seconds for which a fetched snapshot is used without a look for a newer one. A guess.
_FRESH_S = 60.0
# Bytes of a snapshot, at most: S3 takes 5 GB in one request.
_MOST_BYTES = 4_000_000_000
# Files that are sent side by side. A guess.
_AT_ONCE = 8

_TABLE_HINT = "latest_version_hint.json"
_MEMBER = re.compile(r"catalogue\.sqlite|index/[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Published:
    """A snapshot that is in the store."""

    name: str
    files: int
    created: int
    """Number of objects that the store did not have, with the snapshot."""


def is_fetched(folder: Path) -> bool:
    """Return whether the corpus in a folder came from the store."""
    return (folder / MARK).is_file()


def publish_snapshot(folder: Path, store_url: str) -> Published:
    """Publish the corpus in a folder, and its files. Nothing is created where the newest snapshot is the same.

    Raises ConfigurationError where it is not what its files are now, and StorageError.
    """
    name, store = folder.name, ObjectStore(store_url, request_s=PATIENT_S)
    with Catalogue.reading(folder / "catalogue.sqlite") as catalogue:
        if catalogue.is_unfinished:
            raise ConfigurationError(f"the corpus {name} is not completely indexed", hint="Index it again.")
        records = [record for path in catalogue.paths() if (record := catalogue.file(path)) and record.documents]

    def send(record: FileRecord) -> bool:
        try:
            path = Path(record.path)
            body = path.read_bytes() if state_of(path.stat()) == record.state else b""
        except OSError:
            body = b""
        if content_hash(body) != record.hash:
            raise ConfigurationError(f"{record.path} has changed since it was indexed", hint="Index it again.")
        return store.create(object_name(record.hash), zstandard.ZstdCompressor().compress(body))

    # Tables are folders of files that never change, but for a hint that readers can do without; the snapshot says
    # which version of them belongs to it.
    tables = folder / "index"
    parts = sorted(file for file in tables.glob("*/**/*") if file.is_file() and file.name != _TABLE_HINT)
    names = [f"tables/{name}/{file.relative_to(tables).as_posix()}" for file in parts]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        created = sum(threads.map(send, records)) + sum(threads.map(store.create_from, names, parts))
    packed = _packed(folder)
    if len(packed) > _MOST_BYTES:
        raise StorageError(f"the index of {name} is too large to be published: {len(packed):,} bytes, packed")
    digest = hashlib.sha256(packed).hexdigest()
    newest = _newest(store, name)
    if newest and newest.endswith(f"-{digest}.tar.zst"):
        return Published(newest, len(records), created)
    at = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    snapshot = f"corpora/{name}/{at}-{digest}.tar.zst"
    return Published(snapshot, len(records), created + store.create(snapshot, packed))


def tables_url(store_url: str, name: str) -> str:
    """Return the address of the tables of a corpus that is published in a store. Raises ConfigurationError."""
    return open_store(store_url).url_of(f"tables/{name}")


def published_names(store_url: str) -> list[str]:
    """Return the names of the corpora that are published in a store. Raises ConfigurationError and StorageError."""
    return sorted({each.name.split("/")[1] for each in open_store(store_url).list("corpora")})


def fetch_newest(folder: Path, store_url: str) -> None:
    """Fetch the newest snapshot of the corpus that belongs into a folder, unless the corpus there was indexed here.

    One that was fetched stays where the store can't be reached. Raises StorageError where there is none to stay.
    """
    mark = folder / MARK
    if (folder / "catalogue.sqlite").is_file() and not mark.is_file():
        return
    if mark.is_file() and 0 <= time.time() - mark.stat().st_mtime < _FRESH_S:
        return
    try:
        make_private_folder(folder.parent)
        with FileLock(folder.parent / f".{folder.name}.lock", timeout=PATIENT_S):
            store = open_store(store_url)
            newest = _newest(store, folder.name)
            if newest and (not mark.is_file() or mark.read_text() != newest):
                _put_in_place(folder, newest, store.get(newest))
            if mark.is_file():
                os.utime(mark)
    except (OSError, StorageError) as error:
        if not mark.is_file():
            raise (
                error if isinstance(error, StorageError) else StorageError(f"{folder} can't be written: {error}")
            ) from error
        _log.warning("the snapshot of the corpus %s that is here was used: %s", folder.name, error)


def fetched_file(folder: Path, path: str, store_url: str | None) -> Path:
    """Return where a file of a fetched corpus lies here, once it is fetched. Raises OSError and StorageError."""
    with Catalogue.reading(folder / "catalogue.sqlite") as catalogue:
        record = catalogue.file(path)
    if record is None:
        raise FileNotFoundError(path)
    here = folder / FILES / record.hash.removeprefix("sha256:")
    if not here.is_file():
        packed = open_store(store_url).get(object_name(record.hash)) if store_url else None
        body = unpacked(packed or b"", record.hash)
        if body is None:
            raise FileNotFoundError(path)
        make_private_folder(here.parent)
        write_whole(here, body, synced=False, private=True)
        # The day that the file was written is part of what is cited; the state begins with size and time.
        modified = int(record.state.split()[1])
        os.utime(here, ns=(modified, modified))
    return here


def _newest(store: ObjectStore, name: str) -> str | None:
    """Return the newest snapshot of a corpus; names begin with the time. None without one. Raises StorageError."""
    return max((each.name for each in store.list(f"corpora/{name}") if each.name.endswith(".tar.zst")), default=None)


def _packed(folder: Path) -> bytes:
    """Return catalogue and index as a compressed tar file, which is the same for the same content."""
    with tempfile.TemporaryDirectory() as aside:
        copy = Path(aside) / "catalogue.sqlite"
        # What is in the write-ahead log is in the copy, and the file of a running index stays whole.
        with (
            closing(sqlite3.connect(f"{(folder / 'catalogue.sqlite').absolute().as_uri()}?mode=ro", uri=True)) as own,
            closing(sqlite3.connect(copy)) as there,
        ):
            own.backup(there)
        members = {"catalogue.sqlite": copy}
        members |= {f"index/{file.name}": file for file in sorted((folder / "index").iterdir()) if file.is_file()}
        body = io.BytesIO()
        with (
            zstandard.ZstdCompressor().stream_writer(body, closefd=False) as out,
            tarfile.open(mode="w|", fileobj=out) as tar,
        ):
            for name, file in members.items():
                if _MEMBER.fullmatch(name) and not name.endswith(".lock"):
                    told = tarfile.TarInfo(name)
                    told.size = file.stat().st_size
                    with file.open("rb") as read:
                        tar.addfile(told, read)
    return body.getvalue()


def _put_in_place(folder: Path, name: str, packed: bytes | None) -> None:
    """Unpack a snapshot, and put it in place of the one before. Raises StorageError where it is damaged."""
    if packed is None or f"-{hashlib.sha256(packed).hexdigest()}.tar.zst" not in name:
        raise StorageError(f"the snapshot of the corpus {folder.name} is damaged in the store")
    aside = Path(tempfile.mkdtemp(prefix=".fetched-", dir=folder.parent))
    try:
        new = aside / folder.name
        (new / "index").mkdir(parents=True, mode=0o700)
        with (
            zstandard.ZstdDecompressor().stream_reader(packed) as read,
            tarfile.open(mode="r|", fileobj=read) as tar,
        ):
            for member in tar:
                # Nothing is written but ordinary files of these names, whatever the store holds.
                if member.isreg() and _MEMBER.fullmatch(member.name) and (body := tar.extractfile(member)):
                    with (new / member.name).open("wb") as file:
                        shutil.copyfileobj(body, file)
        if (folder / FILES).is_dir():
            (folder / FILES).rename(new / FILES)
        (new / MARK).write_text(name)
        if folder.exists():
            folder.rename(aside / "before")
        new.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
