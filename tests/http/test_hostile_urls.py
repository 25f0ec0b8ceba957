"""No way in to private networks: not by an address, not by a redirect, not by a name server that changes its mind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from marchwarden.http.connection import CheckedTransport
from marchwarden.observations import FailureKind, FetchOutcome
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from tests.http.loopback import LoopbackSite, loopback, response
from tests.http.name_server import NameServer, Roads, name_server
from tests.reading.pages import html

pytestmark = pytest.mark.anyio

HOSTILE = {
    "loopback": [
        "http://127.0.0.1/",
        "http://127.0.0.2:8080/",
        "http://127.255.255.254/",
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://017700000001/",
        "http://0x7f000001/",
        "http://0x7f.0x0.0x0.0x1/",
        "http://0177.0.0.01/",
        "http://0x7f.1/",
        "http://127.0.0.1./",
        "http://0/",
        "http://0.0.0.0/",
        "http://[::1]/",
        "http://[::]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[::1%25lo]/",
    ],
    "private and link-local": [
        "http://10.0.0.1/",
        "http://10.255.255.255/",
        "http://172.16.0.1/",
        "http://172.31.255.255/",
        "http://192.168.0.1/",
        "http://0xc0a80001/",
        "http://169.254.1.1/",
        "http://100.64.0.1/",
        "http://100.127.255.255/",
        "http://198.18.0.1/",
        "http://192.0.0.1/",
        "http://192.0.2.1/",
        "http://198.51.100.1/",
        "http://203.0.113.1/",
        "http://224.0.0.1/",
        "http://239.255.255.255/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fec0::1]/",
        "http://[fc00::1]/",
        "http://[fdff::1]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        "http://[100::1]/",
    ],
    "services of the cloud": [
        "http://169.254.169.254/latest/meta-data/iam/",
        "http://2852039166/latest/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.170.2/v2/credentials",
        "http://168.63.129.16/machine",
        "http://100.100.100.200/latest/meta-data/",
        "http://[fd00:ec2::254]/latest/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://METADATA.GOOGLE.INTERNAL./",
    ],
    "IPv4 inside IPv6": [
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[::127.0.0.1]/",
        "http://[::ffff:0:10.0.0.1]/",
        "http://[64:ff9b::127.0.0.1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[64:ff9b:1::a00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[2002:c0a8:1::1]/",
        "http://[2001:0:0:0:0:0:80ff:fffe]/",
    ],
    "names": [
        "http://localhost/",
        "http://LocalHost./",
        "http://a.b.localhost/",
        "http://printer.local/",
        "http://router.home.arpa/",
        "http://db.internal/",
        "http://host.localdomain/",
        "http://facebookcorewwwi.onion/",
    ],
    "disguises": [
        "http://example.org@127.0.0.1/",
        "http://example.org:80@127.0.0.1/",
        "http://example.org%40127.0.0.1/",
        "http://example.org\\@127.0.0.1/",
        "http://127.0.0.1\\@example.org/",
        "http://127.0.0.1%2f@10.0.0.1/",
        "http://user:word@[::1]/",
        "http://１２７.０.０.１/",
        "http://127。0。0。1/",
        "http://①②⑦.0.0.1/",
        "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
        "http://loc\u00adalhost/",
        "http://%31%32%37.0.0.1/",
        "http://127.0.0.1%00.example.org/",
        "ht\ntp://127.0.0.1/",
        "http:\\\\127.0.0.1\\",
        "//127.0.0.1/",
    ],
    "ports": [
        "http://example.org:22/",
        "http://example.org:25/",
        "http://example.org:6379/",
        "https://example.org:11211/",
        "http://example.org:0/",
        "http://example.org:65616/",
        "http://example.org:-80/",
        "http://example.org:８０8/",
    ],
    "schemes": [
        "file:///etc/passwd",
        "file://example.org/etc/passwd",
        "ftp://example.org/",
        "gopher://example.org:6379/_FLUSHALL",
        "dict://example.org:11211/stats",
        "ldap://example.org/",
        "javascript:alert(1)",
        "data:text/html,<p>x",
        "view-source:http://example.org/",
        "jar:http://example.org/x!/",
        "unix:///var/run/docker.sock",
        "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
        "blob:http://example.org/1",
    ],
}
URLS = [url for urls in HOSTILE.values() for url in urls]
CLOSED = {FailureKind.REFUSED_ADDRESS, FailureKind.BAD_REQUEST}
START = "http://start.example/"


class Internet:
    """A public site and a private one behind it, names for both, and the fetcher that must not come to the second."""

    def __init__(self, public: LoopbackSite, names: NameServer, roads: Roads, fetcher: Fetcher) -> None:
        self.public, self.names, self.roads, self._fetcher = public, names, roads, fetcher

    async def fetch(self, url: str) -> FetchOutcome:
        return await self._fetcher.fetch(url, timeout=5)


@asynccontextmanager
async def internet(
    monkeypatch: pytest.MonkeyPatch, names: dict[str, list[list[str]]], **replies: bytes
) -> AsyncIterator[Internet]:
    """`replies` of the public site by path, `/` left out."""
    known = {"start.example": [["1.1.1.1"]], **names}
    answers = {f"/{path.replace('robots_txt', 'robots.txt')}": reply for path, reply in replies.items()}
    async with loopback({**answers}) as public, loopback() as private:
        roads = Roads(public=public.port, private=private.port)
        with name_server(monkeypatch, known) as server:
            async with Fetcher(Settings(), transport=CheckedTransport(backend=roads)) as fetcher:
                yield Internet(public, server, roads, fetcher)
        assert private.asked == [], "the private site was asked"


def test_the_table_is_as_long_as_it_is_said_to_be() -> None:
    assert len(set(URLS)) == len(URLS) >= 100


async def test_no_hostile_address_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    async with internet(monkeypatch, {}) as world:
        outcomes = {url: await world.fetch(url) for url in URLS}
    assert [url for url, each in outcomes.items() if not each.failure or each.failure.kind not in CLOSED] == []
    assert all(each.failure and each.failure.detail.isprintable() for each in outcomes.values())
    assert world.roads.connected == []
    assert world.names.asked == []


async def test_no_redirect_leads_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """By header, after a hop within the public site."""
    moved = {f"r{n}": response(status=302, Location=_in_a_header(url)) for n, url in enumerate(URLS)}
    first = {f"{number}": response(status=301, Location=f"/r{number}") for number in range(len(URLS))}
    async with internet(monkeypatch, {}, **first, **moved) as world:
        outcomes = [await world.fetch(f"{START}{number}") for number in range(len(URLS))]
    assert [url for url, each in zip(URLS, outcomes, strict=True) if not _is_kept_out(each)] == []
    assert set(world.names.asked) == {"start.example"}
    assert set(world.roads.connected) == {"1.1.1.1"}


def _is_kept_out(outcome: FetchOutcome) -> bool:
    """Refused, or on the site that sent it on: `http:\\\\host` is a path of that site."""
    refused = outcome.failure is not None and outcome.failure.kind in CLOSED
    return refused or outcome.final_url.startswith(START)


def _in_a_header(url: str) -> str:
    return url.replace("\n", "").encode("utf-8").decode("latin-1")


async def test_no_page_sends_us_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {f"{n}": response(_sending_on(url)) for n, url in enumerate(URLS)}
    async with internet(monkeypatch, {}, **pages) as world:
        outcomes = [await world.fetch(f"{START}{number}") for number in range(len(URLS))]
    assert {outcome.failure.kind for outcome in outcomes if outcome.failure} <= CLOSED
    assert sum(outcome.failure is not None for outcome in outcomes) > len(URLS) / 2
    assert set(world.roads.connected) == {"1.1.1.1"}


def _sending_on(url: str) -> bytes:
    return html("<p>Moved</p>", f'<meta http-equiv="refresh" content="0; url={url}">')


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "::1",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "168.63.129.16",
        "100.64.0.1",
        "224.0.0.1",
    ],
)
async def test_a_name_of_a_private_address_is_not_connected_to(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first hop, and where a public site or its robots.txt sends us there."""
    moved = response(status=307, Location="http://inside.example/admin")
    async with internet(monkeypatch, {"inside.example": [[address]]}, moved=moved) as world:
        outcomes = [await world.fetch(url) for url in ("http://inside.example/admin", f"{START}moved")]
    assert [outcome.failure and outcome.failure.kind for outcome in outcomes] == [FailureKind.REFUSED_ADDRESS] * 2
    assert set(world.roads.connected) == {"1.1.1.1"}
    async with internet(monkeypatch, {"inside.example": [[address]]}, robots_txt=moved) as world:
        outcome = await world.fetch(START)
    assert outcome.failure
    assert outcome.failure.kind is FailureKind.REFUSED_ADDRESS


async def test_a_name_that_is_public_when_asked_first_and_private_after_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: robots.txt comes from the public address, then the name moves inside. What is connected to is
    the address that was checked, and each new connection is checked anew."""
    names = {"rebind.example": [["1.1.1.1"], ["127.0.0.1"]]}
    async with internet(monkeypatch, names) as world:
        outcome = await world.fetch("http://rebind.example/secret")
        assert outcome.failure
        assert outcome.failure.kind is FailureKind.REFUSED_ADDRESS
        assert "rebind.example is at 127.0.0.1" in outcome.failure.detail
    assert world.names.asked == ["rebind.example"] * 2, "once a connection: never between check and connection"
    assert world.roads.connected == ["1.1.1.1"]
    assert [each.path for each in world.public.asked] == ["/robots.txt"]


async def test_of_a_name_with_public_and_private_addresses_only_the_public_ones_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {"mixed.example": [["10.0.0.1", "1.1.1.1", "::1", "2606:4700:4700::1111"]]}
    async with internet(monkeypatch, names) as world:
        assert (await world.fetch("http://mixed.example/a")).failure is None
    assert set(world.roads.connected) == {"1.1.1.1"}
