"""A whole compile: each stage, then the compiled program against the uncompiled one, then writing it to its folder.

Every answer of the model is kept in the compile's folder. A compile that goes on does everything again: what was
answered before is answered from there, so it comes to the same point at which it was interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio

from marchwarden.errors import EvaluationError
from marchwarden.evaluation.labels.questions import Question, evenly_spaced
from marchwarden.evaluation.runs.run import RUN, Run, labels_fingerprint, open_run, pages_fingerprint, start_run
from marchwarden.evaluation.runs.runner import ask_all, check_web, info_of
from marchwarden.evaluation.runs.scores import without_model
from marchwarden.evaluation.scoring.bootstrap import differences
from marchwarden.optimization.estimate import Order, fitted
from marchwarden.optimization.examples.labelled_web import labelled_web
from marchwarden.optimization.program_records import (
    DECIDING,
    Outcome,
    build_program_info,
    cost_record,
    figure_records,
    records_of,
)
from marchwarden.optimization.spending import Spending, Stopped, interrupted, out_of_tokens, service_gone
from marchwarden.optimization.splits import StageExamples
from marchwarden.optimization.stage_search import Progress, StageOutcome, StageTask, compile_stage
from marchwarden.optimization.stage_sets import STAGE_SETS
from marchwarden.programs import (
    NONE,
    CompiledStage,
    Program,
    StageRecord,
    WholeRecord,
    save_program,
)
from marchwarden.settings import Settings
from marchwarden.text.embedding import is_used


async def build_examples(
    order: Order, train: Sequence[Question], dev: Sequence[Question]
) -> dict[str, StageExamples]:
    """Build the examples of each stage of the order.

    Raises EvaluationError where a stage has too few, or the questions are about another web.
    """
    check_web([*train, *dev], order.settings)
    found = {}
    async with labelled_web(order.settings) as web:
        for name in order.stages:
            stage_set = STAGE_SETS[name]
            found[name] = StageExamples.of(
                stage_set,
                await stage_set.examples_on(train, web),
                await stage_set.examples_on(dev, web),
                order.effort,
                order.seed,
            )
            found[name].check(name)
    return found


def compile_program(
    order: Order,
    examples: Mapping[str, StageExamples],
    dev: Sequence[Question],
    *,
    folder: Path,
    out: Path,
    before: Program | None = None,
    spending: Spending | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Compile the stages of the order into the program's folder `out`.

    `folder` is the compile's own, where it can go on. `before` is the program that is there; its other stages stay.
    Interrupted, or out of budget, it puts in place what was validated by then. Raises ConfigurationError,
    EvaluationError, StorageError.
    """
    progress = progress or Progress()
    spending = spending or Spending(folder, tokens=order.tokens, calls=order.calls)
    spending.on_call = progress.call
    outcomes, stopped = _compile_stages(order, examples, folder, spending, progress)
    outcome = _merge_with_before(order, outcomes, before, dev, spending)
    outcome.stopped = stopped
    kept_now = [name for name, each in outcomes.items() if each.compiled and name not in outcome.stayed]
    if order.questions and kept_now and stopped is None:
        try:
            _compare_whole(order, outcome, dev, folder, spending, progress)
        except KeyboardInterrupt:
            outcome.stopped = interrupted()
    # The record of a damaged stage goes once it was compiled anew to the end, also where nothing takes its place.
    # Else users would be warned of it for ever.
    damaged: set[str] = set()
    if before is not None and before.info is not None:
        damaged = {name for name, each in before.info.stages.items() if each.kept and name not in before.stages}
    is_mended = any(name in damaged and each.stopped is None for name, each in outcomes.items())
    if (kept_now or is_mended) and not outcome.worse:
        outcome.file = save_program(out, outcome.info, list(outcome.stages.values()))
    return outcome


def _compile_stages(
    order: Order, examples: Mapping[str, StageExamples], folder: Path, spending: Spending, progress: Progress
) -> tuple[dict[str, StageOutcome], Stopped | None]:
    """Return the outcome of each stage, and why the compile ended early.

    Raises EvaluationError where a stage fails and nothing is kept by then, and where no answer of the model could be
    read in any stage.
    """
    outcomes: dict[str, StageOutcome] = {}
    for name in order.stages:
        task = StageTask(
            STAGE_SETS[name],
            examples[name],
            order.optimizer,
            fitted(order.effort, STAGE_SETS[name], examples[name].learn),
            order.settings,
            order.reflection,
            order.seed,
            order.jobs,
            folder,
            order.always_model,
        )
        try:
            progress.stage(name)
            outcomes[name] = compile_stage(task, spending, progress)
            progress.stage_done(name, outcomes[name].record)
        except KeyboardInterrupt:
            return outcomes, interrupted()
        except EvaluationError as error:
            if not any(each.compiled for each in outcomes.values()):
                raise
            return outcomes, Stopped(str(error), error.hint)
        if stopped := outcomes[name].stopped:
            return outcomes, stopped
    problems = [each.validation.unreadable if each.validation else None for each in outcomes.values()]
    # Where a few stages are unreadable they go without the model. All of them are a wrong model or server, of which
    # no score says anything.
    if problems and problems[-1] and all(problems):
        raise EvaluationError(
            f"no answer of the model could be read: {problems[-1]}",
            hint="Try the model on one question first: marchwarden ask QUESTION --verbose",
        )
    return outcomes, None


