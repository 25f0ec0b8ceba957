"""A run of `marchwarden eval`: open or start it, ask its questions, have a judge mark them, show its scores."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from marchwarden.evaluation.labels.questions import Question
    from marchwarden.evaluation.runs.run import Record, Run, RunInfo
    from marchwarden.settings import Settings

# Exit codes: a failure, and 128 + SIGINT as shells have it.
FAILURE, INTERRUPTED = 1, 130

_NUMBER = re.compile(r"\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}")


@dataclass(frozen=True)
class How:
    """Way in which the questions of a run are asked."""

    jobs: int | None
    """Questions side by side; None for as many as the cluster's workers take."""
    cluster: str | None = None
    """Address of the scheduler of a cluster; None for this machine."""
    total_budget: int | None = None
    """Tokens of all questions together; None for no limit."""


def usual_folder() -> Path:
    """Return the folder of the runs that were told no other place."""
    return Path("~/.marchwarden/evals").expanduser()


def run_of(info: RunInfo, out: Path | None, *, resume: bool) -> Run:
    """Return a new run in `out` or the usual folder, or the one to go on with.

    Raises EvaluationError where there is none to go on with, or one of another set-up; StorageError where a new one
    can't be written.
    """
    from marchwarden.errors import EvaluationError
    from marchwarden.evaluation.runs.run import folder_name, latest_run, open_run, start_run

    usual = usual_folder()
    if not resume:
        return start_run(out or usual / folder_name(info), info)
    run = open_run(out) if out else latest_run(usual, info)
    if run is None:
        raise EvaluationError(f"{usual} holds no run with these settings", hint="To start one, leave out --resume.")
    if run.info.set_up != info.set_up:
        raise EvaluationError(
            f"{run.folder} is a run with other settings: {'; '.join(run.info.differences(info))}",
            hint="Use the same options, or leave out --resume to start a new run.",
        )
    run.mend()
    return run


def floors_of(given: Sequence[str]) -> dict[str, float]:
    """Return the values of `--fail-under METRIC=VALUE` by metric. Raises a usage error."""
    from marchwarden.evaluation.scoring.metrics import METRICS

    judged = [metric.name for metric in METRICS if metric.better != "neither"]
    floors: dict[str, float] = {}
    for each in given:
        name, _, value = each.partition("=")
        name = name.strip().lower().replace("-", "_").replace(" ", "_")
        if name not in judged:
            raise typer.BadParameter(f"--fail-under {each}: there is no such metric; there are {', '.join(judged)}")
        if not _NUMBER.fullmatch(value.strip()):
            raise typer.BadParameter(f"--fail-under takes METRIC=VALUE, such as {name}=0.8; not {each!r}")
        floors[name] = float(value)
    return floors


def check_floors(run: Run, floors: Mapping[str, float]) -> None:
    """Exit with 1 where a figure of the run is worse than its floor, or is none."""
    from marchwarden.cli.views import console
    from marchwarden.evaluation.scoring.metrics import BY_NAME

    figures, failed = run.figures(), False
    for name, floor in floors.items():
        value = figures[name]
        lower = BY_NAME[name].better == "lower"
        if value is None:
            console.error(f"{name}: no question has anything to score")
        elif value > floor if lower else value < floor:
            console.error(f"{name} is {value:.3f}, {'more' if lower else 'less'} than {floor:g}")
        else:
            continue
        failed = True
    if failed:
        raise typer.Exit(FAILURE)


def check_web(questions: Sequence[Question], settings: Settings) -> None:
    """Raise EvaluationError where the questions are about another web than that of the settings."""
    from marchwarden.evaluation.runs.runner import check_web

    check_web(questions, settings)


def judge_by(judge: str, settings: Settings) -> Settings:
    """Return the settings with the judge as their model.

    Raises ConfigurationError where the judge can't be asked, so that this is known before any question is asked.
    """
    own = settings.model_copy(update={"model": judge})
    if not has_model(own):
        raise typer.BadParameter(f"--judge {judge}: that is not a model")
    return own


def has_model(settings: Settings) -> bool:
    """Return whether the settings name a model; no network is touched.

    Raises ConfigurationError for a model that is not known, or whose key is missing.
    """
    import anyio

    from marchwarden.budget import Budget
    from marchwarden.contract import Constraints
    from marchwarden.evaluation.scoring.judge import Tally
    from marchwarden.lm import connect

    # Connecting checks the id and the key; the budget and the recorder are there because it takes them.
    model = connect(settings, Budget(Constraints(), 1.0), Tally())
    if model is None:
        return False
    anyio.run(model.aclose)
    return True


def score(
    run: Run, questions: Sequence[Question], settings: Settings, how: How, *, judge: Settings | None, json: bool
) -> None:
    """Ask what is left, have the answers marked where there is a judge, and show the scores of what was done.

    Exits with 130 where it was interrupted, and with 1 where its budget was too small for all questions, or where the
    run has a model and no call to it succeeded.
    """
    from marchwarden.cli.views import console
    from marchwarden.evaluation.runs.scores import without_model

    code = _ask(run, questions, settings, how)
    if not code and judge is not None and _judge(run, judge):
        code = INTERRUPTED
    _show(run, json=json, judge=judge.model_id if judge else None)
    found = without_model(run)
    if found is not None:
        reason = f": {found.reason}" if found.reason else "."
        hint = "No call to the model succeeded: these figures are not the model's." if found.dead else None
        console.notice(f"{found.answers} of {found.of} answers were worded without the model{reason}", hint)
    if code:
        raise typer.Exit(code)
    if found is not None and found.dead:
        raise typer.Exit(FAILURE)


