"""Who calls over HTTP, what they may use and see, and what the operator sees."""

from __future__ import annotations

import json
import logging
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ConfigurationError, StorageError
from marchwarden.server.http.callers import Callers
from marchwarden.server.service import Service
from marchwarden.server.worker import Tell
from marchwarden.settings import Settings
from tests.server.http.serving import (
    INITIALIZE,
    TOKENS,
    URL,
    a_client,
    an_app,
    call,
    events,
    initialize,
    message,
    research,
    result_of,
)

pytestmark = pytest.mark.anyio

ALICE, BOB = "alice-" + "a" * 32, "bob-" + "b" * 32


def token_file(tmp_path: Path, **entries: Any) -> Path:
    path = tmp_path / "tokens.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(entries or {"alice": {"token": ALICE}, "bob": {"token": BOB}}))
    return path


def with_callers(tmp_path: Path, entries: dict[str, Any] | None = None, **more: Any) -> Settings:
    return Settings(trace_dir=tmp_path / "traces", server_tokens=token_file(tmp_path, **(entries or {})), **more)


async def test_a_caller_without_a_token_that_is_known_is_turned_away(tmp_path: Path) -> None:
    async with an_app(with_callers(tmp_path)) as app, a_client(app) as client:
        for headers in ({}, {"authorization": "Bearer " + "c" * 40}, {"authorization": f"Basic {ALICE}"}):
            answer = await client.post(URL, json=INITIALIZE, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer ")
        assert (await client.get("http://127.0.0.1/metrics")).status_code == 401
        assert (
            await client.post(URL, json=INITIALIZE, headers={"authorization": f"bearer {ALICE}"})
        ).status_code == 200


async def test_callers_see_only_their_own_traces_and_sessions(tmp_path: Path) -> None:
    async with (
        an_app(with_callers(tmp_path)) as app,
        a_client(app, token=ALICE) as alice,
        a_client(app, token=BOB) as bob,
    ):
        mine, theirs = await initialize(alice), await initialize(bob)
        answer = result_of(await alice.post(URL, json=call("What is mine?"), headers=mine))
        uri = f"trace://{answer['structuredContent']['trace_id']}"
        read = message("resources/read", uri=uri)
        assert "What is mine?" in result_of(await alice.post(URL, json=read, headers=mine))["contents"][0]["text"]
        listed = result_of(await alice.post(URL, json=message("resources/list"), headers=mine))["resources"]
        assert [each["uri"] for each in listed] == [uri]
        assert result_of(await bob.post(URL, json=message("resources/list"), headers=theirs))["resources"] == []
        _, refused = events(await bob.post(URL, json=read, headers=theirs))[-1]
        assert refused["error"]["code"] == -32602
        # Nor does the session of another open with one's own token.
        assert (await bob.post(URL, json=read, headers=mine)).status_code == 404
    assert [path.parent.name for path in (tmp_path / "traces").rglob("*.jsonl")] == ["alice"]


async def test_tokens_are_written_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    settings = with_callers(tmp_path, server_log="json")
    log = logging.getLogger("marchwarden.operation")
    async with an_app(settings) as app, a_client(app, token=ALICE) as client:
        log.addHandler(caplog.handler)
        headers = await initialize(client)
        await client.post(f"{URL}?token={ALICE}", json=call("What grows?"), headers=headers)
    log.removeHandler(caplog.handler)
    lines = [json.loads(record.message) for record in caplog.records if record.name == log.name]
    (told,) = [line for line in lines if line["event"] == "call"]
    assert (told["caller"], told["outcome"], told["tokens"]) == ("alice", "nothing_found", TOKENS)
    assert [line["status"] for line in lines if line["event"] == "request"] == [200, 202, 200]
    # The client of the test logs whole addresses.
    logged = [record.getMessage() for record in caplog.records if not record.name.startswith("httpx")]
    everything = "\n".join([*logged, *(path.read_text() for path in (tmp_path / "traces").rglob("*.jsonl"))])
    assert "What grows?" in everything
    assert ALICE not in everything
    assert not any("What grows?" in str(line) for line in lines)


@pytest.mark.parametrize(
    ("entries", "mode", "message"),
    [
        ({"alice": {"token": "short"}}, 0o600, "alice.token: .* at least 32"),
        ({"alice": {}}, 0o600, "neither token nor token_sha256"),
        ({"../alice": {"token": ALICE}}, 0o600, "not a valid name"),
        ({"alice": {"token": ALICE}, "Alice": {"token": BOB}}, 0o600, "not a valid name"),
        ({"alice": {"token": ALICE}, "bob": {"token": ALICE}}, 0o600, "the same token"),
        ({"alice": {"token": ALICE, "budget": 1}}, 0o600, "budget: is not known here"),
        ({"alice": {"token": ALICE}}, 0o644, "can be read by others"),
    ],
)
def test_a_file_of_tokens_that_is_wrong_is_refused_without_quoting_it(
    tmp_path: Path, entries: dict[str, Any], mode: int, message: str
) -> None:
    path = token_file(tmp_path, **entries)
    path.chmod(mode)
    with pytest.raises(ConfigurationError, match=message) as caught:
        Callers(Settings(server_tokens=path))
    assert ALICE not in str(caught.value)
    assert "short" not in str(caught.value)


async def test_calls_a_minute_and_tokens_a_day_are_limited_for_each_caller(tmp_path: Path) -> None:
    entries = {"alice": {"token": ALICE, "calls_per_minute": 2}, "bob": {"token": BOB, "tokens_per_day": 2000}}
    settings = with_callers(tmp_path, entries, model="openai/none")
    async with an_app(settings) as app, a_client(app, token=ALICE) as alice, a_client(app, token=BOB) as bob:
        mine, theirs = await initialize(alice), await initialize(bob)
        for number in (1, 2):
            result_of(await alice.post(URL, json=call("Which?", number), headers=mine))
        refused = await alice.post(URL, json=call("Which?", 3), headers=mine)
        assert (refused.status_code, refused.json()["id"]) == (429, 3)
        assert 1 <= int(refused.headers["retry-after"]) <= 30
        assert "2 calls a minute" in refused.json()["error"]["message"]
        assert "says nothing about the question" in refused.json()["error"]["message"]
        for number, budget in ((1, 2000), (2, 1300)):
            result_of(await bob.post(URL, json=call("Which?", number, token_budget=budget), headers=theirs))
        _, spent = events(await bob.post(URL, json=call("Which?", 3, token_budget=601), headers=theirs))[-1]
        assert "2000 tokens a day, of which 600 are left" in spent["error"]["message"]
        assert spent["error"]["code"] == -32011
    # What was used is known after a new start, too; a server that uses no model itself may ask others that do.
    settings = with_callers(tmp_path, entries, model="extractive")
    service = Service(settings, asks_others=True)
    async with an_app(settings, service=service) as app, a_client(app, token=BOB) as bob:
        theirs = await initialize(bob)
        _, spent = events(await bob.post(URL, json=call("Which?", 3, token_budget=601), headers=theirs))[-1]
        assert "of which 600 are left" in spent["error"]["message"]


async def test_a_server_without_a_place_says_so_with_a_status_before_anything_is_begun(tmp_path: Path) -> None:
    settings = Settings(trace_dir=tmp_path / "traces", server_calls=1, server_queue=0)
    service = Service(settings)
    async with an_app(settings, service=service) as app, a_client(app) as client:
        headers = await initialize(client)
        async with service.admission.place(lambda said: None):
            busy = await client.post(URL, json=call("Which?"), headers=headers)
            assert (busy.status_code, busy.json()["error"]["code"]) == (503, -32010)
            assert busy.headers["retry-after"] == str(busy.json()["error"]["data"]["retryAfter"])
            assert (await client.get("http://10.0.0.7/readyz")).status_code == 503
            # The rest goes on.
            assert result_of(await client.post(URL, json=message("tools/list"), headers=headers))["tools"]
        assert (await client.get("http://10.0.0.7/readyz")).status_code == 200
        result_of(await client.post(URL, json=call("Which?"), headers=headers))
        service.admission.close()
        assert (await client.post(URL, json=call("Which?"), headers=headers)).status_code == 503
        assert (await client.get("http://10.0.0.7/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1", None, 200),
        ("LocalHost:80", None, 200),
        ("[::1]:443", None, 200),
        ("Research.Example.org", None, 200),
        ("research.example.org:8443", "https://Research.example.org:443", 200),
        ("research.example.org", "https://app.example.org", 200),
        ("research.example.org", "http://research.example.org", 403),
        ("research.example.org", "https://research.example.org.evil.example", 403),
        ("research.example.org", "https://app.example.org:444", 403),
        ("research.example.org", "null", 403),
        ("research.example.org.evil.example", None, 421),
        ("127.0.0.1.evil.example:8111", None, 421),
        ("research.example.org:80:80", None, 421),
        ("evil.example@research.example.org", None, 421),
        ("", None, 421),
    ],
)
async def test_requests_name_this_server_and_come_from_declared_pages(
    tmp_path: Path, host: str, origin: str | None, status: int
) -> None:
    settings = Settings(
        server_url="https://research.example.org/mcp", server_origins="https://App.example.org", server_stateless=True
    )
    async with an_app(settings, host="0.0.0.0") as app, a_client(app) as client:
        headers = {"host": host, **({"origin": origin} if origin else {})}
        answer = await client.post(URL, json=INITIALIZE, headers=headers)
    assert answer.status_code == status
    allowed = answer.headers.get("access-control-allow-origin")
    assert allowed == ("https://app.example.org" if origin == "https://app.example.org" else None)


