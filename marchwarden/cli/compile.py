"""`marchwarden compile`: fits a program to a model on the labelled questions, and keeps what dev proves.

What its options ask for is decided here; evaluation/compiling/ does the work.
"""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from marchwarden.evaluation.compiling.job import Outcome
    from marchwarden.evaluation.compiling.parameters import ParametersReport, Trial
    from marchwarden.evaluation.compiling.plan import Estimate, Order
    from marchwarden.evaluation.compiling.stage_search import StageExamples
    from marchwarden.evaluation.questions import Question
    from marchwarden.programs import Program
    from marchwarden.settings import Settings

FAILURE, INTERRUPTED = 1, 130
TOLD_TRIALS = 10
"""Where no terminal shows a bar, every so many trials make a line."""

EPILOGUE = """Examples:

marchwarden compile --model openai/NAME --dry-run
    what it would do and about what it would cost, before anything is spent
marchwarden compile --model openai/NAME --stage gaps
    one stage; the others of its program stay as they are
marchwarden compile --token-budget 2000000 --reflection-model anthropic/NAME
    every stage of the model in force, within so many tokens, with another model that writes instructions
marchwarden compile --resume
    go on with an interrupted one: nothing is paid for twice
marchwarden compile --model extractive
    the numbers that the model-free stages decide by; takes no model

Exit codes: 0 done, whether or not anything was kept · 1 a failure, or out of budget · 2 wrong usage · 130
interrupted.

A stage is kept only where it beats the uncompiled one on dev by more than the noise;
`marchwarden programs show MODEL` shows what was kept. docs/wiki/Compiling.md says what each optimizer needs and
costs."""


def command(
    model: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Model id; extractive for the model-free stages. Default: the one in force."),
    ] = None,
    stage: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this stage; can be given again. Default: all.")
    ] = None,
    optimizer: Annotated[
        Literal["bootstrap", "random-search", "mipro", "gepa", "simba"] | None,
        typer.Option(help="How to search. Default: random-search for a small model, gepa for a large one."),
    ] = None,
    reflection_model: Annotated[
        str | None, typer.Option(metavar="ID", help="The model that writes instructions. Default: the model itself.")
    ] = None,
    effort: Annotated[
        Literal["light", "medium", "heavy"] | None,
        typer.Option(help="How much to try. Default: light for a small model, medium for a large one."),
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Model calls of searches and proofs, at most.")
    ] = None,
    token_budget: Annotated[
        int | None, typer.Option(metavar="N", min=1000, help="Tokens of everything together; never exceeded.")
    ] = None,
    whole: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Dev questions to ask from end to end, with and without. 0 for none."),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Parameters to try, for extractive. Default: 100.")
    ] = None,
    always_model: Annotated[
        bool, typer.Option("--always-model", help="Let no stage go without the model, though it does better so.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Decides every draw.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Model calls side by side. Default: MARCHWARDEN_MODEL_CALLS."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Other labelled questions, of the splits train and dev (evals/README.md)."),
    ] = None,
    web: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The frozen web that they are about. Default: the shipped one.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The program's folder. Default: ~/.marchwarden/programs/MODEL."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the latest compile of these options.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, and spend nothing.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The outcome as JSON on stdout.")] = False,
) -> None:
    """Search better prompts for a model's stages on the train questions, and keep those that dev proves to be better.

    Each stage has its own examples and metric, which the labelled questions give. A stage is scored as it is,
    searched by one of DSPy's optimizers, and scored again; then the whole program is asked from end to end. Both
    scores go into its program.json.
    """
    from marchwarden.settings import EXTRACTIVE, load_settings

    settings = load_settings(source="snapshot", web=web and web.absolute(), model=model, program="none")
    asked = _asked(questions)
    model_free = settings.model_id == EXTRACTIVE
    _refuse_together(
        model_free,
        {
            "--stage": stage,
            "--optimizer": optimizer,
            "--reflection-model": reflection_model,
            "--effort": effort,
            "--max-calls": max_calls,
            "--token-budget": token_budget,
            "--whole": whole,
            "--jobs": jobs,
            "--always-model": always_model,
        },
        {"--trials": trials},
    )
    order = _order(settings, stage, optimizer, reflection_model, effort, whole, trials, seed, jobs)
    order = replace(order, tokens=token_budget, calls=max_calls, always_model=always_model)
    if not dry_run:
        _check_models(order)
    place = out or _own_folder(settings)
    if model_free:
        _compile_model_free(order, asked, place, resume=resume, dry_run=dry_run, json=json)
    else:
        _compile(order, asked, place, resume=resume, dry_run=dry_run, json=json)


