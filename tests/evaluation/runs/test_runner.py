"""Labelled questions asked of real workers on a small web: what fails is scored, what was done is kept."""

from __future__ import annotations

import os
import resource
import signal
import socket
from collections.abc import Callable
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import BudgetExhausted, ConfigurationError, StorageError
from marchwarden.evaluation.labels.questions import GoldGap, Nugget, Question, Quote
from marchwarden.evaluation.runs.run import Record, Run, open_run, start_run
from marchwarden.evaluation.runs.runner import ask_all, ask_one, scored
from marchwarden.execution.run_budget import RunBudget
from marchwarden.settings import Settings, load_settings
from marchwarden.trace.events import Synthesized
from marchwarden.trace.reader import read_trace
from marchwarden.trace.writer import TraceWriter
from tests import standins
from tests.evaluation.samples import a_question, info
from tests.trace.samples import TRACE_ID, a_result, a_whole_call
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio

CROPS, SLOW = "https://garden.example/crops", "https://slow.example/rivers"
FACT = "Tomatoes need 120 centimetres of space between their rows in a garden."
PAGES: dict[str, Any] = {
    CROPS: article("Tomatoes in a garden", FACT, "Peas and lettuce are sown in early spring, before the last frost."),
    SLOW: {
        "body": article("The river Zambezi", "The river Zambezi is 2,574 kilometres long, from source to mouth."),
        "delay_s": 3,
    },
}
TOMATOES = a_question(
    id="tomatoes",
    question="How much space do tomatoes need between their rows?",
    nuggets=[Nugget(id="n1", text="space", answers=["120 centimetres"], evidence=[Quote(url=CROPS, quote=FACT)])],
)
RIVER = a_question(id="river", question="How long is the river Zambezi?", nuggets=[TOMATOES.nuggets[0]])
UNKNOWN = a_question(
    id="unknown",
    question="Who won the chess olympiad of 1978?",
    tags=["unanswerable"],
    gaps=[GoldGap(topic="winner of the chess olympiad of 1978", category="source_not_found")],  # type: ignore[arg-type]
)


@pytest.fixture
def small_web(tmp_path: Path) -> Path:
    return make_web(tmp_path / "web", PAGES)


@pytest.fixture
def settings(small_web: Path) -> Settings:
    return load_settings(model="extractive", source="snapshot", web=small_web, max_seconds=120)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return start_run(tmp_path / "run", info())


async def ask(run: Run, *questions: Question, settings: Settings, jobs: int = 2, **more: Any) -> None:
    await ask_all(run, questions, settings, jobs=jobs, **more)


async def test_each_question_is_asked_scored_told_and_kept_with_its_trace(run: Run, settings: Settings) -> None:
    told: list[Record] = []
    await ask(run, TOMATOES, UNKNOWN, settings=settings, on_record=told.append)
    assert {record.id for record in told} == {"tomatoes", "unknown"}
    assert sorted(open_run(run.folder).records, key=str) == sorted(told, key=str)
    by_id = {record.id: record for record in told}
    answered = by_id["tomatoes"]
    assert answered.cells["nugget_recall"] == answered.cells["evidence_recall"] == {"hits": 1, "of": 1}
    assert answered.result is not None
    cited = len(answered.result.citations)
    assert answered.cells["verbatim_fidelity"] == {"hits": cited, "of": cited}
    assert answered.cells["budget_violations"] == {"value": 0}
    assert answered.dollars is None
    assert by_id["unknown"].cells["abstention"] == {"hits": 1, "of": 1}
    for record in told:
        trace = read_trace(run.traces / f"{record.trace_id}.jsonl")
        assert trace.result == record.result
        assert record.pages == len(trace.fetches)
        assert 0 < record.seconds < 120
    assert not settings.traces.exists()


