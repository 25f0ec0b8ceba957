"""The work of `marchwarden compile`: estimate the cost, compile with progress shown, show the outcome.

compile.py reads the options; optimization/ does the compiling.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from marchwarden.evaluation.labels.questions import Question
    from marchwarden.optimization.estimate import Estimate, Order
    from marchwarden.optimization.model_free.parameter_search import ParametersReport, Trial
    from marchwarden.optimization.program_records import Outcome
    from marchwarden.optimization.splits import Counts, StageExamples
    from marchwarden.programs import Program
    from marchwarden.settings import Settings

# Exit codes: a failure, and 128 + SIGINT as shells have it.
FAILURE, INTERRUPTED = 1, 130
# Trials for each line that is printed where no terminal shows a bar. A guess.
TRIALS_PER_LINE = 10
# Seconds in which a question is replayed without a model: 8 to 12 s for the 100 train questions
# (docs/wiki/Compiling.md).
REPLAY_S = 0.1


@dataclass(frozen=True)
class Asked:
    train: Sequence[Question]
    dev: Sequence[Question]


def own_folder(settings: Settings) -> Path:
    """Return the folder of the user's own program for the model of the settings."""
    from marchwarden.programs import model_slug, own_programs

    return own_programs() / model_slug(settings.model_id)


@contextmanager
def _folder(order: Order, asked: Asked, place: Path, *, resume: bool) -> Iterator[Path]:
    """Lock the program's folder and the compile's own folder, and yield the latter."""
    from marchwarden.optimization.checkpoint import create_checkpoint, find_checkpoint, identity_of, lock_folders

    compiles = Path("~/.marchwarden/compiles").expanduser()
    identity = identity_of(order, asked.train, asked.dev)
    with lock_folders(compiles, place):
        folder = find_checkpoint(compiles, identity) if resume else create_checkpoint(compiles, identity)
        with lock_folders(compiles, folder):
            yield folder


# A model's stages


def compile_stages(order: Order, asked: Asked, place: Path, *, resume: bool, dry_run: bool, json: bool) -> None:
    """Compile the stages of a model and show the outcome; with `dry_run`, show the estimate only."""
    import anyio

    from marchwarden.cli.optimization.compile_progress import shown_progress
    from marchwarden.cli.views import console
    from marchwarden.optimization.compilation import build_examples, compile_program
    from marchwarden.optimization.forecast import forecast_examples

    if dry_run:
        with console.progress() as tell:
            tell("looking at a sample of the questions")
            forecast = anyio.run(forecast_examples, order, asked.train, asked.dev)
        _show_estimates(order, _estimates(order, forecast), json=json)
        return
    with console.progress() as tell:
        tell("making the examples of each stage")
        examples = anyio.run(build_examples, order, asked.train, asked.dev)
    estimates = _estimates(order, {name: (each, each.counts) for name, each in examples.items()})
    with (
        _folder(order, asked, place, resume=resume) as folder,
        shown_progress(estimates) as progress,
    ):
        before = _there(order.settings, place)
        outcome = compile_program(
            order, examples, asked.dev, folder=folder, out=place, before=before, progress=progress
        )
    _show(outcome, json=json)
    end(outcome, place)


def compile_at_once(order: Order, asked: Asked, place: Path, *, resume: bool, dry_run: bool, json: bool) -> None:
    """The whole program, all prompts at once."""
    from marchwarden.cli.optimization.compile_progress import shown_progress
    from marchwarden.optimization.estimate import estimate_whole
    from marchwarden.optimization.whole.whole_compilation import WholeQuestions, compile_whole

    questions = WholeQuestions.of(order, asked.train, asked.dev)
    budgets = [each.request.constraints.token_budget for each in questions.learn + questions.choose]
    estimates = [estimate_whole(order, budgets, len(questions.dev))]
    if dry_run:
        _show_estimates(replace(order, questions=0), estimates, json=json)
        return
    with (
        _folder(order, asked, place, resume=resume) as folder,
        shown_progress(estimates) as progress,
    ):
        before = _there(order.settings, place)
        outcome = compile_whole(
            order, questions, asked.dev, folder=folder, out=place, before=before, progress=progress
        )
    _show(outcome, json=json)
    end(outcome, place)


def _there(settings: Settings, place: Path) -> Program | None:
    """Return the program of this model whose other stages stay, without stale or damaged stages; None without one.

    For the model's own folder that is the program in force, which may be the shipped one.
    """
    from marchwarden.programs import load_program
    from marchwarden.programs.loading import program_in
    from marchwarden.stages.registry import without_stale

    if place.absolute() == own_folder(settings).absolute():
        found = load_program(settings.model_copy(update={"program": None}))
    else:
        found = program_in(place)
    if found is None or found.info is None or found.info.model_id != settings.model_id:
        return None
    return without_stale(found, settings.model_id)


