"""A call over MCP to real servers that behave well, badly, or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marchwarden.cli.client.child_server import SERVE, ChildServer
from marchwarden.cli.client.conversation import Conversation, Interrupted
from marchwarden.contract import ResearchRequest
from marchwarden.errors import ConfigurationError, MarchwardenError
from tests.cli.results import a_result, an_empty_result
from tests.cli.running import ROOT, python

TINY = str(Path(__file__).parents[1] / "tiny_server.py")
REQUEST = ResearchRequest(question="What grows in Utah?")


def conversation(mode: str, **overrides: Any) -> Conversation:
    return Conversation(REQUEST, None, overrides, command=(sys.executable, TINY, mode))


def silent(message: str) -> None:
    pass


def test_the_answer_comes_with_progress_on_the_way() -> None:
    told: list[str] = []
    assert conversation("answers").hold(told.append) == a_result()
    assert told == ["starting the research server", "planning\x1b[2J the [bold]search[/bold]"]


def test_nothing_found_is_an_answer_too() -> None:
    assert conversation("nothing").hold(silent) == an_empty_result()


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("refuses", "question: it is too long"),
        ("other", "is not a research result"),
        ("dies", r"stopped before it answered \(exit status 9\)"),
        ("dies_early", r"stopped before it answered \(exit status 1\):\nError: the disk .*is full"),
    ],
)
def test_a_server_that_fails_is_one_error(mode: str, message: str) -> None:
    with pytest.raises(MarchwardenError, match=message):
        conversation(mode).hold(silent)


def test_a_server_that_says_nothing_is_given_up() -> None:
    with pytest.raises(MarchwardenError, match="silent for 2 seconds"):
        conversation("silent").hold(silent, silence=2)


def test_a_server_that_cannot_be_started_is_an_error() -> None:
    with pytest.raises(MarchwardenError, match="can't be started: No such file"):
        Conversation(REQUEST, None, {}, command=("/nowhere/python",)).hold(silent)


def test_a_wrong_setting_is_reported_from_here() -> None:
    with pytest.raises(ConfigurationError, match="MARCHWARDEN_SOURCE"):
        conversation("answers", source="moon").hold(silent)


@pytest.mark.parametrize(
    ("overrides", "environment", "fell_back"),
    [
        ({}, {}, True),
        ({"source": "snapshot"}, {}, False),
        ({}, {"TAVILY_API_KEY": "tvly-x"}, False),
        ({"web": "elsewhere", "source": "snapshot"}, {}, False),
    ],
)
def test_it_knows_whether_the_frozen_web_stood_in_for_the_real_one(
    overrides: dict[str, str], environment: dict[str, str], fell_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    talk = conversation("dies_early", **overrides)
    with pytest.raises(MarchwardenError):
        talk.hold(silent)
    assert talk.fell_back_to_frozen_web is fell_back


def test_settings_reach_the_server_as_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_MODEL", "from-environment")
    script = "import os; print(os.environ['MARCHWARDEN_MODEL'], os.environ.get('MARCHWARDEN_WEB'), file=__import__('sys').stderr)"
    with ChildServer((sys.executable, "-c", script), {"model": "a/b", "web": None}, debug=False) as server:
        assert server.stop() == "exit status 0"
        assert server.last_words() == "a/b None"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="PYTHONSAFEPATH came with 3.11")
def test_the_server_imports_nothing_from_the_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("mcp", "typer", "email"):
        Path(f"{name}.py").write_text("raise SystemExit('imported from where the user stands')")
    with ChildServer((*SERVE, "--help"), {}, debug=False) as server:
        assert server.stop() == "exit status 0", server.last_words()


def test_a_server_that_will_not_end_is_ended() -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    with ChildServer((sys.executable, "-c", script), {}, debug=False) as server:
        time.sleep(0.3)
        assert server.stop() == "signal 9"


def test_what_a_server_leaves_running_does_not_keep_the_call_waiting() -> None:
    leaves_a_child = "import subprocess; subprocess.Popen(['sleep', '60']); raise SystemExit(7)"
    began = time.monotonic()
    with pytest.raises(MarchwardenError, match="silent for 1 seconds"):
        Conversation(REQUEST, None, {}, command=(sys.executable, "-c", leaves_a_child)).hold(silent, silence=1)
    assert time.monotonic() - began < 20


def after_progress(act: Callable[[], None]) -> Callable[[str], None]:
    """Does `act` a moment after the server has told of its work."""

    def tell(message: str) -> None:
        if message.startswith("planning"):
            threading.Timer(0.1, act).start()

    return tell


def test_an_interrupt_cancels_the_call_and_says_where_its_trace_is(tmp_path: Path) -> None:
    with pytest.raises(Interrupted) as interruption:
        conversation("slow").hold(after_progress(lambda: os.kill(os.getpid(), signal.SIGINT)))
    (path,) = (tmp_path / "traces").glob("*.jsonl")
    assert str(path) in str(interruption.value)
    assert interruption.value.hint == f"See it: marchwarden replay {path.stem[:8]}"
    assert '"action":"cancelled"' in path.read_text().replace(" ", "")


def test_an_interrupt_before_the_server_answers_ends_the_call() -> None:
    def interrupt(message: str) -> None:
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    sleeps = (sys.executable, "-c", "import sys; sys.stdin.read()")
    with pytest.raises(Interrupted, match=r"^Interrupted\.$"):
        Conversation(REQUEST, None, {}, command=sleeps).hold(interrupt)


def test_an_interrupt_in_the_middle_of_an_import_ends_the_call_likewise() -> None:
    """There a second Ctrl-C is raised by Python itself, inside of groups of tasks."""
    script = """
import sys
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "mcp":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv = ["marchwarden", "ask", "What grows in Utah?"]
from marchwarden.cli import main
main()
"""
    ran = python(script)
    assert (ran.returncode, ran.stderr) == (130, b"Interrupted.\n")


def test_no_server_at_an_address_is_an_error_with_a_hint() -> None:
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with pytest.raises(MarchwardenError, match="no answer from http://127") as failed:
        Conversation(REQUEST, url, {}).hold(silent)
    assert "marchwarden serve --transport http" in str(failed.value.hint)
