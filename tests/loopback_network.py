"""The network, played by a proxy on this machine: each host of HTTPS answers what is given, all others are refused."""

from __future__ import annotations

import gzip
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import trustme

Answers = Mapping[str, tuple[str, bytes]]
"""Content types and bodies by host and beginning of the path; the longest one counts."""


@dataclass
class LoopbackNetwork:
    answers: Answers
    certificates: trustme.CA = field(default_factory=trustme.CA)
    asked: list[str] = field(default_factory=list)
    """Addresses that were asked for."""
    port: int = 0

    def variables(self, folder: Path) -> dict[str, str]:
        """Return the environment in which this is the network."""
        authority = folder / "authority.pem"
        self.certificates.cert_pem.write_to_path(authority)
        return {"HTTPS_PROXY": f"http://127.0.0.1:{self.port}", "NO_PROXY": "", "SSL_CERT_FILE": str(authority)}

    def answer(self, host: str, target: str) -> bytes:
        place = host + target
        if urlsplit(target).path != "/robots.txt":
            self.asked.append(f"https://{place}")
        found = max((name for name in self.answers if place.startswith(name)), key=len, default=None)
        if found is None:
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        kind, body = self.answers[found]
        packed = gzip.compress(body, mtime=0)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}"
        return head.encode() + b"\r\n\r\n" + packed


@contextmanager
def loopback_network(answers: Answers) -> Iterator[LoopbackNetwork]:
    network = LoopbackNetwork(answers)
    hosts = {name.partition("/")[0] for name in answers}

    class Tunnel(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            head = _head(self.rfile.readline)
            host = head.split(b" ")[1].partition(b":")[0].decode()
            if not head.startswith(b"CONNECT") or host not in hosts:
                self.wfile.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                return
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            network.certificates.issue_cert(host).configure_cert(context)
            try:
                with context.wrap_socket(self.connection, server_side=True) as secure, secure.makefile("rb") as lines:
                    while request := _head(lines.readline):
                        secure.sendall(network.answer(host, request.split(b" ")[1].decode()))
            except OSError:  # whoever has looked whether a tunnel opens goes away
                return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Tunnel) as server:
        network.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield network
        finally:
            server.shutdown()


def _head(readline: Callable[[], Any]) -> bytes:
    """Return the lines of a request up to the empty one; nothing where the other side has gone."""
    lines = []
    while (line := readline()) not in (b"", b"\r\n"):
        lines.append(line)
    return b"".join(lines)
