"""What `marchwarden sources` lists, and what is searched where nothing is named."""

from __future__ import annotations

import base64
import json
import socket
import threading
from pathlib import Path

import pytest

from marchwarden.cli.sources import command
from marchwarden.settings import Settings, sources_of
from marchwarden.source_table import GROUPS, SOURCES
from marchwarden.sources import reachability
from marchwarden.sources.reachability import has_network, with_reachable_sources
from tests.cli.conftest import Run


def test_each_source_is_listed_with_its_state_and_what_it_needs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "key-0123456789")
    listed = {each["name"]: each for each in json.loads(run("sources", "--json").out)}
    assert listed.keys() == SOURCES.keys()
    assert (listed["web"]["state"], listed["web"]["in_force"]) == ("ready", True)
    assert (listed["openalex"]["state"], listed["openalex"]["needs"]) == ("needs a key", ["OPENALEX_API_KEY"])
    assert listed["corpus"]["state"] == "none there"
    shown = run("sources").out
    assert "web *" in shown
    assert "corpus:NAME" in shown
    assert "key-0123456789" not in shown
    assert "* is searched where no source is named" in shown


def test_databases_are_listed_by_their_names(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "databases.toml"
    file.write_text('[sales]\nurl = "sqlite:sales.db"\n')
    monkeypatch.setenv("MARCHWARDEN_DATABASES", str(file))
    listed = {each["name"]: each for each in json.loads(run("sources", "--json").out)}
    assert (listed["db"]["state"], listed["db"]["detail"]) == ("ready", "sales")


def test_every_opener_is_there() -> None:
    import pkgutil

    assert all(callable(pkgutil.resolve_name(entry.opener)) for entry in SOURCES.values())
    assert all(name in SOURCES for names in GROUPS.values() for name in names)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wikipedai", "did you mean wikipedia"),
        ("db", "db needs a name"),
        ("wikipedia,snapshot", "wikipedia and snapshot stand for the same addresses"),
        ("wikipedia:en", "is not a source"),
        (" , ", "no source is named"),
    ],
)
def test_what_is_no_source_is_said_with_the_ones_that_there_are(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        sources_of(text)


def test_without_a_network_the_frozen_web_stands_in_and_with_one_the_open_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MARCHWARDEN_OFFLINE")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(reachability, "HOSTS", (server.getsockname(),))
        assert with_reachable_sources(Settings()).source_name == "open"
    assert with_reachable_sources(Settings()).source_name == "snapshot"
    assert with_reachable_sources(Settings(source="wikipedia")).source_name == "wikipedia"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "MARCHWARDEN_OFFLINE is set, so the frozen web"),
        ({"MARCHWARDEN_SOURCE": "wikipedia"}, "no effect: MARCHWARDEN_SOURCE says what is searched"),
        ({"BRAVE_API_KEY": "k"}, "no effect: the key or address of a search service says what is searched"),
        ({"MARCHWARDEN_SOURCE": "snapshot"}, None),
    ],
)
def test_offline_is_told_and_so_is_that_it_has_no_effect(
    variables: dict[str, str], said: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    command(online=False, json=True)
    out, err = capsys.readouterr()
    assert said in err if said else err == ""
    in_force = [each["name"] for each in json.loads(out) if each["in_force"]]
    assert in_force == [variables.get("MARCHWARDEN_SOURCE", "web" if "BRAVE_API_KEY" in variables else "snapshot")]


@pytest.mark.parametrize(
    ("answer", "has"),
    [(b"HTTP/1.1 200 OK\r\n\r\n", True), (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", False), (b"", False)],
    ids=["granted", "refused", "silent"],
)
def test_a_proxy_must_grant_a_tunnel(answer: bytes, has: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:p%40ss@127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setattr(reachability, "HOSTS", (("en.wikipedia.org", 443),))
        asked: list[bytes] = []

        def reply() -> None:
            connection, _ = server.accept()
            with connection:
                asked.append(connection.recv(1000))
                connection.sendall(answer)

        thread = threading.Thread(target=reply)
        thread.start()
        assert has_network() is has
        thread.join()
    assert asked[0].startswith(b"CONNECT en.wikipedia.org:443 HTTP/1.1\r\n")
    assert b"Basic " + base64.b64encode(b"user:p@ss") in asked[0]
    assert not has_network()