@dataclass(frozen=True)
class _Asked:
    train: Sequence[Question]
    dev: Sequence[Question]


def _asked(file: Path | None) -> _Asked:
    """Raises EvaluationError where the file lacks one of both splits."""
    from marchwarden.errors import EvaluationError
    from marchwarden.evaluation.questions import load_questions
    from marchwarden.settings import shipped

    if file is None:
        train, dev = (load_questions(shipped("questions") / f"{split}.jsonl") for split in ("train", "dev"))
        return _Asked(train, dev)
    every = load_questions(file)
    found = _Asked(*([each for each in every if each.split == split] for split in ("train", "dev")))
    for split, of_split in (("train", found.train), ("dev", found.dev)):
        if not of_split:
            raise EvaluationError(
                f"{file} holds no question of the split {split}",
                hint="Prompts are searched on train and proven on dev: label both (evals/README.md).",
            )
    return found


def _refuse_together(model_free: bool, of_models: Mapping[str, object], of_none: Mapping[str, object]) -> None:
    """What says nothing about what is compiled is wrong usage, rather than an option without effect."""
    without_effect = of_models if model_free else of_none
    given = (option for option, value in without_effect.items() if value is not None and value is not False)
    if other := next(given, None):
        what = "the model-free stages, which ask no model" if model_free else "a model's stages"
        raise typer.BadParameter(f"{other} says nothing about {what}")


def _order(
    settings: Settings,
    stages: list[str] | None,
    optimizer: str | None,
    reflection_model: str | None,
    effort: str | None,
    whole: int | None,
    trials: int | None,
    seed: int,
    jobs: int | None,
) -> Order:
    """What is to be done. Raises EvaluationError for an optimizer whose package is missing."""
    from marchwarden.evaluation.compiling.parameters import TRIALS
    from marchwarden.evaluation.compiling.plan import EFFORT_OF, EFFORTS, QUESTIONS_OF, Order, optimizer_for, size_of
    from marchwarden.settings import EXTRACTIVE

    chosen = optimizer_for(settings.model_id, optimizer)
    reflection = settings.model_copy(update={"model": reflection_model}) if reflection_model else None
    if settings.model_id != EXTRACTIVE:
        chosen.check()
    if reflection is not None and reflection.model_id == EXTRACTIVE:
        raise typer.BadParameter(f"--reflection-model {reflection_model}: that is no model")
    if reflection is not None and not chosen.reflects:
        raise typer.BadParameter(f"--reflection-model says nothing about {chosen.name}, which writes no instructions")
    size = size_of(settings.model_id)
    return Order(
        settings,
        _stages(stages),
        chosen,
        EFFORTS[effort or EFFORT_OF[size]],
        reflection,
        seed,
        jobs or settings.model_calls,
        questions=QUESTIONS_OF[size] if whole is None else whole,
        trials=trials or TRIALS,
    )


def _check_models(order: Order) -> None:
    """Raises ConfigurationError for a model that can't be asked, so that this is known before anything is spent."""
    from marchwarden.cli.eval_run import has_model

    has_model(order.settings)
    if order.reflection:
        has_model(order.reflection)


