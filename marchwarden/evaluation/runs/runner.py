"""Asks labelled questions, several side by side, here or on a cluster, and scores what comes back.

A call that fails is a scored failure, never the end of the run; a full disk or a missing key is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from uuid import uuid4

import anyio
import anyio.to_thread

from marchwarden import __version__
from marchwarden.contract import ResearchResult
from marchwarden.errors import (
    BudgetExhausted,
    ClusterError,
    ConfigurationError,
    EvaluationError,
    MarchwardenError,
    StorageError,
    TraceError,
)
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.known_pages import is_known, known_pages, pages_hash
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.matches import texts_of
from marchwarden.evaluation.runs.prices import price_of
from marchwarden.evaluation.runs.run import TRACES, Record, Run, RunInfo, labels_fingerprint, now
from marchwarden.evaluation.scoring.metrics import score
from marchwarden.execution.executor import Executor, LocalProcesses
from marchwarden.frozen_web.pages import manifest_hash
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.stages.registry import program_in_force
from marchwarden.store.content_store import Store
from marchwarden.text.embedding import is_used
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.verify import verify


def info_of(
    questions: Sequence[Question],
    settings: Settings,
    *,
    name: str,
    split: str | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    epochs: int = 1,
) -> RunInfo:
    """Return the set-up of a run of these questions with these settings. Raises ConfigurationError."""
    program = program_in_force(settings)
    return RunInfo(
        version=__version__,
        started=now(),
        model_id=settings.model_id,
        program=program.fingerprint if program else None,
        compiled=program.stages_hash if program else None,
        reads_by="meaning" if is_used(settings) else "words",
        questions=name,
        split=split,
        labels=labels_fingerprint(questions),
        source=settings.source_name,
        pages=pages_hash(settings),
        web=manifest_hash(settings.frozen_web) if "snapshot" in settings.sources else None,
        jobs=jobs,
        cluster=cluster,
        asked=len(questions),
        epochs=epochs,
    )


def check_web(questions: Sequence[Question], settings: Settings) -> None:
    """Raise EvaluationError where most of the pages that the labels name are not in the sources in force."""
    # Then the questions are about another web, and every figure would be at its worst.
    known = known_pages(settings)
    named = {url for question in questions for url in question.pages}
    unknown = {url for url in named if known is not None and not is_known(url, known)}
    if 2 * len(unknown) > len(named):
        place = settings.frozen_web if settings.source_name == "snapshot" else settings.source_name
        raise EvaluationError(
            f"{len(unknown)} of the {len(named)} pages that the labels name are not in {place}, "
            f"such as {min(unknown)}",
            hint="Name the pages that the questions are about: --web DIR, or --source corpus:NAME or web.",
        )


async def ask_all(
    run: Run,
    questions: Sequence[Question],
    settings: Settings,
    *,
    jobs: int,
    on_record: Callable[[Record], None] = lambda record: None,
    executor: Executor | None = None,
) -> None:
    """Ask the questions that the run has no result for, in each epoch, `jobs` side by side; add records as they come.

    Raises ConfigurationError, ClusterError and StorageError, with what was done by then kept; BudgetExhausted once
    the calls in flight have ended. Cancelling stops those.
    """
    executor = executor or LocalProcesses()
    done = {record.key for record in run.records if record.result is not None}
    every = ((question, epoch) for epoch in range(1, run.info.epochs + 1) for question in questions)
    left = iter([(question, epoch) for question, epoch in every if (question.id, epoch) not in done])
    own = settings.model_copy(update={"trace_dir": (run.folder / TRACES).absolute(), "store": None})
    fatal: list[Exception] = []
    spent: list[BudgetExhausted] = []
    await executor.prepare(own)

    async def ask(scope: anyio.CancelScope) -> None:
        for question, epoch in left:
            try:
                record = (await ask_one(question, own, executor)).model_copy(update={"epoch": epoch})
                run.add(record)
            except BudgetExhausted as error:
                spent.append(error)
                return
            except Exception as error:
                fatal.append(error)
                scope.cancel()
                return
            on_record(record)

    async with anyio.create_task_group() as group:
        for _ in range(jobs):
            group.start_soon(ask, group.cancel_scope)
    if fatal or spent:
        raise [*fatal, *spent][0]


async def ask_one(question: Question, settings: Settings, executor: Executor | None = None) -> Record:
    """Ask one question, and score it. Raises BudgetExhausted, ConfigurationError, ClusterError and StorageError."""
    trace_id = str(uuid4())
    began = time.monotonic()
    result, failure, seconds = None, None, None
    try:
        result, seconds = await (executor or LocalProcesses()).research(question.request, settings, trace_id)
    except (BudgetExhausted, ConfigurationError, ClusterError, StorageError):
        raise
    except MarchwardenError as error:
        failure = str(error)
    if seconds is None:
        seconds = time.monotonic() - began
    return await anyio.to_thread.run_sync(partial(scored, question, result, failure, trace_id, seconds, settings))


def scored(
    question: Question,
    result: ResearchResult | None,
    failure: str | None,
    trace_id: str,
    seconds: float,
    settings: Settings,
) -> Record:
    """Return the record of a call that has ended, from its result, its trace and its stored pages."""
    trace: Trace | None = None
    with suppress(TraceError):
        trace = read_trace(settings.traces / f"{trace_id}.jsonl")
    store = Store(settings.store_folder)
    unverified = len(result.citations) if result else 0  # without a trace, none of them can be verified
    if result and trace:
        unverified = len({problem.citation for problem in verify(result, trace, store) if problem.citation})
    by_model: bool | None = None
    if settings.model_id != EXTRACTIVE and trace:
        # A call that was ended before it could word its answer has no such line.
        steps = [line for line in trace.raw if line.get("action") == "synthesize"]
        by_model = any(line.get("stage_form") == "model" for line in steps)
    # None where the price list does not know the model.
    dollars: float | None = None
    price = price_of(settings.model_id) if settings.model_id != EXTRACTIVE else None
    if price is not None and trace is not None:
        calls = [line for line in trace.raw if line.get("action") == "model_call"]
        dollars = sum(
            price.of(call["input_tokens"], call["output_tokens"], call.get("cached_tokens", 0)) for call in calls
        )
    case = Case(
        question=question,
        result=result,
        texts=texts_of(trace, store) if trace else {},
        unverified=unverified,
        pages=len(trace.fetches) if trace else 0,
        seconds=round(seconds, 3),
        max_seconds=settings.seconds_for(question.depth),
        dollars=dollars,
        by_model=by_model,
    )
    return Record(
        id=question.id,
        question=question,
        trace_id=trace_id,
        result=result,
        error=failure,
        seconds=case.seconds,
        pages=case.pages,
        unverified=case.unverified,
        dollars=case.dollars,
        cells=score(case),
    )
