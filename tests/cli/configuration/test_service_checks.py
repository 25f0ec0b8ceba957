"""What doctor tells of sources, corpora, proxies and the clock."""

from __future__ import annotations

import time
from email.utils import formatdate
from pathlib import Path

import anyio
import httpx
import pytest

from marchwarden.cli.configuration.service_checks import DateNotingTransport, clock_check, surroundings_checks
from marchwarden.corpus.catalogue import Catalogue, IndexKind
from marchwarden.http.cache import KEPT_FOR
from marchwarden.settings import load_settings
from tests.corpora import corpus_of


def told(name: str) -> tuple[str, str]:
    found = next(each for each in surroundings_checks(load_settings()) if each.name == name)
    return found.state, found.detail


def test_sources_that_are_ready_and_those_without_a_key_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    state, detail = told("sources")
    assert state == "ok"
    assert "ready: wikipedia" in detail
    assert "openalex (MARCHWARDEN_OPENALEX_API_KEY)" not in detail
    assert "openalex (OPENALEX_API_KEY)" in detail.partition("because a key is missing: ")[2]
    monkeypatch.setenv("OPENALEX_API_KEY", "0123456789")
    assert "openalex" in told("sources")[1].partition("because a key is missing: ")[0]


def test_corpora_are_named_with_their_sizes(tmp_path: Path) -> None:
    assert told("corpora") == ("ok", "none; `marchwarden index FOLDER` makes one")
    pages = {f"{year}.md": f"In {year} we measured 14 litres of rain a week." for year in (2023, 2024)}
    corpus_of(tmp_path / "rain", pages, name="rain")
    assert told("corpora") == ("ok", "rain (2 documents)")
    corpus_of(tmp_path / "one", {"2025.md": "In 2025 we measured 9 litres of rain a week."}, name="one")
    assert "one (1 document)" in told("corpora")[1]


def test_a_corpus_whose_engine_is_not_installed_is_not_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of(tmp_path / "rain", {"2025.md": "In 2025 we measured 9 litres of rain a week."}, name="rain")
    with Catalogue.writing(corpus.catalogue) as catalogue:
        catalogue.kind = IndexKind("lance", has_vectors=False)
        catalogue.commit()
    monkeypatch.setattr("marchwarden.errors.find_spec", lambda name: None)
    state, detail = told("corpora")
    assert state == "note"
    assert detail == "rain can't be used: A corpus in lance needs lance, which is not installed."


def test_databases_and_zim_files_are_named_and_those_that_are_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARCHWARDEN_ZIM_FOLDER", str(tmp_path))
    monkeypatch.setenv("MARCHWARDEN_DATABASES", str(tmp_path / "databases.toml"))
    for name in ("databases", "ZIM files"):
        state, detail = told(name)
        assert (state, detail[:5], str(tmp_path) in detail) == ("ok", "none.", True)
    (tmp_path / "databases.toml").write_text('[sales]\nurl = "sales.db"\n')
    (tmp_path / "mills.zim").write_text("This is no ZIM file.")
    assert told("databases") == ("note", f"sales can't be used: {tmp_path}/sales.db: No such file or directory")
    state, detail = told("ZIM files")
    assert (state, detail.partition(":")[0]) == ("note", "mills can't be used")


def test_proxies_are_named_without_their_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)
    assert told("proxies") == ("ok", "none")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pass-word@proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    assert told("proxies") == ("ok", "https through proxy.example:3128, but not to intranet.example")
    monkeypatch.setenv("HTTPS_PROXY", "gopher://proxy.example")
    state, detail = told("proxies")
    assert (state, "HTTPS_PROXY can't be used" in detail) == ("broken", True)


@pytest.mark.parametrize(
    ("since", "headers", "kept", "told"),
    [
        (0, {}, False, ["the same as the search service's"]),
        (3600, {"age": "3600"}, False, ["the same as the search service's"]),
        (3600, {}, False, ["60 minutes ahead of the search service's clock"]),
        (-7200, {}, False, ["120 minutes behind the search service's clock"]),
        (3600, {}, True, []),
        (None, {"date": "yesterday"}, False, []),
        (None, {}, False, []),
    ],
)
def test_the_clock_is_compared_with_answers_that_came_over_the_network(
    since: float | None, headers: dict[str, str], kept: bool, told: list[str]
) -> None:
    """`since` are the seconds since the day and time that the answer has."""
    dated = {} if since is None else {"date": formatdate(time.time() - since)}

    async def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={**dated, **headers}, extensions={KEPT_FOR: 0.0} if kept else {})

    transport = DateNotingTransport(httpx.MockTransport(answer))
    anyio.run(transport.handle_async_request, httpx.Request("GET", "https://search.example/"))
    assert [each.detail for each in clock_check(transport.skew_s)] == told
