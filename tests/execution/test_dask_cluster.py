"""Questions on the workers of a Dask cluster: what comes back, what is asked again, and what it may cost."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.contract import Constraints, ResearchRequest
from marchwarden.errors import BudgetExhausted, ClusterError, ConfigurationError, ResearchFailed
from marchwarden.execution import dask_cluster
from marchwarden.execution.cluster_call import SetUp, order_of, run_order
from marchwarden.execution.dask_cluster import DaskCluster, open_cluster, scheduler_of
from marchwarden.execution.run_budget import RunBudget
from marchwarden.settings import Settings, load_settings
from marchwarden.trace.reader import read_trace
from tests.execution.calls import TRACE
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio

distributed = pytest.importorskip("distributed")

REQUEST = ResearchRequest(question="What is Casgevy?", constraints=Constraints(token_budget=1_000))
LOOPBACK: dict[str, Any] = {"host": "127.0.0.1", "port": 0, "dashboard_address": "127.0.0.1:0", "dashboard": False}
TRACE_ID = "3f2b8c1e-0000-4000-8000-000000000001"


@asynccontextmanager
async def a_cluster(call: str, budget: RunBudget | None = None) -> AsyncIterator[DaskCluster]:
    """A scheduler and a worker in this process."""
    async with (
        distributed.Scheduler(**LOOPBACK) as scheduler,
        distributed.Worker(scheduler.address, nthreads=2, **LOOPBACK),
        open_cluster(scheduler.address, budget, call=f"tests.execution.calls:{call}") as cluster,
    ):
        yield cluster


@pytest.fixture
def settings() -> Settings:
    return load_settings(model="openai/m", source="snapshot")


async def test_the_answer_comes_back_and_its_trace_is_kept_here(settings: Settings) -> None:
    budget = RunBudget(1_000)
    async with a_cluster("answers", budget) as cluster:
        result, seconds = await cluster.research(REQUEST, settings, TRACE_ID)
    assert (result.trace_id, seconds, cluster.jobs) == (TRACE_ID, 0.5, 4)
    assert (settings.traces / f"{TRACE_ID}.jsonl").read_bytes() == TRACE
    assert budget.used == result.cost_metadata.tokens_used


async def test_a_failed_call_costs_what_its_trace_says(settings: Settings) -> None:
    budget = RunBudget(5_000)
    async with a_cluster("fails", budget) as cluster:
        with pytest.raises(ResearchFailed, match="the research failed"):
            await cluster.research(REQUEST, settings, TRACE_ID)
    assert budget.used == 321


async def test_a_worker_that_is_set_up_otherwise_ends_the_run(settings: Settings) -> None:
    async with a_cluster("finds_another_version") as cluster:
        with pytest.raises(ConfigurationError, match="the worker can't be used"):
            await cluster.research(REQUEST, settings, TRACE_ID)


async def test_a_lost_try_counts_in_full_and_the_next_one_needs_its_own_budget(settings: Settings) -> None:
    enough, short = RunBudget(3_000), RunBudget(2_500)
    async with a_cluster("has_a_full_disk", enough) as cluster:
        with pytest.raises(ResearchFailed, match="asked 3 times, and each time the disk was full"):
            await cluster.research(REQUEST, settings, TRACE_ID)
        cluster._budget = short
        with pytest.raises(BudgetExhausted):
            await cluster.research(REQUEST, settings, TRACE_ID)
    assert (enough.used, short.used) == (3_000, 2_000)


async def test_a_scheduler_without_workers_or_none_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "JOIN_S", 0.0)
    monkeypatch.setattr(dask_cluster, "_CONNECT_S", 0.5)
    async with distributed.Scheduler(**LOOPBACK) as scheduler:
        with pytest.raises(ClusterError, match="no worker has joined"):
            async with open_cluster(scheduler.address):
                pass
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1:"):
        async with open_cluster("tcp://127.0.0.1:1"):
            pass


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("dask://10.0.0.5", "tcp://10.0.0.5:8786"),
        ("tcp://head:9000/", "tcp://head:9000"),
        ("tls://[::1]:1", "tls://[::1]:1"),
    ],
)
def test_addresses_are_those_of_dask(given: str, address: str) -> None:
    assert scheduler_of(given) == address


@pytest.mark.parametrize("given", ["ray://head:10001", "head:8786", "dask://", "tcp://me:secret@head:1", "tcp://a:b"])
def test_other_addresses_are_refused_without_their_secrets(given: str) -> None:
    with pytest.raises(ValueError, match="dask://HOST:PORT") as caught:
        scheduler_of(given)
    assert "secret" not in str(caught.value)


def test_keys_and_addresses_of_services_do_not_travel() -> None:
    settings = load_settings(
        model="openai/m", api_key="sk-secret-1", api_base="http://model.example/v1", tavily_api_key="tvly-secret-2"
    )
    order = order_of(REQUEST, SetUp.of(settings), TRACE_ID)
    assert "secret" not in order
    assert "model.example" not in order
    assert json.loads(json.loads(order)["settings"])["model"] == "openai/m"


def test_a_worker_refuses_what_it_would_answer_otherwise(tmp_path: Path) -> None:
    web = make_web(tmp_path / "web", {"https://a.example/": article("A", "B is in C.")})
    settings = load_settings(model="extractive", source="snapshot", web=web)
    here = SetUp.of(settings)
    assert here.problem(settings) is None
    told = {
        "version": "it has Marchwarden",
        "program": "its program for extractive is none, and other is needed",
        "web": "the frozen web in .* is another one there",
    }
    for field, said in told.items():
        answer = run_order(order_of(REQUEST, replace(here, **{field: "other"}), TRACE_ID))
        assert answer["error"]["class"] == "ConfigurationError"
        assert re.search(said, answer["error"]["message"])


@contextmanager
def dask(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of Dask, which is gone at the end, with those that it started."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def two_workers(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    file = tmp_path / "scheduler.json"
    places = ("--local-directory", str(tmp_path), "--nthreads", "2", "--no-dashboard")
    with dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)):
        while not file.exists():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        with dask("worker", address, *places) as one, dask("worker", address, *places) as other:
            yield address, [one, other]


@pytest.mark.slow
async def test_calls_of_a_worker_that_is_killed_are_made_by_the_other_one(tmp_path: Path) -> None:
    pages = {
        f"https://river{n}.example/": article(
            f"The river Number{n}", f"The river Number{n} is {n + 1},574 kilometres long, from source to mouth."
        )
        for n in range(8)
    }
    settings = load_settings(
        model="extractive", source="snapshot", web=make_web(tmp_path / "web", pages), max_seconds=120
    )
    traces: list[str] = []
    first = anyio.Event()

    async def ask(cluster: DaskCluster, number: int) -> None:
        trace_id = f"3f2b8c1e-0000-4000-8000-00000000000{number}"
        request = ResearchRequest(question=f"How long is the river Number{number}?")
        await cluster.research(request, settings, trace_id)
        assert read_trace(settings.traces / f"{trace_id}.jsonl").outcome == "finished"
        traces.append(trace_id)
        first.set()

    with two_workers(tmp_path) as (address, (doomed, _)):
        async with open_cluster(address) as cluster, anyio.create_task_group() as group:
            while cluster.places < 4:
                cluster.places = await cluster.wait_for_workers()
                await anyio.sleep(0.2)
            for number in range(8):
                group.start_soon(ask, cluster, number)
            await first.wait()
            os.killpg(doomed.pid, signal.SIGKILL)
    assert len(traces) == 8


@pytest.mark.slow
async def test_a_question_that_kills_its_workers_is_given_up_and_others_are_answered(
    tmp_path: Path, settings: Settings
) -> None:
    with two_workers(tmp_path) as (address, _):
        budget = RunBudget(10_000)
        async with open_cluster(address, budget, call="tests.execution.calls:kills_its_worker") as cluster:
            with pytest.raises(ResearchFailed, match="asked 3 times, and each time its worker died"):
                await cluster.research(REQUEST, settings, TRACE_ID)
        assert budget.used == 3_000
        async with open_cluster(address, call="tests.execution.calls:answers") as cluster:
            assert (await cluster.research(REQUEST, settings, TRACE_ID))[0].trace_id == TRACE_ID