async def test_a_page_of_a_declared_origin_may_ask_what_it_may_send(tmp_path: Path) -> None:
    settings = with_callers(tmp_path, server_origins="https://app.example.org")
    async with an_app(settings) as app, a_client(app) as client:
        asked = {
            "origin": "https://app.example.org",
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, mcp-session-id",
        }
        answer = await client.options(URL, headers=asked)
        assert answer.status_code == 200
        assert "mcp-session-id" in answer.headers["access-control-allow-headers"]
        assert (await client.options(URL, headers={**asked, "origin": "https://evil.example"})).status_code == 403


async def test_a_client_that_was_cut_off_fetches_its_answer_and_nobody_else_does(tmp_path: Path) -> None:
    async with (
        an_app(with_callers(tmp_path)) as app,
        a_client(app, token=ALICE) as alice,
        a_client(app, token=BOB) as bob,
    ):
        mine, theirs = await initialize(alice), await initialize(bob)
        answer = await alice.post(URL, json=call("What is mine?", 7), headers=mine)
        told = events(answer)
        assert told[0][1]["params"]["message"].startswith("the trace of this call is trace://")
        first = told[0][0]
        assert first
        again = await alice.get(URL, headers={**mine, "last-event-id": first})
        assert [each for _, each in events(again)] == [each for _, each in told[1:]]
        stolen = await bob.get(URL, headers={**theirs, "last-event-id": first})
        assert "What is mine?" not in stolen.text


