"""Every test runs in a folder of its own, with no keys, no settings of the machine, and no network but loopback."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("untimed", deadline=None)  # how long an example takes is the machine's affair
hypothesis.settings.load_profile("untimed")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Search indexes are kept by what they index: one folder serves all tests, and the shipped web is indexed once."""
    return tmp_path_factory.mktemp("cache")


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
    monkeypatch.chdir(home)
