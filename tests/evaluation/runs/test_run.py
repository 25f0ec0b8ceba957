"""A run on disk: kept line by line, torn lines tolerated, read again as it was, or as a table by another tool."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from marchwarden.errors import EvaluationError, StorageError
from marchwarden.evaluation.runs.run import (
    RESULTS,
    RUN,
    Record,
    folder_name,
    labels_fingerprint,
    latest_run,
    open_run,
    pages_fingerprint,
    slug,
    start_run,
    write_json,
)
from marchwarden.files import write_whole
from tests.disks import room_for
from tests.evaluation.samples import (
    a_conflict,
    a_gap,
    a_nugget,
    a_question,
    a_run,
    an_event,
    case,
    info,
    perfect,
    record_of,
)


def good(name: str = "good") -> Record:
    question = a_question(id=name, nuggets=[a_nugget()], constraints={"max_sources": 3}, context="known: ä ß 日本")
    result = perfect(question, gaps=[a_gap("the cost")], discovery_events=[an_event("doi:1"), a_conflict("x")])
    return record_of(case(question, result, seconds=0.5, pages=2, dollars=0.01))


def failed(name: str = "failed") -> Record:
    return record_of(case(a_question(id=name, tags=["unanswerable"]), None, seconds=1.0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "one"


def test_a_run_is_read_again_as_it_was(folder: Path) -> None:
    run = start_run(folder, info(program="p@1", split="dev"))
    for record in (good(), failed()):
        run.add(record)
    again = open_run(folder)
    assert (again.info, again.records, again.name) == (run.info, [good(), failed()], "one")
    assert again.figures() == run.figures()
    assert again.traces == folder / "traces"
    assert set(again.figures_by_kind()) == {"one-fact", "unanswerable"}
    assert open_run(folder / RESULTS).records == again.records


def test_the_last_record_of_a_question_counts(folder: Path) -> None:
    run = start_run(folder, info())
    for record in (failed("a"), good("b"), good("a")):
        run.add(record)
    assert run.records == open_run(folder).records == [good("a"), good("b")]
    assert (folder / RESULTS).read_bytes().count(b"\n") == 3


def test_a_folder_that_holds_a_run_is_not_started_again(folder: Path) -> None:
    a_run(folder)
    with pytest.raises(EvaluationError, match="holds a run already") as caught:
        start_run(folder, info())
    assert "--resume" in str(caught.value.hint)


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/marchwarden"])
def test_a_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="can't be written") as caught:
        start_run(tmp_path / place, info())
    assert caught.value.hint == "Name another folder with --out."
    with pytest.raises(StorageError):
        write_json(tmp_path / "file" / "scores.json", {})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (None, "holds no run"),
        ("{", r"run\.json can't be read: Invalid JSON"),
        ("{}", r"run\.json can't be read: version: Field required"),
        ("another format", "written by another version of Marchwarden"),
    ],
)
def test_a_folder_without_a_run_that_can_be_read_is_named(folder: Path, body: str | None, said: str) -> None:
    folder.mkdir(parents=True)
    if body:
        (folder / RUN).write_text(info(format=2).model_dump_json() if body == "another format" else body)
    with pytest.raises(EvaluationError, match=said):
        open_run(folder)


def test_a_file_that_is_of_no_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("how to")
    with pytest.raises(EvaluationError, match=r"README\.md is no file of a run"):
        open_run(tmp_path / "README.md")


def test_a_folder_of_other_files_is_not_made_a_run(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(EvaluationError, match="holds other files, and no run"):
        start_run(tmp_path, info())
    (tmp_path / "empty").mkdir()
    assert start_run(tmp_path / "empty", info()).records == []


# Torn and foreign lines


def test_a_line_torn_anywhere_is_left_out_and_the_run_goes_on_after_it(folder: Path) -> None:
    run = a_run(folder)
    run.add(good("first"))
    whole = (folder / RESULTS).read_bytes()
    line = good("torn").model_dump_json().encode()
    cuts = [*range(1, len(line), 97), *(place + 1 for place, byte in enumerate(line[:-1]) if byte in b"}\xc3")]
    for cut in cuts:
        (folder / RESULTS).write_bytes(whole + line[:cut])
        assert [record.id for record in open_run(folder).records] == ["first"]
        open_run(folder).add(failed("next"))
        assert [record.id for record in open_run(folder).records] == ["first", "next"]


def test_mending_leaves_whole_lines_which_other_tools_can_read(folder: Path) -> None:
    run = a_run(folder)
    run.mend()
    assert not (folder / RESULTS).exists()
    for record in (good("first"), failed("second")):
        run.add(record)
    whole = (folder / RESULTS).read_bytes()
    torn = good("torn").model_dump_json().encode()[:200]
    lines = whole.splitlines(keepends=True)
    for body in (whole, whole + torn, whole[:-1], lines[0] + torn + b"\n" + lines[1], lines[0] + b"\n" + lines[1]):
        (folder / RESULTS).write_bytes(body)
        again = open_run(folder)
        again.mend()
        assert (folder / RESULTS).read_bytes() == whole
        assert [record.id for record in again.records] == ["first", "second"]


@pytest.mark.parametrize("rest", [b"", b"\n\n"])
def test_a_line_that_is_no_record_is_named(folder: Path, rest: bytes) -> None:
    a_run(folder)
    (folder / RESULTS).write_bytes(good().model_dump_json().encode() + b'\n{"id": "x"}' + rest)
    with pytest.raises(EvaluationError, match=r"results\.jsonl, line 2: question: Field required"):
        open_run(folder)


def test_a_full_disk_is_a_storage_error_and_what_was_done_is_kept(folder: Path) -> None:
    run = a_run(folder)
    run.add(good("kept"))
    with room_for((folder / RESULTS).stat().st_size + 50):
        with pytest.raises(StorageError, match=r"results\.jsonl can't be written: File too large") as caught:
            run.add(good("lost"))
        with pytest.raises(StorageError):
            write_json(folder / "scores.json", ["x" * 100_000])
    assert "--resume" in str(caught.value.hint)
    assert [record.id for record in run.records] == ["kept"]
    assert not (folder / "scores.json").exists()
    again = open_run(folder)
    again.add(good("lost"))
    assert [record.id for record in open_run(folder).records] == ["kept", "lost"]
    assert {path.name for path in folder.iterdir()} == {RUN, RESULTS}


# Which run


def test_the_latest_run_of_the_same_set_up_is_found(tmp_path: Path) -> None:
    for place, (name, changes) in enumerate(
        [("a", {}), ("b", {}), ("c", {"labels": "other"}), ("d", {"program": "p"})]
    ):
        start_run(tmp_path / name, info(**changes))
        os.utime(tmp_path / name / RUN, (place, place))
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / RUN).write_text("{")
    run = latest_run(tmp_path, info())
    assert run is not None
    assert run.name == "b"
    assert latest_run(tmp_path, info(model_id="other")) is None
    assert latest_run(tmp_path / "nowhere", info()) is None


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"jobs": 9}, True),
        ({"started": "2020-01-01T00:00:00Z"}, True),
        ({"version": "1"}, False),
        ({"model_id": "m"}, False),
        ({"program": "p@2"}, False),
        ({"labels": "z"}, False),
        ({"pages": "z"}, False),
    ],
)
def test_what_makes_a_set_up_another_one(change: dict[str, Any], same: bool) -> None:
    assert (info().set_up == info(**change).set_up) is same
    assert (info().differences(info(**change)) == []) is same


def test_what_differs_between_set_ups_is_named_with_both_values() -> None:
    before = info(asked=2)
    changes = {"version": "1", "model_id": "m", "program": "p@2", "reads_by": "meaning", "pages": "z", "labels": "z"}
    assert before.differences(info(**changes, asked=3)) == [
        "version 0 there, 1 now",
        "model extractive there, m now",
        "program none there, p@2 now",
        "reading by words there, meaning now",
        "pages b there, z now",
        "other questions, 2 there, 3 now (another --split, --kind, --limit, --questions)",
    ]
    assert info(labels="y").differences(before) == ["other questions (another --split, --kind, --limit, --questions)"]


def test_a_run_is_named_by_time_model_and_questions() -> None:
    started = {"started": "2026-11-28T03:41:07Z"}
    assert folder_name(info(**started, split="dev")) == "20261128-034107-extractive-dev"
    named = folder_name(info(**started, model_id="openai/Some Model", questions="My set.jsonl"))
    assert named == "20261128-034107-openai-some-model-my-set"
    assert "/" not in slug("../..")
    assert slug("日本") == "unnamed"


def test_fingerprints_change_with_labels_and_pages_and_with_nothing_else(tmp_path: Path) -> None:
    question = a_question(nuggets=[a_nugget()])
    assert labels_fingerprint([question]) == labels_fingerprint([question.model_copy()])
    assert labels_fingerprint([question]) != labels_fingerprint([question.model_copy(update={"note": "x"})])
    assert labels_fingerprint([question]) != labels_fingerprint([question, question])
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("a")
    before = pages_fingerprint(tmp_path)
    (tmp_path / "README.md").write_text("how to")
    assert pages_fingerprint(tmp_path) == before
    (tmp_path / "pages" / "a.html").rename(tmp_path / "a.html")
    moved = pages_fingerprint(tmp_path)
    (tmp_path / "a.html").write_text("b")
    assert len({before, moved, pages_fingerprint(tmp_path)}) == 3


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", b"before")
    with room_for(100), pytest.raises(OSError, match="too large"):
        write_whole(tmp_path / "file", b"x" * 1000)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir() if path.is_file()] == [("file", b"before")]
    mask = os.umask(0o022)
    try:
        write_json(tmp_path / "file", {"ä": 1})
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644
    assert json.loads((tmp_path / "file").read_text("utf-8")) == {"ä": 1}


# Other tools


@pytest.mark.parametrize("order", [(good(), failed()), (failed(), good()), (failed(), failed("f2")), (good(),)])
def test_datasets_reads_the_results_as_a_table(folder: Path, tmp_path: Path, order: tuple[Record, ...]) -> None:
    datasets = pytest.importorskip("datasets", reason="the extra `evaluate` is not installed")
    run = a_run(folder)
    for record in order:
        run.add(record)
    table = datasets.load_dataset(
        "json", data_files=str(folder / RESULTS), split="train", cache_dir=str(tmp_path / "datasets")
    )
    assert table["id"] == [record.id for record in order]
    for row, record in zip(table, order, strict=True):
        assert row["error"] == record.error
        assert (row["result"] is None) == (record.result is None)
        assert row["question"]["question"] == record.question.question
        assert row["cells"]["completed"] == record.cells["completed"]
        if record.result is not None:
            assert row["result"]["citations"][0]["raw_excerpt"] == record.result.citations[0].raw_excerpt
