"""A call of our own, or over MCP to real servers, that goes well, badly, or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.cli.client.conversation import Conversation, Interrupted
from marchwarden.cli.client.server_connection import Connection
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, MarchwardenError
from marchwarden.settings import Settings
from tests.cli.client.tiny_research import served, tiny_research
from tests.cli.results import a_result, an_empty_result
from tests.cli.running import python
from tests.lm.wire import as_json, service

REQUEST = ResearchRequest(question="What grows in Utah?")


def conversation(mode: str, **overrides: Any) -> Conversation:
    return Conversation(REQUEST, Connection(None, overrides, tiny_research(mode)))


def silent(message: str) -> None:
    pass


def test_the_answer_comes_with_progress_on_the_way() -> None:
    told: list[str] = []
    assert conversation("answers").hold(told.append) == a_result()
    assert told == ["getting ready", "planning\x1b[2J the [bold]search[/bold]"]


def test_nothing_found_is_an_answer_too() -> None:
    assert conversation("nothing").hold(silent) == an_empty_result()


def test_a_call_that_fails_is_one_error_with_its_trace_where_there_is_one(tmp_path: Path) -> None:
    with pytest.raises(MarchwardenError, match=r"^the research failed: the disk") as failed:
        conversation("fails").hold(silent)
    assert "marchwarden doctor" in str(failed.value.hint)
    with pytest.raises(MarchwardenError) as failed:
        conversation("refuses").hold(silent)
    (trace,) = (tmp_path / "traces").glob("*.jsonl")
    assert str(failed.value) == "the key is refused\nSet another one."
    assert failed.value.hint == f"To see how far it got: marchwarden replay {trace.stem[:8]}"


def test_a_call_that_says_nothing_is_given_up() -> None:
    with pytest.raises(MarchwardenError, match="silent for 2 seconds"):
        conversation("silent").hold(silent, silence=2)


def test_a_running_server_answers_with_progress_on_the_way(tmp_path: Path) -> None:
    told: list[str] = []
    with served(Settings(model="extractive", trace_dir=tmp_path / "theirs"), "answers") as url:
        assert Conversation(REQUEST, Connection(url, {})).hold(told.append) == a_result()
    assert told[0] == f"connecting to {url}"
    assert told[-1].startswith(r"planning\x1b[2J the [bold]search")


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("refuses", r"^the key is refused\nSet another one\.\nTrace: trace://"),
        ("other", "is not a research result"),
        ("silent", "silent for 2 seconds"),
    ],
)
def test_a_running_server_that_fails_is_one_error(mode: str, message: str, tmp_path: Path) -> None:
    theirs = Settings(model="extractive", trace_dir=tmp_path / "theirs")
    with served(theirs, mode) as url, pytest.raises(MarchwardenError, match=message):
        Conversation(REQUEST, Connection(url, {})).hold(silent, silence=2)


def test_an_interrupt_reaches_the_call_of_a_running_server(tmp_path: Path) -> None:
    with served(Settings(model="extractive", trace_dir=tmp_path / "theirs"), "slow") as url:
        asked = Conversation(REQUEST, Connection(url, {}))
        with pytest.raises(Interrupted) as interruption:
            asked.hold(after_progress(lambda: os.kill(os.getpid(), signal.SIGINT)))
        assert interruption.value.hint == "The server keeps the call's trace."
    (path,) = (tmp_path / "theirs").glob("*.jsonl")
    assert '"action":"cancelled"' in path.read_text().replace(" ", "")


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
    connection = Connection(None, overrides, tiny_research("answers"))
    Conversation(REQUEST, connection).hold(silent)
    assert (connection.frozen_web_note or ("",))[0].startswith(said)
    assert bool(connection.frozen_web_note) is bool(said)


def test_settings_reach_the_call_and_overrides_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_MODEL", "from-environment")
    seen: list[Any] = []

    async def research(request: Any, **given: Any) -> ResearchResult:
        seen.append((given["settings"].model, given["settings"].web))
        return a_result()

    Conversation(REQUEST, Connection(None, {"model": "a/b", "web": None}, research)).hold(silent)
    Conversation(REQUEST, Connection(None, {"web": "elsewhere"}, research)).hold(silent)
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


def test_an_interrupt_before_there_is_a_trace_ends_the_call() -> None:
    async def interrupting(request: Any, **given: Any) -> ResearchResult:
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep(60)
        return a_result()

    with pytest.raises(Interrupted, match=r"^Interrupted\.$"):
        Conversation(REQUEST, Connection(None, {}, interrupting)).hold(silent)


@pytest.mark.parametrize(
    ("command", "module"), [("ask", "marchwarden.server.worker"), ("investigate", "marchwarden.orchestrator")]
)
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


def test_a_proxy_whose_server_is_away_is_told_by_its_status() -> None:
    with service(as_json({"error": "bad gateway"}, 502)) as server:
        url = f"{server.address}/mcp"
        with pytest.raises(MarchwardenError) as failed:
            Conversation(REQUEST, Connection(url, {})).hold(silent)
    assert str(failed.value) == f"no answer from {url}: HTTP 502"


def test_a_status_is_told_of_its_own_failure_only() -> None:
    """The server's proxy refused once, and is gone now."""
    with service(as_json({"error": "bad gateway"}, 502)) as server:
        connection = Connection(f"{server.address}/mcp", {})
        with pytest.raises(MarchwardenError, match=r"HTTP 502$"):
            Conversation(REQUEST, connection).hold(silent)
    with pytest.raises(MarchwardenError) as failed:
        Conversation(REQUEST, connection).hold(silent)
    assert "502" not in str(failed.value)
