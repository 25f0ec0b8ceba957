"""Runs the command line as a user does: in a process of its own."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
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


class Terminal:
    """A command on a pseudo-terminal: what it shows, and keys that are pressed."""

    def __init__(self, *arguments: str) -> None:
        import pty  # not on Windows

        self.screen = b""
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "marchwarden", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "100"},
        )
        os.close(theirs)

    def wait_for(self, pattern: bytes, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.screen):
            assert time.monotonic() < deadline, self.screen
            if not self._read():
                break
        assert re.search(pattern, self.screen), self.screen

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], 0.1)[0]:
            return True
        try:
            self.screen += os.read(self._ours, 65_536)
        except OSError:  # the other end is closed
            return False
        return True

    def end(self, seconds: float = 30) -> int:
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.screen
            self._read()
        while select.select([self._ours], [], [], 0)[0] and self._read():
            pass
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)
