"""Earlier answers, shown again and written to files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.cli.library.stored_traces import stored_trace
from marchwarden.contract import ResearchResult
from marchwarden.trace.writer import TraceWriter
from tests.cli.conftest import Run, a_call, record
from tests.cli.results import an_empty_result
from tests.trace.samples import TRACE_ID, started

OTHER = "11118c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"


def test_an_answer_is_shown_with_its_question(run: Run, a_trace: str) -> None:
    for arguments in (("show",), ("show", a_trace[:4]), ("show", "latest")):
        ran = run(*arguments)
        assert ran.code == 0
        assert ran.out.startswith("Was wächst in 日本?\n")
        assert "Tomatoes grow well" in ran.out


def test_a_file_is_what_its_ending_says(run: Run, a_trace: str) -> None:
    for name in ("a.md", "a.html", "a.json", "a.csl.json", "a.bib"):
        assert run("show", a_trace, "-o", name).err == f"Written to {name}\n"
    assert Path("a.md").read_text().startswith("# Was wächst in 日本?\n")
    assert Path("a.html").read_text().startswith("<!doctype html>")
    result = ResearchResult.model_validate_json(Path("a.json").read_bytes())
    assert [each["title"] for each in json.loads(Path("a.csl.json").read_text())] == ["Gardens"]
    assert Path("a.bib").read_text().startswith("@")
    assert json.loads(run("show", "--json").out) == result.model_dump(mode="json")


@pytest.mark.parametrize("command", ["show", "export"])
def test_no_list_of_works_is_written_for_an_answer_that_cites_none(run: Run, tmp_path: Path, command: str) -> None:
    *steps, end = a_call()
    empty = end.model_copy(update={"result": an_empty_result()})
    record(tmp_path / "traces", TRACE_ID, [*steps, empty])
    for name in ("a.bib", "a.ris", "a.csl.json"):
        ran = run(command, TRACE_ID, "-o", name)
        assert (ran.code, ran.err) == (3, f"The answer cites nothing: {name} was not written.\n")
        assert not Path(name).exists()
    assert run("show", TRACE_ID, "-o", "a.md").code == 0


def test_what_cannot_be_written_is_wrong_usage(run: Run, a_trace: str) -> None:
    Path("a.md").write_text("mine")
    for name, said in (
        ("a.md", "already exists"),
        ("a.docx", "its ending says what to write: .md, .html, .json, .bib, .ris or .csl.json"),
    ):
        ran = run("show", a_trace, "-o", name)
        assert ran.code == 2
        assert said in ran.said
    assert Path("a.md").read_text() == "mine"


def test_a_call_without_an_answer_says_where_to_look(run: Run, tmp_path: Path) -> None:
    record(tmp_path / "traces", OTHER, [started("what?")])
    ran = run("show", "1111")
    assert (ran.code, ran.out) == (1, "")
    assert "is unfinished: it has no answer" in ran.said
    assert "marchwarden replay 11118c1e" in ran.said


def test_the_latest_answer_is_no_call_that_found_no_end(run: Run, tmp_path: Path, a_trace: str) -> None:
    record(tmp_path / "traces", OTHER, [started("what?")])
    assert run("show").out.startswith("Was wächst")
    record(tmp_path / "traces", "22228c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", a_call("and then?"))
    assert run("show").out.startswith("and then?")


def test_the_latest_answer_is_that_of_an_investigation_and_not_of_its_researchers(run: Run, tmp_path: Path) -> None:
    *steps, end = a_call("the investigation")
    with TraceWriter(tmp_path / "traces", OTHER) as writer:
        for step in steps:
            writer.record(step)
        record(tmp_path / "traces", "22228c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", a_call("its researcher"))
        writer.record(end)
    assert run("show").out.startswith("the investigation")
    # The commands that check, open or make again what `show` shows take the same.
    assert stored_trace(None).stem == OTHER