async def test_two_servers_without_sessions_are_one_to_their_clients(tmp_path: Path) -> None:
    settings = with_callers(tmp_path, server_stateless=True)
    async with an_app(settings) as one, an_app(settings) as two, a_client(one, two, token=ALICE) as client:
        headers = await initialize(client)
        assert "mcp-session-id" not in headers
        ids = [
            result_of(await client.post(URL, json=call("Which?", number), headers=headers))["structuredContent"][
                "trace_id"
            ]
            for number in (1, 2, 3)
        ]
        for _ in range(2):
            listed = result_of(await client.post(URL, json=message("resources/list"), headers=headers))["resources"]
            assert {each["name"] for each in listed} == set(ids)


async def test_paths_of_the_server_are_not_told(tmp_path: Path) -> None:
    async def fails(*arguments: Any, **named: Any) -> Any:
        raise StorageError(
            f"{tmp_path}/traces/x.jsonl can't be written: No space left on device", hint="See https://a.example/b/c."
        )

    async with an_app(Settings(trace_dir=tmp_path / "traces"), research=fails) as app, a_client(app) as client:
        headers = await initialize(client)
        said = result_of(await client.post(URL, json=call("Which?"), headers=headers))
    assert said["isError"]
    text = said["content"][0]["text"]
    assert "can't be written: No space left on device" in text
    assert str(tmp_path) not in text
    assert "https://a.example/b/c" in text


