"""What the tests of compiling share: gaps of a few shipped questions on a web of their pages, and a scripted model that
does better with examples or better instructions before its eyes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anyio

from marchwarden.evaluation.labels.questions import Question, load_questions
from marchwarden.frozen_web.pages import MANIFEST
from marchwarden.lm.prompt import prompt_texts
from marchwarden.lm.scripted import ScriptedEngine
from marchwarden.optimization.compilation import compile_program
from marchwarden.optimization.estimate import Order
from marchwarden.optimization.examples.labelled_web import labelled_web
from marchwarden.optimization.examples.stage_example import Example
from marchwarden.optimization.optimizers import OPTIMIZERS, Effort
from marchwarden.optimization.program_records import Outcome
from marchwarden.optimization.spending import Spending
from marchwarden.optimization.splits import StageExamples
from marchwarden.optimization.stage_sets import STAGE_SETS
from marchwarden.settings import Settings, load_settings, shipped
from tests.profiles import IS_NIGHTLY

MODEL = "openai/scripted-7b"
EFFORT = Effort(candidates=2, demos=2, train=8, choose=6, dev=8)
EVERY = tuple(OPTIMIZERS)
# Two sets that have every optimizer between them: a check tries one promise with some, the next with the others.
ONE_HALF, OTHER_HALF = (EVERY, EVERY) if IS_NIGHTLY else (EVERY[::2], EVERY[1::2])
BETTER = "Say scope_exceeded only where a paper, a register or a court file is asked for."
ORDERED = "in the following order of fields:"
TOPICS = {
    "train": ("coffee", "berlin-wall", "capital-and-cities", "crispr"),
    "dev": ("volcanoes", "bread", "bicycles"),
}
"""The fewest whose questions are enough for `EFFORT`. A compile reads and hashes the whole web: this is a third of it."""


def settings(model: str = MODEL) -> Settings:
    own = load_settings(model=model, source="snapshot", api_base="http://127.0.0.1:9/v1", semantic=False)
    return own.model_copy(update={"web": web_of_the_topics(own.caches)})


def web_of_the_topics(caches: Path) -> Path:
    """The shipped pages of the topics, as links; made by whoever comes first of those who share a cache folder."""
    folder = caches / "web-of-compiling"
    if not (folder / MANIFEST).exists():
        lines = (shipped("web") / MANIFEST).read_text(encoding="utf-8").splitlines(keepends=True)
        topics = {topic for each in TOPICS.values() for topic in each}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pages").symlink_to(shipped("web") / "pages", target_is_directory=True)
        (folder / MANIFEST).write_text(
            "".join(line for line in lines if json.loads(line).get("topic") in topics), encoding="utf-8"
        )
    return folder


def order(optimizer: str = "random-search", **changes: Any) -> Order:
    given = {"stages": ("gaps",), "effort": EFFORT, "seed": 0, "jobs": 1, "always_model": True, **changes}
    return Order(given.pop("settings", None) or settings(), optimizer=OPTIMIZERS[optimizer], **given)


@cache
def questions(split: str) -> list[Question]:
    """Those of a split that give the gaps stage something to judge."""
    every = load_questions(shipped("questions") / f"{split}.jsonl")
    fitting = (each for each in every if any(gap.required for gap in each.gaps) or "one-fact" in each.tags)
    return [each for each in fitting if each.topic in TOPICS[split]]


def examples(of: Order, step: int | None = None) -> Mapping[str, StageExamples]:
    """Those of an order, drawn from all of every `step`-th question, which are made once; `marchwarden compile` makes its
    own, in tests of the command line. By default, most stages, which get several of a question, do with a third."""
    steps = {name: step or (1 if name in ("gaps", "discoveries") else 3) for name in of.stages}
    return {
        name: StageExamples.of(STAGE_SETS[name], *_every(name, steps[name]), of.effort, of.seed) for name in of.stages
    }


@cache
def _every(stage: str, step: int) -> tuple[list[Example[Any, Any]], list[Example[Any, Any]]]:
    """Every example of a stage that every `step`-th question gives, of train, and of dev."""

    async def build() -> tuple[list[Example[Any, Any]], list[Example[Any, Any]]]:
        async with labelled_web(settings()) as web:
            made = [await STAGE_SETS[stage].examples_on(questions(split)[::step], web) for split in ("train", "dev")]
        return made[0], made[1]

    return anyio.run(build)


def has_demonstrations(request: Any) -> bool:
    return len(request.messages) > 1


def is_better(request: Any) -> bool:
    return BETTER in str(request.system) or has_demonstrations(request)


def answering(right: Callable[[Any], bool] = has_demonstrations) -> Callable[[Any], str]:
    """A model that gives the labelled categories to a request that `right` says so of, and others to the rest."""
    stage = examples(order())["gaps"]
    gold = {stage_shown(each.given): each.gold.categories for each in stage.learn + stage.choose + stage.dev}

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


def writing(words: str = BETTER, judge: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
    """A model that writes these instructions whenever it is asked to write anything, and follows the better ones."""
    judge = judge or answering(is_better)

    def answer(request: Any) -> Any:
        return judge(request) if is_the_stages(request) else written(request, words)

    return answer


def is_the_stages(request: Any) -> bool:
    """Whether the stage is asked, and not the one that writes instructions."""
    return fields_of(request) == ["gaps"]


def fields_of(request: Any) -> list[str]:
    asked = "\n".join(prompt_texts(request))
    return re.findall(r"`(\w+)`", asked[asked.rindex(ORDERED) :]) if ORDERED in asked else []


def written(request: Any, words: str) -> str:
    """GEPA asks for a block of text, the others for fields."""
    fields = fields_of(request)
    return json.dumps(dict.fromkeys(fields, words)) if fields else f"```\n{words}\n```"


def stage_shown(given: Any) -> str:
    from marchwarden.stages.gaps import show

    return str(show(given)["open_aspects"])


def _other(category: str) -> str:
    return "scope_exceeded" if category == "source_not_found" else "source_not_found"


def spending(folder: Path, answer: Callable[[Any], Any], **limits: Any) -> Spending:
    """Pays for a scripted model. `spending.engine.requests` is what went out to it."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = ScriptedEngine(answer)
    made = Spending(folder, engine_for=lambda settings: engine, **limits)
    made.engine = engine  # type: ignore[attr-defined]
    return made


def run(tmp_path: Path, of: Order, answer: Callable[[Any], Any] | None = None, **given: Any) -> tuple[Outcome, Any]:
    """Compile in `tmp_path/work` into `tmp_path/out`, and the spending that paid for it."""
    before, progress = given.pop("before", None), given.pop("progress", None)
    paid = spending(tmp_path / "work", answer or writing(), **given)
    outcome = compile_program(
        of,
        examples(of),
        questions("dev"),
        folder=tmp_path / "work",
        out=tmp_path / "out",
        before=before,
        spending=paid,
        progress=progress,
    )
    return outcome, paid
