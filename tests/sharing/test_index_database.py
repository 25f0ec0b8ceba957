"""The database of the index of traces may be down, hang, be slow or be somebody else's: calls are answered in time, what
they ask is published, and nobody's values are the problem of others."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from marchwarden.errors import ConfigurationError, StorageError, TraceError
from marchwarden.server.capabilities.resources import list_resources
from marchwarden.settings import Settings
from marchwarden.sharing.index_database import USE_S, Database, open_database
from marchwarden.sharing.object_store import open_store
from marchwarden.sharing.outbox import Outbox
from marchwarden.sharing.publication import publish_all, publish_waiting, publishing
from marchwarden.sharing.trace_index import TraceIndex, index_of
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.reader import TraceSummary
from marchwarden.trace.trace_search import Wanted
from tests.postgres_server import a_postgres_server
from tests.sharing.calls import a_call, a_trace
from tests.trace.samples import started

pytestmark = pytest.mark.anyio

ID = "0b7e1c2a-5a53-4c7e-9f0e-6d1d1d6f2a11"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_postgres_server() as url:
        yield url.replace("postgresql:///", "postgresql://admin@/").removesuffix("&user=")


@pytest.fixture
def execute(server: str) -> Callable[..., list[Any]]:
    """Run a statement as the superuser, in the database of a name."""
    import psycopg

    def run(statement: str, *values: object, database: str = "postgres") -> list[Any]:
        with psycopg.connect(server.replace("/postgres?", f"/{database}?"), autocommit=True) as connection:
            done = connection.execute(statement, values or None)
            return done.fetchall() if done.description else []

    return run


@pytest.fixture
def settings(tmp_path: Path, server: str) -> Iterator[Settings]:
    open_database.cache_clear()  # each test begins with a database that has not failed
    (tmp_path / "shared").mkdir(mode=0o700)
    yield machine(tmp_path, "here", server)
    open_database.cache_clear()


def machine(tmp_path: Path, name: str, index: str) -> Settings:
    return Settings(trace_dir=tmp_path / name, store=f"file:{tmp_path}/shared", trace_index=index)


def parts_of(settings: Settings) -> tuple[TraceIndex, str]:
    index = index_of(settings)
    assert index is not None
    assert settings.store is not None
    return index, open_store(settings.store).name


def test_a_database_that_hangs_in_the_middle_of_a_statement_holds_nobody_up(server: str) -> None:
    database, stopped = Database(server), list[int]()
    before = threading.active_count()

    def work(connection: Any) -> None:
        stopped.append(connection.info.backend_pid)
        os.kill(stopped[0], signal.SIGSTOP)
        connection.execute("SELECT 1")

    begun = time.monotonic()
    try:
        with pytest.raises(StorageError, match="it did not answer in time"):
            database.use(work, 0.5)
        assert time.monotonic() - begun < 2
        # Neither a thread nor a connection stays behind, although the database still hangs.
        while threading.active_count() > before and time.monotonic() - begun < 5:
            time.sleep(0.01)
        assert threading.active_count() == before
    finally:
        os.kill(stopped[0], signal.SIGCONT)
    with pytest.raises(StorageError, match="in time"):
        database.use(lambda connection: None)  # it is not asked again at once


def test_a_database_that_takes_no_connection_holds_nobody_up(server: str) -> None:
    (folder,) = parse_qs(urlsplit(server).query)["host"]
    postmaster = int(Path(folder, "data", "postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGSTOP)
    begun = time.monotonic()
    try:
        with pytest.raises(StorageError):
            Database(server).use(lambda connection: None, 0.5)
        assert time.monotonic() - begun < 2
    finally:
        os.kill(postmaster, signal.SIGCONT)


def test_a_database_that_ends_a_connection_is_told_in_our_words(server: str) -> None:
    with pytest.raises(StorageError, match=r"it is shutting down|it can't be reached"):
        Database(server).use(lambda connection: connection.execute("SELECT pg_terminate_backend(pg_backend_pid())"))


async def test_calls_do_not_wait_for_a_slow_index(
    settings: Settings, server: str, execute: Callable[..., list[Any]]
) -> None:
    database = open_database(server)
    database.use(lambda connection: connection.execute("SELECT pg_sleep(1.1)"))
    trace_id = str(uuid4())
    async with publishing(settings, trace_id):
        a_trace(settings.traces, started("Who waits?"), trace_id=trace_id)
    waiting = Outbox(settings.traces).find(trace_id)
    assert waiting is not None
    assert (waiting.is_published, waiting.reason) == (True, "the index of traces can't be used: it is slow")
    assert database.problem is None
    # It is listed from here meanwhile, and gets its row where somebody has time.
    assert [each.name for each in (await list_resources(settings, None)).resources] == [trace_id]
    index, shelf = parts_of(settings)
    assert settings.store is not None
    publish_waiting(settings.traces, open_store(settings.store), float("inf"), index)
    assert Outbox(settings.traces).find(trace_id) is None
    assert execute("SELECT count(*) FROM marchwarden_traces WHERE shelf = %s", shelf) == [(1,)]


@pytest.mark.parametrize("cursor", ["\x00", "\ud800", "' OR 1=1 --", "../bob/x", ID])
async def test_no_cursor_of_a_client_takes_the_index_from_the_others(settings: Settings, cursor: str) -> None:
    with pytest.raises(MCPError, match="cursor"):
        await list_resources(settings, cursor)
    index, _ = parts_of(settings)
    assert index.resting is None


def test_values_that_it_does_not_take_are_no_problem_of_the_database(server: str) -> None:
    database = Database(server)
    with pytest.raises(StorageError, match="it does not take these values"):
        database.use(lambda connection: connection.execute("SELECT '\\u0000'::jsonb ->> 0"))
    with pytest.raises(StorageError, match="it does not take these values"):
        database.use(lambda connection: connection.execute("SELECT %s::text", ("\x00",)))
    assert (database.problem, database.check()) == (None, None)


async def test_a_list_that_began_without_the_index_goes_on_with_it(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marchwarden.server.capabilities.resources.TRACES_LISTED", 1)
    older = a_trace(settings.traces, started("Which?"))
    await anyio.sleep(0.002)  # traces are in the order of the milliseconds in which they began
    newer = a_trace(settings.traces, started("Which?"))
    index, _ = parts_of(settings)
    index.put(older)
    Outbox(settings.traces).add(newer.stem)
    down = machine(tmp_path, "here", f"postgresql://admin@/postgres?host={tmp_path}/gone")
    first = await list_resources(down, None)
    assert (first.resources[0].name, first.next_cursor) == (newer.stem, newer.stem)
    rest = await list_resources(settings, first.next_cursor)
    assert ([each.name for each in rest.resources], rest.next_cursor) == ([older.stem], None)


def test_while_the_database_is_down_everything_that_waits_is_published(settings: Settings, tmp_path: Path) -> None:
    down = machine(tmp_path, "here", f"postgresql://admin@/postgres?host={tmp_path}/gone")
    calls = [a_call(down.traces, str(number).encode()) for number in range(3)]
    assert down.store is not None
    store, (index, _) = open_store(down.store), parts_of(down)
    done = publish_all(down.traces, store, index=index)
    assert (done.traces, done.left, done.unlisted) == (3, 0, 3)
    assert done.problem == "the index of traces can't be used: it can't be reached"
    assert all(each.is_published for each in Outbox(down.traces).waiting())
    # Of what lacks only its row, a call asks the store nothing; of the rest it does.
    late = a_call(down.traces, b"late")
    Outbox(down.traces).add(late.stem)
    done = publish_waiting(down.traces, store, 60, index)
    assert (done.traces, done.unlisted) == (1, 4)
    (index, _) = parts_of(settings)
    done = publish_all(down.traces, store, index=index)
    assert (done.traces, done.unlisted, done.problem) == (0, 0, None)
    assert Outbox(down.traces).waiting() == []
    assert {each.trace_id for each in index.search(tmp_path / "none", Wanted())} == {
        *(c.stem for c in calls),
        late.stem,
    }


@pytest.mark.parametrize(("role", "may_write"), [("reader", False), ("writer", True)])
def test_a_role_needs_only_the_rights_that_it_uses(
    settings: Settings, server: str, execute: Callable[..., list[Any]], role: str, may_write: bool
) -> None:
    assert Database(server).check() is None
    execute(f"CREATE ROLE {role} LOGIN")
    execute(f"GRANT {'SELECT, INSERT, UPDATE' if may_write else 'SELECT'} ON marchwarden_traces TO {role}")
    trace = a_trace(settings.traces, started("Who may?"))
    _, shelf = parts_of(settings)
    index = TraceIndex(Database(server.replace("admin@", f"{role}@")), shelf)
    assert index.search(settings.traces, Wanted()) == []
    if may_write:
        index.put(trace)
    else:
        with pytest.raises(StorageError, match="the role may not make or use its table"):
            index.put(trace)


def test_a_database_that_can_t_hold_every_character_is_not_used(
    settings: Settings, tmp_path: Path, server: str, execute: Callable[..., list[Any]]
) -> None:
    execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    own = machine(tmp_path, "here", server.replace("/postgres?", "/latin?"))
    index, _ = parts_of(own)
    with pytest.raises(StorageError, match="its encoding is not UTF8"):
        index.put(a_trace(own.traces, started("Was wächst in 日本?")))


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE marchwarden_traces (shelf text, trace_id text)",
        "CREATE TABLE marchwarden_traces (shelf text, trace_id text, started timestamptz, is_finished boolean, "
        "size bigint, summary jsonb, searched text, later text NOT NULL, PRIMARY KEY (shelf, trace_id))",
    ],
)
def test_a_table_of_another_version_is_told(
    settings: Settings, tmp_path: Path, server: str, execute: Callable[..., list[Any]], table: str
) -> None:
    name = f"other_{uuid4().hex}"
    execute(f"CREATE DATABASE {name}")
    execute(table, database=name)
    index, _ = parts_of(machine(tmp_path, "here", server.replace("/postgres?", f"/{name}?")))
    with pytest.raises(StorageError, match="its table marchwarden_traces is of another version"):
        index.put(a_trace(settings.traces, started("Which?")))


def test_a_table_that_was_dropped_is_made_again(
    settings: Settings, tmp_path: Path, server: str, execute: Callable[..., list[Any]]
) -> None:
    execute("CREATE DATABASE dropped")
    index, _ = parts_of(machine(tmp_path, "here", server.replace("/postgres?", "/dropped?")))
    trace = a_trace(settings.traces, started("Which?"))
    index.put(trace)
    execute("DROP TABLE marchwarden_traces", database="dropped")
    with pytest.raises(StorageError, match="its table marchwarden_traces is gone"):
        index.put(trace)
    open_database.cache_clear()
    index, _ = parts_of(machine(tmp_path, "here", server.replace("/postgres?", "/dropped?")))
    index.put(trace)
    assert [each.trace_id for each in index.search(settings.traces, Wanted())] == [trace.stem]


@pytest.mark.parametrize(
    ("trace_id", "summary", "expected"),
    [
        ("../../etc/passwd", "{}", None),
        (f"{ID}\n", "{}", None),
        (ID, "[1]", (None, "unfinished", None)),
        (ID, '{"question": 5, "outcome": "odd", "confidence": "high"}', (None, "unfinished", None)),
        (ID, '{"question": "q", "outcome": "failed", "confidence": 0.5, "new": 1}', ("q", "failed", 0.5)),
        (ID, '{"question": "q", "tokens_used": 1e5000}', (None, "unfinished", None)),
    ],
)
async def test_a_row_that_another_wrote_breaks_no_list(
    settings: Settings,
    execute: Callable[..., list[Any]],
    trace_id: str,
    summary: str,
    expected: tuple[str | None, str, float | None] | None,
) -> None:
    def told(found: TraceSummary) -> tuple[str | None, str, float | None]:
        return found.question, found.outcome, found.confidence

    index, shelf = parts_of(settings)
    assert index.search(settings.traces, Wanted()) == []
    execute("INSERT INTO marchwarden_traces VALUES (%s, %s, now(), true, 5, %s, 'x')", shelf, trace_id, summary)
    assert [told(each) for each in index.search(settings.traces, Wanted())] == ([expected] if expected else [])
    assert len((await list_resources(settings, None)).resources) == (1 if expected else 0)


def test_a_trace_that_is_pruned_meanwhile_gets_no_row(settings: Settings, tmp_path: Path) -> None:
    index, _ = parts_of(settings)
    with pytest.raises(TraceError):
        index.put(tmp_path / "here" / f"{uuid4()}.jsonl")
    assert index.search(settings.traces, Wanted()) == []


def test_an_index_that_is_made_again_is_the_same(settings: Settings, execute: Callable[..., list[Any]]) -> None:
    for number in range(3):
        a_call(settings.traces, str(number).encode())
    a_trace(settings.traces, started("日本 \ud800 'x' \\u0000 %s"))
    index, shelf = parts_of(settings)
    assert settings.store is not None
    store = open_store(settings.store)
    publish_all(settings.traces, store, index=index)
    rows = "SELECT * FROM marchwarden_traces WHERE shelf = %s ORDER BY trace_id"
    before = execute(rows, shelf)
    execute("DELETE FROM marchwarden_traces WHERE shelf = %s", shelf)
    publish_all(settings.traces, store, index=index)
    assert len(before) == 4
    assert execute(rows, shelf) == before


def test_many_calls_at_once_take_few_connections(settings: Settings, execute: Callable[..., list[Any]]) -> None:
    index, shelf = parts_of(settings)
    most = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'marchwarden'"
    traces = [a_trace(settings.traces, started("Which?")) for _ in range(40)]
    with ThreadPoolExecutor(40) as threads:
        ended = [threads.submit(index.put, each) for each in traces]
        assert execute(most)[0][0] <= 8
        for each in ended:
            each.result(USE_S)
    assert execute("SELECT count(*) FROM marchwarden_traces WHERE shelf = %s", shelf) == [(40,)]


@pytest.mark.parametrize(
    "wrong", ["postgresql://u:secret-word@[x/d", "postgresql:///\x00", "postgresql://u:\ud800@h/d"]
)
def test_what_is_no_address_is_refused_without_being_told(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="no address of PostgreSQL") as told:
        open_database(wrong)
    assert "secret-word" not in str(told.value)


def test_what_libpq_takes_from_elsewhere_is_secret_too(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "from-the-environment")
    found = secrets_of(Settings(trace_index="postgresql://h/d?sslkey=k&sslpassword=of-the-key"))
    assert {"from-the-environment", "of-the-key"} <= set(found)
