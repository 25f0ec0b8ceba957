"""Follow-ups: what a call goes on from, and what its trace says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.cli.client.follow_up import follow_up
from marchwarden.cli.library.stored_traces import LATEST
from marchwarden.errors import TraceError
from tests.cli.conftest import Run, a_call, record
from tests.trace.samples import started

FIRST = "11118c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"
SECOND = "22228c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"


def test_a_context_holds_the_conversation_with_the_words_that_were_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    record(folder, FIRST, a_call("What grows in Utah?"))
    first = follow_up("1111", "I live in Ogden.")
    told = "Asked before: What grows in Utah?\nAnswered: Tomatoes grow well."
    assert (first.continues, first.context) == (FIRST, f"I live in Ogden.\n{told}")
    start, *rest = a_call("And in Nevada?")
    record(folder, SECOND, [start.model_copy(update={"continues": FIRST, "context": told}), *rest])
    assert follow_up(LATEST, None).context == (
        f"{told}\nAsked before: in Nevada (grows)?\nAnswered: Tomatoes grow well."
    )
    (folder / f"{FIRST}.jsonl").unlink()
    assert str(follow_up("2222", None).context).startswith("Asked before: in Nevada (grows)?")


def test_only_an_answer_can_be_gone_on_from(tmp_path: Path) -> None:
    record(tmp_path / "traces", FIRST, [started("what?")])
    with pytest.raises(TraceError, match="is unfinished: there is no answer to go on from"):
        follow_up("1111", None)


def test_a_trace_names_the_call_that_it_continues(run: Run, web: Path, tmp_path: Path) -> None:
    """Also where the id is left out; and a question is what follows then."""
    record(tmp_path / "traces", FIRST, a_call("Which crops grow well in Utah?"))
    ran = run("ask", "--continue", "When are they sown?", "--web", str(web), "--json")
    assert ran.code == 0, ran.err
    (trace,) = (tmp_path / "traces").glob(f"{json.loads(ran.out)['trace_id']}.jsonl")
    start = json.loads(trace.read_text().splitlines()[0])
    assert (start["question"], start["continues"]) == ("When are they sown?", FIRST)
    assert start["context"].startswith("Asked before: Which crops grow well in Utah?\nAnswered: ")
    listed = json.loads(run("history", "--json").out)
    assert [each["continues"] for each in listed] == [FIRST, None]


def test_a_follow_up_searches_where_the_earlier_answer_was_found(run: Run, web: Path, tmp_path: Path) -> None:
    start, *rest = a_call("What grows in Utah?")
    record(tmp_path / "traces", FIRST, [start.model_copy(update={"source": "corpus:notes"}), *rest])
    ran = run("ask", "--continue", "And in Nevada?")
    assert "A follow-up to 11118c1e: What grows in Utah?" in ran.said
    assert "there is no corpus notes" in ran.said
    assert "there is no corpus notes" in run("chat", "--continue").said
    assert run("ask", "--continue", "Which crops grow in Utah?", "--web", str(web), "--quiet").err == ""
    start = start.model_copy(update={"source": "a server of a team"})
    record(tmp_path / "traces", SECOND, [start, *rest])
    assert follow_up("2222", None).source is None
