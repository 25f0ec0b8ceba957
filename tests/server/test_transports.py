from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from marchwarden.contract import ResearchResult
from marchwarden.errors import ConfigurationError
from marchwarden.programs import own_programs
from marchwarden.server import transports
from marchwarden.server.mcp import build
from marchwarden.server.messages import MAX_LINE_BYTES
from marchwarden.server.transports import serve
from marchwarden.server.worker import research_in_worker
from marchwarden.settings import Settings
from marchwarden.trace.reader import Trace, list_traces, read_trace
from tests.profiles import within
from tests.programs import made
from tests.server.test_worker import ROOT, STANDIN, dies, is_alive
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio
Way = Literal["in process", "in process, legacy", "stdio", "stdio, legacy"]
QUICK_WAYS: list[Way] = ["in process", "in process, legacy"]
SERVE = (
    "import sys; from marchwarden.server.transports import serve; from marchwarden.settings import Settings\n"
    "serve(Settings(max_seconds=120), transport=sys.argv[1], port=0, research=sys.argv[2],\n"
    "      announce=lambda url: print(url, file=sys.stderr, flush=True))"
)


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    return {"PYTHONPATH": str(ROOT), "MARCHWARDEN_TRACE_DIR": str(tmp_path / "traces"), **measured, **more}


@asynccontextmanager
async def a_client(way: Way, tmp_path: Path) -> AsyncIterator[Client]:
    mode: Literal["auto", "legacy"] = "legacy" if "legacy" in way else "auto"
    server: Any
    if way.startswith("stdio"):
        arguments = ["-c", SERVE, "stdio", STANDIN]
        server = StdioServerParameters(command=sys.executable, args=arguments, env=environment(tmp_path), cwd=ROOT)
    else:
        server = build(Settings(max_seconds=120), research=partial(research_in_worker, research=STANDIN))
    async with Client(server, mode=mode) as client:
        yield client


def text_of(answer: Any) -> str:
    return "\n".join(block.text for block in answer.content)


def the_trace(tmp_path: Path) -> Trace:
    (summary,) = list_traces(tmp_path / "traces")
    return read_trace(summary.path)


@pytest.mark.parametrize("way", ["in process", "in process, legacy", "stdio"])
async def test_a_call_gives_structured_content_and_text_and_tells_what_it_does(way: Way, tmp_path: Path) -> None:
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        if not (message or "").startswith("starting ("):  # on a busy machine it says how long that takes
            heard.append((progress, message))

    async with a_client(way, tmp_path) as client:
        answer = await client.call_tool("research", {"question": "answer me"}, progress_callback=hear)
        await _until(lambda: len(heard) > 1)
    assert not answer.is_error
    result = ResearchResult.model_validate(answer.structured_content)
    assert "says: answer me" in result.answer
    assert result.answer in text_of(answer)
    assert f"trace://{result.trace_id}" in text_of(answer)
    # A client that is cut off can read the answer there.
    assert heard[0][1] == f"the trace of this call is trace://{result.trace_id}"
    assert [message for _, message in heard[1:]] == ["doing: answer me"]
    assert the_trace(tmp_path).result == result


async def test_constraints_may_be_json_text(tmp_path: Path) -> None:
    async with a_client("in process", tmp_path) as client:
        limits = '{"token_budget": 499, "max_sources": 2.0}'
        answer = await client.call_tool("research", {"question": "Why?", "constraints": limits})
        assert text_of(answer) == "constraints.token_budget: must be at least 500"
        for text in ("[1]", "{", "500"):
            answer = await client.call_tool("research", {"question": "Why?", "constraints": text})
            assert text_of(answer) == "constraints: must be an object"


