"""A call over MCP to real servers that behave well, badly, or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marchwarden.cli.client.conversation import Conversation, Interrupted
from marchwarden.cli.client.server_connection import Connection
from marchwarden.contract import ResearchRequest
from marchwarden.errors import ConfigurationError, MarchwardenError
from tests.cli.client.tiny_server import tiny_server
from tests.cli.results import a_result, an_empty_result
from tests.cli.running import python
from tests.lm.wire import as_json, service

REQUEST = ResearchRequest(question="What grows in Utah?")


def conversation(mode: str, **overrides: Any) -> Conversation:
    return Conversation(REQUEST, Connection(None, overrides, tiny_server(mode)))


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
        ("fails", "the research server failed: "),
    ],
)
def test_a_server_that_fails_is_one_error(mode: str, message: str) -> None:
    with pytest.raises(MarchwardenError, match=message):
        conversation(mode).hold(silent)


def test_a_server_that_says_nothing_is_given_up() -> None:
    with pytest.raises(MarchwardenError, match="silent for 2 seconds"):
        conversation("silent").hold(silent, silence=2)


def test_a_wrong_setting_is_reported_from_here() -> None:
    with pytest.raises(ConfigurationError, match="MARCHWARDEN_SOURCE"):
        conversation("answers", source="moon").hold(silent)


@pytest.mark.parametrize(
    ("overrides", "environment", "said"),
    [
        ({}, {}, "MARCHWARDEN_OFFLINE is set, so the frozen web"),
        ({}, {"MARCHWARDEN_OFFLINE": "false"}, "Without a network, the frozen web"),
        ({"source": "snapshot"}, {}, ""),
        ({}, {"TAVILY_API_KEY": "tvly-x"}, ""),
        ({"web": "elsewhere", "source": "snapshot"}, {}, ""),
    ],
)
def test_it_knows_why_the_frozen_web_stood_in_for_the_real_one(
    overrides: dict[str, str], environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    connection = Connection(None, overrides, tiny_server("answers"))
    Conversation(REQUEST, connection).hold(silent)
    assert (connection.frozen_web_note or ("",))[0].startswith(said)
    assert bool(connection.frozen_web_note) is bool(said)


def test_settings_reach_the_server_and_overrides_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_MODEL", "from-environment")
    seen: list[Any] = []

    def make(settings: Any) -> Any:
        seen.append((settings.model, settings.web))
        return tiny_server("answers")(settings)

    Conversation(REQUEST, Connection(None, {"model": "a/b", "web": None}, make)).hold(silent)
    Conversation(REQUEST, Connection(None, {"web": "elsewhere"}, make)).hold(silent)
    assert seen == [("a/b", None), ("from-environment", Path("elsewhere"))]


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
    assert interruption.value.hint == f"To see them: marchwarden replay {path.stem[:8]}"
    assert '"action":"cancelled"' in path.read_text().replace(" ", "")


def test_an_interrupt_before_the_server_answers_ends_the_call() -> None:
    def interrupting(settings: Any) -> Any:
        server = tiny_server("answers")(settings)
        os.kill(os.getpid(), signal.SIGINT)
        return server

    with pytest.raises(Interrupted, match=r"^Interrupted\.$"):
        Conversation(REQUEST, Connection(None, {}, interrupting)).hold(silent)


@pytest.mark.parametrize(("command", "module"), [("ask", "mcp"), ("investigate", "marchwarden.orchestrator")])
def test_an_interrupt_in_the_middle_of_an_import_ends_the_call_likewise(command: str, module: str) -> None:
    """There a second Ctrl-C is raised by Python itself, inside of groups of tasks."""
    script = """
import sys
command, module = sys.argv[1:]
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == module:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv = ["marchwarden", command, "What grows in Utah?"]
from marchwarden.cli import main
main()
"""
    ran = python(script, command, module)
    assert (ran.returncode, ran.stderr) == (130, b"Interrupted.\n")


def test_no_server_at_an_address_is_an_error_with_a_hint() -> None:
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with pytest.raises(MarchwardenError, match="no answer from http://127") as failed:
        Conversation(REQUEST, Connection(url, {})).hold(silent)
    assert "marchwarden serve --transport http" in str(failed.value.hint)


@pytest.mark.parametrize(("token", "said"), [("wrong", "refused the token"), ("", "wants a token, and none is set")])
def test_a_server_that_refuses_the_token_is_told_with_what_to_set(
    token: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARCHWARDEN_SERVER_TOKEN", token)
    with service(as_json({"error": "invalid_token"}, 401)) as server:
        url = f"{server.address}/mcp"
        with pytest.raises(MarchwardenError) as failed:
            Conversation(REQUEST, Connection(url, {})).hold(silent)
    assert str(failed.value) == f"{url} {said}"
    assert "MARCHWARDEN_SERVER_TOKEN" in str(failed.value.hint)