async def test_a_model_that_cannot_be_reached_is_scored_by_what_was_answered_without_it(
    run: Run, settings: Settings
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    dead = settings.model_copy(update={"model": "openai/nobody", "api_base": base, "max_seconds": 120.0})
    await ask(run, TOMATOES, settings=dead)
    (record,) = run.records
    assert record.result is not None
    assert record.cells["completed"] == {"hits": 1, "of": 1}
    assert record.cells["nugget_recall"] == {"hits": 1, "of": 1}
    actions = [line["action"] for line in read_trace(run.traces / f"{record.trace_id}.jsonl").raw]
    assert "fallback" in actions
    assert record.cells["by_model"] == {"hits": 0, "of": 1}


async def test_who_worded_an_answer_is_read_from_its_trace(run: Run, settings: Settings) -> None:
    own = settings.model_copy(update={"trace_dir": run.traces})
    for model, own_words in (("extractive", None), ("openai/m", {"hits": 1, "of": 1})):
        with TraceWriter(own.traces, TRACE_ID) as writer:
            for event in a_whole_call():
                is_worded = isinstance(event, Synthesized)
                writer.record(event.model_copy(update={"stage_form": "model"}) if is_worded else event)
        its = own.model_copy(update={"model": model})
        assert scored(TOMATOES, a_result(), None, TRACE_ID, 1.0, its).cells["by_model"] == own_words
        (own.traces / f"{TRACE_ID}.jsonl").unlink()
        assert scored(TOMATOES, a_result(), None, TRACE_ID, 1.0, its).cells["by_model"] is None


# Failures of a question


def _workers() -> list[int]:
    """The processes of calls that run now: children of the one that they are forked from."""
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    tasks = Path(f"/proc/{server}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


async def _kill_the_next_worker(is_right_moment: Callable[[], bool]) -> None:
    with anyio.fail_after(60):
        while not (is_right_moment() and _workers()):  # noqa: ASYNC110  other processes make it so
            await anyio.sleep(0.02)
    for pid in _workers():
        os.kill(pid, signal.SIGKILL)


async def test_a_killed_worker_is_a_scored_failure_the_run_goes_on_and_the_question_is_asked_again(
    run: Run, settings: Settings
) -> None:
    def slow_page_is_asked_for() -> bool:
        return any("slow.example" in path.read_text() for path in run.traces.glob("*.jsonl"))

    async with anyio.create_task_group() as group:
        group.start_soon(_kill_the_next_worker, slow_page_is_asked_for)
        await ask(run, RIVER, TOMATOES, settings=settings, jobs=1)
    failed, answered = run.records
    assert (failed.id, failed.result) == ("river", None)
    assert (failed.error or "").startswith("the research failed: its process was killed (SIGKILL)")
    assert failed.cells["completed"] == failed.cells["nugget_recall"] == {"hits": 0, "of": 1}
    assert read_trace(run.traces / f"{failed.trace_id}.jsonl").outcome == "failed"
    assert (answered.id, answered.result is None) == ("tomatoes", False)

    again = open_run(run.folder)
    asked: list[str] = []
    await ask(again, RIVER, TOMATOES, settings=settings, on_record=lambda record: asked.append(record.id))
    assert asked == ["river"]
    whole = open_run(run.folder).records
    assert [record.id for record in whole] == ["river", "tomatoes"]
    assert all(record.result for record in whole)


async def test_a_failure_inside_a_call_is_a_scored_failure(run: Run, settings: Settings) -> None:
    """A time that is no number: the kind of thing that nobody thought of."""
    await ask(run, TOMATOES, settings=settings.model_copy(update={"max_seconds": "soon"}))
    (record,) = run.records
    assert record.result is None
    assert "internal error" in (record.error or "")
    assert record.cells["completed"] == {"hits": 0, "of": 1}


# The end of a run


async def test_an_interrupted_run_keeps_what_was_done_stops_what_runs_and_goes_on(
    run: Run, settings: Settings
) -> None:
    with anyio.CancelScope() as scope:
        await ask(run, TOMATOES, RIVER, settings=settings, jobs=1, on_record=lambda record: scope.cancel())
    assert scope.cancelled_caught
    assert [record.id for record in open_run(run.folder).records] == ["tomatoes"]
    with anyio.fail_after(60):
        while _workers():  # noqa: ASYNC110  other processes make it so
            await anyio.sleep(0.02)
    again = open_run(run.folder)
    await ask(again, TOMATOES, RIVER, settings=settings)
    assert [record.id for record in again.records] == ["tomatoes", "river"]


async def test_a_run_that_is_whole_asks_nothing(run: Run, settings: Settings) -> None:
    await ask(run, TOMATOES, settings=settings)
    before = (run.folder / "results.jsonl").read_bytes()
    await ask(run, TOMATOES, settings=settings)
    assert (run.folder / "results.jsonl").read_bytes() == before


class HundredTokens:
    """Executor whose calls each use a hundred tokens of a budget, and find nothing."""

    def __init__(self, budget: RunBudget) -> None:
        self._budget = budget

    async def prepare(self, settings: Settings) -> None:
        pass

    async def research(
        self, request: ResearchRequest, settings: Settings, trace_id: str
    ) -> tuple[ResearchResult, float]:
        await self._budget.reserve(100)
        await self._budget.settle(100, 100)
        return standins.a_result(trace_id, tokens_used=100), 1.5


async def test_one_budget_is_for_all_epochs_and_what_was_not_asked_is_asked_later(
    tmp_path: Path, settings: Settings
) -> None:
    run = start_run(tmp_path / "epochs", info(epochs=2))
    with pytest.raises(BudgetExhausted, match="has used 300 of its 350 tokens"):
        await ask(run, TOMATOES, RIVER, settings=settings, jobs=1, executor=HundredTokens(RunBudget(350)))
    assert [record.key for record in run.records] == [("tomatoes", 1), ("river", 1), ("tomatoes", 2)]
    assert {record.seconds for record in run.records} == {1.5}
    await ask(run, TOMATOES, RIVER, settings=settings, executor=HundredTokens(RunBudget(400, used=300)))
    assert run.records[-1].key == ("river", 2)


async def test_a_missing_key_ends_the_run_at_once(run: Run, settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match="needs a key") as caught:
        await ask(run, TOMATOES, UNKNOWN, settings=settings.model_copy(update={"model": "anthropic/claude-x"}))
    assert "ANTHROPIC_API_KEY" in str(caught.value.hint)
    assert open_run(run.folder).records == []


async def test_a_full_disk_ends_the_run_with_what_was_done_kept(run: Run, settings: Settings) -> None:
    """The limit on the size of a file is set once the first record is there: the second one's trace still fits."""
    old, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill(record: Record) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, ((run.folder / "results.jsonl").stat().st_size + 10, old[1]))

    try:
        with pytest.raises(StorageError, match="can't be written: File too large") as caught:
            await ask(run, TOMATOES, UNKNOWN, RIVER, settings=settings, jobs=1, on_record=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.hint
    assert [record.id for record in open_run(run.folder).records] == ["tomatoes"]
    again = open_run(run.folder)
    await ask(again, TOMATOES, UNKNOWN, settings=settings)
    assert [record.id for record in open_run(run.folder).records] == ["tomatoes", "unknown"]


# Scoring what has ended


async def test_a_text_that_the_store_has_lost_makes_its_citations_unverified_and_nothing_else(
    run: Run, settings: Settings
) -> None:
    own = settings.model_copy(update={"trace_dir": run.traces})
    record = await ask_one(TOMATOES, own)
    assert record.result is not None
    assert record.unverified == 0
    for path in own.store_folder.rglob("*.zst"):
        path.write_bytes(b"damaged")
    again = scored(TOMATOES, record.result, None, record.trace_id, record.seconds, own)
    assert again.unverified == len(record.result.citations) > 0
    assert again.cells["verbatim_fidelity"] == {"hits": 0, "of": again.unverified}
    assert again.cells["nugget_recall"] == record.cells["nugget_recall"]
    without_trace = scored(TOMATOES, record.result, None, "0" * 8, record.seconds, own)
    assert (without_trace.unverified, without_trace.pages) == (again.unverified, 0)


async def test_model_calls_are_priced_where_the_price_is_known(run: Run, settings: Settings) -> None:
    own = settings.model_copy(update={"trace_dir": run.traces})
    with TraceWriter(own.traces, TRACE_ID) as writer:
        for event in a_whole_call():
            writer.record(event)
    for model, dollars in (("gpt-4o", 50 * 2.5e-6 + 50 * 1.25e-6 + 20 * 1e-5), ("openai/nobody", None)):
        record = scored(TOMATOES, None, "it failed", TRACE_ID, 1.0, own.model_copy(update={"model": model}))
        assert record.dollars == (None if dollars is None else pytest.approx(dollars))
        assert record.pages == 2
