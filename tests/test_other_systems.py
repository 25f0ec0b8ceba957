"""What only Linux and macOS have is not needed to import anything, and the public checks run on all three systems."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent

# All modules once, for what they need of others; then again, as Windows would import them.
AS_ON_WINDOWS = """
import importlib, os, pkgutil, signal, sys, types
import marchwarden

names = [each.name for each in pkgutil.walk_packages(marchwarden.__path__, "marchwarden.") if "__main__" not in each.name]
for name in list(names):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:  # of an extra that is not installed here
        if error.name.startswith("marchwarden"):
            raise
        names.remove(name)
for name in [name for name in sys.modules if name.partition(".")[0] == "marchwarden"]:
    del sys.modules[name]
sys.platform = "win32"
sys.modules |= dict.fromkeys(("fcntl", "resource", "termios", "pwd", "grp"))
sys.modules["msvcrt"] = types.ModuleType("msvcrt")
for module, missing in (
    (os, "fork setsid fchmod nice getuid geteuid killpg getpgid mkfifo uname sched_getaffinity O_NONBLOCK O_NOFOLLOW "
     "O_DIRECTORY O_CLOEXEC O_ASYNC"),
    (signal, "SIGHUP SIGKILL SIGQUIT SIGALRM SIGUSR1 SIGXCPU SIGCHLD setitimer"),
):
    for name in missing.split():
        if hasattr(module, name):
            delattr(module, name)
for name in names:
    importlib.import_module(name)
print(len(names))
"""


@pytest.mark.slow
def test_every_module_can_be_imported_without_what_windows_lacks() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 500


def test_the_public_checks_run_on_three_systems_with_the_oldest_and_the_newest_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "windows", "macos"]
    named = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    versions = [
        line.rpartition(" ")[2].strip('",') for line in named if '"Programming Language :: Python :: 3.' in line
    ]
    assert matrix["python"] == [versions[0], versions[-1]]
