"""Indexing: what is new or changed is read, what is gone is forgotten, and a run can end at any moment."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from marchwarden.corpus import documents, readers
from marchwarden.corpus.corpora import all_corpora, corpus_at, open_corpus, open_search, remove_corpus, summary_of
from marchwarden.corpus.indexing import index_files
from marchwarden.corpus.readers import Task, prepared
from marchwarden.errors import ConfigurationError, StorageError
from tests.cli.running import ROOT
from tests.corpora import index, write
from tests.http.packed import docx, epub, paragraph
from tests.reading.pages import article, pdf

GARLIC = "Garlic is planted in October and lifted in July."
FILES: dict[str, str | bytes] = {
    "crops.html": article(),
    "notes.md": f"# Alliums\n\n{GARLIC}\n",
    "log.txt": "The pond was dug in the spring of 2019.\n",
    "trees.pdf": pdf(["The orchard has 412 apple trees of nine kinds."]),
    "bees.docx": docx(paragraph("The hive weighs about 40 kg in August.")),
    "book.epub": epub({"one.xhtml": "<h1>Frost</h1><p>The last frost falls on the ninth of May.</p>"}),
    "soil.json": '{"bed": {"north": "Clay that holds the water well into June."}}',
    "plots.jsonl": "".join(
        json.dumps({"id": f"plot-{number}", "text": f"Plot number {number} grows variety v{number}."}) + "\n"
        for number in range(5)
    ),
}


def found(query: str, name: str = "default") -> list[str]:
    """Names of the files found, with line."""
    return [Path(each.locator).name for each in open_search(corpus_at(name)).find(query, 10)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "files", FILES)


def test_each_kind_of_file_is_found_by_what_it_says(folder: Path) -> None:
    report = index(folder)
    assert (report.added, report.files, report.documents, report.failed) == (8, 8, 12, {})
    assert found("Wasatch Front peas")[0] == "crops.html"
    assert found("when is garlic planted")[0] == "notes.md"
    assert found("pond dug")[0] == "log.txt"
    assert found("apple trees in the orchard")[0] == "trees.pdf"
    assert found("weight of the hive")[0] == "bees.docx"
    assert found("last frost of May")[0] == "book.epub"
    assert found("clay")[0] == "soil.json"
    assert found("variety v3")[0] == "plots.jsonl#L4"


def test_a_misspelt_word_is_known_by_the_closest_word_of_the_files(folder: Path) -> None:
    index(folder)
    assert open_search(corpus_at("default")).meant("when is garlik planted in the orchrad") == {
        "garlik": "garlic",
        "orchrad": "orchard",
    }
    # A word of its own, which no file has.
    assert open_search(corpus_at("default")).meant("garlicky") == {}


def test_a_second_run_reads_only_what_changed_and_forgets_what_is_gone(folder: Path) -> None:
    index(folder)
    (folder / "log.txt").write_text("The well was dug in the spring of 2019.\n")
    (folder / "notes.md").unlink()
    (folder / "new.txt").write_text("Leeks are earthed up in August.\n")
    os.utime(folder / "trees.pdf")  # touched, but the same
    report = index(folder)
    assert (report.added, report.changed, report.removed, report.unchanged) == (1, 1, 1, 6)
    assert found("garlic planted October July") == []
    assert found("dug in spring well")[0] == "log.txt"
    assert found("pond") == []
    assert found("leeks") == ["new.txt"]
    again = index()
    assert (again.added, again.changed, again.removed, again.unchanged) == (0, 0, 0, 8)


def test_a_change_that_keeps_size_and_time_is_noticed(folder: Path) -> None:
    index(folder)
    file = folder / "log.txt"
    before = file.stat()
    file.write_text(file.read_text().replace("pond", "moat"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert index(folder).changed == 1
    assert found("moat") == ["log.txt"]


def test_lines_that_are_gone_from_a_file_are_not_found_any_more(folder: Path) -> None:
    index(folder)
    kept = str(FILES["plots.jsonl"]).splitlines(keepends=True)[:2]
    (folder / "plots.jsonl").write_text("".join(kept))
    report = index(folder)
    assert (report.changed, report.documents) == (1, 9)
    assert found("v3 v1") == ["plots.jsonl#L2"]


def test_other_roots_stay_when_one_is_indexed_again_or_is_not_there(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", {"a.txt": "Peas climb."}), write(tmp_path / "two", {"b.txt": "Beans climb."})
    index(one, two)
    (one / "a.txt").unlink()
    index(two)
    assert found("peas") == ["a.txt"]
    two.rename(tmp_path / "away")
    report = index()
    assert report.missing == (str(two),)
    assert found("climb") == ["b.txt"]


def test_a_file_that_was_named_itself_and_is_gone_is_forgotten(tmp_path: Path) -> None:
    folder = write(tmp_path / "files", {"a.txt": "Peas climb.", "b.txt": "Beans climb."})
    index(folder / "a.txt", folder / "b.txt")
    (folder / "a.txt").unlink()
    report = index()
    assert (report.removed, report.missing, report.roots) == (1, (), (f"{folder}/b.txt",))
    assert found("climb") == ["b.txt"]


def test_what_is_indexed_is_readable_by_its_owner_only(folder: Path) -> None:
    index(folder)
    assert corpus_at("default").folder.stat().st_mode & 0o077 == 0


def test_progress_tells_files_and_documents(folder: Path) -> None:
    told: list[tuple[int, int, int]] = []
    index_files(corpus_at("default"), [folder], jobs=0, tell=lambda *each: told.append(each))
    assert told == sorted(told)
    assert told[0][2] == 0
    assert told[-1] == (8, 8, 12)


def test_a_file_that_cannot_be_read_is_told_once_it_is_met_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "MOST_BYTES", 1_000)
    files: dict[str, str | bytes] = {
        "broken.pdf": b"%PDF-1.4 nothing",
        "empty.txt": "",
        "torn.docx": docx(paragraph("x"))[:200],
        "long.txt": "x " * 800,
    }
    report = index(write(tmp_path / "files", {**files, "good.txt": GARLIC}))
    assert {Path(path).name: reason for path, reason in report.failed.items()} == {
        "broken.pdf": "the PDF is broken and cannot be opened",
        "empty.txt": "the file is empty",
        "torn.docx": "the document can't be read: it is damaged and cannot be unpacked",
        "long.txt": "it is larger than 0 MB",
    }
    assert (report.files, report.documents) == (1, 1)
    assert (report.added, report.unreadable) == (1, 4), "what can't be read is not new"
    again = index()
    assert again.failed == report.failed
    assert (again.added, again.changed, again.unchanged, again.unreadable) == (0, 0, 1, 4)
    write(tmp_path / "files", {"empty.txt": GARLIC})
    assert (mended := index()).added == 1
    assert (mended.unchanged, mended.unreadable) == (1, 3)


def test_lines_that_are_no_documents_are_left_out_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marchwarden.corpus.indexing.LONGEST_LINE_BYTES", 300)
    lines = [
        '{"text": "Peas climb."}',
        "no JSON",
        "",
        '{"text": ""}',
        json.dumps({"text": "x" * 400}),
        '"Beans climb."',
    ]
    report = index(write(tmp_path / "files", {"a.jsonl": "\n".join(lines)}))
    assert report.documents == 2
    assert "line 2: the line is not JSON" in next(iter(report.failed.values())) or "line 5" in str(report.failed)
    assert sorted(found("climb")) == ["a.jsonl#L1", "a.jsonl#L6"]


def test_a_long_file_is_found_by_each_stretch_of_it_and_only_once(tmp_path: Path) -> None:
    filler = "\n\n".join(f"Row {number} is hoed and watered by hand in the evening." for number in range(600))
    index(write(tmp_path / "files", {"long.txt": f"{filler}\n\nThe quince was grafted in 1954.\n\n{filler}"}))
    hits = open_search(corpus_at("default")).find("quince grafted rows hoed", 10)
    assert len(hits) == 1
    assert "The quince was grafted in 1954." in hits[0].sentences
    assert sum(map(len, hits[0].sentences)) <= documents.PART_CHARS


# Ending early


@pytest.fixture
def many(tmp_path: Path) -> Path:
    lines = "".join(json.dumps({"text": f"Plot number {n} grows variety v{n}."}) + "\n" for n in range(1_200))
    return write(tmp_path / "many", {f"{each}.jsonl": lines for each in "abc"})


HELD_AT_THE_LAST_FILE = """
import runpy, sys, time