def _estimates(order: Order, examples: Mapping[str, tuple[StageExamples, Counts]]) -> list[Estimate]:
    from marchwarden.optimization.estimate import estimate
    from marchwarden.optimization.stage_sets import STAGE_SETS

    model_id = order.settings.model_id
    writer = order.reflection.model_id if order.reflection else model_id
    return [
        estimate(STAGE_SETS[name], its, order.optimizer, order.effort, (model_id, writer), counts)
        for name in order.stages
        for its, counts in [examples[name]]
    ]


def _show_estimates(order: Order, estimates: Sequence[Estimate], *, json: bool) -> None:
    from marchwarden.cli.views import console
    from marchwarden.optimization.estimate import whole_tokens
    from marchwarden.optimization.forecast import WRITTEN_SHARE, pace_of

    tokens, pace = whole_tokens(order), pace_of(order.settings)
    hours = {each.stage: round(pace.hours(each.read, each.written, order.jobs), 3) for each in estimates}
    written = int(WRITTEN_SHARE * tokens)
    whole_hours = round(pace.hours(tokens - written, written, order.jobs), 3)
    if json:
        console.json(
            {
                "model_id": order.settings.model_id,
                "optimizer": order.optimizer.name,
                "stages": [{**each.as_json(), "hours": hours[each.stage]} for each in estimates],
                "whole": {"questions": order.questions, "tokens": tokens, "hours": whole_hours},
                "hours_measured_on_calls": pace.calls,
                "token_budget": order.tokens,
                "max_calls": order.calls,
            }
        )
    else:
        console.compile_estimates(order, estimates, hours, (tokens, whole_hours))
        console.line(pace.said)


def _show(outcome: Outcome, *, json: bool, search: ParametersReport | None = None) -> None:
    from marchwarden.cli.views import console

    if json:
        body = {"program": outcome.info.model_dump(mode="json"), "file": outcome.file and str(outcome.file)}
        console.json({**body, **({"search": search.as_json()} if search else {})})
    else:
        console.compiled(outcome, search)


def end(outcome: Outcome, place: Path) -> None:
    """Say where the program is, or why nothing was put in place; exit with 1 or 130 where it ended early."""
    from marchwarden.cli.views import console

    for name, (its, new) in outcome.stayed.items():
        console.notice(
            f"The compiled {name} that is there stays: on dev it scored {its:.3f}, and the new one {new:.3f}."
        )
    if outcome.worse:
        named = ", ".join(outcome.worse)
        console.notice(f"The program was not saved, because the whole program is clearly worse in {named}.")
    if outcome.file:
        console.done(f"The program is in {place}; `marchwarden programs show {outcome.info.model_id}` shows it.")
    elif not outcome.worse:
        console.done("Nothing scored better on dev, so nothing was changed.")
    if outcome.stopped:
        console.notice(f"The compile ended early: {outcome.stopped.reason.rstrip('.')}.", outcome.stopped.hint)
        console.done(f"To continue: {going_on(sys.argv, outcome.stopped.short_of)}")
        raise typer.Exit(INTERRUPTED if outcome.stopped.is_interrupt else FAILURE)


def going_on(command: Sequence[str], short_of: str = "") -> str:
    """Return the command line that goes on with a compile, quoted for the shell.

    The value of the option that it ran short of is doubled.
    """
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


def compile_parameters(order: Order, asked: Asked, place: Path, *, resume: bool, dry_run: bool, json: bool) -> None:
    """Search the parameters of the model-free stages and show the outcome; with `dry_run`, say what it would do."""
    import signal

    import anyio

    from marchwarden.cli.views import console
    from marchwarden.optimization.model_free.parameter_compilation import compile_model_free
    from marchwarden.optimization.model_free.parameter_search import check_packages

    check_packages()
    if dry_run:
        body = {"trials": order.trials, "train": len(asked.train), "dev": len(asked.dev), "tokens": 0, "dollars": 0.0}
        hours = round(order.trials * len(asked.train) * REPLAY_S / 3600, 3)
        if json:
            console.json({"model_id": order.settings.model_id, **body, "hours": hours})
        else:
            console.line(
                f"{order.trials} trials, each of which asks {len(asked.train)} train questions without a model; then "
                f"{len(asked.dev)} dev questions decide. No tokens, no dollars, about {60 * hours:,.0f} minutes."
            )
        return
    asked_to_stop = False

    # The first Ctrl-C ends the search after its trial, so that the best parameters so far can still be kept.
    def stop(*_: object) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second one ends it at once

    before = signal.signal(signal.SIGINT, stop)
    try:
        with _folder(order, asked, place, resume=resume) as folder, console.counting(order.trials) as bar:

            def tell(trial: Trial) -> None:
                bar.of(trial.of)
                bar.advance(lambda: f"score {trial.score:.3f} · best {trial.best:.3f}")
                if bar.is_silent and trial.number % TRIALS_PER_LINE == 0:
                    console.done(f"{trial.number} of {trial.of} trials, best {trial.best:.3f}")

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
    end(outcome, place)
