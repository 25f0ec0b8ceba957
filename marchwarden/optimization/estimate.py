"""Estimates of a compile before anything is spent: optimizer, examples, and about how many calls, tokens and dollars.

The defaults for a model of each size are here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal, TypeAlias

from marchwarden.contract import Constraints
from marchwarden.evaluation.runs.prices import price_of
from marchwarden.lm.adapter import JSONAnswers
from marchwarden.optimization.examples.stage_example import AnyStageSet, Example
from marchwarden.optimization.optimizers import OPTIMIZERS, REFLECTION_TOKENS, Effort, Optimizer
from marchwarden.optimization.splits import Counts, StageExamples
from marchwarden.settings import Settings

Size: TypeAlias = Literal["small", "large"]

# Sizes of the searches that `--effort` names. Guesses.
EFFORTS: dict[str, Effort] = {
    "light": Effort(),
    "medium": Effort(candidates=6, demos=6, train=40, choose=24, dev=60),
    "heavy": Effort(candidates=12, demos=8, demo_tokens=4000, train=120, choose=60, dev=None),
}
# For the whole program at once: few examples, since each is a question from end to end, which takes about ten calls;
# and few demonstrations, since all stages have theirs in one question's budget.
WHOLE_EFFORTS: dict[str, Effort] = {
    "light": Effort(candidates=3, demos=2, train=4, choose=4, dev=None),
    "medium": Effort(candidates=6, demos=2, train=10, choose=8, dev=None),
    "heavy": Effort(candidates=12, demos=3, train=30, choose=20, dev=None),
}
# Optimizers that were tried on the whole program.
WHOLE_OPTIMIZERS = ("bootstrap", "mipro", "gepa")
WHOLE_OPTIMIZER_OF: dict[Size, str] = {"small": "bootstrap", "large": "gepa"}
# Model calls of a question from end to end, about: a plan, eight pages and three closing stages.
CALLS_A_QUESTION = 12
# Parameters up to which a model is small: it follows examples better than it writes instructions for itself.
# A guess.
SMALL_BILLIONS = 15.0
OPTIMIZER_OF: dict[Size, str] = {"small": "random-search", "large": "gepa"}
EFFORT_OF: dict[Size, str] = {"small": "light", "large": "medium"}
# Dev questions that the whole program is asked from end to end, by default. A guess.
QUESTIONS_OF: dict[Size, int] = {"small": 8, "large": 24}

_BILLIONS = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b\b|[a-z](\d+(?:\.\d+)?)b\b", re.IGNORECASE)
_LITTLE = re.compile(r"smollm|tiny|\bphi\b|gemma-?2b", re.IGNORECASE)
# Characters of a token of English text, about.
_CHARS_PER_TOKEN = 4.0
# Calls that a stage makes at most for one answer: one that can't be used is asked for once more.
_ATTEMPTS = 2
# Share of its output limit that an answer takes on average. A guess.
_ANSWER_SHARE = 0.4


def size_of(model_id: str) -> Size:
    """Return a model's size by the parameters in its name (`qwen2.5:7b`); a name without them is a large model's."""
    found = [float(one or other) for one, other in _BILLIONS.findall(model_id)]
    return "small" if (found and max(found) <= SMALL_BILLIONS) or _LITTLE.search(model_id) else "large"


def optimizer_for(model_id: str, name: str | None) -> Optimizer:
    return OPTIMIZERS[name or OPTIMIZER_OF[size_of(model_id)]]


@dataclass(frozen=True)
class Estimate:
    """Estimate for one stage.

    Calls are upper limits, without those that DSPy repeats when the service fails. Tokens and dollars are rough.
    """

    stage: str
    optimizer: str
    learn: int
    choose: int
    dev: int
    calls: int
    reflection_calls: int
    read: int
    """Tokens of prompts."""
    written: int
    """Tokens of answers."""
    dollars: float | None
    """US dollars; None where a price is not known."""

    @property
    def tokens(self) -> int:
        return self.read + self.written

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "tokens": self.tokens}


def estimate(
    stage_set: AnyStageSet,
    examples: StageExamples,
    optimizer: Optimizer,
    effort: Effort,
    models: tuple[str, str],
    counts: Counts | None = None,
) -> Estimate:
    """Estimate the compile of one stage.

    `models` are the one that is compiled for and the one that writes instructions; `counts` are those of all
    examples, where `examples` are a part of them.
    """
    counts = counts or examples.counts
    effort = fitted(effort, stage_set, examples.learn)
    calls = optimizer.calls(effort, counts.learn, counts.choose)
    stage, adapter = stage_set.stage, JSONAnswers()
    signature = stage.signature()
    every = examples.learn + examples.choose + examples.dev
    messages = [adapter.format(signature, [], stage.show(each.given)) for each in every]
    # Tokens of an example's prompt without demonstrations, on average, about.
    shown = int(fmean(sum(len(str(part["content"])) for part in each) for each in messages) / _CHARS_PER_TOKEN)
    answer = int(_ANSWER_SHARE * stage.max_tokens)
    own, demos = counts.dev, effort.demos * _demo_tokens(stage_set, examples.learn)
    read = own * shown + (calls.likely + own) * (shown + demos)
    written = (calls.likely + 2 * own) * answer
    reflected = calls.likely_reflection * (3 * (shown + answer) + REFLECTION_TOKENS // 2)
    return Estimate(
        stage.name,
        optimizer.name,
        counts.learn,
        counts.choose,
        own,
        calls.task + 2 * _ATTEMPTS * own,
        calls.reflection,
        read + reflected // 2,
        written + (reflected + 1) // 2,
        _dollars(models[0], read, written, models[1], reflected),
    )


def fitted(effort: Effort, stage_set: AnyStageSet, examples: Sequence[Example[Any, Any]]) -> Effort:
    """Return the effort with as many demonstrations as there is room for, two at least."""
    room = effort.demo_tokens // _demo_tokens(stage_set, examples)
    return replace(effort, demos=min(effort.demos, max(2, room)))


def _demo_tokens(stage_set: AnyStageSet, examples: Sequence[Example[Any, Any]]) -> int:
    """Return the tokens of one demonstration, on average, about."""
    shown = [len(json.dumps(stage_set.stage.show(each.given), default=str)) for each in examples]
    return int(fmean(shown) / _CHARS_PER_TOKEN + _ANSWER_SHARE * stage_set.stage.max_tokens)


def _dollars(model_id: str, read: int, written: int, writer: str, reflected: int) -> float | None:
    price, other = price_of(model_id), price_of(writer)
    if price is None or (reflected and other is None):
        return None
    of_writer = other.of(reflected // 2, reflected // 2, 0) if other and reflected else 0.0
    return round(price.of(read, written, 0) + of_writer, 4)


@dataclass(frozen=True)
class Order:
    """One compile: stages, optimizer, models and limits."""

    settings: Settings
    """Settings of the model that is compiled for."""
    stages: tuple[str, ...]
    optimizer: Optimizer
    effort: Effort
    reflection: Settings | None = None
    """Settings of the model that writes instructions; None where it is the same."""
    seed: int = 0
    jobs: int = 1
    tokens: int | None = None
    """Tokens of the whole compile, at most; None for no limit."""
    calls: int | None = None
    """Calls of searches and validations, at most; None for no limit."""
    questions: int = 0
    """Dev questions that the whole program is asked from end to end."""
    trials: int = 0
    """Trials of the search for the model-free stages' parameters."""
    always_model: bool = False
    """True where every stage asks the model, however much better it does without."""


def estimate_whole(order: Order, budgets: Sequence[int], dev: int) -> Estimate:
    """Estimate the compile of the whole program at once. `budgets` are the token budgets of the train questions.

    Tokens are those of the budgets, which no question exceeds. Most questions take a third of them or less.
    """
    learn, choose = (len(budgets) + 1) // 2, len(budgets) // 2
    calls = order.optimizer.calls(order.effort, learn, choose)
    questions = calls.task + 2 * dev
    reflected = calls.reflection * (6 * REFLECTION_TOKENS)
    tokens = int(questions * fmean(budgets)) + reflected
    written = questions * CALLS_A_QUESTION * REFLECTION_TOKENS // 10
    writer = order.reflection.model_id if order.reflection else order.settings.model_id
    return Estimate(
        "whole",
        order.optimizer.name,
        learn,
        choose,
        dev,
        questions * CALLS_A_QUESTION,
        calls.reflection,
        tokens - written - reflected // 2,
        written + reflected // 2,
        _dollars(order.settings.model_id, tokens - reflected - written, written, writer, reflected),
    )


def whole_tokens(order: Order) -> int:
    """Return the tokens that the questions from end to end may take at most, with both programs."""
    return 2 * order.questions * Constraints().token_budget
