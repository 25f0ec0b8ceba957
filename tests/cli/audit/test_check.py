"""Looking after citations from the command line: exit codes, what is shown, what is kept beside the trace."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from marchwarden.errors import StorageError
from marchwarden.store.check_record import MOST_CHECKS, keep_check, last_check, read_checks, record_of
from tests.audit.cited import CitedPage, a_trace_citing
from tests.cli.conftest import PAGE, Run

URL = "https://garden.example/crops"
QUOTE = "Tomatoes, peppers and squash are crops that grow well in Utah when they are watered deeply."
NEW = QUOTE.replace("Tomatoes", "Melons")


@pytest.fixture
def asked(web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a trace that cites the page of the small web."""
    from marchwarden.frozen_web.pages import manifest_hash

    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    cited = {URL: CitedPage(PAGE.encode(), QUOTE)}
    return a_trace_citing(tmp_path / "traces", cited, "snapshot", manifest_hash(web)).trace_id


def change(web: Path) -> None:
    (web / "crops.html").write_text(PAGE.replace("Tomatoes", "Melons"))


def test_a_page_that_still_says_it(run: Run, asked: str) -> None:
    ran = run("check")
    assert ran.code == 0
    assert f"Check of {asked}" in ran.out
    assert "1 citation: 1 still said" in ran.out


def test_a_page_that_changed_shows_both_sentences(run: Run, asked: str, web: Path) -> None:
    change(web)
    ran = run("check", asked[:6])
    assert ran.code == 1
    for part in (f"[1] {URL}", "changed", f"then: {QUOTE}", f"now: {NEW}"):
        assert part in ran.out
    plain = json.loads(run("check", "--json").out)
    assert plain["counts"] == {"changed": 1}
    (citation,) = plain["traces"][0]["citations"]
    assert (citation["state"], citation["old_sentence"], citation["new_sentence"]) == ("changed", QUOTE, NEW)


def test_a_page_that_cannot_be_reached_has_an_exit_code_of_its_own(run: Run, asked: str, web: Path) -> None:
    line = {"url": "https://other.example/", "file": "crops.html", "headers": {"content-type": "text/html"}}
    elsewhere = web.parent / "other"
    elsewhere.mkdir()
    (elsewhere / "crops.html").write_text(PAGE)
    (elsewhere / "manifest.jsonl").write_text(json.dumps(line))
    ran = run("check", "--web", str(elsewhere))
    assert ran.code == 4
    assert "cannot be reached" in ran.out
    (web / "manifest.jsonl").write_text(json.dumps({"url": URL, "status": 410}))
    assert run("check", "--web", str(web)).code == 1


def test_nothing_to_check(run: Run, tmp_path: Path) -> None:
    assert run("check", "--all").code == 3
    a_trace_citing(tmp_path / "traces", {})
    for arguments, why in (((), "the latest answer cites nothing"), (("--all",), "no call here has a citation")):
        ran = run("check", *arguments)
        assert ran.code == 3
        assert f"There is nothing to check: {why}." in ran.said
    assert json.loads(run("check", "--json").out) == {"traces": [], "counts": {}}


def test_replay_shows_the_latest_check_and_has_it_in_its_json(
    run: Run, asked: str, web: Path, tmp_path: Path
) -> None:
    own = (tmp_path / f"traces/{asked}.jsonl").read_text()
    assert "Checked" not in run("replay").out
    assert run("replay", "--json").out == own
    run("check")
    assert "1 citation: 1 still said" in run("replay").out
    change(web)
    run("check")
    shown = run("replay")
    assert "1 citation: 1 changed" in shown.out
    assert f"now: {NEW}" in shown.out
    *lines, last = run("replay", "--json").out.splitlines()
    assert "\n".join(lines) + "\n" == own
    assert (json.loads(last)["action"], json.loads(last)["citations"][0]["state"]) == ("check", "changed")
    assert (tmp_path / f"traces/{asked}.jsonl").read_text() == own, "the evidence is as it was"


def test_every_call_since_a_time(run: Run, asked: str, tmp_path: Path, web: Path) -> None:
    from marchwarden.frozen_web.pages import manifest_hash

    old = a_trace_citing(
        tmp_path / "traces", {URL: CitedPage(PAGE.encode(), QUOTE)}, "snapshot", manifest_hash(web)
    ).path
    first, *rest = old.read_text().splitlines()
    long_ago = (datetime.now(timezone.utc) - timedelta(days=40)).isoformat().replace("+00:00", "Z")
    old.write_text("\n".join([json.dumps({**json.loads(first), "timestamp": long_ago}), *rest]) + "\n")
    checked = {
        since: {each["trace_id"] for each in json.loads(run("check", "--all", *since, "--json").out)["traces"]}
        for since in ((), ("--since", "30d"), ("--since", "8w"))
    }
    assert checked == {(): {asked, old.stem}, ("--since", "30d"): {asked}, ("--since", "8w"): {asked, old.stem}}
    assert "2 calls: 2 citations: 2 still said" in run("check", "--all").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("3f2a", "--all"), "either a trace"),
        (("--since", "30d"), "--since goes with --all"),
        (("--all", "--since", "soon"), "--since takes an age"),
        (("--all", "--since", "9999999d"), "--since takes an age"),
        (("--all", "--since", "999999w"), "--since takes an age"),
    ],
)
def test_wrong_usage_says_what_is_right(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = run("check", *arguments)
    assert ran.code == 2
    assert said in ran.said


def test_a_page_text_can_not_command_the_terminal(run: Run, asked: str, web: Path) -> None:
    hostile = NEW.replace("Utah", "\u202eUtah\u0007")
    (web / "crops.html").write_text(PAGE.replace(QUOTE, hostile))
    assert not {"\u202e", "\u0007"} & set(run("check").out + run("replay").out)


# The file of checks


def a_check(number: int) -> dict[str, object]:
    return {"checked": f"2026-01-01T00:00:{number:02}Z", "version": "0", "citations": []}


def test_checks_are_appended_and_the_oldest_are_dropped(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    assert last_check(trace) is None
    for number in range(MOST_CHECKS + 3):
        keep_check(trace, a_check(number))
    assert [each["checked"][-3:-1] for each in read_checks(trace)][:1] == ["03"]
    assert last_check(trace) == a_check(MOST_CHECKS + 2)
    assert [path.name for path in tmp_path.glob("*t.*")] == ["t.checks.json"]


@pytest.mark.parametrize(
    "body", ["", "{", "[]", '{"checks": 3}', '{"checks": [3, {}, {"checked": 1}]}', "[" * 100_000]
)
def test_a_damaged_file_of_checks_hides_nothing_else(run: Run, asked: str, tmp_path: Path, body: str) -> None:
    record_of(tmp_path / f"traces/{asked}.jsonl").write_text(body)
    assert run("replay").out.count("Checked") == 0
    assert run("check").code == 0
    assert "1 still said" in run("replay").out


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
def test_only_the_user_may_read_a_check(tmp_path: Path) -> None:
    keep_check(tmp_path / "t.jsonl", a_check(1))
    assert record_of(tmp_path / "t.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_check_that_cannot_be_kept_is_shown_and_is_an_error(run: Run, asked: str, tmp_path: Path) -> None:
    record_of(tmp_path / f"traces/{asked}.jsonl").mkdir()
    ran = run("check")
    assert ran.code == 1
    assert "1 still said" in ran.out
    assert "can't be kept" in ran.said


def test_a_check_that_cannot_be_kept_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="can't be kept"):
        keep_check(tmp_path / "nowhere/t.jsonl", a_check(1))
