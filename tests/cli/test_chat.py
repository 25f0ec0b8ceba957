"""A conversation on the command line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


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