async def test_what_a_workflow_client_adds_for_itself_is_passed_over_and_a_misspelt_name_is_not(
    tmp_path: Path,
) -> None:
    added = {
        "sessionId": "1",
        "action": "sendMessage",
        "chatInput": "Why?",
        "toolCallId": "call_1",
        "tool": "research",
    }
    async with a_client("in process", tmp_path) as client:
        answer = await client.call_tool("research", {"question": "answer me", **added})
        assert not answer.is_error
        assert answer.structured_content is not None
        ResearchResult.model_validate(answer.structured_content)
        answer = await client.call_tool("research", {"question": "Why?", **added, "session": "1"})
        assert text_of(answer) == "session: is not known here"
        answer = await client.call_tool("research", {"question": "Why?", "constraints": {"tool": "x"}})
        assert text_of(answer) == "constraints.tool: is not known here"


@pytest.mark.parametrize("way", ["in process", pytest.param("stdio, legacy", marks=pytest.mark.slow)])
async def test_bad_arguments_are_named_with_their_limit_and_leave_nothing_behind(way: Way, tmp_path: Path) -> None:
    arguments = {
        "question": "x" * 501,
        "depth": "abyssal",
        "colour": "red",
        "constraints": {"token_budget": 499, "source_filter": "not a domain"},
    }
    async with a_client(way, tmp_path) as client:
        answer = await client.call_tool("research", arguments)
    assert answer.is_error
    lines = dict(line.split(": ", 1) for line in text_of(answer).splitlines())
    assert "500" in lines["question"]
    assert "deep" in lines["depth"]
    assert "500" in lines["constraints.token_budget"]
    assert "not a domain" in lines["constraints.source_filter"]
    assert "colour" in lines
    assert not (tmp_path / "traces").exists()


@pytest.mark.parametrize("way", ["in process", pytest.param("stdio", marks=pytest.mark.slow)])
async def test_a_call_that_dies_is_an_error_with_its_trace_and_the_server_lives_on(way: Way, tmp_path: Path) -> None:
    async with a_client(way, tmp_path) as client:
        for question, reason in [("segfault", "SIGSEGV"), ("eat_memory", "MemoryError"), ("raise", "KeyError")]:
            answer = await client.call_tool("research", {"question": question})
            assert answer.is_error
            assert reason in text_of(answer)
            uri = text_of(answer).rpartition("Trace: ")[2]
            (contents,) = (await client.read_resource(uri)).contents
            assert json.loads(contents.text.splitlines()[-1])["error"] == reason  # type: ignore[union-attr]
        assert not (await client.call_tool("research", {"question": "answer me"})).is_error


@pytest.mark.parametrize("way", QUICK_WAYS)
async def test_what_can_be_called_and_read_is_declared(way: Way, tmp_path: Path) -> None:
    async with a_client(way, tmp_path) as client:
        (tool,) = (await client.list_tools()).tools
        templates = (await client.list_resource_templates()).resource_templates
        assert (await client.list_resources()).resources == []
        await client.call_tool("research", {"question": "answer me"})
        (resource,) = (await client.list_resources()).resources
        instructions = client.instructions
    assert tool.name == "research"
    assert tool.annotations
    assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, True)
    assert tool.annotations.idempotent_hint is False
    assert tool.input_schema["required"] == ["question"]
    assert tool.input_schema["properties"]["question"]["maxLength"] == 500
    assert tool.output_schema
    assert "raw_excerpt" in tool.output_schema["$defs"]["Citation"]["required"]
    assert [template.uri_template for template in templates] == [
        "trace://{trace_id}",
        "page://{hash}",
        "content://{content_hash}",
    ]
    assert resource.uri == f"trace://{the_trace(tmp_path).trace_id}"
    assert resource.title == "answer me"
    assert instructions
    assert "gaps" in instructions


@pytest.mark.parametrize("way", QUICK_WAYS)
async def test_a_tool_that_does_not_exist_is_a_protocol_error(way: Way, tmp_path: Path) -> None:
    async with a_client(way, tmp_path) as client:
        with pytest.raises(MCPError, match="unknown tool 'search'") as caught:
            await client.call_tool("search", {"question": "answer me"})
    assert caught.value.code == -32602


