"""A conversation on the command line."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.running import Terminal


def test_commands_are_done_and_others_are_told(
    run: Run, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "/HELP\n/hlep\n/ help me\nWhich crops grow well in Utah?\n/new\n/var/log: when are peas sown?\nexit\nno"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(asked.encode())))
    ran = run("chat", "--web", str(web))
    assert "/new      begin a new conversation" in ran.err
    assert "/hlep: no such command. Type a question, or /help." in ran.err
    assert "/ help me: no such command." in ran.err
    assert [line for line in ran.out.splitlines() if line.startswith("> ")] == [
        "> Which crops grow well in Utah?",
        "> /var/log: when are peas sown?",
    ]
    starts = [json.loads(path.read_text().splitlines()[0]) for path in (tmp_path / "traces").glob("*.jsonl")]
    assert [start.get("continues") for start in starts] == [None, None]


class _Keys(io.BytesIO):
    """Lines that are typed; `^C` is Ctrl-C."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(-1 if size is None else size)
        if line == b"^C\n":
            raise KeyboardInterrupt
        return line


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "heard"), [("^C\n/hlep\n^C\n/quit\n", True), ("^C\n^C\n/hlep\n", False)])
def test_ctrl_c_at_the_prompt_throws_the_line_away_and_twice_ends_the_chat(
    typed: str, heard: bool, run: Run, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", _Terminal(_Keys(typed.encode())))
    ran = run("chat", "--web", str(web))
    assert ran.code == 0
    assert "Ctrl-D or /quit ends the chat, and so does Ctrl-C once more." in ran.said
    assert ("no such command" in ran.said) == heard


@pytest.mark.skipif(os.name != "posix", reason="there are pseudo-terminals on POSIX")
def test_an_earlier_line_comes_back_on_a_terminal() -> None:
    chat = Terminal("chat", "--source", "snapshot", "--model", "extractive")
    try:
        chat.wait_for(rb"(?s)/help says what else.*> $")
        chat.press(b"/hlep\n")
        chat.wait_for(rb"(?s)/hlep: no such command.*> $")
        seen = len(chat.screen)
        chat.press(b"\x1b[A\n")  # the arrow up
        chat.wait_for(rb"(?s).{%d}.*/hlep: no such command.*> $" % seen)
        chat.press(b"\x04")
        assert chat.end() == 0
    finally:
        chat.close()


def test_a_chat_goes_on_from_the_latest_answer_and_a_wrong_id_is_told_at_once(
    run: Run, web: Path, a_trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run("chat", "--continue", "ffff")
    assert (ran.code, ran.out) == (1, "")
    assert "no trace begins with 'ffff'" in ran.said
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"When are peas sown in Utah?\n")))
    run("chat", "--continue", "--web", str(web))
    starts = [json.loads(path.read_text().splitlines()[0]) for path in (tmp_path / "traces").glob("*.jsonl")]
    assert [start.get("continues") for start in starts if "peas" in start["question"]] == [a_trace]


def test_each_question_of_a_chat_goes_on_from_the_one_before(
    run: Run, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that can't be asked is told, and the chat goes on."""
    asked = f"Which crops grow well in Utah?\n\n{'x' * 501}\nWhen are peas sown there?\n/quit\nnever asked\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(asked.encode())))
    ran = run("chat", "--web", str(web))
    assert ran.code == 1
    assert ran.out.count("Answer · ") == 2
    assert [line for line in ran.out.splitlines() if line.startswith("> ")][::2] == [
        "> Which crops grow well in Utah?",
        "> When are peas sown there?",
    ]
    assert "Error: QUESTION: must have at most 500 characters" in ran.err
    starts = {
        path.stem: json.loads(path.read_text().splitlines()[0]) for path in (tmp_path / "traces").glob("*.jsonl")
    }
    followed = {start["question"]: start.get("continues") for start in starts.values()}
    first = next(name for name, start in starts.items() if start["question"].startswith("Which"))
    assert followed == {"Which crops grow well in Utah?": None, "When are peas sown there?": first}