def hold(event, arguments):
    if event == "open" and str(arguments[0]).endswith("c.jsonl"):
        print("held", flush=True)
        time.sleep(60)

if __name__ == "__main__":  # and not in the readers, which are spawned
    sys.addaudithook(hold)
    runpy.run_module("marchwarden", run_name="__main__")
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_is_gone_on_with(many: Path, tmp_path: Path, how: signal.Signals) -> None:
    """It is ended as it opens the third of three files: nothing hangs on who is faster."""
    (tmp_path / "held.py").write_text(HELD_AT_THE_LAST_FILE)
    command = [sys.executable, str(tmp_path / "held.py"), "index", str(many), "--jobs", "1"]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        process.send_signal(how)
        _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    assert how != signal.SIGINT or b"To continue, run the same command again" in said
    with sqlite3.connect(corpus_at("default").catalogue) as catalogue:
        assert catalogue.execute("SELECT count(*) FROM facts WHERE name = 'unfinished'").fetchone() == (1,)
    report = index(many)
    assert (report.files, report.documents, report.failed) == (3, 3_600, {})
    assert sorted(found("v1199")) == ["a.jsonl#L1200", "b.jsonl#L1200", "c.jsonl#L1200"]


def test_what_a_killed_run_had_put_into_the_index_is_not_found_twice(folder: Path) -> None:
    """The index is committed before the catalogue: a kill in between leaves documents that nobody knows."""
    index(folder)
    corpus = corpus_at("default")
    with sqlite3.connect(corpus.catalogue) as catalogue:
        catalogue.execute("DELETE FROM files")
        catalogue.execute("INSERT INTO facts VALUES ('unfinished', '')")
    report = index(folder)
    assert (report.added, report.documents) == (8, 12)
    assert found("garlic planted") == ["notes.md"]


