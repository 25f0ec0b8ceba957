"""Scores a program's compiled stages against the uncompiled ones on questions that had no part in compiling, and
prints a report as Markdown.

    python evals/report_program.py --model openai/NAME --limit 24 --folder runs/program-test > evals/reports/NAME.md

Every answer is kept in the folder, so that an interrupted report goes on. All stages of the program in force are
scored, or those that --stage names; `--program DIR` takes another one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio

from marchwarden.evaluation.labels.questions import load_questions
from marchwarden.evaluation.runs.run import now
from marchwarden.optimization.examples.example_scoring import ExampleScore
from marchwarden.optimization.examples.labelled_web import labelled_web
from marchwarden.optimization.examples.stage_example import Example
from marchwarden.optimization.spending import Spending
from marchwarden.optimization.stage_sets import STAGE_SETS
from marchwarden.optimization.student import spread
from marchwarden.optimization.validation import Validation, mean, model_free_scores, score_within_budget, valid_rate
from marchwarden.programs import Program
from marchwarden.settings import Settings, load_settings, shipped
from marchwarden.stages.registry import program_in_force


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--stage", action="append")
    parser.add_argument("--limit", type=int, help="examples of a stage, at most")
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    program_folder = str(given.program.absolute()) if given.program else None
    settings = load_settings(source="snapshot", model=given.model, program=program_folder)
    program = program_in_force(settings)
    if program is None or not program.in_force:
        sys.exit(f"no stage is compiled for {given.model}")
    given.folder.mkdir(parents=True, exist_ok=True)
    stages = given.stage or program.in_force
    examples = anyio.run(build_examples, given.split, stages, settings, given.limit)
    spending = Spending(given.folder)
    validations = {}
    for name in stages:
        validations[name] = validate(name, examples[name], program, settings, spending)
        print(
            f"{name}: {mean(validations[name].uncompiled)} → {mean(validations[name].compiled or [])}",
            file=sys.stderr,
        )
    print(report(given.split, program, validations))


async def build_examples(
    split: str, stages: Sequence[str], settings: Settings, limit: int | None
) -> dict[str, list[Example[Any, Any]]]:
    questions = load_questions(shipped("questions") / f"{split}.jsonl")
    async with labelled_web(settings) as web:
        return {name: spread(await STAGE_SETS[name].examples_on(questions, web), limit, 0) for name in stages}


def validate(
    name: str, examples: list[Example[Any, Any]], program: Program, settings: Settings, spending: Spending
) -> Validation:
    stage_set, stage = STAGE_SETS[name], STAGE_SETS[name].stage
    forms = (stage, stage.compiled(program.stages[name]))
    scored = (
        score_within_budget(stage_set, form, examples, settings, spending, jobs=settings.model_calls)
        for form in forms
    )
    return Validation(*scored, model_free_scores(stage_set, examples))


def report(split: str, program: Program, validations: dict[str, Validation]) -> str:
    assert program.info is not None
    lines = [
        f"# {program.info.model_id}, compiled against uncompiled",
        "",
        f"Program {program.fingerprint}, compiled on {program.info.date} on train and dev; scored on {split} on",
        f"{now().date()}. The score of an example, 0–1, is of what a research would go on with: where the model's",
        "answer could not be used, of the model-free form that takes its place. *Valid* is the share of answers that",
        "were the model's own; a stage that goes without the model has none. *Own score* counts other answers as 0.",
        "Intervals are of 95 %, paired bootstrap over examples.",
        "",
        "| stage | compiled | examples | score | gained | without model | valid | own score | tokens an example |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        row(name, validation, program.stages[name].form == "model_free") for name, validation in validations.items()
    ]
    for name, validation in validations.items():
        lines += ["", f"## {name}", "", "| kind | examples | uncompiled | compiled |", "|---|---|---|---|"]
        lines += kinds(validation)
    return "\n".join(lines)


def row(name: str, validation: Validation, goes_without: bool) -> str:
    before, after = validation.uncompiled, validation.compiled or []
    low, high = validation.interval
    cells = (
        name,
        "without the model" if goes_without else "another prompt",
        str(len(before)),
        f"{mean(before):.3f} → {mean(after):.3f}",
        f"{mean(after) - mean(before):+.3f} ({low:+.3f} to {high:+.3f})",
        f"{fmean(validation.model_free):.3f}",
        f"{valid_rate(before):.3f} → {'–' if goes_without else f'{valid_rate(after):.3f}'}",
        f"{own(before):.3f} → {'–' if goes_without else f'{own(after):.3f}'}",
        f"{tokens(before):.0f} → {tokens(after):.0f}",
    )
    return f"| {' | '.join(cells)} |"


def own(scored: Sequence[ExampleScore]) -> float:
    return fmean(each.score if each.own else 0.0 for each in scored)


def tokens(scored: Sequence[ExampleScore]) -> float:
    return fmean(each.tokens for each in scored)


def kinds(validation: Validation) -> list[str]:
    lines = []
    for kind in sorted({each.kind for each in validation.uncompiled}):
        of_kind = [
            [each.score for each in form if each.kind == kind]
            for form in (validation.uncompiled, validation.compiled or [])
        ]
        lines.append(f"| {kind} | {len(of_kind[0])} | {fmean(of_kind[0]):.3f} | {fmean(of_kind[1]):.3f} |")
    return lines


if __name__ == "__main__":
    main()
