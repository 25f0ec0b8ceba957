"""Servers that share a store share an index of their traces: it lists what the traces themselves say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from uuid import uuid4

import pytest

from marchwarden.errors import ConfigurationError
from marchwarden.server.capabilities.resources import list_resources
from marchwarden.server.http.callers import Caller
from marchwarden.settings import Settings
from marchwarden.sharing.index_database import Database, open_database
from marchwarden.sharing.object_store import open_store
from marchwarden.sharing.outbox import Outbox
from marchwarden.sharing.publication import publish_all, publish_waiting, publishing
from marchwarden.sharing.trace_index import index_of
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.events import Failed, Finished
from marchwarden.trace.reader import TraceSummary
from marchwarden.trace.trace_search import Wanted, search_traces
from tests.postgres_server import a_postgres_server
from tests.server.http.serving import a_client, an_app
from tests.sharing.calls import a_trace
from tests.standins import a_result
from tests.trace.samples import started

pytestmark = pytest.mark.anyio

PASSWORD = "correct-horse-battery"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_postgres_server() as url:
        yield url.replace("postgresql:///", f"postgresql://admin:{PASSWORD}@/").removesuffix("&user=")


@pytest.fixture
def settings(tmp_path: Path, server: str) -> Settings:
    (tmp_path / "shared").mkdir(mode=0o700)
    return machine(tmp_path, "here", server)


def machine(tmp_path: Path, name: str, index: str) -> Settings:
    return Settings(trace_dir=tmp_path / name, store=f"file:{tmp_path}/shared", trace_index=index)


def some_calls(folder: Path) -> list[Path]:
    calls = []
    for number, question in enumerate(("Which tea grows in a harbour?", "What is a fjord?", "Who fires kilns?")):
        trace_id = str(uuid4())
        result = a_result(trace_id, f"Answer {number}: Größe 5", 100 + number)
        begun = started(question).model_copy(update={"source": ("web", "corpus:notes", "web,snapshot")[number]})
        calls.append(a_trace(folder, begun, Finished(decision="done", result=result), trace_id=trace_id))
    calls.append(a_trace(folder, started("What failed?"), Failed(decision="it failed", error="E", question="What?")))
    return calls


Search = Callable[[Wanted], list[TraceSummary]]


@pytest.fixture(params=["the traces", "the index"])
def search(request: pytest.FixtureRequest, settings: Settings) -> Search:
    """Search of the same four calls, by either."""
    some_calls(settings.traces)
    if request.param == "the traces":
        return lambda wanted: search_traces(settings.traces, wanted)
    index = index_of(settings)
    assert index is not None
    assert settings.store is not None
    assert publish_all(settings.traces, open_store(settings.store), index=index).traces == 4
    return lambda wanted: index.search(settings.traces, wanted)


NOW = datetime.now(timezone.utc)


@pytest.mark.parametrize(
    ("wanted", "questions"),
    [
        (Wanted(), {"Which tea", "What is", "Who fires", "What failed"}),
        (Wanted(text="HARBOUR tea"), {"Which tea"}),
        (Wanted(text="grösse answer"), {"Which tea", "What is", "Who fires"}),
        (Wanted(text="50% _"), set()),
        (Wanted(since=NOW + timedelta(days=1)), set()),
        (Wanted(before=NOW + timedelta(days=1), since=NOW - timedelta(days=1), text="fjord"), {"What is"}),
        (Wanted(source="corpus"), {"What is"}),
        (Wanted(source="snapshot"), {"Who fires", "What failed"}),
        (Wanted(statuses=frozenset({"failed"})), {"What failed"}),
        (Wanted(least_confidence=0.99), set()),
    ],
)
def test_a_search_finds_the_same_by_the_index_as_by_the_traces(
    search: Search, wanted: Wanted, questions: set[str]
) -> None:
    found = search(wanted)
    assert {" ".join((each.question or "").split()[:2]).rstrip("?") for each in found} == questions
    times = [each.started for each in found if each.started]
    assert times == sorted(times, reverse=True)


def test_a_row_says_all_that_the_trace_says(settings: Settings) -> None:
    some_calls(settings.traces)
    index = index_of(settings)
    assert index is not None
    assert settings.store is not None
    publish_all(settings.traces, open_store(settings.store), index=index)
    assert index.search(settings.traces, Wanted()) == search_traces(settings.traces, Wanted())


async def test_another_server_lists_a_call_without_its_trace_page_by_page(
    settings: Settings, tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marchwarden.server.capabilities.resources.TRACES_LISTED", 3)
    ids = {each.stem for each in some_calls(settings.traces)}
    async with publishing(settings, next(iter(ids))):
        pass
    for each in ids:
        Outbox(settings.traces).add(each)
    assert settings.store is not None
    publish_waiting(settings.traces, open_store(settings.store), 60, index_of(settings))
    there = machine(tmp_path, "there", server)
    first = await list_resources(there, None)
    assert len(first.resources) == 3
    rest = await list_resources(there, first.next_cursor)
    assert {each.name for each in (*first.resources, *rest.resources)} == ids
    assert rest.next_cursor is None
    assert list(there.traces.glob("*.jsonl")) == []


async def test_a_caller_sees_no_row_of_another(settings: Settings, tmp_path: Path, server: str) -> None:
    alice, bob = (Caller(name, None, None).settings(settings) for name in ("alice", "bob"))
    trace = a_trace(alice.traces, started("What does only Alice ask?"))
    async with publishing(alice, trace.stem):
        pass
    assert [each.name for each in (await list_resources(alice, None)).resources] == [trace.stem]
    for other in (bob, settings):
        assert (await list_resources(other, None)).resources == []
        with pytest.raises(Exception, match="cursor"):
            await list_resources(other, trace.stem)


async def test_a_call_that_runs_is_listed_before_it_has_a_row(settings: Settings) -> None:
    trace_id = str(uuid4())
    async with publishing(settings, trace_id):
        a_trace(settings.traces, started("What runs?"), trace_id=trace_id)
        assert [each.name for each in (await list_resources(settings, None)).resources] == [trace_id]


async def test_a_finished_trace_is_not_replaced_by_an_older_state_of_it(settings: Settings, tmp_path: Path) -> None:
    (whole, *_) = some_calls(settings.traces)
    index = index_of(settings)
    assert index is not None
    index.put(whole)
    begun = tmp_path / "begun" / whole.name
    begun.parent.mkdir()
    begun.write_bytes(whole.read_bytes().split(b"\n")[0] + b"\n")
    index.put(begun)
    assert [each.outcome for each in index.search(tmp_path / "none", Wanted())] == ["finished"]


async def test_what_postgresql_takes_no_text_for_is_indexed_all_the_same(settings: Settings) -> None:
    settings.traces.mkdir()
    path = settings.traces / f"{uuid4()}.jsonl"
    path.write_text(
        '{"step": 1, "action": "start", "question": "a\\u0000b \\ud800", "model_id": "\\\\u0000"}\n'
        '{"step": 2, "action": "result", "result": {"confidence": NaN, "answer": "c\\u0000d"}}\n'
    )
    index = index_of(settings)
    assert index is not None
    index.put(path)
    (found,) = index.search(settings.traces, Wanted(text="cd"))
    assert (found.question, found.model_id, found.confidence, found.started) == ("ab ?", "\\u0000", None, None)


async def test_while_the_database_is_down_calls_are_answered_and_indexed_later(
    settings: Settings, tmp_path: Path, server: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = f"postgresql://admin:{PASSWORD}@/postgres?host={tmp_path}/gone"
    down = machine(tmp_path, "here", gone)
    (trace, *_) = some_calls(down.traces)
    told: list[str] = []
    with caplog.at_level(logging.WARNING):
        async with publishing(down, trace.stem, told.append):
            pass
        async with publishing(down, trace.stem, told.append):
            pass
    assert told == []  # the store has it
    assert [each for each in caplog.messages if "calls are answered all the same" in each] == [
        "the index of traces can't be used: it can't be reached; calls are answered all the same"
    ]
    assert [each.trace for each in Outbox(down.traces).waiting()] == [trace]
    # It is listed by the traces.
    assert trace.stem in {each.name for each in (await list_resources(down, None)).resources}
    async with an_app(down) as app, a_client(app) as client:
        answer = await client.get("http://127.0.0.1/readyz")
        assert (answer.status_code, answer.text) == (
            200,
            "ready\nthe index of traces can't be used: it can't be reached\n",
        )
    async with publishing(settings, str(uuid4())):
        a_trace(settings.traces, started("What came after it?"), trace_id="11118c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f")
    assert settings.store is not None
    publish_waiting(settings.traces, open_store(settings.store), 60, index_of(settings))
    assert Outbox(settings.traces).waiting() == []
    assert trace.stem in {each.name for each in (await list_resources(settings, None)).resources}


async def test_a_database_that_comes_back_is_used_again(
    server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database = Database(server)
    database.problem = "the index of traces can't be used: it can't be reached"
    assert database.check() is None
    assert database.problem is None
    assert "the index of traces can be used again" in caplog.text


def test_no_password_is_told(settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert PASSWORD in secrets_of(settings)
    assert PASSWORD not in repr(settings)
    asked = Settings(trace_index=f"postgresql://h/d?user=a&password={PASSWORD}")
    assert PASSWORD in secrets_of(asked)
    for wrong in (f"postgresql://admin:{PASSWORD}:x@127.0.0.1:{PASSWORD}/d", f"postgresql://a:b/{PASSWORD}@h:1/d"):
        said = Database(wrong).check()
        assert said is not None
        assert PASSWORD not in said + caplog.text
    with pytest.raises(ConfigurationError, match="no address of PostgreSQL") as told:
        open_database(f"mysql://admin:{PASSWORD}@h/d")
    assert PASSWORD not in str(told.value)


def test_two_servers_that_start_at_once_both_find_the_table(server: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE fresh")
    fresh = server.replace("/postgres?", "/fresh?")
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda _: Database(fresh).check(), range(8))) == [None] * 8