@pytest.mark.parametrize(
    "uri",
    [
        "trace://00000000-0000-4000-8000-000000000000",
        "trace://../../../../etc/passwd",
        "trace://..%2f..%2fetc%2fpasswd",
        "trace://",
        "file:///etc/passwd",
        "trace://00000000-0000-4000-8000-000000000000/../x",
    ],
)
async def test_a_missing_or_a_traversing_resource_is_a_protocol_error(uri: str, tmp_path: Path) -> None:
    async with a_client("in process", tmp_path) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
    assert caught.value.code == -32602


@pytest.mark.parametrize("way", ["in process, legacy", "stdio"])
async def test_a_cancelled_call_stops_within_a_second_and_its_trace_says_so(way: Way, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    async with a_client(way, tmp_path) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(partial(client.call_tool, "research", {"question": f"tell_pid {note}"}))
            await _until(lambda: note.exists() and bool(note.read_text()))
            begun = time.monotonic()
            group.cancel_scope.cancel()
        await _until(lambda: not is_alive(int(note.read_text())), within(1))
        await _until(lambda: the_trace(tmp_path).outcome == "cancelled", within(1))
        assert time.monotonic() - begun < within(1)
        assert not (await client.call_tool("research", {"question": "answer me"})).is_error


async def test_eight_calls_at_once_are_answered(tmp_path: Path) -> None:
    answers: list[str] = []

    async def ask(client: Client, number: int) -> None:
        answers.append(text_of(await client.call_tool("research", {"question": f"answer {number}"})))

    async with a_client("stdio", tmp_path) as client, anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(ask, client, number)
    assert len(answers) == 8
    assert all(any(f"answer {number}" in answer for answer in answers) for number in range(8))


async def test_a_configuration_error_comes_with_its_hint(tmp_path: Path) -> None:
    async with a_client("in process", tmp_path) as client:
        answer = await client.call_tool("research", {"question": "misconfigured"})
    assert answer.is_error
    assert text_of(answer).startswith("the model has no key\nSet ANTHROPIC_API_KEY.\nTrace: trace://")


async def test_a_trace_that_cannot_be_written_is_an_error_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings(trace_dir=tmp_path / "file" / "traces")
    async with Client(build(settings, research=partial(research_in_worker, research=STANDIN))) as client:
        answer = await client.call_tool("research", {"question": "answer me"})
    assert answer.is_error
    assert "can't be written" in text_of(answer)
    assert "Trace:" not in text_of(answer)


async def test_a_server_that_is_busy_says_so_at_once_and_when_to_ask_again(tmp_path: Path) -> None:
    settings = Settings(trace_dir=tmp_path / "traces", server_calls=1, server_queue=0)
    server = build(settings, research=partial(research_in_worker, research=STANDIN))
    answers, refusals = [], []
    async with Client(server) as client:

        async def ask() -> None:
            try:
                answers.append(await client.call_tool("research", {"question": "answer me"}))
            except MCPError as error:
                refusals.append(error)

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            group.start_soon(ask)
    (refused,), (answered,) = refusals, answers
    assert refused.code == -32010
    assert "the server is busy (calls that run: 1, that wait: 0); try again in" in refused.message
    assert "says nothing about the question" in refused.message
    assert refused.data["retryAfter"] >= 1
    assert not answered.is_error
    assert len(list((tmp_path / "traces").glob("*.jsonl"))) == 1


async def _until(holds: Callable[[], bool], seconds: float = 30) -> None:
    with anyio.fail_after(seconds):
        while not holds():  # noqa: ASYNC110  another process makes it so, and can't set an event
            await anyio.sleep(0.02)


# The process


class RawServer:
    """A server's process, spoken to in JSON-RPC by hand."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[bytes] = []

    def send(self, **message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        self.lines.append(self.process.stdout.readline())
        message: dict[str, Any] = json.loads(self.lines[-1])
        assert message["jsonrpc"] == "2.0"
        return message

    def initialize(self) -> None:
        client = {"name": "test", "version": "0"}
        parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.send(id=0, method="initialize", params=parameters)
        assert self.receive()["result"]["serverInfo"]["name"] == "marchwarden"
        self.send(method="notifications/initialized")

    def call(self, question: str, number: int = 1) -> None:
        arguments = {"name": "research", "arguments": {"question": question}}
        self.send(id=number, method="tools/call", params=arguments)


@contextmanager
def a_raw_server(tmp_path: Path, code: str = SERVE, **variables: str) -> Iterator[RawServer]:
    with subprocess.Popen(
        [sys.executable, "-c", code, "stdio", STANDIN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path, **variables),
        cwd=ROOT,
    ) as process:
        try:
            yield RawServer(process)
        finally:
            process.kill()


def descendants(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(each) for task in tasks for each in task.read_text().split()]
    return children + [each for child in children for each in descendants(child)]


def test_nothing_but_the_protocol_reaches_stdout_whatever_is_printed_in_whatever_locale(tmp_path: Path) -> None:
    noisy = (
        "import atexit, ctypes, os\n"
        "atexit.register(lambda: (print('at exit'), os.write(1, b'at exit, raw'), ctypes.CDLL(None).puts(b'at exit, C')))\n"
        "import marchwarden.server.mcp\n"
        "build = marchwarden.server.mcp.build\n"
        "marchwarden.server.mcp.build = lambda *a, **k: (print('while serving'), os.system('echo child'), build(*a, **k))[2]\n"
        + SERVE
    )
    with a_raw_server(tmp_path, noisy, LC_ALL="C", PYTHONIOENCODING="latin-1", PYTHONUTF8="0") as server:
        server.initialize()
        server.call("print")
        assert server.receive()["result"]["isError"] is False
        server.call("answer in 日本語, ñ, \u2028 and more", 2)
        assert "日本語, ñ, \u2028 and more" in server.receive()["result"]["structuredContent"]["answer"]
        rest, errors = server.process.communicate(timeout=30)
    assert rest == b""
    assert "日本語".encode() in server.lines[-1]
    for words in (b"while serving", b"child", b"from Python", b"at exit, raw"):
        assert words in errors


def test_the_real_researcher_answers_and_leaves_nothing_to_complain_of(tmp_path: Path) -> None:
    """A semaphore that a killed worker leaves behind would be complained of at the end."""
    page = article("Tomatoes in Utah", "Tomatoes ripen in Utah from late July to September.")
    web = make_web(tmp_path / "web", {"https://garden.example/tomatoes": page})
    variables = {"MARCHWARDEN_WEB": str(web), "MARCHWARDEN_SOURCE": "snapshot", "HOME": str(tmp_path)}
    with a_raw_server(
        tmp_path, SERVE.replace("sys.argv[2]", "'marchwarden.agent.research:research'"), **variables
    ) as server:
        server.initialize()
        server.call("When do tomatoes ripen in Utah?")
        result = server.receive()["result"]["structuredContent"]
        _, errors = server.process.communicate(timeout=30)
    assert [citation["locator"] for citation in result["citations"]] == ["https://garden.example/tomatoes"]
    assert errors == b""


def test_what_of_a_program_is_not_used_is_said_once_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in the trace of every call, and a client's log is no place to repeat it."""
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")
    made.a_calibration(own_programs() / "extractive", model_id="extractive", stages="0123456789abcdef")
    web = make_web(tmp_path / "web", {"https://garden.example/peas": article("Peas", "Peas are sown in March.")})
    code = "import sys; sys.argv[1:] = ['serve']; from marchwarden.cli import main; main()"
    with a_raw_server(tmp_path, code, MARCHWARDEN_WEB=str(web), HOME=str(Path.home())) as server:
        server.initialize()
        for number in (1, 2):
            server.call("When are peas sown?", number)
            assert server.receive()["result"]["isError"] is False
        _, errors = server.process.communicate(timeout=30)
    said = " ".join(errors.decode().split())
    assert said.count("The calibration of extractive was fitted to other compiled stages, and is not used.") == 1
    assert said.count("marchwarden calibrate RUN") == 1


def test_what_is_not_json_gets_an_error_and_the_next_messages_an_answer(tmp_path: Path) -> None:
    """Nor does half of a surrogate pair keep a caller waiting, though JSON parsers refuse the escape that JavaScript
    writes for it."""
    with a_raw_server(tmp_path) as server:
        assert server.process.stdin
        server.process.stdin.write(b"\xef\xbb\xbf")  # a byte order mark before the first message
        server.initialize()
        server.process.stdin.write(b"\xff\xfe not json\n\n")
        server.send(id=7, method="ping")
        answers = [server.receive()]
        while answers[-1].get("id") != 7:
            answers.append(server.receive())
        assert answers[-1]["result"] == {}
        server.call("answer \ud800, \\ud800 and \U0001f345\udc00")
        assert b"answer \\ud800" not in server.lines[-1]
        answer = server.receive()["result"]["structuredContent"]["answer"]
    assert "answer \ufffd, \\ud800 and \U0001f345\ufffd" in answer


def test_every_message_with_an_id_gets_an_answer(tmp_path: Path) -> None:
    with a_raw_server(tmp_path) as server:
        assert server.process.stdin
        server.initialize()
        for line in [
            b'{"jsonrpc": "1.0", "id": 2, "method": "ping"}',
            b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
            b'[{"jsonrpc": "2.0", "id": 3, "method": "ping"}, {"jsonrpc": "2.0", "id": 4}]',
        ]:
            server.process.stdin.write(line + b"\n")
        server.process.stdin.flush()
        answers = {answer["id"]: answer for answer in (server.receive() for _ in range(4))}
    assert answers[3]["result"] == {}
    assert [answers[number]["error"]["code"] for number in (2, 1.5, 4)] == [-32600] * 3


def test_an_endless_line_is_cut_and_the_next_message_is_read() -> None:
    """With its end it would be JSON again, of another meaning."""
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(b'{"text":"' + b"x" * (2 * MAX_LINE_BYTES) + b'"}\n{"id":1}\n')

    async def read() -> list[str]:
        return [line async for line in transports._incoming(reader)]

    thread = threading.Thread(target=write)
    thread.start()
    long, short = anyio.run(read)
    thread.join()
    os.close(reader)
    assert short == '{"id":1}'
    assert len(long) < 2 * MAX_LINE_BYTES
    with pytest.raises(json.JSONDecodeError):
        json.loads(long)


@pytest.mark.parametrize("ending", ["SIGINT", "client gone", "SIGKILL"])  # SIGTERM ends a server over HTTP, below
def test_a_server_that_ends_leaves_no_process_and_says_in_its_traces_why(tmp_path: Path, ending: str) -> None:
    note = tmp_path / "pid"
    with a_raw_server(tmp_path) as server:
        server.initialize()
        server.call(f"tell_pid {note}")
        while not (note.exists() and note.read_text() and list_traces(tmp_path / "traces")):
            time.sleep(0.02)
        family = descendants(server.process.pid)
        assert int(note.read_text()) in family
        begun = time.monotonic()
        if ending == "client gone":
            assert server.process.stdin
            assert server.process.stdout
            server.process.stdin.close()
            server.process.stdout.close()
        else:
            os.kill(server.process.pid, signal.Signals[ending])
        answer = server.receive() if ending == "SIGINT" else None
        status = server.process.wait(timeout=30)
        assert time.monotonic() - begun < within(3)
        assert all(dies(pid) for pid in family)
    assert status == (-signal.SIGKILL if ending == "SIGKILL" else 0)
    trace = the_trace(tmp_path)
    assert trace.outcome == {"SIGKILL": "unfinished", "client gone": "cancelled", "SIGINT": "finished"}[ending]
    if answer is not None:
        # What is known is answered.
        assert answer["result"]["structuredContent"]["trace_id"] == trace.trace_id
        assert "server was stopped by its operator" in answer["result"]["structuredContent"]["answer"]
        assert ["server was stopped" in line["decision"] for line in trace.raw if line["action"] == "killed"] == [
            True
        ]
    elif ending == "client gone":
        assert trace.raw[-1]["by"] == "caller"


def test_what_is_running_when_stdin_ends_is_answered(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                     "clientInfo": {"name": "t", "version": "0"}}},
        {"method": "notifications/initialized"},
        {"id": "one", "method": "tools/call", "params": {"name": "research", "arguments": {"question": "answer me"}}},
        {"id": 2, "method": "tools/call", "params": {"name": "research", "arguments": {"question": "sleep"}}},
        {"method": "notifications/cancelled", "params": {"requestId": 2}},
    ]  # fmt: skip
    given = "\n".join(json.dumps({"jsonrpc": "2.0", **each}) for each in messages)
    arguments = [sys.executable, "-c", SERVE, "stdio", STANDIN]
    ended = subprocess.run(
        arguments,
        input=given.encode(),
        stdout=subprocess.PIPE,
        env=environment(tmp_path),
        cwd=ROOT,
        check=True,
        timeout=60,
    )
    answers = {answer.get("id"): answer for answer in map(json.loads, ended.stdout.splitlines())}
    assert "says: answer me" in answers["one"]["result"]["structuredContent"]["answer"]
    assert 2 not in answers  # it was taken back


