"""Only public addresses are connected to, whatever a name server says and when."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path

import anyio
import httpcore
import httpx
import pytest

from marchwarden.http.connection import AddressRefused, CheckedBackend, CheckedTransport, resolve
from marchwarden.http.download import failure_of
from marchwarden.observations import Failure, FailureKind
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"


class Wire(httpcore.AsyncMockBackend):
    """Remembers where it was told to connect to; connections to `dead` addresses fail."""

    def __init__(self, *, dead: Iterable[str] = ()) -> None:
        super().__init__([PAGE])
        self.connected: list[tuple[str, int]] = []
        self.dead = set(dead)

    async def connect_tcp(self, host: str, port: int, *args: object, **kwargs: object) -> httpcore.AsyncNetworkStream:
        self.connected.append((host, port))
        if host in self.dead:
            raise httpcore.ConnectError("refused")
        return await super().connect_tcp(host, port)


class NameServer:
    """Stands in for the system's resolver: each name's answers, one after the other, the last one again and again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **names: list[list[str]]) -> None:
        self.names = {name.replace("_", "."): answers for name, answers in names.items()}
        monkeypatch.setattr(socket, "getaddrinfo", self.lookup)

    def lookup(self, host: str | bytes, port: int, *args: object, **kwargs: object) -> list[tuple[object, ...]]:
        name = host.decode() if isinstance(host, bytes) else host
        answers = self.names.get(name)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
            for each in found
        ]


async def get(url: str, wire: Wire, *, allow_private: bool = False) -> str:
    transport = CheckedTransport(allow_private=allow_private, backend=wire)
    async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
        return (await client.get(url)).text


@pytest.mark.anyio
async def test_the_address_that_was_checked_is_the_one_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that answers with a public address first and a private one after that gets no second question."""
    NameServer(monkeypatch, rebind_example=[["1.1.1.1"], ["127.0.0.1"]])
    wire = Wire()
    assert await get("http://rebind.example/", wire) == "hello"
    assert wire.connected == [("1.1.1.1", 80)]
    with pytest.raises(AddressRefused, match=r"rebind.example is at 127.0.0.1"):
        await get("http://rebind.example/", wire)
    assert wire.connected == [("1.1.1.1", 80)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
    ],
)
async def test_a_name_of_a_private_address_is_refused_unless_allowed(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    NameServer(monkeypatch, inside_example=[[address]])
    wire = Wire()
    with pytest.raises(AddressRefused):
        await get("http://inside.example/", wire)
    assert wire.connected == []
    assert await get("http://inside.example/", wire, allow_private=True) == "hello"
    assert wire.connected == [(address, 80)]


@pytest.mark.anyio
@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1%eth0", "fd00:ec2::254", "::ffff:169.254.169.254"])
async def test_a_name_of_an_address_with_credentials_is_never_read(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    NameServer(monkeypatch, inside_example=[[address]])
    wire = Wire()
    for allow_private in (False, True):
        with pytest.raises(AddressRefused):
            await get("http://inside.example/", wire, allow_private=allow_private)
    assert wire.connected == []


@pytest.mark.anyio
async def test_of_several_addresses_only_public_ones_are_tried_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    NameServer(monkeypatch, mixed_example=[["10.0.0.1", "1.1.1.1", "8.8.8.8"]])
    wire = Wire(dead=["1.1.1.1"])
    assert await get("http://mixed.example:8080/", wire) == "hello"
    assert wire.connected == [("1.1.1.1", 8080), ("8.8.8.8", 8080)]


@pytest.mark.anyio
async def test_a_name_that_nobody_knows_is_a_connect_error(monkeypatch: pytest.MonkeyPatch) -> None:
    NameServer(monkeypatch, empty_example=[[]])
    for name in ("nowhere.example", "empty.example"):
        with pytest.raises(httpx.ConnectError, match=f"there is no host {name}"):
            await get(f"http://{name}/", Wire())


@pytest.mark.anyio
async def test_a_slow_name_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(*args: object, **kwargs: object) -> list[object]:
        await asyncio.sleep(5)
        return []

    monkeypatch.setattr(anyio, "getaddrinfo", slow)
    with pytest.raises(httpcore.ConnectTimeout, match="took too long"):
        await resolve("slow.example", 80, 0.02)


@pytest.mark.anyio
async def test_sockets_of_this_machine_are_refused() -> None:
    backend = CheckedBackend(Wire())
    with pytest.raises(AddressRefused):
        await backend.connect_unix_socket("/var/run/docker.sock")
    await backend.sleep(0)


@pytest.mark.anyio
async def test_a_certificate_is_asked_for_in_the_name_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connected to by number, a host is still called by its name: in TLS and in the Host header."""
    NameServer(monkeypatch, named_example=[["1.1.1.1"]])
    names: list[str | None] = []
    written: list[bytes] = []

    class Stream(httpcore.AsyncMockStream):
        async def start_tls(
            self, ssl_context: object, server_hostname: str | None = None, timeout: object = None
        ) -> Stream:  # type: ignore[override]
            names.append(server_hostname)
            return self

        async def write(self, buffer: bytes, timeout: float | None = None) -> None:
            written.append(buffer)

    class Tls(Wire):
        async def connect_tcp(self, host: str, port: int, *args: object, **kwargs: object) -> Stream:
            self.connected.append((host, port))
            return Stream([PAGE])

    wire = Tls()
    assert await get("https://named.example/", wire) == "hello"
    assert wire.connected == [("1.1.1.1", 443)]
    assert names == ["named.example"]
    assert b"Host: named.example\r\n" in b"".join(written)


@pytest.mark.anyio
async def test_a_certificate_that_nobody_vouches_for_is_refused_even_where_private_addresses_are_allowed(
    tmp_path: Path,
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_self_signed(tmp_path))
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    async with server, Fetcher(Settings(allow_private_addresses=True)) as fetcher:
        outcome = await fetcher.fetch(f"https://127.0.0.1:{port}/")
    assert outcome.failure is not None
    assert outcome.failure.detail == "the certificate of 127.0.0.1 is not valid"


def _self_signed(folder: Path) -> Path:
    """Made out to 127.0.0.1 and valid today, so that only its issuer speaks against it."""
    pytest.importorskip("cryptography", reason="it comes with other packages and makes certificates here")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    today = datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    written = folder / "server.pem"
    written.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return written


def test_a_host_that_refuses_a_connection_is_named_with_its_port() -> None:
    url = "http://ada:secret@127.0.0.1:9/search"

    async def ask() -> None:
        async with httpx.AsyncClient(transport=CheckedTransport(allow_private=True)) as client:
            await client.get(url)

    with pytest.raises(httpx.ConnectError) as refused:
        asyncio.run(ask())
    assert failure_of(refused.value, url) == Failure(FailureKind.NETWORK, "127.0.0.1 refuses connections at port 9")