def _stages(named: list[str] | None) -> tuple[str, ...]:
    from marchwarden.evaluation.stage_sets import STAGE_SETS

    if not named or "all" in named:
        return tuple(STAGE_SETS)
    for name in named:
        if name not in STAGE_SETS:
            raise typer.BadParameter(
                f"--stage {name}: there is no such stage; there are {', '.join(STAGE_SETS)}, all"
            )
    return tuple(dict.fromkeys(named))


def _own_folder(settings: Settings) -> Path:
    from marchwarden.programs import model_slug, own_programs

    return own_programs() / model_slug(settings.model_id)


@contextmanager
def _folder(order: Order, asked: _Asked, place: Path, *, resume: bool) -> Iterator[Path]:
    """The compile's own folder, which is this compile's alone until it ends, as is the program's."""
    from marchwarden.evaluation.compiling.attempt import alone, attempt_of, begin, latest

    shelf = Path("~/.marchwarden/compiles").expanduser()
    _check_place(place)
    attempt = attempt_of(order, asked.train, asked.dev)
    with alone(shelf, place):
        folder = latest(shelf, attempt) if resume else begin(shelf, attempt)
        with alone(shelf, folder):
            yield folder


def _check_place(place: Path) -> None:
    """Raises StorageError where a program can't be put there, so that this is known before anything is spent."""
    from marchwarden.errors import StorageError

    there = next((path for path in (place, *place.absolute().parents) if path.exists()), Path("/"))
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise StorageError(f"{there} can't be written into", hint="Name another folder with --out.")


# A model's stages


def _compile(order: Order, asked: _Asked, place: Path, *, resume: bool, dry_run: bool, json: bool) -> None:
    import anyio

    from marchwarden.cli import render
    from marchwarden.cli.compile_progress import shown_progress
    from marchwarden.evaluation.compiling.job import compile_program, examples_of

    with render.progress() as tell:
        tell("making the examples of each stage")
        examples = anyio.run(examples_of, order, asked.train, asked.dev)
    estimates = _estimates(order, examples)
    if dry_run:
        _show_estimates(order, estimates, json=json)
        return
    with (
        _folder(order, asked, place, resume=resume) as folder,
        shown_progress(estimates) as progress,
    ):
        before = _there(order.settings, place)
        outcome = compile_program(
            order, examples, asked.dev, folder=folder, out=place, before=before, progress=progress
        )
    _show(outcome, json=json)
    _end(outcome, place)


def _there(settings: Settings, place: Path) -> Program | None:
    """The program whose other stages stay: of this model, what of it is whole and not stale. For the model's own
    folder it is the one in force, which may be the shipped one. None where there is none."""
    from marchwarden.programs import load_program
    from marchwarden.programs.loading import program_in
    from marchwarden.stages.compiled import without_stale

    if place.absolute() == _own_folder(settings).absolute():
        found = load_program(settings.model_copy(update={"program": None}))
    else:
        found = program_in(place)
    if found is None or found.info is None or found.info.model_id != settings.model_id:
        return None
    return without_stale(found, settings.model_id)


def _estimates(order: Order, examples: Mapping[str, StageExamples]) -> list[Estimate]:
    from marchwarden.evaluation.compiling.plan import estimate
    from marchwarden.evaluation.stage_sets import STAGE_SETS

    model_id = order.settings.model_id
    writer = order.reflection.model_id if order.reflection else model_id
    return [
        estimate(STAGE_SETS[name], examples[name], order.optimizer, order.effort, model_id, writer)
        for name in order.stages
    ]


def _show_estimates(order: Order, estimates: Sequence[Estimate], *, json: bool) -> None:
    from marchwarden.cli import render
    from marchwarden.evaluation.compiling.plan import whole_tokens

    tokens = whole_tokens(order)
    if json:
        render.json(
            {
                "model_id": order.settings.model_id,
                "optimizer": order.optimizer.name,
                "stages": [each.as_json() for each in estimates],
                "whole": {"questions": order.questions, "tokens": tokens},
                "token_budget": order.tokens,
                "max_calls": order.calls,
            }
        )
    else:
        render.compile_estimates(order, estimates, tokens)