async def test_metrics_count_calls_and_requests(tmp_path: Path) -> None:
    async with an_app(Settings(trace_dir=tmp_path / "traces")) as app, a_client(app) as client:
        headers = await initialize(client)
        await client.post(URL, json=call("Which?"), headers=headers)
        await client.get("http://127.0.0.1/secret/place")
        text = (await client.get("http://127.0.0.1/metrics")).text
    assert 'marchwarden_calls_total{outcome="nothing_found"} 1.0' in text
    assert f"marchwarden_model_tokens_total {TOKENS}.0" in text
    assert 'marchwarden_http_requests_total{method="GET",path="other",status="404"} 1.0' in text
    assert "marchwarden_calls_waiting 0.0" in text


async def test_a_span_of_a_call_names_its_trace(tmp_path: Path) -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    async with an_app(Settings(trace_dir=tmp_path / "traces")) as app, a_client(app) as client:
        headers = await initialize(client)
        result = result_of(await client.post(URL, json=call("Which?"), headers=headers))
    ids = [
        span.attributes["marchwarden.trace_id"]
        for span in kept.get_finished_spans()
        if span.name == "tools/call research"
    ]
    assert ids == [result["structuredContent"]["trace_id"]]


async def test_tokens_are_read_anew_when_the_operator_asks(tmp_path: Path) -> None:
    settings = with_callers(tmp_path)
    service = Service(settings)
    async with an_app(settings, service=service) as app, a_client(app, token=BOB) as bob:
        assert (await bob.post(URL, json=INITIALIZE)).status_code == 200
        token_file(tmp_path, alice={"token": ALICE})
        service.reload(settings)
        assert (await bob.post(URL, json=INITIALIZE)).status_code == 401
        token_file(tmp_path, alice={"token": "short"})
        with pytest.raises(ConfigurationError):
            service.reload(settings)
        with pytest.raises(ConfigurationError, match="restart it"):
            service.reload(Settings())
        token_file(tmp_path)
        with pytest.raises(ConfigurationError, match="MARCHWARDEN_SERVER_SCOPES: restart it"):
            service.reload(with_callers(tmp_path, server_scopes="research"))


async def test_a_body_that_is_too_long_or_no_json_is_an_error(tmp_path: Path) -> None:
    async with an_app(Settings(server_stateless=True)) as app, a_client(app) as client:
        headers = {"content-type": "application/json"}
        assert (await client.post(URL, content=b" " * 5_000_000, headers=headers)).status_code == 413
        deep = await client.post(URL, content=b"[" * 100_000, headers=headers)
        assert deep.status_code == 400
        old = await client.post(URL, json={**message("ping", 7), "jsonrpc": "1.0"})
        assert (old.status_code, old.json()["id"]) == (400, 7)
        batch = await client.post(URL, json=[message("ping", 8), message("ping", 9)])
        assert (batch.status_code, [each["id"] for each in batch.json()]) == (400, [8, 9])


async def test_a_caller_that_leaves_while_it_waits_gives_up_its_place(tmp_path: Path) -> None:
    """A client of 2025 that is cut off does not say that it takes its call back."""
    settings = Settings(trace_dir=tmp_path / "traces", server_calls=1, server_queue=1)
    service = Service(settings)
    async with an_app(settings, service=service) as app, a_client(app) as client:
        headers = await initialize(client)
        body = json.dumps(call("Which?")).encode()
        left = anyio.Event()
        given = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if given:
                return given.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(part: Any) -> None:
            pass

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "root_path": "",
            "headers": [
                (name.lower().encode(), value.encode())
                for name, value in {
                    **client.headers,
                    **headers,
                    "host": "127.0.0.1",
                    "content-type": "application/json",
                }.items()
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8111),
        }
        async with service.admission.place(lambda said: None), anyio.create_task_group() as group:
            group.start_soon(app, scope, receive, send)
            with anyio.fail_after(5):
                while not service.admission.waiting:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
                left.set()
                while service.admission.waiting:  # noqa: ASYNC110
                    await anyio.sleep(0.01)


