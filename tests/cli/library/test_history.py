"""Earlier calls: the list, the search, what they take on the disk, and the removal of old ones."""

from __future__ import annotations

import json
from pathlib import Path
from time import sleep

import pytest

from marchwarden.trace.events import Finished
from tests.cli.conftest import Run, a_call, record
from tests.cli.results import an_empty_result
from tests.trace.samples import started


@pytest.fixture(autouse=True)
def three_traces(tmp_path: Path) -> None:
    folder = tmp_path / "traces"  # a timestamp is in milliseconds
    record(folder, "11118c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", a_call("the first?"))
    sleep(0.002)
    record(folder, "22228c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", [started("the [i]2nd[/i]?")])
    sleep(0.002)
    record(folder, "33338c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", a_call("the third?"))


def test_they_come_newest_first_with_what_came_of_them(run: Run) -> None:
    rows = [line.split() for line in run("history").out.splitlines() if "the " in line]
    assert [row[0] for row in rows] == ["33338c1e", "22228c1e", "11118c1e"]
    assert rows[0][-5:] == ["answered", "0.75", "moderate", "120", "0.7"]
    assert rows[1][3:] == ["the", "[i]2nd[/i]?", "unfinished", "–", "–", "–"]


def test_an_investigation_is_marked_and_one_that_was_killed_can_go_on(run: Run, tmp_path: Path) -> None:
    begun = started("the fourth?").model_copy(update={"team": ["snapshot"]})
    record(tmp_path / "traces", "44448c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", [begun])
    (marked,) = (line for line in run("history").out.splitlines() if "investigation: " in line)
    assert "investigation: the fourth?" in marked
    listed = json.loads(run("history", "--json").out)
    assert [each["is_investigation"] for each in listed] == [True, False, False, False]
    assert "continue it: marchwarden investigate --resume 44448c1e" in run("replay", "4444").said
    assert "--resume" not in run("replay", "2222").said


