"""What stage sets share: an example is what a stage is given and what is right; a metric says how right, in words.

`StageSet.judge` is what an optimizer wants (a prediction in, a score and its reasons out); `StageSet.score` looks at
a stage's output, whichever form gave it. `StageSet.demonstration` is an example with a right answer, made by code of
what the example shows and what its labels know.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import TypeAdapter

from marchwarden.evaluation.labels.questions import Question
from marchwarden.evidence.question import VAGUE_TERMS
from marchwarden.optimization.examples.labelled_web import LabelledWeb, labelled_web
from marchwarden.settings import Settings
from marchwarden.stages.stage import Stage
from marchwarden.text.ranking import coverage, terms

if TYPE_CHECKING:
    import dspy

Given = TypeVar("Given")
Output = TypeVar("Output")
Gold = TypeVar("Gold")

# What a word weighs that says little about what a page must hold.
VAGUE = 0.35
# The least score of an answer that a model is shown to learn from.
RIGHT = 0.9


@dataclass(frozen=True)
class Feedback:
    score: float
    """0–1."""
    text: str
    """What was missed or wrong, in sentences that a reflecting model can learn from."""


@dataclass(frozen=True)
class Example(Generic[Given, Gold]):
    id: str
    """The question's id, and what tells its examples apart: `coffee-03/https://…`."""
    question: str
    """The question's id."""
    kind: str
    """What it tries of the stage."""
    given: Given
    gold: Gold


@dataclass(frozen=True)
class StageSet(Generic[Given, Output, Gold]):
    """The examples of one stage and their metric. Each module beside this one says what its score means."""

    stage: Stage[Given, Output]
    build: Callable[[Question, LabelledWeb], Awaitable[list[Example[Given, Gold]]]]
    """The examples of one question; none where its labels say nothing about the stage."""
    score: Callable[[Example[Given, Gold], Output], Feedback]
    is_own: Callable[[Given, Output], bool] = lambda given, output: True
    """Whether anything in a grounded output is the model's: where nothing is, the stage went on without it."""
    answer: Callable[[Example[Given, Gold]], dict[str, Any] | None] = lambda example: None
    """The signature's output fields, as JSON, of a model that answers rightly, in words that it was shown; None where
    labels don't give one away. Nothing that only labels or unshown pages say stands there, categories aside."""

    async def examples(self, questions: Sequence[Question], settings: Settings) -> list[Example[Given, Gold]]:
        """Raises ConfigurationError where the settings name no frozen web. For more than one stage or split, open a
        `labelled_web` once and use `examples_on`: its pages are then read once."""
        async with labelled_web(settings) as web:
            return await self.examples_on(questions, web)

    async def examples_on(self, questions: Sequence[Question], web: LabelledWeb) -> list[Example[Given, Gold]]:
        return [example for question in questions for example in await self.build(question, web)]

    def demonstration(self, example: Example[Given, Gold]) -> dict[str, Any] | None:
        """The signature's fields, as JSON, of the example with its right answer; None where there is none, or its
        answer scores less than `RIGHT`."""
        import dspy

        if (answer := self.answer(example)) is None:
            return None
        fields = self.stage.signature().output_fields
        kinds = {name: TypeAdapter[Any](field.annotation) for name, field in fields.items()}
        typed = {name: kind.validate_python(answer[name]) for name, kind in kinds.items()}
        if self.judge(example, dspy.Prediction(**typed)).score < RIGHT:
            return None
        told = {name: kind.dump_python(typed[name], mode="json") for name, kind in kinds.items()}
        return {**self.stage.show(example.given), **told}

    def judge(self, example: Example[Given, Gold], prediction: dspy.Prediction) -> Feedback:
        """How good a model's own answer is. What the stage would have to do without scores 0, however well its
        model-free form does."""
        try:
            output = self.stage.read(example.given, prediction)
        except (ValueError, TypeError, AttributeError) as error:
            return Feedback(0.0, f"The answer could not be used: {error}")
        output, dropped = self.stage.ground(example.given, output)
        reasons = [f"“{drop.text}” was dropped: {drop.decision}." for drop in dropped]
        if not self.is_own(example.given, output):
            return Feedback(0.0, in_words("Nothing of the answer could be used.", *reasons))
        feedback = self.score(example, output)
        return Feedback(feedback.score, in_words(feedback.text, *reasons))


AnyStageSet = StageSet[Any, Any, Any]


def in_words(*sentences: str) -> str:
    """The sentences that there are, as one text."""
    return " ".join(sentence for sentence in sentences if sentence)


def shortened(text: str, most: int = 160) -> str:
    """`text` on one line, cut between words."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[:most].rpartition(" ")[0] + " …"


def carried(asked: str, words: Iterable[str]) -> float:
    """The share of what is asked that these terms carry: 0–1, vague words counting a third. A measure of its own, and
    not the stages' relevance, so that scores stay comparable when that is fitted anew."""
    wanted = set(terms(asked))
    return coverage(wanted, words, {term: VAGUE if term in VAGUE_TERMS else 1.0 for term in wanted})


def harmonic(one: float, other: float) -> float:
    """The harmonic mean of two shares, 0 where one of them is."""
    return 2 * one * other / (one + other) if one and other else 0.0
