"""`marchwarden eval`: scores a model, a program or a set-up on labelled questions; compares runs; reports them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from marchwarden.cli import eval_compare, eval_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marchwarden.evaluation.questions import Question
    from marchwarden.evaluation.runs import Run, RunInfo
    from marchwarden.settings import Settings

INTERRUPTED = 130

EPILOGUE = """Examples:

marchwarden eval
    the model in force on the 70 development questions
marchwarden eval --split test --model extractive --out runs/extractive-test
    without any model, on the questions that nothing is tuned on
marchwarden eval --kind contradictory --limit 5 --jobs 1
marchwarden eval --questions mine.jsonl --web my-web
marchwarden eval --check
    whether every label holds
marchwarden eval compare runs/a runs/b
marchwarden eval report runs/a --out report

Exit codes: 0 scored · 1 a failure, or labels that don't hold · 2 wrong usage · 130 interrupted (--resume goes on)."""

COMPARE_EPILOGUE = """Examples:

marchwarden eval compare runs/extractive-dev runs/claude-dev
marchwarden eval compare A B --json | jq '.differences[] | select(.certain)'"""

app = typer.Typer(
    help="Score a researcher on labelled questions, compare runs, report them.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare", epilog=COMPARE_EPILOGUE)(eval_compare.command)
app.command("report", epilog=eval_report.EPILOGUE)(eval_report.command)


@app.callback(epilog=EPILOGUE)
def command(
    context: typer.Context,
    split: Annotated[
        Literal["train", "dev", "test", "all"] | None,
        typer.Option(help="Which questions. Default: dev of the shipped set, all of --questions."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Other labelled questions, JSONL (evals/README.md).")
    ] = None,
    web: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The frozen web that they are about. Default: the shipped one.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="ID", help="Model id; extractive for none. Default: the one in force.")
    ] = None,
    program: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A program's folder to use instead of the model's own.")
    ] = None,
    no_program: Annotated[
        bool, typer.Option("--no-program", help="Use none: nothing compiled or calibrated.")
    ] = False,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only questions with this tag; can be given again.")
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="At most so many questions.")] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Questions side by side. Default: one a core; a model 2.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, or the latest of this set-up.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the run goes. Default: ~/.marchwarden/evals/….")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The scores as JSON on stdout.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Check the labels instead of asking anything.")] = False,
) -> None:
    """Score a researcher on labelled questions, compare runs, report them."""
    if context.invoked_subcommand:
        return
    if program and no_program:
        raise typer.BadParameter("--program names one, --no-program wants none; give one of them")
    from marchwarden.settings import load_settings

    settings = load_settings(
        source="snapshot",
        web=web and web.absolute(),
        model=model,
        program="none" if no_program else program and str(program.absolute()),
    )
    chosen, name = _questions(questions, split)
    if check:
        _check(chosen, settings, whole=questions is None and split in (None, "all"))
        return
    chosen = _narrowed(chosen, kind or [], limit)
    side_by_side = jobs or (max(1, os.cpu_count() or 1) if settings.model_id == "extractive" else 2)
    run = _run_of(_info(chosen, settings, name, split, side_by_side), out, resume=resume)
    interrupted = _ask(run, chosen, settings, side_by_side)
    _show(run, json=json)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _questions(file: Path | None, split: str | None) -> tuple[list[Question], str]:
    """The questions of a file, or of the shipped set, and its name. Raises EvaluationError where there are none."""
    from marchwarden.errors import EvaluationError
    from marchwarden.evaluation.questions import SPLITS, load_questions
    from marchwarden.settings import shipped

    if file is not None:
        found = [each for each in load_questions(file) if split in (None, "all", each.split)]
        if not found:
            of_split = "" if split in (None, "all") else f" of the split {split}"
            raise EvaluationError(f"{file} holds no question{of_split}", hint="Give another file, or --split all.")
        return found, file.name
    wanted = SPLITS if split == "all" else (split or "dev",)
    folder = shipped("questions")
    return [each for name in wanted for each in load_questions(folder / f"{name}.jsonl")], "shipped"


