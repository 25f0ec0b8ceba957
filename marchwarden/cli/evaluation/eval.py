"""`marchwarden eval`: scores a model, a program or a set-up on labelled questions; compares runs; reports them.

This module reads the options; eval_run.py does a run, eval_stage.py one stage, eval_dataset.py public data sets.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from marchwarden.cli import options
from marchwarden.cli.ask import sources_in_force
from marchwarden.cli.configuration.completion import complete_model, complete_source
from marchwarden.cli.evaluation import (
    eval_compare,
    eval_dataset,
    eval_freeze,
    eval_init,
    eval_label,
    eval_list,
    eval_report,
    eval_run,
    eval_stage,
)
from marchwarden.cli.optimization.program_notes import mention_program

if TYPE_CHECKING:
    from marchwarden.evaluation.datasets import QuestionSet
    from marchwarden.evaluation.labels.questions import Question
    from marchwarden.settings import Settings

EPILOGUE = """Examples:

marchwarden eval
    the model in your settings, on the development questions
marchwarden eval --split test --model extractive --out runs/extractive-test
    without any model, on the test questions
marchwarden eval --kind contradictory --limit 5 --jobs 1
    five of that kind, on as many topics as there are
marchwarden eval --questions mine.jsonl --web my-web
marchwarden eval --questions mine.jsonl --source corpus:notes --epochs 5
    over your own files, each question five times: how much do the scores differ?
marchwarden eval --inspect-log logs
    then: inspect view --log-dir logs
marchwarden eval --fail-under nugget_recall=0.8 --fail-under seconds=5
    for CI: exits with 1 where a figure is worse, which is more where less is better
marchwarden eval list
marchwarden eval --check
    whether every label holds, and what is still to be labelled
marchwarden eval --stage extract --split train --model openai/NAME
    one stage alone, with its worst examples; --no-program: as it is where nothing is compiled
marchwarden eval --split test --judge anthropic/NAME
    have a model mark the answers too, and see how far it agrees with the labels
marchwarden eval --dataset gaps --path ~/data/gaps-v0 --limit 50
    a public data set; an unknown name lists those that there are
marchwarden eval --questions many.jsonl --cluster dask://10.0.0.5:8786 --total-budget 5000000
    on the workers of a cluster, with a limit of tokens for all questions together
marchwarden eval compare runs/a runs/b
marchwarden eval report runs/a --out report

Exit codes: 0 scored · 1 a failure, labels that don't hold, or worse than --fail-under · 2 wrong usage
· 130 interrupted (--resume goes on)."""

COMPARE_EPILOGUE = """Examples:

marchwarden eval compare runs/extractive-dev runs/claude-dev
marchwarden eval compare A B --json | jq '.differences[] | select(.certain)'"""

app = typer.Typer(
    help="Score a researcher on labelled questions. Subcommands compare and report runs.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare", epilog=COMPARE_EPILOGUE)(eval_compare.command)
app.command("report", epilog=eval_report.EPILOGUE)(eval_report.command)
app.command("list", epilog=eval_list.EPILOGUE)(eval_list.command)
app.command("init", epilog=eval_init.EPILOGUE)(eval_init.command)
app.command("label", epilog=eval_label.EPILOGUE)(eval_label.command)
app.command("freeze", epilog=eval_freeze.EPILOGUE)(eval_freeze.command)


@app.callback(epilog=EPILOGUE)
def command(
    context: typer.Context,
    split: Annotated[
        Literal["train", "dev", "test", "all"] | None,
        typer.Option(help="Questions to ask. Default: dev of the shipped set, or all of --questions."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own labelled questions, as JSONL (see evals/README.md).")
    ] = None,
    web: options.QuestionsWeb = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCES",
            autocompletion=complete_source,
            help="Sources to search instead of a frozen web: corpus:NAME, web, or others that `marchwarden "
            "sources` lists.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            autocompletion=complete_model,
            help="Model id, or extractive for none. Default: the model in your settings.",
        ),
    ] = None,
    program: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of a program to use instead of the model's own.")
    ] = None,
    no_program: Annotated[
        bool, typer.Option("--no-program", metavar="", help="Use no program: nothing compiled or calibrated.")
    ] = False,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only questions with this tag; can be repeated.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Ask only this many questions, spread evenly.")
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Ask each question this many times, to see how much the scores vary. Default: 1.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Questions asked at the same time. Default: one for each core, or 2 with a model.",
        ),
    ] = None,
    cluster: options.Cluster = None,
    total_budget: options.TotalBudget = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", metavar="", help="Continue the run in --out, or the latest run with the same settings."
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to write the run to. Default: ~/.marchwarden/evals/….")
    ] = None,
    inspect_log: Annotated[
        Path | None,
        typer.Option(
            "--inspect-log",
            metavar="DIR",
            help="Also write the run as an Inspect log into this folder, for `inspect view`, or to a FILE.json.",
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under",
            metavar="METRIC=VALUE",
            help="Exit with 1 if the metric is worse than this; can be repeated.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print the scores as JSON.")] = False,
    check: Annotated[
        bool, typer.Option("--check", metavar="", help="Check the labels instead of asking anything.")
    ] = False,
    stage: Annotated[
        str | None, typer.Option(metavar="NAME", help="Score only this stage, on examples made from the labels.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A model that also judges the answers; it changes no score.")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Use a public data set: gaps, hotpot, cacm, cacm-files, wice, expertqa."),
    ] = None,
    path: Annotated[
        Path | None, typer.Option(metavar="P", help="Path of that data set: its file, or the folder that holds it.")
    ] = None,
) -> None:
    """Score a researcher on labelled questions. Subcommands compare and report runs."""
    if context.invoked_subcommand:
        return
    # Here and below, modules are imported where they are needed: `--help` must import none of the heavy ones.
    given = {f"--{name.replace('_', '-')}": value for name, value in context.params.items()}
    _refuse_together(given)
    public = None
    if dataset is not None:
        from marchwarden.evaluation.datasets import ScoredSet

        found, place = eval_dataset.find(dataset, path)
        if isinstance(found, ScoredSet):
            if other := next((option for option in (*_OF_A_RUN, "--check", "--stage") if given[option]), None):
                raise typer.BadParameter(
                    f"--dataset {dataset} scores one part of Marchwarden alone; {other} has no effect on it"
                )
            eval_dataset.score(found, place, limit, json=json)
            return
        public = _Public(found, place)
    if stage is not None:
        eval_stage.check_name(stage)
    floors = eval_run.floors_of(fail_under or ())
    scheduler = options.scheduler(cluster)
    if inspect_log is not None and inspect_log.suffix == ".json":
        # A run that goes on writes the log of all of it.
        options.check_output(inspect_log, "--inspect-log", (".json",), force=resume)
    elif inspect_log is not None:
        options.check_output_folder(inspect_log, "--inspect-log")
    if out is not None:
        options.check_output_folder(out, "--out")
    sources = sources_in_force(source, web)
    from marchwarden.settings import load_settings

    settings = load_settings(
        source=sources or "snapshot",
        web=web and web.absolute(),
        model=model,
        program="none" if no_program else program and str(program.absolute()),
    )
    with ExitStack() as stack:
        if public:
            made = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="marchwarden-")))
            its = eval_dataset.questions_of(public.dataset, public.path, made, limit)
            asked = _Asked(its, settings.model_copy(update={"web": made}), public.dataset.name, None, made)
        else:
            if source is not None and scheduler is None:  # keys for a cluster are on its workers
                settings.require_search_key()
            found_questions, name = _questions(questions, split)
            from marchwarden.evaluation.labels.known_pages import with_whole_paths

            found_questions = with_whole_paths(found_questions, settings)
            asked = _Asked(found_questions, settings, name, split or (None if questions else "dev"))
        chosen = _narrowed(asked.questions, kind or [], None if public else limit)
        if check:
            is_whole = questions is None and public is None and split in (None, "all")
            is_their_web = questions is None or web is not None or source is not None
            label = _label_command(questions, web, source) if questions else None
            _check(chosen, asked.settings, label, whole=is_whole, is_their_web=is_their_web)
            return
        _refuse_unlabelled(chosen, _label_command(questions, web, source))
        eval_run.check_web(chosen, asked.settings)
        mention_program(asked.settings)
        if stage is not None:
            eval_stage.score(stage, chosen, asked.settings, jobs, json=json)
        else:
            how = eval_run.How(jobs, scheduler, total_budget)
            order = _Order(how, epochs or 1, out, judge, floors, inspect_log, resume=resume, json=json)
            _run(chosen, asked, order)


_OTHER_PAGES = (
    "Name the pages that the questions are about: --web DIR (`marchwarden eval freeze` makes one), --source "
    "corpus:NAME, "
    "or --source web."
)

# Options that can't be given together with the one that is named first.
_APART: dict[str, tuple[str, ...]] = {
    "--program": ("--no-program",),
    "--dataset": ("--questions", "--web", "--split", "--source"),
    "--source": ("--stage", "--web"),
    "--check": (
        "--stage",
        "--model",
        "--kind",
        "--limit",
        "--resume",
        "--out",
        "--judge",
        "--jobs",
        "--json",
        "--fail-under",
        "--epochs",
        "--inspect-log",
        "--cluster",
        "--total-budget",
    ),
    "--stage": (
        "--resume",
        "--out",
        "--judge",
        "--fail-under",
        "--epochs",
        "--inspect-log",
        "--cluster",
        "--total-budget",
    ),
}
# Options of the researcher, which say nothing where a data set scores one part alone.
_OF_A_RUN = (
    "--model",
    "--program",
    "--no-program",
    "--kind",
    "--jobs",
    "--resume",
    "--out",
    "--judge",
    "--fail-under",
    "--epochs",
    "--inspect-log",
    "--cluster",
    "--total-budget",
)


def _refuse_together(given: Mapping[str, object]) -> None:
    """Raise BadParameter where one of two options would be without effect."""
    for option, others in _APART.items():
        if given[option] and (also := next((other for other in others if given[other]), None)):
            raise typer.BadParameter(f"{option} and {also} can't be used together")
    if given["--path"] and not given["--dataset"]:
        raise typer.BadParameter("--path is the path of a --dataset: name the data set too")


@dataclass(frozen=True)
class _Public:
    dataset: QuestionSet
    path: Path


@dataclass(frozen=True)
class _Asked:
    """Questions, and the settings that name their web."""

    questions: list[Question]
    settings: Settings
    name: str
    split: str | None
    web: Path | None = None
    """Folder of a frozen web that is there only while this command runs; None where the web stays."""


@dataclass(frozen=True)
class _Order:
    """Order of what is to be done with the questions."""

    how: eval_run.How
    epochs: int
    out: Path | None
    judge: str | None
    floors: Mapping[str, float]
    inspect_log: Path | None
    resume: bool = field(kw_only=True)
    json: bool = field(kw_only=True)


def _run(questions: Sequence[Question], asked: _Asked, order: _Order) -> None:
    from marchwarden.evaluation.runs.runner import info_of

    settings = asked.settings
    marked_by = eval_run.judge_by(order.judge, settings) if order.judge else None
    how = order.how
    if how.cluster is None:
        with_model = eval_run.has_model(settings)
        how = replace(how, jobs=how.jobs or (2 if with_model else max(1, os.cpu_count() or 1)))
    info = info_of(
        questions,
        settings,
        name=asked.name,
        split=asked.split,
        jobs=how.jobs or 1,
        cluster=how.cluster,
        epochs=order.epochs,
    )
    run = eval_run.run_of(info, order.out, resume=order.resume)
    if asked.web:
        settings = settings.model_copy(update={"web": eval_dataset.keep_web(asked.web, run.folder)})
    try:
        eval_run.score(run, questions, settings, how, judge=marked_by, json=order.json)
    finally:
        # Of a run that was interrupted, too: its log says so.
        if order.inspect_log is not None and run.records:
            eval_run.write_inspect_log(run, order.inspect_log)
    eval_run.check_floors(run, order.floors)


def _questions(file: Path | None, split: str | None) -> tuple[list[Question], str]:
    """Return the questions of a file, or of the shipped set, and its name.

    Raises EvaluationError where the file holds none of the split.
    """
    from marchwarden.errors import EvaluationError
    from marchwarden.evaluation.labels.questions import SPLITS, load_questions
    from marchwarden.settings import shipped

    if file is not None:
        every = load_questions(file)
        found = [each for each in every if split in (None, "all", each.split)]
        if not every:
            raise EvaluationError(f"{file} holds no question", hint="Give another file.")
        if not found:
            there = " and ".join(name for name in SPLITS if any(each.split == name for each in every))
            raise EvaluationError(
                f"{file} holds no question of the split {split}",
                hint=f"It holds {there}; --split all takes them all.",
            )
        return found, file.name
    wanted = SPLITS if split == "all" else (split or "dev",)
    folder = shipped("questions")
    return [each for name in wanted for each in load_questions(folder / f"{name}.jsonl")], "shipped"


def _label_command(file: Path | None, web: Path | None, source: str | None) -> str:
    """Return the command line that labels these questions over these pages, quoted for the shell."""
    pages = [*(("--web", str(web)) if web else ()), *(("--source", source) if source else ())]
    return shlex.join(["marchwarden", "eval", "label", *((str(file), *pages) if file else ())])


def _refuse_unlabelled(questions: Sequence[Question], label: str) -> None:
    """Raise EvaluationError where no question has a label, or one is a draft; say it of those that have no label.

    `label` is the command line that labels them.
    """
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.errors import EvaluationError

    hint = f"`{label}` labels them in the browser; `marchwarden eval --check` says what is missing."
    if drafts := [each.id for each in questions if each.is_draft]:
        raise EvaluationError(f"questions are still to be worded: {', '.join(drafts[:5])}", hint=hint)
    without = [each.id for each in questions if not each.is_labelled]
    if not without:
        return
    if len(without) == len(questions):
        raise EvaluationError(
            f"no question has a label ({count(len(questions), 'question')}), so no answer can be scored",
            hint=hint,
        )
    console.notice(f"{len(without)} of {len(questions)} questions have no label: {', '.join(without[:5])}", hint)


def _narrowed(questions: list[Question], kinds: list[str], limit: int | None) -> list[Question]:
    """Return the questions of these kinds, at most `limit`. Raises BadParameter for a kind that no question has."""
    tags = sorted({tag for question in questions for tag in question.tags})
    if unknown := [kind for kind in kinds if kind not in tags]:
        raise typer.BadParameter(f"--kind {unknown[0]}: no question is of that kind; there are {', '.join(tags)}")
    chosen = [each for each in questions if not kinds or set(kinds) & set(each.tags)]
    if limit is None:
        return chosen
    from marchwarden.evaluation.labels.questions import evenly_spaced

    return evenly_spaced(chosen, limit)


def _check(
    questions: Sequence[Question], settings: Settings, label: str | None, *, whole: bool, is_their_web: bool
) -> None:
    """Print what is wrong with the labels and what is still to be labelled; exit with 1 where anything is wrong.

    `label` is the command line that labels the questions; None where they are no file of the user's. The whole
    shipped set is also counted, and must lack nothing.
    """
    from functools import partial

    import anyio

    from marchwarden.cli.views import console
    from marchwarden.evaluation.labels.label_check import check, counts, coverage_problems, shared_pages

    if whole:
        questions = _questions(None, "all")[0]
    problems = anyio.run(partial(check, questions, settings, is_their_web=is_their_web))
    if whole:
        problems += coverage_problems(questions)
    console.labels(counts(questions), shared_pages(questions), problems)
    if label is not None and any(each.is_open for each in problems):
        console.done(f"Label them in the browser: {label}")
    if not is_their_web and any(each.is_open and each.url for each in problems):
        console.notice("The pages are looked for in the shipped frozen web.", _OTHER_PAGES)
    if any(whole or not each.is_open for each in problems):
        raise typer.Exit(1)