def test_an_operator_reloads_the_settings_and_looks_at_the_stacks(tmp_path: Path) -> None:
    code = SERVE.replace(
        "research=sys.argv[2],",
        "research=sys.argv[2], warn=lambda note: print(note, file=sys.stderr, flush=True), reload=reload,",
    )
    # The first time the settings are broken.
    reload = (
        "calls = []\n"
        "def reload():\n"
        "    calls.append(1)\n"
        "    from marchwarden.errors import ConfigurationError\n"
        "    if len(calls) == 1: raise ConfigurationError('no such corpus')\n"
        "    print('read anew', file=sys.stderr, flush=True)\n"
        "    return Settings(max_seconds=120, server_calls=1, server_queue=0)\n"
    )
    with a_raw_server(tmp_path, reload + code) as server:
        assert server.process.stderr
        server.initialize()
        server.process.send_signal(signal.SIGQUIT)
        stacks = b""
        while b"_serve_stdio" not in stacks:
            stacks += server.process.stderr.readline()
        assert b"most recent call" in stacks
        server.process.send_signal(signal.SIGHUP)
        line = b""
        while b"no such corpus" not in line:
            line = server.process.stderr.readline()
        assert line.startswith(b"The settings were not changed")
        server.process.send_signal(signal.SIGHUP)
        while b"read anew" not in line:
            line = server.process.stderr.readline()
        for number in range(1, 40, 2):  # calls may come before the new settings are in force
            server.call("answer me", number)
            server.call("answer me", number + 1)
            answers = [server.receive(), server.receive()]
            if refused := [answer["error"] for answer in answers if "error" in answer]:
                break
        assert [error["code"] for error in refused] == [-32010]
        assert any(
            "answer me" in each["result"]["structuredContent"]["answer"] for each in answers if "result" in each
        )


