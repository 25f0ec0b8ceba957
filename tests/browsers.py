"""A real browser for tests of pages; they are skipped where there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Browser:
    """Chromium, driven by its own protocol over a pipe."""

    def __init__(self, program: str, folder: Path) -> None:
        down, self._to = os.pipe()
        self._from, up = os.pipe()
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
        ]

        def as_chromium_wants_them() -> None:
            os.dup2(down, 3)
            os.dup2(up, 4)

        self._process = subprocess.Popen(
            [program, *options, "about:blank"],
            preexec_fn=as_chromium_wants_them,
            pass_fds=(3, 4),
            stderr=subprocess.DEVNULL,
        )
        os.close(down)
        os.close(up)
        self._number, self._session, self._left = 0, "", b""
        self.told: list[dict[str, Any]] = []
        """What the browser has told of by itself, such as requests of a page."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        body = message | ({"sessionId": self._session} if self._session else {})
        os.write(self._to, json.dumps(body).encode() + b"\0")
        while True:
            while b"\0" not in self._left:
                self._left += os.read(self._from, 65_536) or b'{"id": -1}\0'
            line, _, self._left = self._left.partition(b"\0")
            answer = json.loads(line)
            if "method" in answer:
                self.told.append(answer)
            assert answer.get("id") != -1, "the browser is gone"
            if answer.get("id") == self._number:
                return answer.get("result", {})

    def run(self, script: str) -> Any:
        told = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told.get("result", {}).get("value")  # there is no result while another page takes this one's place

    def until(self, script: str) -> None:
        end = time.monotonic() + 60
        while not self.run(script):
            assert time.monotonic() < end, f"never came: {script}; {self.run('document.body.innerText')}"
            time.sleep(0.1)

    def press(self, key: str, *, with_alt: bool = True) -> None:
        code = f"Key{key.upper()}" if len(key) == 1 else key
        more = {"text": "\r"} if key == "Enter" else {}
        number = {"Tab": 9, "Enter": 13}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code,
                modifiers=int(with_alt),
                windowsVirtualKeyCode=number,
                **more,
            )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no Chromium")
    its = Browser(program, tmp_path / "profile")
    yield its
    its.close()
