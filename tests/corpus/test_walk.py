"""Which files are taken: ordinary ones under the roots, whose names a person can read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from marchwarden.corpus.documents import kind_of
from marchwarden.corpus.walk import open_ordinary, read_bytes, walk
from tests.corpora import write


def names(found: object, root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path in found.files]  # type: ignore[attr-defined]


def test_hidden_files_and_what_programs_fill_are_passed_over(tmp_path: Path) -> None:
    write(
        tmp_path,
        dict.fromkeys(
            ("b.md", "a/c.TXT", ".hidden.md", ".git/x.md", "node_modules/x.md", "~$open.docx", "x.exe"), "x"
        ),
    )
    found = walk([tmp_path])
    assert names(found, tmp_path) == ["b.md", "a/c.TXT"]
    assert found.others == 1
    assert {os.path.relpath(path, tmp_path): reason for path, reason in found.skipped.items()} == {
        ".git": "its name begins with a dot",
        "node_modules": "folders with this name hold generated files",
        ".hidden.md": "its name begins with a dot",
        "x.exe": "files that end with .exe can't be read",
        "~$open.docx": "it only marks a document as open",
    }


def test_a_hidden_folder_that_is_named_is_walked(tmp_path: Path) -> None:
    write(tmp_path, {".notes/a.md": "x"})
    assert names(walk([tmp_path / ".notes"]), tmp_path) == [".notes/a.md"]


def test_links_are_not_followed_but_a_root_may_be_one(tmp_path: Path) -> None:
    write(tmp_path, {"in/a.md": "x", "out/secret.md": "x"})
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    (tmp_path / "in/away").symlink_to(tmp_path / "out")
    (tmp_path / "in/b.md").symlink_to(tmp_path / "out/secret.md")
    (tmp_path / "root").symlink_to(tmp_path / "in")
    found = walk([tmp_path / "root"])
    assert names(found, tmp_path) == ["in/a.md"]
    assert found.links == 3
    assert set(found.skipped.values()) == {"links are not followed"}


def test_what_is_no_ordinary_file_or_has_no_name_to_show_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a\x1b[31m.md": "x", "b\n.md": "x", "ok.md": "x"})
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / os.fsdecode(b"\xff.md")).write_text("x")
    found = walk([tmp_path])
    assert names(found, tmp_path) == ["ok.md"]
    assert sorted(set(found.refused.values())) == [
        "it is not a regular file",
        "its name has unprintable characters, so a citation could not name it",
    ]
    assert len(found.refused) == 4


def test_a_file_that_is_named_and_of_another_kind_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"a.exe": "x"})
    assert walk([tmp_path / "a.exe"]).refused == {str(tmp_path / "a.exe"): "files of this kind can't be indexed"}


def test_a_pipe_or_a_link_is_never_opened_to_be_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "Peas climb."})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "a.md")
    assert read_bytes(str(tmp_path / "a.md"), 4, start=5) == b"clim"
    for name in ("pipe", "link", "nothing"):
        with pytest.raises(OSError, match=r"."):
            open_ordinary(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("README", "text/plain"),
        ("docs/Changes", "text/plain"),
        ("usage.rst.inc", "text/x-rst"),
        ("page.html.in", "text/html"),
        ("MANIFEST.in", None),
        ("Makefile", None),
        ("readme.png", None),
    ],
)
def test_the_name_of_a_file_says_what_it_is(name: str, kind: str | None) -> None:
    assert kind_of(f"/home/ada/{name}") == kind
