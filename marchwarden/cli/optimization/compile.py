"""`marchwarden compile`: fit a program to a model on the train questions, and keep what is better on dev.

This module reads the options; compile_run.py does the work.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marchwarden.cli.optimization.compile_run import Asked
    from marchwarden.optimization.estimate import Order
    from marchwarden.settings import Settings

EPILOGUE = """Examples:

marchwarden compile --model openai/NAME --dry-run
    what it would do and about what it would cost, before anything is spent
marchwarden compile --model openai/NAME --stage gaps
    one stage; the others of its program stay as they are
marchwarden compile --model openai/NAME --stage whole --whole 12 --token-budget 3000000
    after that, all prompts at once: by whole questions, and 12 dev questions decide
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


class CompileCommand(TyperCommand):
    """A command that tells why it has no `--cluster`, as `eval` and `ask` have."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if any(each.partition("=")[0] == "--cluster" for each in args) and not ctx.resilient_parsing:
            # Optimizers run DSPy's threads over one meter, one recording and one state of the search in this process.
            raise typer.BadParameter(
                "compile runs on one machine, because all that it tries shares one budget. Raise --jobs "
                "instead; `marchwarden eval "
                "--cluster` scores the program on many machines"
            )
        return super().parse_args(ctx, args)


def command(
    model: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            autocompletion=complete_model,
            help="Model id, or extractive for the model-free stages. Default: the model in your settings.",
        ),
    ] = None,
    stage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Compile only this stage; can be repeated. Default: all, one by one. whole: all together, "
            "scored on whole questions.",
        ),
    ] = None,
    optimizer: Annotated[
        Literal["bootstrap", "random-search", "mipro", "gepa", "simba"] | None,
        typer.Option(help="DSPy optimizer. Default: random-search for a small model, gepa for a large one."),
    ] = None,
    reflection_model: Annotated[
        str | None, typer.Option(metavar="ID", help="The model that writes instructions. Default: the model itself.")
    ] = None,
    effort: Annotated[
        Literal["light", "medium", "heavy"] | None,
        typer.Option(help="How much to try. Default: light for a small model, medium for a large one."),
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Most model calls to make in searches and validations.")
    ] = None,
    token_budget: Annotated[
        int | None, typer.Option(metavar="N", min=1000, help="Most tokens to use in all; never exceeded.")
    ] = None,
    whole: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Dev questions to ask from end to end, with and without the program; 0 for none. They decide "
            "whether --stage whole is kept.",
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Sets of parameters to try, for extractive. Default: 100.")
    ] = None,
    always_model: Annotated[
        bool,
        typer.Option(
            "--always-model",
            metavar="",
            help="Use the model in every stage, even if the stage scores better without it.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of every random choice.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Model calls at the same time. Default: MARCHWARDEN_MODEL_CALLS."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Your own labelled questions, with the splits train and dev (see evals/README.md)."
        ),
    ] = None,
    web: options.QuestionsWeb = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write the program to. Default: one in ~/.marchwarden/programs."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="Continue the latest compile with these options.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Show what it would cost, and spend nothing.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print the outcome as JSON.")] = False,
) -> None:
    """Search for better prompts for a model's stages, and keep those that score better on the dev questions.

    Each stage has its own examples and metric, made from the labelled questions. A stage is scored, searched with
    one of DSPy's optimizers on the train questions, and scored again on dev. Then whole questions are asked with the
    program. The scores before and after are saved in its program.json.
    """
    from marchwarden.cli.evaluation.eval_run import has_model
    from marchwarden.cli.optimization.compile_run import (
        compile_at_once,
        compile_parameters,
        compile_stages,
        own_folder,
    )
    from marchwarden.settings import EXTRACTIVE, load_settings

    # Compiling starts from the uncompiled stages, and on the frozen web that the labels are about.
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
    at_once = _is_whole(stage, optimizer, {"--max-calls": max_calls, "--always-model": always_model}, whole)
    order = _order(settings, stage, optimizer, reflection_model, effort, whole, trials, seed, jobs)
    order = replace(order, tokens=token_budget, calls=max_calls, always_model=always_model)
    place = out or own_folder(settings)
    if not dry_run:
        options.check_output_folder(place, "--out")
        # Raises ConfigurationError for a model that can't be asked, so that this is known before anything is spent.
        has_model(order.settings)
        if order.reflection:
            has_model(order.reflection)
    compile_these = compile_parameters if model_free else compile_at_once if at_once else compile_stages
    compile_these(order, asked, place, resume=resume, dry_run=dry_run, json=json)


def _asked(file: Path | None) -> Asked:
    """Return the train and dev questions of a file, or the shipped ones.

    Raises EvaluationError where the file lacks one of both splits.
    """
    from marchwarden.cli.optimization.compile_run import Asked
    from marchwarden.errors import EvaluationError
    from marchwarden.evaluation.labels.questions import load_questions
    from marchwarden.settings import shipped

    if file is None:
        train, dev = (load_questions(shipped("questions") / f"{split}.jsonl") for split in ("train", "dev"))
        return Asked(train, dev)
    every = load_questions(file)
    found = Asked(*([each for each in every if each.split == split] for split in ("train", "dev")))
    for split, of_split in (("train", found.train), ("dev", found.dev)):
        if not of_split:
            raise EvaluationError(
                f"{file} holds no question of the split {split}",
                hint="Prompts are searched on train and tested on dev: label both (evals/README.md).",
            )
    return found


def _refuse_together(model_free: bool, of_models: Mapping[str, object], of_none: Mapping[str, object]) -> None:
    """Raise BadParameter for an option that would be without effect on what is compiled."""
    without_effect = of_models if model_free else of_none
    given = (option for option, value in without_effect.items() if value is not None and value is not False)
    if other := next(given, None):
        what = "the model-free stages, which ask no model" if model_free else "a model's stages"
        raise typer.BadParameter(f"{other} has no effect on {what}")


def _is_whole(
    stages: list[str] | None, optimizer: str | None, without_effect: Mapping[str, object], whole: int | None
) -> bool:
    """Return True where all prompts are to be compiled together. Raises BadParameter for options that then have no
    effect."""
    from marchwarden.optimization.estimate import WHOLE_OPTIMIZERS

    if "whole" not in (stages or ()):
        return False
    if stages != ["whole"]:
        raise typer.BadParameter("--stage whole can't be combined with other stages: it compiles them all together")
    if optimizer is not None and optimizer not in WHOLE_OPTIMIZERS:
        raise typer.BadParameter(f"--stage whole takes the optimizers {', '.join(WHOLE_OPTIMIZERS)}")
    if other := next((option for option, value in without_effect.items() if value), None):
        raise typer.BadParameter(f"{other} has no effect on --stage whole; limit it with --token-budget")
    if whole == 0:
        raise typer.BadParameter(
            "--whole 0 can't be used with --stage whole: dev questions decide whether it is kept"
        )
    return True


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
    """Return what is to be compiled, and how. Raises EvaluationError for an optimizer whose package is missing."""
    from marchwarden.optimization.estimate import (
        EFFORT_OF,
        EFFORTS,
        QUESTIONS_OF,
        WHOLE_EFFORTS,
        WHOLE_OPTIMIZER_OF,
        Order,
        optimizer_for,
        size_of,
    )
    from marchwarden.optimization.model_free.parameter_search import TRIALS
    from marchwarden.settings import EXTRACTIVE

    size = size_of(settings.model_id)
    at_once = stages == ["whole"]
    chosen = optimizer_for(settings.model_id, optimizer or (WHOLE_OPTIMIZER_OF[size] if at_once else None))
    reflection = settings.model_copy(update={"model": reflection_model}) if reflection_model else None
    if settings.model_id != EXTRACTIVE:
        chosen.check()
    if reflection is not None and reflection.model_id == EXTRACTIVE:
        raise typer.BadParameter(f"--reflection-model {reflection_model}: that is not a model")
    if reflection is not None and not chosen.reflects:
        raise typer.BadParameter(f"--reflection-model has no effect on {chosen.name}, which writes no instructions")
    return Order(
        settings,
        ("whole",) if at_once else _stages(stages),
        chosen,
        (WHOLE_EFFORTS if at_once else EFFORTS)[effort or EFFORT_OF[size]],
        reflection,
        seed,
        jobs or settings.model_calls,
        questions=QUESTIONS_OF[size] if whole is None else whole,
        trials=trials or TRIALS,
    )


def _stages(named: list[str] | None) -> tuple[str, ...]:
    """Return the named stages, each once; all where none is named. Raises BadParameter for an unknown one."""
    from marchwarden.optimization.stage_sets import STAGE_SETS

    if not named or "all" in named:
        return tuple(STAGE_SETS)
    for name in named:
        if name not in STAGE_SETS:
            raise typer.BadParameter(
                f"--stage {name}: there is no such stage; there are {', '.join(STAGE_SETS)}, all, whole"
            )
    return tuple(dict.fromkeys(named))
