"""Databases that are added, listed and removed by command: what the file says, and that it can be asked."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from marchwarden.cli.configuration.database_file import remove_database, write_database
from marchwarden.errors import ConfigurationError
from marchwarden.sources.database.database_names import open_name, read_entries
from tests.cli.conftest import Run

HAND_WRITTEN = """# Databases of the office.

[old]   # until 2020
url = "old.sqlite"
tables = [
  "orders",
]

# The one that counts.
[new]
url = "new.sqlite"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MARCHWARDEN_DATABASES", str(tmp_path / "own/databases.toml"))
    monkeypatch.chdir(tmp_path)
    for name in ("shop.sqlite", "shop.bin"):
        with closing(sqlite3.connect(name)) as shop:
            shop.executescript(
                "CREATE TABLE customer (name TEXT, city TEXT); CREATE TABLE secret_notes (text TEXT);"
                "INSERT INTO customer VALUES ('Ada', 'Bergen'), ('Bo', 'Oslo'), ('Cid', 'Bergen');"
            )
    return tmp_path / "own/databases.toml"


def test_a_database_is_added_asked_listed_and_removed_by_command(run: Run, file: Path, tmp_path: Path) -> None:
    added = run("sources", "add", "shop", "shop.sqlite", "--table", "customer", "--description", "Our shop")
    assert (added.code, added.out) == (0, "")
    assert 'shop is added: 1 table (customer). Ask it: marchwarden ask "…" --source db:shop' in added.said
    assert file.read_text() == (
        f'[shop]\nurl = "{tmp_path}/shop.sqlite"\ntables = ["customer"]\ndescription = "Our shop"\n'
    )
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0
    asked = run("ask", "How many customers are from Bergen?", "--source", "db:shop", "--json", "--quiet")
    assert "Bergen: 2 [1]" in json.loads(asked.out)["answer"]
    (listed,) = json.loads(run("sources", "databases", "--json").out)
    assert (listed["name"], listed["tables"], listed["problem"]) == ("shop", ["customer"], None)
    assert "only customer" in run("sources", "databases").out
    assert "shop" in run("sources").out
    assert run("sources", "remove", "shop").code == 0
    assert file.read_text() == ""
    assert (tmp_path / "shop.sqlite").exists()
    assert "There are no databases" in run("sources", "databases").err


def test_a_file_of_sqlite_is_known_by_its_content_and_one_by_its_url(run: Run, file: Path, tmp_path: Path) -> None:
    assert run("sources", "add", "one", "shop.bin").code == 0
    assert run("sources", "add", "two", "sqlite://shop.bin").code == 0
    assert {open_name(file, name).target for name in ("one", "two")} == {f"{tmp_path}/shop.bin"}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("x", "gone.sqlite"), 1, "No such file or directory"),
        (("x", "text.db"), 1, "is no file of SQLite"),
        (("x", "empty.db"), 1, "has no tables"),
        (("x", "gone"), 1, "there is no such file or folder"),
        (("x", "text.txt"), 1, "x is neither a folder nor a database"),
        (("x", "shop.sqlite", "--table", "nix"), 1, "x has no table nix"),
        (("x", "mysql://host/shop"), 1, "the url of an unknown kind"),
        (("x y", "shop.sqlite"), 2, "is not a valid name"),
        (("x", "postgresql://ada:pw-4711@host/shop"), 2, "other users can read command lines"),
    ],
)
def test_what_can_not_be_asked_is_not_added(
    arguments: tuple[str, ...], code: int, said: str, run: Run, file: Path, tmp_path: Path
) -> None:
    for name in ("text.db", "text.txt"):
        (tmp_path / name).write_text("This is no database.")
    (tmp_path / "empty.db").touch()
    ran = run("sources", "add", *arguments)
    assert ran.code == code
    assert said in ran.said
    assert "pw-4711" not in ran.err
    assert not file.exists()


def test_a_name_is_given_once_and_a_missing_one_is_told(run: Run, file: Path) -> None:
    run("sources", "add", "shop", "shop.sqlite")
    again = run("sources", "add", "shop", "shop.bin")
    assert (again.code, "marchwarden sources remove shop" in again.said) == (1, True)
    missing = run("sources", "remove", "shops")
    assert (missing.code, "There is shop." in missing.said) == (1, True)


def test_a_database_that_is_gone_takes_no_other_with_it_and_can_be_removed(
    run: Run, file: Path, tmp_path: Path
) -> None:
    assert run("sources", "add", "shop", "shop.sqlite").code == 0
    with file.open("a") as opened:
        opened.write(f'\n[gone]\nurl = "{tmp_path}/folder"\n\n[odd]\nurl = "mysql://ada:pw-4711@host/shop"\n')
    asked = run("ask", "How many customers are from Bergen?", "--source", "db:shop", "--json", "--quiet")
    assert "Bergen: 2 [1]" in json.loads(asked.out)["answer"]
    gone = run("ask", "How many customers are from Bergen?", "--source", "db:gone")
    assert (gone.code, f"{tmp_path}/folder: there is no such file or folder" in gone.said) == (1, True)
    listed = {each["name"]: each for each in json.loads(run("sources", "databases", "--json").out)}
    assert listed["shop"]["problem"] is None
    assert "there is no such file or folder" in listed["gone"]["problem"]
    assert (listed["odd"]["place"], "unknown kind" in listed["odd"]["problem"]) == ("mysql://host/shop", True)
    (state,) = (each for each in json.loads(run("sources", "--json").out) if each["name"] == "db")
    assert state["state"] == "ready"
    assert run("sources", "add", "more", "shop.bin").code == 0
    assert (run("sources", "remove", "gone").code, run("sources", "remove", "odd").code) == (0, 0)
    assert list(read_entries(file)) == ["shop", "more"]


def test_a_file_that_can_not_be_read_is_named_once(run: Run, file: Path) -> None:
    file.mkdir(parents=True)
    for command in (("databases",), ("remove", "shop")):
        ran = run("sources", *command)
        assert (ran.code, ran.said.count(str(file)), "Is a directory" in ran.said) == (1, 1, True)
        assert "Errno" not in ran.err


def test_an_address_can_be_piped_in(run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{tmp_path}/shop.sqlite\n"))
    assert run("sources", "add", "shop", "-").code == 0
    assert open_name(file, "shop").target == f"{tmp_path}/shop.sqlite"


def test_what_was_written_by_hand_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "databases.toml"
    file.write_text(HAND_WRITTEN)
    write_database(file, "a.b", {"url": "/data/ab.sqlite"})
    assert file.read_text() == HAND_WRITTEN + '\n["a.b"]\nurl = "/data/ab.sqlite"\n'
    remove_database(file, "old")
    assert file.read_text().startswith("# Databases of the office.\n\n# The one that counts.\n[new]\n")
    remove_database(file, "a.b")
    assert list(read_entries(file)) == ["new"]


def test_a_file_that_is_written_otherwise_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "databases.toml"
    file.write_text('old = { url = "old.sqlite" }\n')
    with pytest.raises(ConfigurationError, match="can't be changed"):
        remove_database(file, "old")
    file.write_text("[old\n")
    with pytest.raises(ConfigurationError, match="can't be read"):
        write_database(file, "new", {"url": "/data/new.sqlite"})
    assert file.read_text() == "[old\n"
