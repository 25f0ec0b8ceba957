"""Results as files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from marchwarden.cli.views.result_file import write_report
from marchwarden.contract import ResearchResult
from marchwarden.errors import StorageError
from marchwarden.server.markdown import document as markdown
from tests.cli.results import a_hostile_result, a_result, an_empty_result


def test_json_reads_back_as_the_same_result(tmp_path: Path) -> None:
    path = tmp_path / "answer.JSON"
    write_report(a_result(), "What grows?", path)
    assert ResearchResult.model_validate_json(path.read_bytes()) == a_result()


def test_a_list_of_works_is_left_out_where_nothing_is_cited(tmp_path: Path) -> None:
    path = tmp_path / "answer.bib"
    path.write_text("earlier")
    assert not write_report(an_empty_result(), "What grows?", path, force=True)
    assert path.read_text() == "earlier"
    assert write_report(a_result(), "What grows?", path, force=True)


def test_any_other_name_gives_markdown_with_everything_in_it(tmp_path: Path) -> None:
    path = tmp_path / "answer.md"
    write_report(a_result(), "What grows in *Utah*?", path)
    text = path.read_text(encoding="utf-8")
    for part in (
        "# What grows in \\*Utah\\*?",
        "Tomatoes do well in Utah [1]. Peas go in early [2].",
        "[1] Warm-season vegetables for Utah\n<https://extension.usu.example/gardening/(warm-season)?a=1&b=2> (web, confidence",
        ", published 2025-03-01)",
        "> 豆は早春に植えます。",
        "\n\n`sha256:",
        "- **access denied**: Yields. The trial is behind a paywall.",
        "- **related research → arxiv**",
        "- **high priority**: Which cultivars stand salt? (Two pages warn.",
        "Trace: trace://3f2a1b2c",
    ):
        assert part in text


def test_what_pages_say_is_not_markdown_but_lists_stay_lists() -> None:
    answer = "![x](http://t.example/p.png) <img src=x> [1]\n# Heading\n- item [2]\n---\n- - -\n===\n[link](u)"
    text = markdown(a_result(answer=answer), "q")
    assert "\\!\\[x\\]" in text
    assert "\\<img" in text
    assert "[1]\n\\# Heading\n- item [2]\n\\---\n\\- - -\n\\===\n\\[link\\](u)" in text
    assert "\x1b" not in markdown(a_hostile_result(), "q")


def test_a_file_is_replaced_as_a_whole_with_usual_permissions(tmp_path: Path) -> None:
    path = tmp_path / "answer.md"
    path.write_text("earlier text " * 1000)
    write_report(a_result(), "q", path, force=True)
    assert "earlier text" not in path.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["answer.md"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_a_file_that_came_during_the_call_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "answer.md"
    path.write_text("of someone else")
    with pytest.raises(StorageError, match="left as it is"):
        write_report(a_result(), "q", path)
    assert path.read_text() == "of someone else"


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="can't be written: No such file"):
        write_report(a_result(), "q", tmp_path / "gone" / "answer.md")


def test_a_name_that_is_taken_by_a_folder_leaves_nothing_behind(tmp_path: Path) -> None:
    taken = tmp_path / "taken.md"
    taken.mkdir()
    with pytest.raises(StorageError):
        write_report(a_result(), "q", taken)
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == []


def test_a_link_is_followed_and_a_pipe_is_written_into(tmp_path: Path) -> None:
    """Not replaced: `--output /dev/null` would otherwise cost root the device."""
    target, link, pipe = tmp_path / "target.md", tmp_path / "link.md", tmp_path / "pipe.md"
    link.symlink_to(target)
    write_report(a_result(), "q", link)
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("# q")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_report(a_result(), "q", pipe)
    assert os.read(reader, 3) == b"# q"
    os.close(reader)
    assert pipe.is_fifo()