def _show(outcome: Outcome, *, json: bool, search: ParametersReport | None = None) -> None:
    from marchwarden.cli import render

    if json:
        body = {"program": outcome.info.model_dump(mode="json"), "file": outcome.file and str(outcome.file)}
        render.json({**body, **({"search": search.as_json()} if search else {})})
    else:
        render.compiled(outcome, search)


def _end(outcome: Outcome, place: Path) -> None:
    """Say where the program is, or why nothing was put in place; exit by it."""
    from marchwarden.cli import render

    for name, (its, new) in outcome.stayed.items():
        render.notice(
            f"The compiled {name} that is there stays: on dev it scored {its:.3f}, and the new one {new:.3f}."
        )
    if outcome.worse:
        named = ", ".join(outcome.worse)
        render.notice(f"Nothing was put in place: the whole program is certainly worse in {named}.")
    if outcome.file:
        render.done(f"The program is in {place}; `marchwarden programs show {outcome.info.model_id}` shows it.")
    elif not outcome.worse:
        render.done("Nothing was proven to be better, and nothing was changed.")
    if outcome.stopped:
        render.notice(f"It ended early: {outcome.stopped.reason.rstrip('.')}.", outcome.stopped.hint)
        render.done(f"Go on with: {going_on(sys.argv, outcome.stopped.short_of)}")
        raise typer.Exit(INTERRUPTED if outcome.stopped.is_interrupt else FAILURE)


def going_on(command: Sequence[str], short_of: str = "") -> str:
    """A command line for the shell: this one again, to go on, with twice of the option that it ran short of."""
    given = []
    for before, each in zip(["", *command[1:-1]], command[1:], strict=False):
        option, equals, value = each.partition("=")
        if short_of and before == short_of and each.isdecimal():
            given.append(str(2 * int(each)))
        elif short_of and option == short_of and equals and value.isdecimal():
            given.append(f"{option}={2 * int(value)}")
        elif each != "--resume":
            given.append(each)
    return shlex.join(["marchwarden", *given, "--resume"])


# The model-free stages


def _compile_model_free(order: Order, asked: _Asked, place: Path, *, resume: bool, dry_run: bool, json: bool) -> None:
    import signal

    import anyio

    from marchwarden.cli import render
    from marchwarden.evaluation.compiling.model_free import compile_model_free
    from marchwarden.evaluation.compiling.parameters import check_optuna

    check_optuna()
    if dry_run:
        _show_trials(order, asked, json=json)
        return
    asked_to_stop = False

    def stop(*_: object) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second one ends it at once

    before = signal.signal(signal.SIGINT, stop)
    try:
        with _folder(order, asked, place, resume=resume) as folder, render.counting(order.trials) as bar:

            def tell(trial: Trial) -> None:
                bar.of(trial.of)
                bar.advance(lambda: f"score {trial.score:.3f} · best {trial.best:.3f}")
                if bar.is_silent and trial.number % TOLD_TRIALS == 0:
                    render.done(f"{trial.number} of {trial.of} trials, best {trial.best:.3f}")

            work = partial(
                compile_model_free,
                order,
                asked.train,
                asked.dev,
                folder=folder,
                out=place,
                on_trial=tell,
                stop=lambda: asked_to_stop,
            )
            outcome, report = anyio.run(work)
    finally:
        signal.signal(signal.SIGINT, before)
    _show(outcome, json=json, search=report)
    _end(outcome, place)


def _show_trials(order: Order, asked: _Asked, *, json: bool) -> None:
    from marchwarden.cli import render

    body = {"trials": order.trials, "train": len(asked.train), "dev": len(asked.dev), "tokens": 0, "dollars": 0.0}
    if json:
        render.json({"model_id": order.settings.model_id, **body})
    else:
        render.line(
            f"{order.trials} trials, each of which asks {len(asked.train)} train questions without a model; then "
            f"{len(asked.dev)} dev questions decide. No tokens, no dollars."
        )
