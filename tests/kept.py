"""The search indexes of the shipped web and of the web of the tests of compiling, made once for all workers and all runs,
and again when anything changes that could change them: a page, a label, a line of code, a version of a library."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path

from marchwarden.settings import load_settings, shipped
from marchwarden.sources.snapshot_search import SnapshotSearch

ROOT = Path(__file__).parents[1]
SHELF = ROOT / ".test_cache"
"""Ignored by git. Folders in it are named by their key; those of other keys are removed when a new one is made."""
IN_IT = ("marchwarden", "tests/optimization/compiled.py", "data/web", "evals/questions", "programs", "pyproject.toml")


def key() -> str:
    seen = sha256()
    files = (file for name in IN_IT for file in _files(ROOT / name) if "__pycache__" not in file.parts)
    for file in sorted(files):
        seen.update(f"{file.relative_to(ROOT)}\0".encode())
        seen.update(sha256(file.read_bytes()).digest())
    seen.update("\n".join(sorted(f"{each.name} {each.version}" for each in distributions())).encode())
    return seen.hexdigest()[:32]


def kept_caches(*, make: bool) -> Path | None:
    """A cache folder with the webs and indexes, to be read only. None where there is none and none is made."""
    folder = SHELF / key()
    if folder.is_dir():
        return folder
    if not make:
        return None
    with _alone():
        if not folder.is_dir():  # another worker may have made it meanwhile
            for old in SHELF.glob("*/"):
                shutil.rmtree(old)
            aside = SHELF / f"making-{os.getpid()}"
            from tests.optimization.compiled import web_of_the_topics  # imports all that a compile needs

            for web in (shipped("web"), web_of_the_topics(aside)):
                SnapshotSearch(load_settings(source="snapshot", web=web, cache_dir=aside)).prepare()
            aside.rename(folder)
    return folder


def link_into(folder: Path, kept: Path) -> None:
    """Links, and no copies: what is no real folder is not thrown out when many other webs are indexed."""
    for each in kept.glob("*/[!.]*"):
        link = folder / each.relative_to(kept)
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(each)


@contextmanager
def _alone() -> Iterator[None]:
    SHELF.mkdir(exist_ok=True)
    with (SHELF / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # freed when its process ends, however it ends
        yield


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