@pytest.mark.parametrize("width", [60, 40])
def test_on_a_narrow_terminal_nothing_is_lost(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = run("history").out
    assert max(map(len, out.splitlines())) <= width
    words = " ".join(out.split())
    assert "0.75 moderate · 120 tokens" in words.replace("answered ", "")
    assert "the third?" in words
    assert "answered" in words


def test_a_limit_shows_the_newest_and_says_how_many_there_are(run: Run) -> None:
    ran = run("history", "--limit", "1")
    assert "the third?" in ran.out
    assert "the first?" not in ran.out
    assert "1 of 3 calls" in ran.err


@pytest.mark.parametrize(
    ("limit", "message"),
    [("0", "must be at least 1"), ("x", "must be a whole number")],
)
def test_a_limit_that_is_none_is_a_usage_error(run: Run, limit: str, message: str) -> None:
    ran = run("history", "-n", limit)
    assert ran.code == 2
    assert f"--limit: {message}" in ran.said


def test_json_has_every_field(run: Run) -> None:
    listed = json.loads(run("history", "--json", "-n", "2").out)
    assert [each["outcome"] for each in listed] == ["finished", "unfinished"]
    assert listed[0]["tokens_used"] == 120
    assert listed[0]["seconds"] == 0.7
    assert listed[0]["started"].endswith("Z")
    assert Path(listed[0]["path"]).is_file()
    assert listed[1]["confidence"] is None


def test_no_traces_at_all_is_said_on_stderr(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", "elsewhere")
    ran = run("history")
    assert (ran.code, ran.out) == (0, "")
    assert "no calls in elsewhere yet" in ran.said
    assert json.loads(run("history", "--json").out) == []


def test_a_folder_that_can_not_be_read_is_not_said_to_be_empty(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-file").write_text("no folder")
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", str(tmp_path / "a-file"))
    for command in ("history", "replay", "show", "traces"):
        ran = run(command)
        assert (ran.code, f"{tmp_path}/a-file can't be read: Not a directory" in ran.said) == (1, True), ran.said


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("THIRD", ["3333"]),
        ("the first?", ["1111"]),
        ("first third", []),
        ("extension.usu.edu", ["3333", "1111"]),
        ("grow 2nd", []),
        ("[i]2nd", ["2222"]),
        ("", ["3333", "2222", "1111"]),
    ],
)
def test_a_search_finds_words_of_question_answer_and_sites(run: Run, text: str, found: list[str]) -> None:
    listed = json.loads(run("history", *text.split(), "--json").out)
    assert [each["trace_id"][:4] for each in listed] == found


def test_a_search_without_a_match_says_so(run: Run) -> None:
    ran = run("history", "nowhere")
    assert (ran.code, ran.out) == (0, "")
    assert ran.said.endswith("is like that.")


def test_stats_say_what_is_kept_for_people_and_for_machines(run: Run, tmp_path: Path) -> None:
    out = run("traces").out
    assert "3 (2 answered, 1 unfinished)" in out
    told = json.loads(run("traces", "--json").out)
    assert told["traces"] == {"answered": 2, "unfinished": 1}
    assert (told["objects"], told["readable_by_others"]) == (2, 0)
    (tmp_path / "traces").chmod(0o755)
    assert "chmod -R go= " in run("traces").said


def test_traces_are_searched_as_history_is(run: Run) -> None:
    found = run("traces", "--search", "the third")
    assert found.out == run("history", "the", "third").out
    assert "the third?" in found.out
    assert "the first?" not in found.out
    assert [each["trace_id"][:4] for each in json.loads(run("traces", "--search", "third", "--json").out)] == ["3333"]
    refused = run("traces", "--search", "third", "prune", "--older-than", "0d")
    assert (refused.code, "--search can't go with prune" in refused.said) == (2, True)
    assert len(json.loads(run("history", "--json").out)) == 3


def test_prune_tells_before_it_removes(run: Run) -> None:
    prune = ("traces", "prune", "--older-than", "0d")
    assert "Would remove 2 traces and 0 stored objects" in run(*prune, "--dry-run").out
    assert json.loads(run(*prune, "--keep-cited", "--json").out)["traces"] == []
    told = json.loads(run(*prune, "--json").out)
    assert [each["trace_id"][:4] for each in told["traces"]] == ["3333", "1111"]
    assert "the 2nd" in run("history").out.replace("[i]", "").replace("[/i]", "")
    assert (
        "Removed 0 traces and 0 stored objects: 0 bytes. What stays: 1 trace, and stored objects of the last hour"
        in run(*prune).out
    )


@pytest.mark.parametrize("age", ["90", "d", "-1d", "90 days", "1.5d", "99999d", ""])
def test_an_age_that_is_none_is_a_usage_error(run: Run, age: str) -> None:
    ran = run("traces", "prune", "--older-than", age)
    assert ran.code == 2
    assert "such as 90d" in ran.said


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (("--failed",), ["2222"]),
        (("--nothing-found",), []),
        (("--min-confidence", "0.7"), ["3333", "1111"]),
        (("--max-confidence", "0.7"), []),
        (("--source", "snapshot"), ["3333", "2222", "1111"]),
        (("--source", "corpus"), []),
        (("--model", "EXTR"), ["3333", "2222", "1111"]),
        (("--model", "gpt"), []),
        (("--since", "1h", "third"), ["3333"]),
        (("--until", "1h"), []),
        (("--since", "2020-01-31", "--until", "2020-02-01"), []),
    ],
)
def test_filters_narrow_the_list(run: Run, filters: tuple[str, ...], found: list[str]) -> None:
    listed = json.loads(run("history", *filters, "--json").out)
    assert [each["trace_id"][:4] for each in listed] == found


def test_a_call_is_answered_found_nothing_or_failed(run: Run, tmp_path: Path) -> None:
    nothing = [started("nothing?"), Finished(decision="done", result=an_empty_result())]
    record(tmp_path / "traces", "44448c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f", nothing)
    unasked = an_empty_result().model_copy(update={"sources_failed": True})
    record(
        tmp_path / "traces",
        "55558c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f",
        [started("down?"), Finished(decision="done", result=unasked)],
    )
    statuses = {each["question"]: each["status"] for each in json.loads(run("history", "--json").out)}
    assert statuses == {
        "nothing?": "nothing_found",
        "down?": "failed",
        "the third?": "answered",
        "the [i]2nd[/i]?": "failed",
        "the first?": "answered",
    }
    assert "nothing found" in run("history").out
    both = json.loads(run("history", "--failed", "--nothing-found", "--json").out)
    assert [each["trace_id"][:4] for each in both] == ["5555", "4444", "2222"]


def test_a_time_that_is_none_is_a_usage_error(run: Run) -> None:
    ran = run("history", "--since", "yesterday")
    assert ran.code == 2
    assert "--since takes a day or an age, such as 2026-01-31 or 7d; not 'yesterday'" in ran.said
