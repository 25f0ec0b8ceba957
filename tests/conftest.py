"""Every test runs in a folder of its own, with no keys, no settings of the machine, and no network but loopback."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.kept import kept_caches, link_into
from tests.profiles import EXAMPLES, IS_NIGHTLY, PROFILE

# How long an example takes is the machine's affair. A check tries the same examples each time, a night other ones.
hypothesis.settings.register_profile(PROFILE, deadline=None, max_examples=EXAMPLES, derandomize=not IS_NIGHTLY)
hypothesis.settings.load_profile(PROFILE)
# A shell ignores Ctrl-C in what it runs in the background, and so would every process that a test starts there.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What is imported and collected stays to the end: a search for garbage in it finds none, time and again.
gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not IS_NIGHTLY and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: `make nightly` runs it"))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def open_umask() -> Iterator[None]:
    """A umask that takes nothing away: only what a file is made with keeps others from reading it."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Search indexes are kept by what they index: one folder serves all tests of a process. The shipped web's comes
    from the test cache; where a few tests are run by hand, it is made only if one of them needs it."""
    folder = tmp_path_factory.mktemp("cache")
    if kept := kept_caches(make="PYTEST_XDIST_WORKER" in os.environ):
        link_into(folder, kept)
    return folder


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("MARCHWARDEN_", "TAVILY_", "ANTHROPIC_", "OPENAI_")) and name != "MARCHWARDEN_TEST_LM":
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", str(tmp_path / "traces"))
    monkeypatch.setenv("MARCHWARDEN_CACHE_DIR", str(cache_dir))
    # Words alone and no calibration, unless a test asks for more: it is the quicker set-up, and the plainer one.
    monkeypatch.setenv("MARCHWARDEN_SEMANTIC", "0")
    monkeypatch.setenv("MARCHWARDEN_PROGRAM", "none")
    # The network is not looked for, whatever the machine has.
    monkeypatch.setenv("MARCHWARDEN_OFFLINE", "1")
    monkeypatch.chdir(home)