def test_two_runs_at_once_on_one_corpus_are_refused(folder: Path) -> None:
    index(folder)
    with (
        FileLock(corpus_at("default").folder / "writing.lock"),
        pytest.raises(StorageError, match="another `marchwarden index` is already working"),
    ):
        index(folder)


@pytest.mark.parametrize("damage", ["index lost", "index broken", "other version"])
def test_a_corpus_that_does_not_fit_is_made_anew_from_its_folders(folder: Path, damage: str) -> None:
    index(folder)
    corpus = corpus_at("default")
    if damage == "other version":
        with sqlite3.connect(corpus.catalogue) as catalogue:
            catalogue.execute("UPDATE facts SET value = '0' WHERE name = 'version'")
        with pytest.raises(ConfigurationError, match="an incompatible version"):
            open_corpus("default")
    elif damage == "index lost":
        for file in corpus.index.iterdir():
            file.unlink()
    else:
        (corpus.index / "meta.json").write_text("{")
    report = index()
    assert (report.added, report.documents) == (8, 12)
    assert found("garlic planted") == ["notes.md"]


# Readers


def test_a_file_that_kills_its_reader_costs_that_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarm ends the reader as a crash would; nothing can be read in no time at all."""
    write(tmp_path, {f"{number}.txt": f"Bed {number} is dug." for number in range(6)})
    os.mkfifo(tmp_path / "fifo.txt")
    tasks: list[Task] = [Task(str(tmp_path / f"{number}.txt"), None) for number in range(6)]
    came: Iterator[tuple[Task, documents.Prepared]] = prepared([*tasks[:3], _Deadly("x", None), *tasks[3:]], 2)
    results = {Path(task.path).name: (result.documents, result.failure) for task, result in came}
    assert results.pop("x") == (0, f"reading it crashed, or took more than {readers.SECONDS} seconds")
    assert set(results.values()) == {(1, None)}
    assert len(results) == 6


class _Deadly(Task):
    """Kills the process that it is unpacked in."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (1,)


# Corpora


def test_corpora_are_listed_summed_up_and_forgotten_without_touching_files(folder: Path) -> None:
    index(folder, name="one")
    index(folder, name="two")
    assert [corpus.name for corpus in all_corpora()] == ["one", "two"]
    held = summary_of(corpus_at("one"))
    assert (held.roots, held.files, held.documents) == ((str(folder),), 8, 12)
    remove_corpus("one")
    assert [corpus.name for corpus in all_corpora()] == ["two"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    with pytest.raises(ConfigurationError, match="there is no corpus one"):
        remove_corpus("one")


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "a" * 65, "x\x1b[31m"])
def test_a_name_leads_nowhere_else(name: str) -> None:
    with pytest.raises(ConfigurationError, match="not a valid name of a corpus"):
        corpus_at(name)
