"""`marchwarden index`: what it says of a run, of corpora, and of what could not be read; its exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from marchwarden.corpus.corpora import corpora_folder
from tests.cli.conftest import Run
from tests.cli.running import marchwarden
from tests.corpora import index, write
from tests.disks import room_for

NOTES = {
    "bees.md": "# Bees\n\nThe queen of the north hive was replaced in June 2021.\n",
    "pond.txt": "The pond was dug in 2019.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "files", NOTES)


def test_files_are_indexed_asked_and_forgotten(run: Run, folder: Path) -> None:
    ran = run("index", str(folder), "--name", "notes", "--jobs", "1")
    assert ran.code == 0
    assert "notes: 2 documents of 2 files" in ran.out
    assert "2 new" in ran.out
    assert "--source corpus:notes" in ran.out
    asked = marchwarden("ask", "When was the queen of the north hive replaced?", "--source", "corpus:notes", "--json")
    assert asked.returncode == 0, asked.stderr
    (citation,) = json.loads(asked.stdout)["citations"]
    assert (citation["source"], citation["locator"]) == ("file", f"{folder}/bees.md#L3")
    listed = json.loads(run("index", "--list", "--json").out)
    assert [(each["name"], each["files"], each["roots"]) for each in listed] == [("notes", 2, [str(folder)])]
    assert "notes" in run("index", "--list").out
    assert run("index", "--remove", "notes").code == 0
    assert (folder / "bees.md").is_file()
    assert "There is no corpus yet" in run("index", "--list").said


def test_a_damaged_corpus_is_told_beside_the_others(run: Run, folder: Path) -> None:
    index(folder, name="notes")
    assert run("index", "--list").err == ""
    for name, body in (("empty", b""), ("junk", b"no database")):
        write(corpora_folder() / name, {"catalogue.sqlite": body})
    ran = run("index", "--list")
    assert ran.code == 0
    assert "notes" in ran.out
    assert "junk can't be used: the corpus junk is damaged" in ran.said
    assert "marchwarden index --remove empty, then index" in ran.said
    listed = json.loads(run("index", "--list", "--json").out)
    assert {each["name"]: each["problem"] is None for each in listed} == {
        "empty": False,
        "junk": False,
        "notes": True,
    }


def test_a_corpus_that_can_not_be_looked_into_is_told_beside_the_others(run: Run, folder: Path) -> None:
    index(folder, name="notes")
    (corpora_folder() / "closed").mkdir()
    (corpora_folder() / "closed/catalogue.sqlite").symlink_to("catalogue.sqlite")  # a loop closes it for root, too
    ran = run("index", "--list")
    assert (ran.code, "notes" in ran.out) == (0, True)
    assert "closed can't be used: the corpus closed can't be read" in ran.said
    asked = run("ask", "When was the pond dug?", "--source", "corpus:closed")
    assert (asked.code, "the corpus closed can't be read" in asked.said) == (1, True)
    (state,) = (each for each in json.loads(run("doctor", "--json").out) if each["name"] == "corpora")
    assert state["state"] == "note"
    assert "notes (2 documents); closed can't be used" in state["detail"]


def test_a_folder_of_corpora_that_can_not_be_read_is_not_said_to_be_empty(run: Run) -> None:
    corpora_folder().parent.mkdir()
    corpora_folder().write_text("no folder")
    ran = run("index", "--list")
    assert (ran.code, "corpora can't be read: Not a directory" in ran.said) == (1, True)
    (state,) = (each for each in json.loads(run("doctor", "--json").out) if each["name"] == "corpora")
    assert state["state"] == "broken"
    assert run("sources").code == 0


def test_what_could_not_be_read_is_told_with_nothing_that_a_terminal_would_obey(run: Run, folder: Path) -> None:
    write(folder, {"broken.pdf": b"%PDF-1.4 nothing", "evil\x1b]0;owned\x07.md": "x", "a.exe": "x"})
    (folder / "link.md").symlink_to(folder / "bees.md")
    ran = run("index", str(folder), "--jobs", "1")
    assert ran.code == 0
    assert "2 files could not be read" in ran.said
    assert "broken.pdf: the PDF is broken and cannot be opened" in ran.said
    assert "\x1b" not in ran.err + ran.out
    assert "\\x1b]0;owned\\x07.md" in ran.said
    assert "skipped: 1 of other kinds, 1 link, not followed" in ran.out
    assert "files that end with .exe can't be read: a.exe" in ran.out


def test_as_json_a_run_says_all_that_it_did(run: Run, folder: Path) -> None:
    index(folder)
    (folder / "pond.txt").unlink()
    (folder / "bees.md").write_text("The hives are painted white.\n")
    report = json.loads(run("index", "--json", "--jobs", "1").out)
    counts = {
        name: report[name] for name in ("name", "added", "changed", "removed", "unchanged", "documents", "failed")
    }
    assert counts == {
        "name": "default",
        "added": 0,
        "changed": 1,
        "removed": 1,
        "unchanged": 0,
        "documents": 1,
        "failed": {},
    }


def test_a_corpus_is_watched_until_ctrl_c(run: Run, folder: Path) -> None:
    index(folder)

    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(2, interrupt)
    timer.start()
    ran = run("index", str(folder), "--watch", "--jobs", "1")
    timer.join()
    assert ran.code == 130
    assert "Files that were read stay indexed." in ran.said


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the object store."""
    folder = tmp_path / "bucket"
    folder.mkdir()
    monkeypatch.setenv("MARCHWARDEN_STORE", f"file:{folder}")
    return folder


