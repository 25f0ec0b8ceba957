"""Earlier answers, shown again and written to files."""

from __future__ import annotations

import json
from pathlib import Path

from marchwarden.contract import ResearchResult
from tests.cli.conftest import Run, a_call, record
from tests.trace.samples import started

OTHER = "11118c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"


def test_an_answer_is_shown_with_its_question(run: Run, a_trace: str) -> None:
    for arguments in (("show",), ("show", a_trace[:4])):
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


def test_what_cannot_be_written_is_wrong_usage(run: Run, a_trace: str) -> None:
    Path("a.md").write_text("mine")
    for name, said in (
        ("a.md", "is there already"),
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
