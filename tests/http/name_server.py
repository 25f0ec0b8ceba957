"""A name server on this machine, asked over UDP as the system's resolver would; and the roads that lead on from there.

Nothing outside this machine is connected to: `Roads` has every address lead to a web server of the test.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpcore
import pytest

_A, _AAAA = 1, 28


class NameServer:
    """Answers A and AAAA questions; a name with several answers gives one after the other, the last again and again."""

    def __init__(self, names: Mapping[str, list[list[str]]]) -> None:
        self.names = {name: list(answers) for name, answers in names.items()}
        self.asked: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = self._socket.getsockname()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._socket.sendto(b"", self.address)
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            question, whence = self._socket.recvfrom(512)
            if not question:
                return
            self._socket.sendto(self._answer(question), whence)

    def _answer(self, question: bytes) -> bytes:
        name, kind, end = _question_of(question)
        answers = self.names.get(name)
        if answers is None:
            return question[:2] + struct.pack(">HHHHH", 0x8183, 1, 0, 0, 0) + question[12:end]
        if kind == _A:  # the resolver asks for A first, then for AAAA of the same answer
            self.asked.append(name)
        addresses = [ipaddress.ip_address(each) for each in answers[0]]
        if kind == _AAAA and len(answers) > 1:
            answers.pop(0)
        found = [each.packed for each in addresses if (each.version == 4) is (kind == _A)]
        head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, len(found), 0, 0) + question[12:end]
        records = [struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(each)) + each for each in found]  # to be kept 0 s
        return head + b"".join(records)

    def lookup(self, host: str | bytes, port: int, *args: Any, **kwargs: Any) -> list[tuple[Any, ...]]:
        """In place of `socket.getaddrinfo`: two questions over the wire."""
        name = host.decode() if isinstance(host, bytes) else host
        try:
            found = [str(ipaddress.ip_address(name))]
        except ValueError:
            found = [*self._ask(name, _A), *self._ask(name, _AAAA)]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
            for each in found
        ]

    def _ask(self, name: str, kind: int) -> list[str]:
        labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split("."))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(5)
            asking.sendto(
                struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, kind, 1), self.address
            )
            answer = asking.recv(4096)
        (count,) = struct.unpack(">H", answer[6:8])
        at, found = _question_of(answer)[2], []
        for _ in range(count):
            (length,) = struct.unpack(">H", answer[at + 10 : at + 12])
            found.append(str(ipaddress.ip_address(answer[at + 12 : at + 12 + length])))
            at += 12 + length
        return found


def _question_of(message: bytes) -> tuple[str, int, int]:
    """Name, kind, and where the question ends."""
    labels, at = [], 12
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode())
        at += 1 + message[at]
    (kind,) = struct.unpack(">H", message[at + 1 : at + 3])
    return ".".join(labels), kind, at + 5


@contextmanager
def name_server(monkeypatch: pytest.MonkeyPatch, names: Mapping[str, list[list[str]]]) -> Iterator[NameServer]:
    server = NameServer(names)
    monkeypatch.setattr(socket, "getaddrinfo", server.lookup)
    try:
        yield server
    finally:
        monkeypatch.undo()
        server.close()


class Roads(httpcore.AnyIOBackend):
    """Connects to this machine: addresses on the internet lead to one port, all others to another, as on a machine
    behind whose public services lie private ones."""

    def __init__(self, *, public: int, private: int) -> None:
        self._public, self._private = public, private
        self.connected: list[str] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.connected.append(host)
        leads_to = self._public if ipaddress.ip_address(host).is_global else self._private
        return await super().connect_tcp("127.0.0.1", leads_to, timeout, local_address, socket_options)
