"""Files are whole or not there, whoever writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.files import write_output, write_whole


@pytest.mark.parametrize("synced", [True, False])
def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path, synced: bool) -> None:
    path = tmp_path / "reports" / "answer.md"
    path.parent.mkdir()
    for body in (b"old " * 10_000, b"new"):
        write_whole(path, body, synced=synced)
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("synced", [True, False])
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, synced: bool) -> None:
    taken = tmp_path / "reports" / "taken"
    taken.mkdir(parents=True)
    with pytest.raises(OSError, match="taken"):
        write_whole(taken, b"new", synced=synced)
    assert list(taken.parent.iterdir()) == [taken]


def test_an_output_follows_links(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write_output(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"
