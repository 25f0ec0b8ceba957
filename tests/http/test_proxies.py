"""Pages are fetched through the proxies that the environment names, as everything else is."""

from __future__ import annotations

import pytest

from marchwarden.errors import ConfigurationError
from marchwarden.observations import FailureKind, FetchOutcome
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from tests.http.loopback import loopback, response

pytestmark = pytest.mark.anyio

PAGE = "http://news.inside.example/today"
WITHOUT_ROBOTS = {"http://news.inside.example/robots.txt": response(status=404)}


async def fetch(url: str, *, private: bool = False) -> FetchOutcome:
    async with Fetcher(Settings(http_cache=False, allow_private_addresses=private)) as fetcher:
        return await fetcher.fetch(url)


async def test_a_host_that_only_the_proxy_knows_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback(WITHOUT_ROBOTS) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        outcome = await fetch(PAGE)
    assert outcome.failure is None
    assert [each.path for each in proxy.asked][-1] == PAGE


async def test_a_host_in_no_proxy_is_read_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback({}) as site, loopback({}) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        outcome = await fetch(f"{site.url}/page", private=True)
    assert outcome.failure is None
    assert proxy.asked == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://localhost/", "http://169.254.169.254/latest", "http://[::1]/"]
)
async def test_addresses_that_are_refused_are_refused_through_a_proxy_too(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    async with loopback({}) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        outcome = await fetch(url)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.REFUSED_ADDRESS
    assert proxy.asked == []


async def test_a_redirect_through_a_proxy_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = response(status=302, Location="http://169.254.169.254/latest")
    async with loopback({**WITHOUT_ROBOTS, PAGE: moved}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        outcome = await fetch(PAGE)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.REFUSED_ADDRESS


async def test_a_proxy_that_is_not_there_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://user:a-password@127.0.0.1:9")
    outcome = await fetch(PAGE)
    assert outcome.failure is not None
    assert outcome.failure.detail == (
        "no connection to news.inside.example through the proxy: the proxy 127.0.0.1 can't be reached"
    )


async def test_a_proxy_that_can_not_be_used_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://127.0.0.1:70")
    with pytest.raises(ConfigurationError, match="HTTPS_PROXY can't be used"):
        Fetcher(Settings())
