"""An index is built once, by one process, and a build that fails or is killed leaves nothing that harms."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock

from marchwarden.frozen_web import kept_index
from marchwarden.frozen_web.kept_index import WAITING, open_or_build
from marchwarden.frozen_web.page_index import PageIndex
from marchwarden.frozen_web.pages import FrozenWeb
from tests.frozen_web.small_web import CROPS, LAKE, write_web
from tests.server.test_worker import ROOT

URL = "https://a.example.edu/crops"


@pytest.fixture
def web(tmp_path: Path) -> FrozenWeb:
    return write_web(tmp_path / "web", {"url": URL, "page": CROPS}, {"url": "https://b.example.gov/", "page": LAKE})


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def urls(index: PageIndex) -> list[str]:
    return [listing.url for _, listing in index.find("ideal crops in Utah")]


def folders(caches: Path) -> list[str]:
    return sorted(path.name for path in (caches / "snapshot").iterdir() if path.is_dir())


def lock_of(web: FrozenWeb, caches: Path) -> Path:
    """The lock file of `web`, which a first build leaves beside the index."""
    open_or_build(web, caches, lambda message: None)
    (lock,) = (caches / "snapshot").glob("*.lock")
    for file in lock.with_suffix("").iterdir():
        file.unlink()
    lock.with_suffix("").rmdir()
    return lock


def test_it_says_how_far_it_is_and_nothing_where_there_is_one(web: FrozenWeb, caches: Path) -> None:
    told: list[str] = []
    assert urls(open_or_build(web, caches, told.append)) == [URL]
    assert told == ["Indexing the frozen web: 2 of 2 pages"]
    assert urls(open_or_build(web, caches, told.append)) == [URL]
    assert len(told) == 1


def test_of_six_that_need_it_at_once_one_builds(web: FrozenWeb, caches: Path) -> None:
    told: list[str] = []
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(urls(open_or_build(web, caches, told.append)))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[URL]] * 6
    assert [message for message in told if message != WAITING] == ["Indexing the frozen web: 2 of 2 pages"]
    assert len(folders(caches)) == 1


def test_who_waits_says_so_and_takes_its_turn(web: FrozenWeb, caches: Path) -> None:
    lock = FileLock(lock_of(web, caches))
    lock.acquire()
    told: list[str] = []

    def tell(message: str) -> None:
        told.append(message)
        if message == WAITING:
            lock.release()

    assert urls(open_or_build(web, caches, tell)) == [URL]
    assert told == [WAITING, "Indexing the frozen web: 2 of 2 pages"]


def test_whoever_waits_too_long_does_without_the_folder(
    web: FrozenWeb, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_index, "WAIT_S", 0)
    with FileLock(lock_of(web, caches)):
        assert urls(open_or_build(web, caches, lambda message: None)) == [URL]
    assert folders(caches) == []


def test_a_build_that_was_killed_is_done_again(web: FrozenWeb, caches: Path) -> None:
    """The other process is killed in the middle: it holds the lock, and half of an index lies there."""
    script = """
import os, signal, sys
from pathlib import Path
from marchwarden.frozen_web import kept_index
from marchwarden.frozen_web.page_index import SEAL
from marchwarden.frozen_web.pages import FrozenWeb

def killed(path, target):
    Path(path, SEAL).unlink()
    os.kill(os.getpid(), signal.SIGKILL)

Path.replace = killed
kept_index.open_or_build(FrozenWeb.load(Path(sys.argv[1])), Path(sys.argv[2]), print)
"""
    ran = subprocess.run([sys.executable, "-c", script, str(web.folder), str(caches)], cwd=ROOT, timeout=60)
    assert ran.returncode == -9
    (half,) = folders(caches)
    assert half.endswith(".building")
    told: list[str] = []
    assert urls(open_or_build(web, caches, told.append)) == [URL]
    assert told == ["Indexing the frozen web: 2 of 2 pages"]
    assert folders(caches) == [half.removesuffix(".building")]


def test_an_index_of_another_version_is_left_alone(
    web: FrozenWeb, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_or_build(web, caches, lambda message: None)
    told: list[str] = []
    monkeypatch.setattr(kept_index, "__version__", "9.9")
    assert urls(open_or_build(web, caches, told.append)) == [URL]
    assert len(told) == 1
    assert len(folders(caches)) == 2


def test_the_set_up_builds_what_the_settings_name(
    web: FrozenWeb, caches: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MARCHWARDEN_WEB", str(web.folder))
    monkeypatch.setenv("MARCHWARDEN_CACHE_DIR", str(caches))
    kept_index.main()
    assert len(folders(caches)) == 1
    assert capsys.readouterr() == ("", "")
