"""The examples of one stage, split: those to learn from, those to choose by, and those that decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from marchwarden.errors import EvaluationError
from marchwarden.optimization.examples.stage_example import AnyStageSet, Example
from marchwarden.optimization.optimizers import Effort
from marchwarden.optimization.student import spread


@dataclass(frozen=True)
class Counts:
    """Numbers of examples of one stage."""

    learn: int
    choose: int
    dev: int


@dataclass(frozen=True)
class StageExamples:
    """The examples of one stage, each split in an order in which kinds take turns."""

    learn: list[Example[Any, Any]]
    choose: list[Example[Any, Any]]
    dev: list[Example[Any, Any]]

    @classmethod
    def of(
        cls,
        stage_set: AnyStageSet,
        train: Sequence[Example[Any, Any]],
        dev: Sequence[Example[Any, Any]],
        effort: Effort,
        seed: int,
    ) -> StageExamples:
        """Split the train examples: half of them to learn from, half to choose by, as many as the effort says."""
        # Examples of one question stay on one side, since they share their pages.
        ordered = spread(train, None, seed)
        sides: dict[str, bool] = {}
        for example in ordered:
            sides.setdefault(example.question, len(sides) % 2 == 1)
        learn = [each for each in ordered if not sides[each.question]]
        choose = [each for each in ordered if sides[each.question]]
        return cls(
            spread(learn, effort.train, seed), spread(choose, effort.choose, seed), spread(dev, effort.dev, seed)
        )

    @property
    def counts(self) -> Counts:
        return Counts(len(self.learn), len(self.choose), len(self.dev))

    def check(self, stage: str) -> None:
        """Raise EvaluationError where there are too few examples to say anything."""
        for split, found, least in (("train", self.learn, 2), ("train", self.choose, 2), ("dev", self.dev, 4)):
            if len(found) < least:
                raise EvaluationError(
                    f"the {split} questions give {len(found)} examples of {stage}: too few to compile it",
                    hint="Label more questions (evals/README.md), or leave the stage out.",
                )
