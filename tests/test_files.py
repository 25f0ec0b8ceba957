"""Files are whole or not there, whoever writes them."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from marchwarden.files import (
    append_line,
    check_output_folder,
    check_output_place,
    remove_torn_end,
    sync,
    write_output,
    write_whole,
)
from tests.disks import room_for


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


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.skipif(os.name != "posix", reason="fsync of POSIX")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("count", [1, 5])
def test_a_disk_that_is_full_or_broken_is_told_when_files_are_brought_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, count: int
) -> None:
    paths = [tmp_path / str(each) for each in range(count)]
    for path in paths:
        path.write_bytes(b"page")
    failing(monkeypatch, number)
    with pytest.raises(OSError, match=re.escape(os.strerror(number))):
        sync(paths)
    with pytest.raises(OSError, match=re.escape(os.strerror(number))):
        write_whole(tmp_path / "new", b"new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_without_sync_and_a_file_that_is_gone_are_no_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    failing(monkeypatch, number)
    write_whole(tmp_path / "new", b"new")
    sync([tmp_path / "new", tmp_path / "gone"])
    assert (tmp_path / "new").read_bytes() == b"new"


def test_an_output_follows_links(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write_output(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_links_that_lead_nowhere_and_names_inside_a_folder_stop_no_output_with_a_crash(tmp_path: Path) -> None:
    loop, nowhere, runs = tmp_path / "loop.md", tmp_path / "nowhere", tmp_path / "runs"
    loop.symlink_to(loop)
    nowhere.symlink_to(tmp_path / "not there")
    for link in (loop, nowhere):
        with pytest.raises(NotADirectoryError):
            check_output_folder(link / "first")
    check_output_place(loop)
    write_output(loop, b"new")
    assert loop.read_bytes() == b"new"
    (runs / "probe").mkdir(parents=True)  # the name that was tried in folders
    check_output_folder(runs)


@pytest.mark.skipif(os.name != "posix", reason="pipes and limits of POSIX")
def test_an_output_goes_into_stdout_where_that_is_a_pipe(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    # A name such as /dev/stdout, which leads to no file that has a name.
    place = Path(f"/dev/fd/{writer}")
    check_output_place(place)
    write_output(place, b"new")
    os.close(writer)
    with os.fdopen(reader, "rb") as read:
        assert read.read() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="pipes and limits of POSIX")
def test_a_place_for_output_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "answer.md").write_text("old")
    os.mkfifo(folder / "pipe")
    for name in ("answer.md", "new.md", "pipe"):
        check_output_place(folder / name)
    check_output_folder(folder / "runs" / "first")
    assert (folder / "answer.md").read_text() == "old"
    assert {path.name for path in folder.iterdir()} == {"answer.md", "pipe"}


@pytest.mark.parametrize("name", [".", "gone/answer.md", f"{'x' * 300}.md", "file/answer.md"])
def test_a_place_that_can_t_be_written_is_known_before(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(OSError, match=r"directory|too long"):
        check_output_place(tmp_path / name)


@pytest.mark.skipif(os.name != "posix", reason="pipes and limits of POSIX")
def test_a_disk_without_room_for_an_answer_is_known_before(tmp_path: Path) -> None:
    for check in (check_output_place, check_output_folder):
        with room_for(100), pytest.raises(OSError, match="No space left"):
            check(tmp_path / "answer.md")
    assert not list(tmp_path.glob("*answer.md*"))


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_line_for_which_there_is_no_room_is_not_begun(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x" * 99 + b"\n")
    with path.open("ab", buffering=0) as file, room_for(110):
        append_line(file.fileno(), b"short\n")
        with pytest.raises(OSError, match="too large"):
            append_line(file.fileno(), b"too long a line\n")
    assert path.read_bytes() == b"x" * 99 + b"\nshort\n"


@pytest.mark.parametrize("torn", [b"", b"torn", b"t" * 200_000])
@pytest.mark.parametrize("before", [b"", b"whole\n", b"w" * 100_000 + b"\n"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_last_line_without_an_end_is_ended_or_removed(
    before: bytes, torn: bytes, is_whole: bool, tmp_path: Path
) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(before + torn)
    remove_torn_end(path, lambda line: line == torn and is_whole)
    assert path.read_bytes() == before + (torn + b"\n" if torn and is_whole else b"")