@pytest.mark.parametrize(
    ("store", "reason"), [("gone", "there is no such folder"), ("file", "Not a directory"), ("full", "No space left")]
)
def test_a_store_that_takes_nothing_is_told_before_anything_is_read(
    store: str, reason: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "full").mkdir()
    monkeypatch.setenv("MARCHWARDEN_STORE", f"file:{tmp_path / store}")
    with room_for(100) if store == "full" else nullcontext():
        ran = run("index", str(tmp_path / "file"), "--publish", "--jobs", "1")
    assert (ran.code, ran.out) == (1, "")
    assert f"MARCHWARDEN_STORE (file:{tmp_path / store}): {reason}" in ran.said
    assert not Path("~/.marchwarden/corpora").expanduser().exists()


def test_each_change_of_a_watched_corpus_is_published(
    run: Run, folder: Path, bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def changes(roots: list[Path], told: object) -> Iterator[None]:
        """Stand in for the system's news of files: a change, one more while the store is gone, and a look without."""
        (folder / "hens.md").write_text("There are nine hens.\n")
        yield
        bucket.rename(tmp_path / "away")
        (folder / "ducks.md").write_text("There are four ducks.\n")
        yield
        (tmp_path / "away").rename(bucket)
        yield
        raise KeyboardInterrupt

    monkeypatch.setattr("marchwarden.corpus.watching.changes_below", changes)
    ran = run("index", str(folder), "--watch", "--publish", "--jobs", "1")
    assert ran.code == 130
    told = re.findall(r"Published \d files|Not published: MARCHWARDEN_STORE", ran.said)
    assert told == [
        "Published 2 files",
        "Published 3 files",
        "Not published: MARCHWARDEN_STORE",
        "Published 4 files",
    ]


@pytest.mark.usefixtures("bucket")
def test_files_that_are_gone_are_withdrawn_from_what_is_published_and_a_forgotten_corpus_is_not(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("index", str(folder), "--name", "sec", "--publish", "--jobs", "1").code == 0
    for file in folder.iterdir():
        file.unlink()
    ran = run("index", "--name", "sec", "--publish", "--jobs", "1")
    assert ran.code == 3
    assert "Published 0 files" in ran.said
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    assert run("ask", "How many hens are there?", "--source", "corpus:sec").code == 3
    assert "delete corpora/sec in the store" in run("index", "--remove", "sec").said


def test_nothing_to_index_is_an_exit_code_of_its_own(run: Run, tmp_path: Path) -> None:
    assert run("index", str(write(tmp_path / "empty", {"a.exe": "x"}))).code == 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere"], 2, "nowhere: there is no such file or folder"),
        (["--list", "--remove", "x"], 2, "--remove can't go with --list"),
        (["--list", "--name", "x"], 2, "--name can't go with --list"),
        (["--jobs", "0"], 2, "--jobs: "),
        (["--watch", "--json", "."], 2, "--json can't go with --watch"),
        (["--list", "--watch"], 2, "--watch can't go with --list"),
        ([], 1, "there is no corpus default Make it: marchwarden index FOLDER"),
        (["--name", "notes"], 1, "Make it: marchwarden index FOLDER --name notes"),
        (["--name", "../x", "."], 2, "'../x' is not a valid name of a corpus"),
        (["--engine", "foo", "."], 2, "there is no engine foo"),
        (["--remove", "x"], 1, "there is no corpus x"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_line(run: Run, arguments: list[str], code: int, said: str) -> None:
    ran = run("index", *arguments)
    assert (ran.code, said in ran.said) == (code, True), ran.said


def test_a_root_that_is_not_there_now_keeps_what_was_indexed_of_it(run: Run, folder: Path) -> None:
    index(folder)
    folder.rename(folder.with_name("away"))
    ran = run("index")
    assert ran.code == 0
    assert "was not found; its indexed files stay in the corpus" in ran.said
    assert "2 documents of 2 files" in ran.out


@pytest.mark.parametrize("source", ["moon", "web,snapshot", "corpus:../x"])
def test_ask_refuses_what_is_no_source(run: Run, source: str) -> None:
    ran = run("ask", "Why?", "--source", source)
    assert ran.code == 2
    assert "--source" in ran.said


def test_doctor_tells_of_the_corpora_in_force(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_SOURCE", "corpus:notes")
    assert "there is no corpus notes" in " ".join(run("doctor").out.split())
    index(folder, name="notes")
    assert "notes: 2 documents of 2 files" in " ".join(run("doctor").out.split())


def test_an_empty_corpus_is_not_to_be_asked(run: Run, tmp_path: Path) -> None:
    ran = run("index", str(write(tmp_path / "programs", {"a.exe": "x"})), "--jobs", "1")
    assert (ran.code, "0 documents" in ran.out, "Ask it" in ran.out) == (3, True, False)
