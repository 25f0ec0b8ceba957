"""A call again from the command line: its verdict, its differences, its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from tests.cli.conftest import Run
from tests.orchestrator.test_rerun_investigation import asked as an_investigation

QUESTION = "Which crops grow well in Utah?"


@pytest.fixture
def asked(web: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a call over the small web, made in this process."""
    from marchwarden.api import research_sync
    from marchwarden.settings import load_settings

    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    settings = load_settings(model="extractive", source="snapshot", web=web)
    return research_sync(QUESTION, settings=settings).trace_id


def test_the_latest_call_is_made_again_and_is_the_same(run: Run, asked: str) -> None:
    ran = run("rerun")
    assert (ran.code, ran.err) == (0, "")
    assert f"Re-run of {asked}" in ran.out
    assert "The same result: all but ids and times is identical." in ran.out


def test_a_trace_may_be_named_by_the_start_of_its_id_or_by_its_file(run: Run, asked: str, tmp_path: Path) -> None:
    assert run("rerun", asked[:4]).code == 0
    assert run("rerun", str(tmp_path / f"traces/{asked}.jsonl")).code == 0
    assert run("rerun", "ffff").code == 1


def test_an_investigation_is_made_again_and_one_without_a_result_says_how_it_goes_on(
    run: Run, tmp_path: Path
) -> None:
    trace = anyio.run(an_investigation, tmp_path / "traces")
    ran = run("rerun", trace.trace_id)
    assert (ran.code, "The same result: all but ids and times is identical." in ran.out) == (0, True)
    path = tmp_path / "traces" / f"{trace.trace_id}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    ran = run("rerun", trace.trace_id)
    assert ran.code == 1
    assert f"marchwarden investigate --resume {trace.trace_id[:8]}" in ran.said


def test_another_result_though_nothing_was_exchanged_is_a_failure(run: Run, asked: str, tmp_path: Path) -> None:
    path = tmp_path / f"traces/{asked}.jsonl"
    lines = path.read_text().splitlines()
    last = json.loads(lines[-1])
    last["result"]["answer"] = "Nothing grows in Utah [1]."
    last["result"]["citations"][0]["title"] = "Deserts"
    path.write_text("\n".join([*lines[:-1], json.dumps(last)]) + "\n")
    ran = run("rerun")
    assert ran.code == 1
    for part in ("Another result: 2 differences.", "- Nothing grows in Utah [1].", "Citations", "[0].title Deserts"):
        assert part in ran.out
    plain = json.loads(run("rerun", "--json").out)
    assert (plain["verdict"], plain["exchanged"], plain["trace"]) == ("different", [], None)
    assert [each["field"] for each in plain["differences"]] == ["answer", "citations[0].title"]


def test_what_was_exchanged_may_differ_and_leaves_a_trace(run: Run, asked: str, web: Path, tmp_path: Path) -> None:
    (web / "crops.html").write_text((web / "crops.html").read_text().replace("Tomatoes", "Melons"))
    ran = run("rerun", asked, "--live", "search,fetch", "--json")
    assert ran.code == 0
    plain = json.loads(ran.out)
    assert (plain["verdict"], plain["exchanged"]) == ("different", ["live search", "live fetch"])
    assert "Melons" in plain["result"]["answer"]
    assert (tmp_path / f"traces/{plain['trace']}.jsonl").is_file()
    assert "Kept as a trace: marchwarden replay" in run("rerun", asked, "--program", "none").out
    assert f"re-run of {asked[:8]}" in " ".join(run("history").out.split())
    assert [each["rerun_of"] for each in json.loads(run("history", "--json").out)] == [asked, asked, None]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--live", "weather"), "--live takes search, fetch, model"),
        (("--live", ""), "--live takes search, fetch, model"),
        (("--live", "model", "--model", "openai/x"), "give only one of them"),
    ],
)
def test_wrong_usage_says_what_is_right(run: Run, asked: str, options: tuple[str, ...], said: str) -> None:
    ran = run("rerun", asked, *options)
    assert ran.code == 2
    assert said in ran.said


def test_a_program_that_is_not_there_is_an_error(run: Run, asked: str, tmp_path: Path) -> None:
    ran = run("rerun", asked, "--program", str(tmp_path / "nowhere"))
    assert ran.code == 1
    assert "holds no program" in ran.said


def test_calls_become_a_frozen_web_with_a_question_to_label(run: Run, asked: str, tmp_path: Path) -> None:
    out = tmp_path / "frozen"
    ran = run("eval", "freeze", asked[:6], "--out", str(out))
    assert ran.code == 0
    assert "1 question to label" in ran.out
    assert "1 page and 0 pages without a body" in ran.out
    again = run("eval", "freeze", asked, "--out", str(out))
    assert again.code == 1
    assert "holds frozen calls already" in again.said
