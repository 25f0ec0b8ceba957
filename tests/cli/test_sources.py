"""What `marchwarden sources` lists, and what is searched where nothing is named."""

from __future__ import annotations

import base64
import json
import socket
import threading
from pathlib import Path

import pytest

from marchwarden.settings import Settings, sources_of
from marchwarden.source_table import GROUPS, SOURCES
from marchwarden.sources import reachability
from marchwarden.sources.reachability import has_network, with_reachable_sources
from marchwarden.sources.source_registry import ready_members
from tests.cli.conftest import Run


def test_each_source_is_listed_with_its_state_and_what_it_needs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "key-0123456789")
    named = {each["name"]: each for each in json.loads(run("sources", "--json").out)}
    assert named.keys() == SOURCES.keys()
    assert (named["web"]["state"], named["web"]["in_force"]) == ("ready", True)
    assert (named["openalex"]["state"], named["openalex"]["needs"]) == ("needs a key", ["OPENALEX_API_KEY"])
    assert named["corpus"]["state"] == "none there"
    shown = run("sources").out
    assert "web *" in shown
    assert "corpus:NAME" in shown
    assert "key-0123456789" not in shown
    assert "* is searched where no source is named" in shown


def test_a_free_key_adds_its_service_to_the_groups() -> None:
    free = {"openalex_api_key": "k", "semantic_scholar_api_key": "k"}
    for group in ("open", "scholarly"):
        without = ready_members(Settings(), group)
        assert ready_members(Settings(**free), group) == (*without, "openalex", "semanticscholar")


def listed(run: Run, name: str) -> tuple[str, str]:
    (found,) = (each for each in json.loads(run("sources", "--json").out) if each["name"] == name)
    return found["state"], found["detail"]


def test_databases_are_listed_by_their_names(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "databases.toml"
    monkeypatch.setenv("MARCHWARDEN_DATABASES", str(file))
    file.write_text('[sales]\nurl = "sales.db"\n')
    (tmp_path / "sales.db").write_bytes(b"")
    assert listed(run, "db") == ("ready", "sales")
    file.write_text('[sales]\nurl = "sales.db"\n[old]\nurl = "old.db"\n[text]\nurl = "text.duckdb"\n')
    (tmp_path / "text.duckdb").write_text("This is no database.")
    broken = (
        f"old can't be used: {tmp_path}/old.db: No such file or directory; "
        f"text can't be used: {tmp_path}/text.duckdb is no file of DuckDB"
    )
    assert listed(run, "db") == ("ready", f"sales; {broken}")
    (tmp_path / "sales.db").unlink()
    assert listed(run, "db")[0] == "broken"
    file.write_text("[sales]")
    assert listed(run, "db") == ("broken", f"sales can't be used: {file}: sales has no url")


def test_zim_files_that_are_none_are_told_and_the_folder_in_force(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARCHWARDEN_ZIM_FOLDER", str(tmp_path / "zim"))
    assert listed(run, "zim") == ("none there", f"Put a file of https://library.kiwix.org into {tmp_path}/zim")
    (tmp_path / "zim").mkdir()
    (tmp_path / "zim/mills.zim").write_text("This is no ZIM file.")
    state, detail = listed(run, "zim")
    assert (state, detail.partition(":")[0]) == ("broken", "mills can't be used")


def test_corpora_of_the_object_store_are_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = tmp_path / "bucket/corpora/garden/20260101T000000Z-0.tar.zst"
    snapshot.parent.mkdir(parents=True)
    snapshot.write_bytes(b"")
    monkeypatch.setenv("MARCHWARDEN_STORE", f"file:{tmp_path}/bucket")
    assert "published in the object store can be used too" in listed(run, "corpus")[1]
    assert "Published in the object store, and usable here too: garden." in run("index", "--list").said
    monkeypatch.setenv("MARCHWARDEN_STORE", f"file:{tmp_path}/gone")
    ran = run("index", "--list")
    assert (ran.code, "can't be listed" in ran.said) == (0, True)


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
        ("/home/ada/notes", "is a path, no source; for files, run `marchwarden index"),
        ("db:/home/ada/shop", "db takes a name, no path; .* run `marchwarden sources add NAME PATH`"),
        ("db:/home/ada/shop.sqlite", "sources add shop /home/ada/shop.sqlite; then give db:shop"),
        ("my shop.db", "sources add my-shop 'my shop.db'; then give db:my-shop"),
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
        ({"MARCHWARDEN_SOURCE": "wikipedia"}, "no effect, because MARCHWARDEN_SOURCE decides what is searched"),
        (
            {"BRAVE_API_KEY": "k"},
            "no effect, because the key or address of a search service decides what is searched",
        ),
        ({"MARCHWARDEN_SOURCE": "snapshot"}, None),
    ],
)
def test_offline_is_told_and_so_is_that_it_has_no_effect(
    variables: dict[str, str], said: str | None, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = run("sources", "--json")
    assert said in ran.said if said else ran.err == ""
    in_force = [each["name"] for each in json.loads(ran.out) if each["in_force"]]
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
