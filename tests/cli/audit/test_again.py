"""The question of an earlier call, asked again: the same settings, and what changed since."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import PAGE, Run, record
from tests.trace.samples import started

QUESTION = "Which crops grow well in Utah?"


@pytest.fixture
def asked(web: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a shallow call over the small web, made in this process."""
    from marchwarden.api import research_sync
    from marchwarden.settings import load_settings

    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    settings = load_settings(model="extractive", source="snapshot", web=web)
    return research_sync(QUESTION, depth="shallow", constraints={"max_sources": 3}, settings=settings).trace_id


def test_nothing_has_changed(run: Run, asked: str, tmp_path: Path) -> None:
    ran = run("ask", "--again", asked[:6])
    assert ran.code == 0
    assert "nothing has changed: answer, evidence and confidence are the same" in ran.out
    starts = [json.loads(path.read_text().splitlines()[0]) for path in (tmp_path / "traces").glob("*.jsonl")]
    same = ("question", "context", "depth", "constraints", "model_id", "source", "web", "max_seconds", "semantic")
    assert len(starts) == 2
    assert [starts[0][name] for name in same] == [starts[1][name] for name in same]


@pytest.mark.parametrize(
    ("named", "rest"), [(("--again",), ()), (("--again",), ("--json",)), (("--again", "latest"), ("--quiet",))]
)
def test_without_an_id_it_is_the_latest_answer(
    named: tuple[str, ...], rest: tuple[str, ...], run: Run, asked: str, tmp_path: Path
) -> None:
    """As for `show`, `open` and `replay`: not a call that only began later."""
    record(tmp_path / "traces", "33338c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", [started("Who left before the end?")])
    ran = run("ask", *named, *rest)
    assert ran.code == 0, ran.err
    assert (f"Asking again, as in {asked[:8]}: {QUESTION}" in ran.said) == ("--quiet" not in rest)
    if "--json" in rest:
        assert json.loads(ran.out)["again_of"] == asked
    else:
        assert "nothing has changed" in ran.out


def test_a_call_is_named_by_any_part_of_its_id_or_by_its_file(run: Run, asked: str, tmp_path: Path) -> None:
    for name in (asked[:1], asked[:3], asked[:9], asked.upper(), str(tmp_path / f"traces/{asked}.jsonl")):
        first = run("ask", "--json", "--again", name)
        assert json.loads(first.out)["again_of"] == asked, name
        (tmp_path / f"traces/{json.loads(first.out)['result']['trace_id']}.jsonl").unlink()


def test_there_must_be_an_answer(run: Run) -> None:
    ran = run("ask", "--again")
    assert ran.code == 1
    assert "there are no traces in" in ran.said


def test_what_changed_since_is_shown(run: Run, asked: str, web: Path) -> None:
    (web / "crops.html").write_text(PAGE.replace("Tomatoes", "Melons"))
    ran = run("ask", "--again", asked)
    assert ran.code == 0
    for part in ("differences.", "- Tomatoes", "+ Melons", "Citations"):
        assert part in ran.out
    plain = json.loads(run("ask", "--again", asked, "--json").out)
    assert plain["again_of"] == asked
    assert {"answer", "citations"} <= {each["field"] for each in plain["differences"]}
    assert "Melons" in plain["result"]["answer"]


def test_another_frozen_web_has_to_be_named(run: Run, asked: str, web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_WEB")
    ran = run("ask", "--again", asked)
    assert ran.code == 1
    assert "another frozen web" in ran.said
    assert run("ask", "--again", asked, "--web", str(web)).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "it is missing. For example"),
        (("q", "--again", "3f2a"), "QUESTION can't go with --again"),
        (("--again", "Who was it?"), "QUESTION can't go with --again"),
        (("--again", "--continue"), "--continue can't go with --again"),
        (("--again", "--file", "questions.txt"), "--again can't go with --file"),
        (("--again", "3f2a", "--budget", "900"), "--budget can't go with --again"),
        (("--again", "3f2a", "--model", "m", "--server", "http://x/mcp"), "--model and --server can't go with"),
    ],
)
def test_wrong_usage_says_what_is_right(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = run("ask", *arguments)
    assert ran.code == 2
    assert said in ran.said


def test_a_call_without_a_result_has_nothing_to_compare_with(run: Run, asked: str, tmp_path: Path) -> None:
    path = tmp_path / f"traces/{asked}.jsonl"
    path.write_text("\n".join(path.read_text().splitlines()[:2]) + "\n")
    ran = run("ask", "--again", asked)
    assert ran.code == 1
    assert "no result to compare with" in ran.said
