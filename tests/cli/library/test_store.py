"""A store that machines share, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.cli.library.stored_traces import tell_unpublished
from marchwarden.sharing.outbox import Outbox
from tests.cli.conftest import Run, a_call, record
from tests.postgres_server import a_postgres_server
from tests.sharing.calls import a_trace, objects_in, with_store, without_store
from tests.trace.samples import started

TRACE_ID = "3f2b8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("MARCHWARDEN_STORE", f"file:{folder}")
    return folder


@pytest.fixture
def elsewhere(run: Run, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of traces of another machine, once this one has published a call."""
    record(tmp_path / "traces", TRACE_ID, a_call("the first?"))
    assert run("store", "push").code == 0
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", str(tmp_path / "elsewhere"))
    return tmp_path / "elsewhere"


def test_a_push_publishes_what_is_missing_and_a_second_one_nothing(run: Run, tmp_path: Path, shared: Path) -> None:
    record(tmp_path / "traces", TRACE_ID, a_call("the first?"))
    assert run("store", "push").out.startswith("Published 1 trace, ")
    before = objects_in(shared)
    done = json.loads(run("store", "push", "--json").out)
    assert (done["traces"], done["objects"], done["left"], done["problem"]) == (0, 0, 0, None)
    assert objects_in(shared) == before


def test_what_the_store_lacks_is_counted_also_from_before_it_was_set(run: Run, tmp_path: Path, shared: Path) -> None:
    record(tmp_path / "traces", TRACE_ID, a_call("the first?"))
    assert "Waiting 1 trace not there yet" in " ".join(run("store").out.split())
    assert json.loads(run("store", "--json").out)["waiting"] == [{"trace_id": TRACE_ID, "reason": None}]
    run("store", "push")
    assert json.loads(run("store", "--json").out)["waiting"] == []


def test_stats_are_those_of_this_machine_and_need_no_store(run: Run, tmp_path: Path) -> None:
    record(tmp_path / "traces", TRACE_ID, a_call("the first?"))
    assert run("store", "--stats").out == run("traces").out
    assert json.loads(run("store", "--stats", "--json").out)["traces"] == {"answered": 1}
    assert "`marchwarden store --stats`" in run("store").said
    refused = run("store", "--stats", "push")
    assert (refused.code, "--stats can't go with push" in refused.said) == (2, True)


@pytest.mark.usefixtures("shared")
def test_an_answer_whose_trace_could_not_be_published_is_shown_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "traces" / f"{TRACE_ID}.jsonl"
    tell_unpublished(trace)
    assert capsys.readouterr().err == ""
    Outbox(trace.parent).add(TRACE_ID, "it did not answer in time")
    tell_unpublished(trace)
    assert "This trace is not in the store yet: it did not answer in time." in capsys.readouterr().err
    Outbox(trace.parent).add(TRACE_ID, "it is slow", is_published=True)
    tell_unpublished(trace)
    assert "This trace is in the store, and not in its index yet: it is slow." in capsys.readouterr().err
    monkeypatch.delenv("MARCHWARDEN_STORE")
    tell_unpublished(trace)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "3f2b"),
        ("verify", "3f2b"),
        ("show", "3f2b"),
        ("export", "3f2b", "--bundle", "answer.zip"),
        ("open", "3f2b", "--no-browser"),
    ],
)
def test_commands_read_a_call_of_another_machine(run: Run, elsewhere: Path, command: tuple[str, ...]) -> None:
    ran = run(*command)
    assert "no trace" not in ran.err
    assert (elsewhere / f"{TRACE_ID}.jsonl").is_file()


def test_calls_of_other_machines_are_listed_and_found_by_their_words(run: Run, elsewhere: Path) -> None:
    assert "the first?" in run("history").out
    assert "the first?" in run("history", "first").out
    assert elsewhere.is_dir()


def test_where_the_store_is_away_it_is_told_and_what_is_here_is_shown(run: Run, tmp_path: Path, shared: Path) -> None:
    folder = tmp_path / "traces"
    without_store(shared)
    assert "traces left" not in run("store", "push").said
    record(folder, TRACE_ID, a_call("the first?"))
    pushed = run("store", "push")
    assert pushed.code == 1
    assert f"1 trace left: MARCHWARDEN_STORE (file:{shared}): there is no such folder" in pushed.said
    state = run("store")
    assert state.code == 1
    assert "there is no such folder" in " ".join(state.out.split())
    assert "Waiting not known while the store can't be read; 1 trace here" in " ".join(state.out.split())
    listed = run("history")
    assert "the first?" in listed.out
    assert "Only calls of this machine are listed" in listed.said
    Outbox(folder).add(TRACE_ID, "it did not answer in time")
    assert "Waiting at least 1 trace not there yet" in " ".join(run("store").out.split())
    assert "This trace is not in the store yet: it did not answer in time." in run("replay", "3f2b").said
    with_store(shared)
    assert json.loads(run("store", "--json").out)["waiting"] == [
        {"trace_id": TRACE_ID, "reason": "it did not answer in time"}
    ]


def test_without_a_store_it_says_how_to_set_one(run: Run) -> None:
    ran = run("store", "push")
    assert ran.code == 1
    assert "MARCHWARDEN_STORE is not set" in ran.said


def test_doctor_tells_the_state_of_the_store(run: Run, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def state() -> tuple[str, str]:
        return next(
            (each["state"], each["detail"])
            for each in json.loads(run("doctor", "--json").out)
            if each["name"] == "store"
        )

    assert state() == ("ok", f"file:{shared}")
    without_store(shared)
    assert state() == ("note", f"MARCHWARDEN_STORE (file:{shared}): there is no such folder")
    monkeypatch.setenv("MARCHWARDEN_STORE", "s3://key:hunter22@bucket")
    assert state() == ("broken", "MARCHWARDEN_STORE (s3://bucket) has credentials in it")


def test_history_lists_the_calls_of_other_machines_by_the_index(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir(mode=0o700)
    a_trace(tmp_path / "here", started("What is a fjord?"))
    monkeypatch.setenv("MARCHWARDEN_STORE", f"file:{tmp_path}/shared")
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", str(tmp_path / "here"))
    with a_postgres_server() as url:
        monkeypatch.setenv("MARCHWARDEN_TRACE_INDEX", f"{url}admin")
        assert run("store", "push").code == 0
        monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", str(tmp_path / "there"))
        assert "What is a fjord?" in run("history", "fjord").out
        assert not (tmp_path / "there").exists()
    ran = run("history", "fjord")
    assert "What is a fjord?" in ran.out
    assert "without their index: the index of traces can't be used: it can't be reached" in " ".join(ran.err.split())