def _ask(run: Run, questions: Sequence[Question], settings: Settings, how: How) -> int:
    """Ask the questions that have no result yet; return the exit code, 0 where all were asked."""
    from marchwarden.cli.views import console
    from marchwarden.errors import BudgetExhausted
    from marchwarden.evaluation.runs.runner import ask_all
    from marchwarden.execution.executor import Executor, LocalProcesses
    from marchwarden.execution.run_budget import MORE_TOKENS, RunBudget

    done = sum(record.result is not None for record in run.records)
    used = sum(record.result.cost_metadata.tokens_used for record in run.records if record.result)
    total = len(questions) * run.info.epochs
    with console.evaluation_progress(done, total, run.figures) as advance:

        def tell(record: Record) -> None:
            advance()

        async def ask(executor: Executor, jobs: int) -> None:
            await ask_all(run, questions, settings, jobs=jobs, on_record=tell, executor=executor)

        async def work() -> None:
            budget = RunBudget(how.total_budget, used)
            if how.cluster is None:
                await ask(LocalProcesses(budget), how.jobs or 1)
                return
            from marchwarden.execution.dask_cluster import open_cluster

            async with open_cluster(how.cluster, budget) as cluster:
                await ask(cluster, how.jobs or cluster.jobs)

        spent, finished = None, False
        try:
            finished = _finishes(work)
        except BudgetExhausted as error:
            spent = str(error)
    how_far = f"after {len(run.records)} of {total} {'answers' if run.info.epochs > 1 else 'questions'}"
    if spent:
        console.notice(f"Ended {how_far}: {spent}.", MORE_TOKENS)
        return FAILURE
    if not finished:
        console.notice(f"Interrupted {how_far}.")
        console.done(f"To continue: {going_on(sys.argv, run.folder)}")
        return INTERRUPTED
    return 0


def _judge(run: Run, settings: Settings) -> bool:
    """Have the judge mark the answers that it has not marked; return whether that was interrupted."""
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.evaluation.scoring.judge import judge_all, unjudged

    with console.counting(len(unjudged(run, settings.model_id))) as bar:

        def tell(record: Record) -> None:
            bar.advance(lambda: f"marked by {settings.model_id}")

        finished = _finishes(partial(judge_all, run, settings, on_judged=tell))
    if not finished:
        left = count(len(unjudged(run, settings.model_id)), "answer")
        console.notice(f"Interrupted: {left} still to be judged.")
        console.done(f"To continue: {going_on(sys.argv, run.folder)}")
    return not finished


def write_inspect_log(run: Run, place: Path) -> None:
    """Write a run as an Inspect log, to a file, or into a folder under a name that Inspect lists. Raises
    StorageError."""
    from marchwarden.cli.views import console
    from marchwarden.errors import StorageError
    from marchwarden.evaluation.reports.inspect_log import file_name, inspect_log
    from marchwarden.evaluation.runs.run import write_json

    is_file = place.suffix == ".json"
    path = place if is_file else place / file_name(run)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{path.parent} can't be made: {error.strerror or error}") from error
    write_json(path, inspect_log(run))
    see = "inspect_ai.log.read_eval_log reads it" if is_file else f"see it: inspect view --log-dir {place}"
    console.done(f"The Inspect log is {path}; {see}")


def going_on(command: Sequence[str], folder: Path) -> str:
    """Return the command line that goes on with the run in `folder`, quoted for the shell."""
    given = list(command[1:])
    if "--resume" not in given:
        given.append("--resume")
    if not any(each == "--out" or each.startswith("--out=") for each in given):
        given += ["--out", str(folder)]
    return shlex.join(["marchwarden", *given])


def _finishes(work: Callable[[], Coroutine[Any, Any, None]]) -> bool:
    """Run the work; return False where it was interrupted."""
    import asyncio

    import anyio

    try:
        anyio.run(work)
    # Ctrl-C comes as KeyboardInterrupt, or as a cancellation where asyncio handled the signal.
    except (KeyboardInterrupt, asyncio.CancelledError):
        return False
    return True


def _show(run: Run, *, json: bool, judge: str | None) -> None:
    """Show the scores and write them to scores.json, with the judge's agreement where there was a judge."""
    from marchwarden.cli.views import console
    from marchwarden.evaluation.runs.run import write_json
    from marchwarden.evaluation.runs.scores import scores_of
    from marchwarden.evaluation.scoring.judge import agreement_of

    # scores.json is written before anything is printed, so that an output that is cut off loses no score.
    scores = scores_of(run)
    agreement = agreement_of(run, judge) if judge else None
    body = {**scores.as_json(), **({"judge": agreement.as_json()} if agreement else {})}
    write_json(run.folder / "scores.json", body)
    if json:
        console.json(body)
        return
    console.scores(scores)
    if scores.answers < scores.planned:
        console.notice(f"These are the scores of {scores.how_many}.")
    if agreement:
        console.agreement(agreement)
    console.done(f"The run is in {run.folder}; `marchwarden eval report {run.folder}` shows every question.")
