"""Runs the command line as a user does: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def marchwarden(*arguments: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """stdout and stderr are bytes; the environment is the test's, and `variables`."""
    return subprocess.run(
        [sys.executable, "-m", "marchwarden", *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        timeout=120,
    )


def python(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        timeout=120,
    )
