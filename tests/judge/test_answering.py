"""The judge of passages (judge/answering.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from marchwarden.judge.answering import AnswerJudge, in_place, is_installed, words_of

needs_runtime = pytest.mark.skipif(not is_installed(), reason="onnxruntime (extra `semantic`) is not installed")

_SILENCING = ("ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "CI", "GITHUB_ACTIONS")
PASSAGES = [
    "The bridge was opened by the mayor on 3 May 1931.",
    "Tickets for the boat trip cost 12 crowns.",
    "The bridge is 45 metres tall.",
]


@needs_runtime
@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("When was the bridge opened?", 0),
        ("How much do tickets for the boat trip cost?", 1),
        ("How high is the bridge?", 2),
    ],
)
def test_the_passage_that_answers_has_the_highest_odds(question: str, best: int) -> None:
    odds = AnswerJudge().log_odds(question, PASSAGES)
    assert max(range(3), key=odds.__getitem__) == best


@needs_runtime
def test_a_judgement_depends_on_its_own_two_texts_alone() -> None:
    judge = AnswerJudge()
    together = judge.log_odds("How high is the bridge?", PASSAGES)
    assert together == [judge.log_odds("How high is the bridge?", [each])[0] for each in PASSAGES]


@needs_runtime
@pytest.mark.parametrize("text", ["", "\x00\ud800", "x" * 5000, "字" * 3000, "?" * 3000])
def test_any_text_can_be_judged(text: str) -> None:
    assert len(AnswerJudge().log_odds(text, [text, PASSAGES[0]])) == 2


@needs_runtime
def test_the_runtime_keeps_and_reports_nothing(tmp_path: Path) -> None:
    """It would keep an id of the machine, and what it has not yet sent, in the cache folder of the user."""
    # Variables by which it knows a test run, where it is silent anyway.
    known = {name: value for name, value in os.environ.items() if name not in _SILENCING}
    home = tmp_path / "fresh"
    variables = {**known, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    home.mkdir()
    code = "from marchwarden.judge.answering import load; load()"
    subprocess.run([sys.executable, "-c", code], env=variables, check=True)
    assert list(home.iterdir()) == []


def test_words_are_small_without_accents_and_marks_stand_alone() -> None:
    assert list(words_of("Crème-brûlée, 4.5 l: 字x")) == [
        "creme",
        "-",
        "brulee",
        ",",
        "4",
        ".",
        "5",
        "l",
        ":",
        "字",
        "x",
    ]


def test_a_passage_is_judged_under_its_title_and_heading() -> None:
    assert (
        in_place("Halden Bridge", "History", "It opened in 1931.") == "Halden Bridge | History | It opened in 1931."
    )
    assert in_place("History", "History", "It opened.") == "History | It opened."
    assert len(in_place("a " * 50, None, "b" * 2000)) == 900
