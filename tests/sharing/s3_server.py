"""An S3 server in a process of its own, with a bucket, and a proxy before it that fails as networks and services do."""

from __future__ import annotations

import http.client
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, TypeAlias
from urllib.request import Request, urlopen

BUCKET = "bucket"

Fault: TypeAlias = Literal["503", "hang", "cut", "lost"]

_SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
_SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request"}


@contextmanager
def s3_server() -> Iterator[int]:
    """Yield the port."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        urlopen(Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT", headers=_SIGNED)).close()
        yield port
        process.kill()


class FaultyProxy(ThreadingHTTPServer):
    """Passes requests on, but for those that a fault is planned for: `503` answers so, `hang` never, `cut` sends half of
    the answer's body, `lost` passes on and closes without an answer."""

    daemon_threads = True

    def __init__(self, port: int, *, as_google: bool = False) -> None:
        """With `as_google`, the S3 server at `port` is spoken to as Google Cloud Storage."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = port
        self.as_google = as_google
        self.faults: list[Fault] = []
        self.always: Fault | None = None
        self.requests: list[str] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def next_fault(self) -> Fault | None:
        return self.faults.pop(0) if self.faults else self.always


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyProxy

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append(f"{self.command} {self.path}")
        fault = self.server.next_fault()
        self.close_connection = True
        if fault == "hang":
            self.server.over.wait(30)
            return
        if fault == "503":
            self._answer(503, b"<Error><Code>ServiceUnavailable</Code></Error>", {})
            return
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=30)
        headers = dict(self.headers)
        if self.server.as_google:
            headers = _in_s3(headers)
        upstream.request(self.command, self.path, body, headers)
        got = upstream.getresponse()
        answer = got.read()
        upstream.close()
        if fault != "lost":
            told = {**got.headers, **({"x-goog-generation": "1"} if self.server.as_google else {})}
            self._answer(got.status, answer, told, sent=len(answer) // 2 if fault == "cut" else None)

    do_GET = do_PUT = do_HEAD = do_POST = _pass_on  # noqa: N815

    def _answer(self, status: int, body: bytes, headers: dict[str, str], sent: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "date", "server"):
                self.send_header(name, value)
        # The answer to HEAD tells the length of a body that it leaves out.
        told = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(body))
        self.send_header("Content-Length", told)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body[:sent])

    def log_message(self, *_: object) -> None:
        pass


def _in_s3(headers: dict[str, str]) -> dict[str, str]:
    """Translate the headers of a request for Google Cloud Storage: its XML API is that of S3 but for these."""
    own = {name.lower(): value for name, value in headers.items()}
    if own.pop("x-goog-if-generation-match", None) == "0":
        own["if-none-match"] = "*"
    own["authorization"] = _SIGNED["Authorization"]
    return own


@contextmanager
def faulty_proxy(port: int, *, as_google: bool = False) -> Iterator[FaultyProxy]:
    proxy = FaultyProxy(port, as_google=as_google)
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield proxy
    proxy.over.set()
    proxy.shutdown()
    proxy.server_close()
