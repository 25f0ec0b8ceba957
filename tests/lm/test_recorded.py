"""Answers kept in a file and given again: in their order, whole, and never in place of one that was not given."""

from __future__ import annotations

import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from dspy import lm15

from marchwarden.errors import StorageError
from marchwarden.lm.recorded import RecordedEngine, Recording
from marchwarden.lm.scripted import Reply, ScriptedEngine
from tests.lm.conftest import answer_of as ask
from tests.lm.conftest import request_of


def engine(path: Path, *replies: Any) -> tuple[RecordedEngine, ScriptedEngine]:
    inner = ScriptedEngine(list(replies))
    return RecordedEngine(inner, Recording(path)), inner


def test_the_nth_time_something_is_asked_the_nth_answer_is_given(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    first, _ = engine(path, "one", "two", "other")
    for text in ("a", "a", "b"):
        ask(first, request_of(text))
    again, inner = engine(path, "three")
    assert [ask(again, request_of(text)).text for text in ("b", "a", "a", "a")] == ["other", "one", "two", "three"]
    assert len(inner.requests) == 1


@pytest.mark.parametrize("text", ["", "líne\nbreak\u2028\r", '{"a": "\\u0000"}', "\ud83d"])
def test_an_answer_comes_back_as_it_was_with_its_usage_and_its_end(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calls.jsonl"
    usage = lm15.Usage(input_tokens=7, output_tokens=3, cache_read_tokens=2)
    first, _ = engine(path, Reply(text, usage=usage, finish="length", piece=100))
    ask(first, request_of("a"))
    again, inner = engine(path)
    found = ask(again, request_of("a"))
    assert (found.text or "") == text.replace("\ud83d", "?")
    assert found.finish_reason == "length"
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.cache_read_tokens) == (7, 3, 2)
    assert inner.requests == []


def test_how_long_an_answer_took_is_known_when_it_is_given_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    first, _ = engine(path, Reply("slow", delay=0.05))
    ask(first, request_of("a"))
    recording = Recording(path)
    ask(RecordedEngine(ScriptedEngine([]), recording), request_of("a"))
    assert recording.replayed_seconds >= 0.05


@pytest.mark.anyio
async def test_json_that_a_schema_asked_for_comes_back_as_it_streamed(tmp_path: Path) -> None:
    """Where one of its fields is a boolean or a choice, lm15 makes data of it, which has no text."""
    fields = {"thought": {"type": "string"}, "done": {"type": "boolean"}}
    schema = {"type": "json_schema", "schema": {"type": "object", "properties": fields, "required": ["done"]}}
    plain, path, text = request_of("a"), tmp_path / "calls.jsonl", '{"thought": "look it up", "done": false}'
    asked = lm15.Request(
        model="scripted", messages=plain.messages, config=lm15.Config(max_tokens=100, response_format=schema)
    )
    first, _ = engine(path, Reply(text, piece=3))
    await lm15.amaterialize_response(first.stream(asked), asked)
    again, inner = engine(path)
    replayed = "".join([each.delta.text async for each in again.stream(asked) if each.type == "delta"])
    assert replayed == text
    assert inner.requests == []


def test_the_cap_is_no_part_of_what_is_asked_and_the_temperature_is(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    first, _ = engine(path, "short")
    ask(first, request_of("a", cap=100))
    again, inner = engine(path, "warm")
    warm = lm15.Request(
        model="scripted", messages=request_of("a").messages, config=lm15.Config(max_tokens=100, temperature=1.0)
    )
    assert ask(again, request_of("a", cap=50)).text == "short"
    assert ask(again, warm).text == "warm"
    assert len(inner.requests) == 1


@pytest.mark.anyio
async def test_what_fails_or_breaks_off_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    failing, _ = engine(path, lm15.ServerError("down"), Reply("half", error=lm15.TransportError("reset")), "whole")
    for _ in range(2):
        with pytest.raises(lm15.LM15Error):
            await lm15.amaterialize_response(failing.stream(request_of("a")), request_of("a"))
    async with aclosing(failing.stream(request_of("a"))) as cut:
        await anext(cut)
    assert len(Recording(path)) == 0


@pytest.mark.parametrize(
    "damage",
    [
        b'{"request": "torn',
        b"\xff\xfe\n",
        b"[]\n",
        b'{"request": ["a"], "text": "x", "finish": "stop", "usage": {}}\n',
        b'{"request": "a", "text": 5, "finish": "stop", "usage": {}}\n',
        b'{"request": "a", "text": "x", "finish": "stop", "usage": {"input_tokens": -5}}\n',
        b'{"request": "a", "text": "x", "finish": "odd", "usage": {}}\n',
    ],
)
def test_lines_that_are_damaged_are_passed_over(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "calls.jsonl"
    first, _ = engine(path, "one", "two")
    ask(first, request_of("a"))
    with path.open("ab") as file:
        file.write(damage)
    second, inner = engine(path, "two")
    assert ask(second, request_of("a")).text == "one"
    assert ask(second, request_of("a")).text == "two"
    assert len(inner.requests) == 1
    assert len(Recording(path)) == 2


def test_a_file_that_can_not_be_written_is_told_before_the_answer_is_used(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    writing, _ = engine(path, "one")
    path.mkdir()
    with pytest.raises(StorageError) as caught:
        ask(writing, request_of("a"))
    assert caught.value.hint
    with pytest.raises(StorageError):
        Recording(path)


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on a file's size")
def test_a_disk_that_is_full_in_the_middle_of_a_line_leaves_whole_lines(tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk's; a process of its own has it."""
    from tests.cli.running import python

    path = tmp_path / "calls.jsonl"
    script = """
import resource, signal, sys
from pathlib import Path
from marchwarden.errors import StorageError
from tests.lm.test_recorded import ask, engine
from tests.lm.conftest import request_of
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
recorded, _ = engine(Path(sys.argv[1]), *["x" * 100] * 9)
for number in range(9):
    try:
        ask(recorded, request_of("a"))
    except StorageError as error:
        print(number, error)
        break
"""
    ran = python(script, str(path))
    assert b"can't be written" in ran.stdout, ran.stderr
    lines = path.read_text().splitlines()
    assert len(lines) == int(ran.stdout.split()[0]) > 0
    assert all(json.loads(line)["text"] == "x" * 100 for line in lines)
