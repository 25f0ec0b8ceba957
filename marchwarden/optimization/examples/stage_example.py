"""Types that stage sets share: an example holds a stage's input and the right result; a metric scores an output.

`StageSet.judge` is the metric of optimizers: a prediction in, a score and its reasons out. `StageSet.score` scores a
stage's output, whichever form gave it. `StageSet.demonstration` is an example with a right answer, which code makes
from what the example shows and what its labels know.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import TypeAdapter

from marchwarden.evaluation.labels.questions import Question, Split
from marchwarden.evidence.asking.telling_words import VAGUE_TERMS
from marchwarden.stages.stage import Stage
from marchwarden.text.ranking import coverage, terms

if TYPE_CHECKING:
    import dspy

    from marchwarden.optimization.examples.labelled_web import LabelledWeb

Given = TypeVar("Given")
Output = TypeVar("Output")
Gold = TypeVar("Gold")

# Weight of a word that says little about what a page must hold; other words weigh 1. A guess.
VAGUE = 0.35
# Least score of an answer that a model is shown to learn from. A guess.
RIGHT = 0.9


@dataclass(frozen=True)
class Feedback:
    score: float
    """Score, 0–1."""
    text: str
    """Sentences on what was missed or wrong, from which a model that writes instructions can learn."""


@dataclass(frozen=True)
class Example(Generic[Given, Gold]):
    id: str
    """Id of the question, with a suffix that tells its examples apart: `coffee-03/https://…`."""
    question: str
    """Id of the question."""
    kind: str
    """Kind of case that the example tries."""
    given: Given
    gold: Gold


@dataclass(frozen=True)
class StageSet(Generic[Given, Output, Gold]):
    """The examples of one stage and their metric. Each module beside this one says what its score means."""

    stage: Stage[Given, Output]
    build: Callable[[Question, LabelledWeb], Awaitable[list[Example[Given, Gold]]]]
    """Builds the examples of one question; none where its labels say nothing about the stage."""
    score: Callable[[Example[Given, Gold], Output], Feedback]
    is_own: Callable[[Given, Output], bool] = lambda given, output: True
    """True where anything in a grounded output is the model's. Else the stage went on without it."""
    answer: Callable[[Example[Given, Gold]], dict[str, Any] | None] = lambda example: None
    """Right answer as the signature's output fields, as JSON, in words that the model was shown; None where labels
    give none. It says nothing that only labels or unshown pages say, categories aside."""
    forecast: Callable[[Example[Given, Gold], Output], tuple[float, bool]] | None = None
    """Probability that an output states, 0–1, and whether it came true; None for a stage that states none."""
    labelled: Callable[[Collection[Split]], list[Example[Given, Gold]]] | None = None
    """Examples of some splits, of a stage with labels of its own; None where the questions give the examples."""

    async def examples_on(self, questions: Sequence[Question], web: LabelledWeb) -> list[Example[Given, Gold]]:
        """Build the examples of all questions, or of their splits. What shares a web reads its pages once."""
        if self.labelled is not None:
            return self.labelled({question.split for question in questions})
        return [example for question in questions for example in await self.build(question, web)]

    def demonstration(self, example: Example[Given, Gold]) -> dict[str, Any] | None:
        """Return the example with its right answer, as the signature's fields in JSON.

        None where there is no right answer, or it scores less than `RIGHT`.
        """
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
        """Score a model's own answer. One that the stage can't use scores 0, however well it does without a model."""
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
    """Join the sentences that are not empty."""
    return " ".join(sentence for sentence in sentences if sentence)


def carried(asked: str, words: Iterable[str]) -> float:
    """Return the share of what is asked that these terms carry, 0–1; vague words count a third."""
    # Not the stages' own relevance, so that scores stay comparable when that is fitted anew.
    wanted = set(terms(asked))
    return coverage(wanted, words, {term: VAGUE if term in VAGUE_TERMS else 1.0 for term in wanted})


def harmonic(one: float, other: float) -> float:
    """Return the harmonic mean of two shares; 0 where one of them is 0."""
    return 2 * one * other / (one + other) if one and other else 0.0
