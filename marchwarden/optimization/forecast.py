"""Input of an estimate beside the optimizer's counts: the examples of some questions, and the pace of a model.

Making every example reads every page that the labels name: 110 CPU seconds for the shipped questions.
A few questions tell how long prompts are, and how many examples a question gives: 5.0 instead of 5.4 million tokens
in 6 CPU seconds (`marchwarden compile --model openai/gpt-4o-mini --dry-run`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from marchwarden.errors import TraceError
from marchwarden.evaluation.labels.questions import Question, evenly_spaced
from marchwarden.evaluation.runs.runner import check_web
from marchwarden.optimization.estimate import Order, size_of
from marchwarden.optimization.examples.labelled_web import LabelledWeb, labelled_web
from marchwarden.optimization.examples.stage_example import AnyStageSet
from marchwarden.optimization.splits import Counts, StageExamples
from marchwarden.optimization.stage_sets import STAGE_SETS
from marchwarden.settings import Settings
from marchwarden.trace.reader import list_traces, read_trace

# Questions of each split that are looked at first. A guess: prompts of one stage are about as long as each other.
SAMPLE = 5
# Newest calls of a model whose pace is looked at. A guess.
_CALLS_LOOKED_AT = 20
# Share of a question's tokens that are written. A guess.
WRITTEN_SHARE = 0.1
# Tokens that are read in the time in which one is written. A guess: services read in parallel.
READ_AT_ONCE = 20
# Seconds for a token that is written, where the model was never asked. Guesses, for a service and for a small model
# on a CPU.
_SECONDS = {"large": 0.015, "small": 0.08}


@dataclass(frozen=True)
class Pace:
    """The speed of a model."""

    seconds: float
    """Seconds for one token that is written, or `READ_AT_ONCE` that are read."""
    calls: int
    """Number of earlier calls that it was measured on; 0 for a guess."""

    def hours(self, read: int, written: int, at_once: int) -> float:
        """Return the hours for so many tokens, with so many calls side by side."""
        return self.seconds * (written + read / READ_AT_ONCE) / at_once / 3600

    @property
    def said(self) -> str:
        if not self.calls:
            return "Hours are guessed, since no call of this model is in your traces."
        rate = 1 / self.seconds
        return f"Hours are those of {self.calls:,} earlier calls of this model, at {rate:,.0f} tokens a second."


def pace_of(settings: Settings) -> Pace:
    """Return the pace of the model in the settings, by the newest traces of it."""
    own = (each.path for each in list_traces(settings.traces) if each.model_id == settings.model_id)
    seconds, tokens, calls = 0.0, 0.0, 0
    for path in islice(own, _CALLS_LOOKED_AT):
        try:
            lines = read_trace(path).raw
        except TraceError:  # removed meanwhile
            continue
        for line in lines:
            if line.get("action") != "model_call" or line.get("error"):
                continue
            told = [
                line.get(name) or 0 for name in ("duration_sec", "output_tokens", "input_tokens", "cached_tokens")
            ]
            if all(isinstance(each, (int, float)) for each in told) and told[0] and told[1]:
                seconds += told[0]
                tokens += told[1] + (told[2] - told[3]) / READ_AT_ONCE
                calls += 1
    return Pace(seconds / tokens, calls) if calls else Pace(_SECONDS[size_of(settings.model_id)], 0)


async def forecast_examples(
    order: Order, train: Sequence[Question], dev: Sequence[Question]
) -> dict[str, tuple[StageExamples, Counts]]:
    """Build examples of some questions for each stage of the order, with the number that all questions give, about.

    Raises EvaluationError where a stage has too few, or the questions are about another web.
    """
    check_web([*train, *dev], order.settings)
    # Which passages stand in a prompt changes little in its length, and meaning takes half of the time.
    async with labelled_web(order.settings.model_copy(update={"semantic": False})) as web:
        return {name: await _forecast(STAGE_SETS[name], order, train, dev, web) for name in order.stages}


async def _forecast(
    stage_set: AnyStageSet, order: Order, train: Sequence[Question], dev: Sequence[Question], web: LabelledWeb
) -> tuple[StageExamples, Counts]:
    most, longest = SAMPLE, max(len(train), len(dev))
    while True:
        some = evenly_spaced(train, most), evenly_spaced(dev, most)
        of_train, of_dev = [await stage_set.examples_on(each, web) for each in some]
        if most >= longest:  # these are all of them
            examples = StageExamples.of(stage_set, of_train, of_dev, order.effort, order.seed)
            examples.check(stage_set.stage.name)
            return examples, examples.counts
        if of_train and of_dev:
            break
        most *= 4
    effort = order.effort
    trained, proven = (
        round(len(found) * len(every) / len(chosen))
        for found, every, chosen in zip((of_train, of_dev), (train, dev), some, strict=True)
    )
    counts = Counts(
        learn=max(1, min(effort.train, (trained + 1) // 2)),
        choose=max(1, min(effort.choose, trained // 2)),
        dev=max(1, min(effort.dev or proven, proven)),
    )
    return StageExamples(of_train, of_train, of_dev), counts