def _narrowed(questions: list[Question], kinds: list[str], limit: int | None) -> list[Question]:
    tags = sorted({tag for question in questions for tag in question.tags})
    if unknown := [kind for kind in kinds if kind not in tags]:
        raise typer.BadParameter(f"--kind {unknown[0]}: no question is of that kind; there are {', '.join(tags)}")
    chosen = [each for each in questions if not kinds or set(kinds) & set(each.tags)]
    return chosen[:limit]


def _check(questions: Sequence[Question], settings: Settings, *, whole: bool) -> None:
    """Print what is wrong with the labels; exit 1 where anything is. The whole shipped set is also counted."""
    import anyio

    from marchwarden.cli import render
    from marchwarden.evaluation.check import check, counts, coverage_problems, shared_pages

    if whole:
        questions = _questions(None, "all")[0]
    problems = anyio.run(check, questions, settings) + (coverage_problems(questions) if whole else [])
    render.labels(counts(questions), shared_pages(questions), problems)
    if problems:
        raise typer.Exit(1)


def _info(questions: Sequence[Question], settings: Settings, name: str, split: str | None, jobs: int) -> RunInfo:
    from marchwarden import __version__
    from marchwarden.evaluation.runs import RunInfo, labels_fingerprint, now, pages_fingerprint
    from marchwarden.programs import load_program
    from marchwarden.tools.frozen_web import FrozenWeb

    web = FrozenWeb.load(settings.frozen_web)
    program = load_program(settings)
    return RunInfo(
        version=__version__,
        started=now(),
        model_id=settings.model_id,
        program=program.fingerprint if program else None,
        questions=name,
        split=split or ("dev" if name == "shipped" else None),
        labels=labels_fingerprint(questions),
        pages=pages_fingerprint(web.folder),
        jobs=jobs,
    )


def _run_of(info: RunInfo, out: Path | None, *, resume: bool) -> Run:
    from marchwarden.errors import EvaluationError
    from marchwarden.evaluation.runs import folder_name, latest_run, open_run, start_run

    shelf = Path("~/.marchwarden/evals").expanduser()
    if not resume:
        return start_run(out or shelf / folder_name(info), info)
    run = open_run(out) if out else latest_run(shelf, info)
    if run is None:
        raise EvaluationError(f"no run of this set-up is in {shelf}", hint="Start one without --resume.")
    if run.info.set_up != info.set_up:
        raise EvaluationError(
            f"{run.folder} was run with another version, model, program, labels or pages",
            hint="Ask with the same options, or start a new run without --resume.",
        )
    return run


def _ask(run: Run, questions: Sequence[Question], settings: Settings, jobs: int) -> bool:
    """Ask what is left; whether that was interrupted."""
    import asyncio
    from functools import partial

    import anyio

    from marchwarden.cli import render
    from marchwarden.evaluation.runner import ask_all

    left = len(questions) - sum(record.result is not None for record in run.records)
    try:
        with render.evaluation_progress(run, left) as tell:
            anyio.run(partial(ask_all, run, questions, settings, jobs=jobs, on_record=tell))
    except (KeyboardInterrupt, asyncio.CancelledError):
        render.notice(
            f"Interrupted after {len(run.records)} of {len(questions)} questions.",
            f"Go on with: marchwarden eval … --resume --out {run.folder}",
        )
        return True
    return False


def _show(run: Run, *, json: bool) -> None:
    from marchwarden.cli import render
    from marchwarden.evaluation.runs import write_json
    from marchwarden.evaluation.scores import scores_of

    scores = scores_of(run)
    write_json(run.folder / "scores.json", scores.as_json())
    if json:
        render.json(scores.as_json())
    else:
        render.scores(scores)
        render.done(f"The run is in {run.folder}; `marchwarden eval report {run.folder}` shows every question.")