def _merge_with_before(
    order: Order,
    outcomes: Mapping[str, StageOutcome],
    before: Program | None,
    dev: Sequence[Question],
    spending: Spending,
) -> Outcome:
    """Merge what was found into the program that is there.

    A stage that is there stays where nothing was found now, or nothing better.
    """
    stages: dict[str, CompiledStage] = dict(before.stages) if before else {}
    records, stayed = records_of(before), {}
    for name, outcome in outcomes.items():
        if outcome.compiled is None:
            if name not in stages:
                records[name] = outcome.record
        elif name in stages and (scores := _better_before(order, before, records[name], outcome.record, dev)):
            stayed[name] = scores
        else:
            stages[name] = outcome.compiled
            records[name] = outcome.record
    info = build_program_info(order, records, dev, cost_record(spending))
    return Outcome(info, stages, stayed=stayed)


def _better_before(
    order: Order, before: Program | None, old: StageRecord, new: StageRecord, dev: Sequence[Question]
) -> tuple[float, float] | None:
    """Return both forms' scores where the old one did better on the same examples, else None."""
    info = before.info if before else None
    if info is None or old.compiled is None or new.compiled is None or old.compiled <= new.compiled:
        return None
    reads_by = "meaning" if is_used(order.settings) else "words"
    same = (labels_fingerprint(dev), pages_fingerprint(order.settings.frozen_web), reads_by)
    if (info.labels, info.pages, info.reads_by) != same:
        return None
    if old.whole or (old.seed, old.dev_examples, old.signature) != (new.seed, new.dev_examples, new.signature):
        return None
    return old.compiled, new.compiled


# The whole program


def _compare_whole(
    order: Order, outcome: Outcome, dev: Sequence[Question], folder: Path, spending: Spending, progress: Progress
) -> None:
    """Ask dev questions with the uncompiled program and with the compiled one, and compare."""
    # As many as the tokens surely pay for, with both programs.
    left, questions = spending.budget.tokens_left("whole"), []
    for question in evenly_spaced(dev, order.questions):
        left -= 2 * question.request.constraints.token_budget
        if left < 0:
            break
        questions.append(question)
    if not questions:
        outcome.stopped = out_of_tokens("the token budget does not reach for whole questions")
        return
    program = folder / "program"
    save_program(program, outcome.info, list(outcome.stages.values()))
    runs = []
    for name, used in (("uncompiled", NONE), ("compiled", str(program.absolute()))):
        progress.phase(f"{name}, whole questions")
        settings = order.settings.model_copy(update={"program": used})
        run = _open_run(folder / "whole", name, questions, settings, order.jobs)
        ask = partial(
            ask_all, run, questions, settings, jobs=order.jobs, on_record=lambda record: progress.question()
        )
        anyio.run(ask)
        if (without := without_model(run)) and without.dead:
            outcome.stopped = service_gone(without.reason or "no whole question was answered by it")
            return
        runs.append(run)
    uncompiled, compiled = runs
    by_id = {record.id: record.cells for record in compiled.records}
    found = differences([each.cells for each in uncompiled.records], [by_id[each.id] for each in uncompiled.records])
    whole = WholeRecord(questions=len(questions), split="dev", figures=figure_records(found))
    # Whole questions are bounded by their own budgets, and so are counted here and not by the spending.
    cost = cost_record(spending)
    results = [record.result.cost_metadata for run in runs for record in run.records if record.result]
    tokens = cost.tokens + sum(each.tokens_used for each in results)
    seconds = round(cost.seconds + sum(each.wall_time_sec for each in results), 1)
    cost = cost.model_copy(update={"tokens": tokens, "seconds": seconds})
    outcome.info = outcome.info.model_copy(update={"whole": whole, "cost": cost})
    outcome.worse = [each.metric.name for each in found if each.metric.name in DECIDING and each.is_better is False]


def _open_run(runs: Path, name: str, questions: Sequence[Question], settings: Settings, jobs: int) -> Run:
    """Open the run to go on with, where one of the same compiled stages is there; else a new one beside it."""
    info = info_of(questions, settings, name="shipped", split="dev", jobs=jobs)
    folder, number = runs / name, 1
    while (folder / RUN).exists():
        run = open_run(folder)
        its = run.info
        # A program's fingerprint covers its day and its cost too, which change nothing in what it answers.
        if its.compiled == info.compiled and not its.differences(info.model_copy(update={"program": its.program})):
            run.mend()
            return run
        number += 1
        folder = runs / f"{name}-{number}"
    return start_run(folder, info)