def test_a_client_that_reads_no_more_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """Its pipe is full, then it goes away."""
    with a_raw_server(tmp_path) as server:
        server.initialize()
        for number in range(2000):
            server.send(id=number + 10, method="tools/list")
            if server.process.poll() is not None:
                break
            if number == 60:  # each answer is a few kB, a pipe holds 64
                break
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=within(3)) == 0


def test_a_client_that_is_gone_ends_the_server(tmp_path: Path) -> None:
    with a_raw_server(tmp_path) as server:
        server.initialize()
        assert server.process.stdout
        server.process.stdout.close()
        server.send(id=1, method="tools/list")
        assert server.process.wait(timeout=30) == 0


def test_messages_from_a_file_are_answered_into_a_file(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                     "clientInfo": {"name": "t", "version": "0"}}},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "ping"},
    ]  # fmt: skip
    (tmp_path / "in").write_text("\n".join(json.dumps({"jsonrpc": "2.0", **each}) for each in messages))
    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as out:
        arguments = [sys.executable, "-c", SERVE, "stdio", STANDIN]
        subprocess.run(
            arguments, stdin=given, stdout=out, env=environment(tmp_path), cwd=ROOT, check=True, timeout=60
        )
    assert 0 in [json.loads(line)["id"] for line in (tmp_path / "out").read_text().splitlines()]


