"""What the tests of compiling share: gaps of shipped questions, and a scripted model that does better with examples
before its eyes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anyio

from marchwarden.evaluation.compiling.job import examples_of
from marchwarden.evaluation.compiling.optimizers import OPTIMIZERS, Effort
from marchwarden.evaluation.compiling.plan import Order
from marchwarden.evaluation.compiling.purse import Purse
from marchwarden.evaluation.compiling.stage_search import StageExamples
from marchwarden.evaluation.questions import Question, load_questions
from marchwarden.lm.prompt import prompt_texts
from marchwarden.lm.resolve import Resolved
from marchwarden.lm.scripted import AsyncScriptedEngine, ScriptedEngine
from marchwarden.settings import Settings, load_settings, shipped

MODEL = "openai/scripted-7b"
EFFORT = Effort(candidates=2, demos=2, train=8, choose=6, dev=8)


def settings(model: str = MODEL) -> Settings:
    return load_settings(model=model, source="snapshot", api_base="http://127.0.0.1:9/v1", semantic=False)


def order(optimizer: str = "random-search", **changes: Any) -> Order:
    given = {"stages": ("gaps",), "effort": EFFORT, "seed": 0, "jobs": 1, **changes}
    return Order(settings(), optimizer=OPTIMIZERS[optimizer], **given)


@cache
def questions(split: str) -> list[Question]:
    """Those of a split that give the gaps stage something to judge."""
    every = load_questions(shipped("questions") / f"{split}.jsonl")
    return [each for each in every if any(gap.required for gap in each.gaps) or "one-fact" in each.tags]


def examples(of: Order) -> Mapping[str, StageExamples]:
    return anyio.run(examples_of, of, questions("train"), questions("dev"))


def has_demonstrations(request: Any) -> bool:
    return len(request.messages) > 1


def answering(
    of: Mapping[str, StageExamples], right: Callable[[Any], bool] = has_demonstrations
) -> Callable[[Any], str]:
    """A model that gives the labelled categories to a request that `right` says so of, and others to the rest."""
    stage = of["gaps"]
    gold = {
        stage_shown(each.given): each.gold.categories for each in stage.learn + stage.choose + stage.dev
    }

    def answer(request: Any) -> str:
        asked = list(prompt_texts(request))[-1]
        categories = next(each for shown, each in gold.items() if shown in asked)
        told = [category.value if right(request) else _other(category.value) for category in categories.values()]
        numbers = [line.partition(".")[0] for line in asked.splitlines() if "pages read, none answers" in line]
        judged = [
            {"aspect": int(number), "category": category, "detail": "The pages that were read say nothing of it."}
            for number, category in zip(numbers, told, strict=False)
        ]
        return json.dumps({"gaps": judged})

    return answer


def stage_shown(given: Any) -> str:
    from marchwarden.stages.gaps import show

    return str(show(given)["open_aspects"])


def _other(category: str) -> str:
    return "scope_exceeded" if category == "source_not_found" else "source_not_found"


def purse(folder: Path, answer: Callable[[Any], Any], **limits: int) -> Purse:
    """Pays for a scripted model. `purse.engine.requests` is what went out to it."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = ScriptedEngine(answer)
    made = Purse(folder, engines=lambda settings: Resolved(engine, AsyncScriptedEngine(engine), ()), **limits)
    made.engine = engine  # type: ignore[attr-defined]
    return made
