"""The evidence page in the browser, and as a file."""

from __future__ import annotations

import stat
import webbrowser
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_open_keeps_the_page_beside_the_trace_and_starts_the_browser(
    run: Run, a_trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not opened.append(address))
    ran = run("open", a_trace[:8])
    page = tmp_path / "traces" / f"{a_trace}.html"
    assert (ran.code, ran.out, ran.err) == (0, f"{page}\n", "")
    assert opened == [page.as_uri()]
    assert page.read_text("utf-8").startswith("<!doctype html>")
    trace = page.with_suffix(".jsonl")
    assert stat.S_IMODE(page.stat().st_mode) == stat.S_IMODE(trace.stat().st_mode)
    assert run("open", "--no-browser").out == f"{page}\n"
    assert len(opened) == 1


def test_where_no_browser_starts_the_page_is_named(run: Run, a_trace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    ran = run("open")
    assert ran.code == 0
    assert "No browser could be opened." in ran.said


def test_a_page_that_can_not_be_kept_beside_the_trace_can_be_exported(run: Run, a_trace: str, tmp_path: Path) -> None:
    (tmp_path / "traces" / f"{a_trace}.html").mkdir()
    ran = run("open", "--no-browser")
    assert (ran.code, ran.out) == (1, "")
    assert f"marchwarden export {a_trace[:8]} --html FILE.html" in ran.said


def test_export_writes_the_page_and_overwrites_nothing_unasked(run: Run, a_trace: str, tmp_path: Path) -> None:
    page = tmp_path / "answer.html"
    assert run("export", "--html", str(page)).code == 0
    assert page.read_bytes() == Path(run("open", "--no-browser").out.strip()).read_bytes()
    page.write_text("mine")
    assert "already exists" in run("export", "--html", str(page)).said
    assert page.read_text() == "mine"
    assert run("export", "--html", str(page), "--force").code == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")
    refused = run("export")
    assert refused.code == 2
    assert "--html FILE.html" in refused.said


def test_export_lists_what_an_answer_cites_by_the_ending_or_on_standard_output(
    run: Run, a_trace: str, tmp_path: Path
) -> None:
    target = tmp_path / "sources.bib"
    assert run("export", "-o", str(target)).code == 0
    written = target.read_text("utf-8")
    assert written.startswith("@")
    shown = run("export", "--format", "bibtex")
    assert (shown.code, shown.out) == (0, written)
    assert run("export", "-o", str(tmp_path / "sources.csl.json")).code == 0
    refused = run("export", "-o", str(tmp_path / "sources.txt"))
    assert refused.code == 2
    assert ".csl.json" in refused.said