# HTTP


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all who ask it in turn: it takes more than a CPU second to start."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, "http", STANDIN],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(tmp_path_factory.mktemp("http"), MARCHWARDEN_PROGRAM="none"),
        cwd=ROOT,
    ) as process:
        assert process.stderr
        assert process.stdout
        yield process.stderr.readline().decode().strip()
        process.terminate()
        assert process.wait(timeout=30) == 0
        assert process.stdout.read() == b""


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tool_is_served_over_http_too(url: str, mode: Literal["auto", "legacy"]) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with Client(url, mode=mode) as client:
        answer = await client.call_tool("research", {"question": "answer me"}, progress_callback=hear)
        await _until(lambda: heard[-1:] == ["doing: answer me"])
    assert "says: answer me" in text_of(answer)


async def test_pages_of_other_sites_and_other_names_are_refused(url: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepted = {"accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient() as client:
        foreign = await client.post(url, json=message, headers={**accepted, "host": "rebound.example"})
        page = await client.post(url, json=message, headers={**accepted, "origin": "https://evil.example"})
        large = await client.post(url, content=b" " * 5_000_000, headers={"content-type": "application/json"})
    assert [foreign.status_code, page.status_code, large.status_code] == [421, 403, 413]


async def test_sigterm_ends_an_http_server_in_the_middle_of_a_call(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    answers: list[Any] = []

    async def call(url: str) -> None:
        with suppress(Exception):  # the server is gone when the client says that it goes
            async with Client(url) as client:
                answers.append(await client.call_tool("research", {"question": f"tell_pid {note}"}))

    variables = environment(tmp_path, MARCHWARDEN_SERVER_DRAIN="0.1")
    with subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", SERVE, "http", STANDIN], stderr=subprocess.PIPE, env=variables, cwd=ROOT
    ) as process:
        assert process.stderr
        async with anyio.create_task_group() as group:
            group.start_soon(call, process.stderr.readline().decode().strip())
            await _until(lambda: note.exists() and bool(note.read_text()))
            process.terminate()
            await _until(lambda: bool(answers))
            await _until(lambda: process.poll() is not None, 30)
            group.cancel_scope.cancel()
        assert process.returncode == 0
    assert dies(int(note.read_text()))
    (result,) = answers
    assert result.structured_content["trace_id"] == the_trace(tmp_path).trace_id
    assert the_trace(tmp_path).outcome == "finished"
    killed = next(line for line in the_trace(tmp_path).raw if line["action"] == "killed")
    assert (killed["reason"], killed["decision"]) == ("stopped", "the server was stopped by its operator")


@pytest.mark.parametrize(
    ("host", "allow_remote", "message"),
    [
        ("192.168.1.1", False, "other machines"),
        ("0.0.0.0", False, "other machines"),
        ("example.org", False, "other machines"),
        ("0.0.0.0", True, "not a name that callers use"),
        ("192.0.2.1", True, "can't listen on"),
    ],
)
def test_an_address_that_others_reach_has_to_be_allowed(host: str, allow_remote: bool, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        serve(Settings(), transport="http", host=host, port=0, allow_remote=allow_remote)
    assert caught.value.hint


def test_a_port_that_is_taken_is_a_configuration_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"can't listen on 127.0.0.1:{port}"):
            serve(Settings(), transport="http", port=port)
