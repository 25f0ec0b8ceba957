"""First calls, before anything was indexed: they wait for their source, and what they wait is not on their clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from filelock import FileLock

from marchwarden.frozen_web.kept_index import WAITING, open_or_build
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.server import worker
from marchwarden.server.worker import RESEARCH, prepare_sources
from marchwarden.settings import Settings
from tests.frozen_web.small_web import CROPS, LAKE, write_web
from tests.profiles import within
from tests.server.test_worker import Caller

pytestmark = pytest.mark.anyio

QUESTION = "What are ideal crops for a garden in Utah?"
INDEXING = "Indexing the frozen web: 2 of 2 pages"


@pytest.fixture
def web(tmp_path: Path) -> FrozenWeb:
    return write_web(
        tmp_path / "web",
        {"url": "https://a.example.edu/crops", "page": CROPS},
        {"url": "https://b.example.gov/lake", "page": LAKE},
    )


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    """Of this test alone, and empty."""
    return tmp_path / "own-cache"


def settings(web: FrozenWeb, caches: Path, **more: float) -> Settings:
    return Settings(web=web.folder, cache_dir=caches, **more)  # type: ignore[arg-type]


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(60):
        while not holds():  # noqa: ASYNC110  another process makes it so, and can't set an event
            await anyio.sleep(0.02)


async def test_six_first_calls_at_once_all_answer_and_one_of_them_builds(web: FrozenWeb, caches: Path) -> None:
    callers = [Caller(settings(web, caches), RESEARCH) for _ in range(6)]
    found: list[str] = []

    async def ask(each: Caller) -> None:
        found.extend(citation.locator for citation in (await each.ask(QUESTION)).citations[:1])

    async with anyio.create_task_group() as group:
        for each in callers:
            group.start_soon(ask, each)
    assert found == ["https://a.example.edu/crops"] * 6
    assert sum(INDEXING in each.heard for each in callers) == 1


async def test_waiting_for_the_index_takes_nothing_of_a_short_clock(
    web: FrozenWeb, caches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process builds for longer than the call may take."""
    monkeypatch.setattr(worker, "GRACE_SECONDS", 0.1)
    open_or_build(web, caches, lambda message: None)
    (lock,) = (caches / "snapshot").glob("*.lock")
    lock.with_suffix("").rename(caches / "aside")
    caller = Caller(settings(web, caches, max_seconds=4), RESEARCH)

    async def build_slowly() -> None:
        with FileLock(lock):
            group.start_soon(caller.ask, QUESTION)
            await until(lambda: WAITING in caller.heard)
            await anyio.sleep(4.5)
            assert not (tmp_path / "traces" / f"{caller.trace_id}.jsonl").exists()  # it has not begun

    async with anyio.create_task_group() as group:
        await build_slowly()
    assert INDEXING in caller.heard
    result = caller.trace.result
    assert result is not None
    assert {citation.locator for citation in result.citations} == {"https://a.example.edu/crops"}
    assert result.cost_metadata.wall_time_sec < 4


async def test_a_cancelled_build_leaves_nothing_that_the_next_call_waits_for(web: FrozenWeb, caches: Path) -> None:
    first, second = (Caller(settings(web, caches), RESEARCH) for _ in range(2))
    with anyio.move_on_after(0.05):
        await first.ask(QUESTION)
    assert (await second.ask(QUESTION)).citations


@pytest.mark.parametrize("place", ["/proc/marchwarden", "/dev/null/cache"])
async def test_without_a_place_for_the_index_a_first_call_answers_all_the_same(web: FrozenWeb, place: str) -> None:
    caller = Caller(settings(web, Path(place)), RESEARCH)
    assert (await caller.ask(QUESTION)).citations
    assert caller.heard.count(INDEXING) == 1


async def test_a_server_indexes_before_it_is_asked(web: FrozenWeb, caches: Path) -> None:
    began = time.monotonic()
    prepare_sources(settings(web, caches))
    assert time.monotonic() - began < within(1)
    await until(lambda: any((caches / "snapshot").glob("*/sealed.json")))
    caller = Caller(settings(web, caches), RESEARCH)
    assert (await caller.ask(QUESTION)).citations
    assert INDEXING not in caller.heard


async def test_a_folder_that_is_no_web_is_left_for_the_call_to_report(tmp_path: Path) -> None:
    prepare_sources(Settings(web=tmp_path / "nowhere"))