async def test_what_a_call_says_after_its_caller_ended_the_session_is_no_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    began, ended = anyio.Event(), anyio.Event()

    async def last_words(request: ResearchRequest, *, on_progress: Tell, **rest: Any) -> ResearchResult:
        try:
            began.set()
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.wait_all_tasks_blocked()
            ended.set()
            on_progress("cleaning up")

    async with an_app(Settings(trace_dir=tmp_path), research=last_words) as app, a_client(app) as client:
        session = await initialize(client)
        async with anyio.create_task_group() as group:
            group.start_soon(partial(client.post, URL, json=call("What grows?", 7), headers=session))
            await began.wait()
            assert (await client.delete(URL, headers=session)).status_code == 200
            await ended.wait()
            group.cancel_scope.cancel()
    assert [each for each in caplog.messages if "raised" in each] == []


async def is_open(client: httpx.AsyncClient, session: dict[str, str]) -> bool:
    return (await client.post(URL, json=message("ping"), headers=session)).status_code == 200


async def test_of_too_many_sessions_the_one_that_was_idle_for_longest_is_ended(tmp_path: Path) -> None:
    async with an_app(Settings(trace_dir=tmp_path), most_sessions=3) as app, a_client(app) as client:
        first, second, third = [await initialize(client) for _ in range(3)]
        assert await is_open(client, first)
        fourth = await initialize(client)
        assert not await is_open(client, second)
        assert [await is_open(client, each) for each in (first, third, fourth)] == [True, True, True]
        assert len({stream.session for stream in app.state.events.streams.values()}) == 3


async def test_of_a_session_that_was_idle_for_too_long_no_event_is_kept(tmp_path: Path) -> None:
    async with an_app(Settings(trace_dir=tmp_path), idle_s=0.5) as app, a_client(app) as client:
        left = [await initialize(client) for _ in range(3)]
        for each in left:
            await client.post(URL, json=call("What grows?"), headers=each)
        await anyio.sleep(0.7)
        used = await initialize(client)
        assert len({stream.session for stream in app.state.events.streams.values()}) == 1
        assert [await is_open(client, each) for each in (*left, used)] == [False, False, False, True]


async def test_who_opens_many_sessions_ends_only_own_ones(tmp_path: Path) -> None:
    async with (
        an_app(with_callers(tmp_path), most_sessions=3) as app,
        a_client(app, token=ALICE) as alice,
        a_client(app, token=BOB) as bob,
    ):
        bobs = await initialize(bob)
        many = [await initialize(alice) for _ in range(5)]
        assert await is_open(bob, bobs)
        assert [await is_open(alice, each) for each in many] == [False, False, False, True, True]


async def test_who_listens_in_all_sessions_ends_no_session_of_another(tmp_path: Path) -> None:
    async with (
        an_app(with_callers(tmp_path), most_sessions=3) as app,
        a_client(app, token=ALICE) as alice,
        a_client(app, token=BOB) as bob,
    ):
        bobs = await initialize(bob)
        many = []
        async with anyio.create_task_group() as group:
            for _ in range(4):
                many.append(await initialize(alice))
                stream = {**many[-1], "accept": "text/event-stream"}
                group.start_soon(partial(alice.get, URL, headers=stream))
                await anyio.wait_all_tasks_blocked()
            assert await is_open(bob, bobs)
            assert [await is_open(alice, each) for each in many] == [False, False, True, True]
            group.cancel_scope.cancel()


async def test_a_session_with_a_call_that_runs_is_not_ended_though_its_client_was_cut_off(tmp_path: Path) -> None:
    began, go_on = anyio.Event(), anyio.Event()

    async def slow(request: ResearchRequest, **rest: Any) -> ResearchResult:
        began.set()
        await go_on.wait()
        return await research(request, **rest)

    async with an_app(Settings(trace_dir=tmp_path), research=slow, most_sessions=1) as app, a_client(app) as client:
        cut_off = await initialize(client)
        async with anyio.create_task_group() as group:
            group.start_soon(partial(client.post, URL, json=call("What grows?", 7), headers=cut_off))
            await began.wait()
            group.cancel_scope.cancel()
        assert await is_open(client, await initialize(client))
        assert await is_open(client, cut_off)
        go_on.set()
        await anyio.wait_all_tasks_blocked()
        another = await initialize(client)
        assert not await is_open(client, cut_off)
        assert await is_open(client, another)
