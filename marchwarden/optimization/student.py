"""A stage as the DSPy module that is optimized, and the tracker of its candidates. whole_search.py has the whole
program's.

Every optimizer keeps its candidates to itself until it is done. The tracker sees each prediction with the prompt that
made it. So the best prompt is known whatever ends the search, in the same way for all optimizers.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError

from marchwarden.errors import ModelError, model_error
from marchwarden.optimization.examples.stage_example import Feedback
from marchwarden.optimization.spending import GONE, Spending, Stopped
from marchwarden.stages.stage import Stage

if TYPE_CHECKING:
    from marchwarden.optimization.examples.stage_example import AnyStageSet, Example

ID = "example_id"


class Candidate(Protocol):
    """A candidate of a search: the prompt of one stage, or those of all."""

    @property
    def key(self) -> str:
        """Text that is equal for equal candidates only."""
        ...

    @property
    def is_sound(self) -> bool: ...


Tried = TypeVar("Tried", bound=Candidate)


@dataclass(frozen=True)
class Prompt:
    """Instructions and demonstrations of one stage, as plain JSON."""

    instructions: str
    demos: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, predictor: dspy.Predict) -> Prompt:
        """Read a predictor's prompt.

        Demonstrations are cut to the fields of its signature; those that lack an output are left out.
        """
        signature = predictor.signature
        demos = []
        for demo in predictor.demos:
            fields = dict(demo)
            if all(name in fields for name in signature.output_fields):
                demos.append({name: plain(fields[name]) for name in signature.fields if name in fields})
        return cls(signature.instructions, tuple(demos))

    @property
    def key(self) -> str:
        return json.dumps([self.instructions, self.demos], sort_keys=True, default=str)

    @property
    def is_sound(self) -> bool:
        """False where a weak model that was to write instructions gave none, or copied its template."""
        return (
            bool(self.instructions.strip())
            and "{" not in self.instructions.strip()[:1]
            and "new_instruction" not in self.instructions
        )


def plain(value: Any) -> Any:
    """Return a field's value as JSON, pydantic models as what they hold."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return value


class CandidateTracker(Generic[Tried]):
    """Judges predictions, and remembers which candidate earned what. Copies of a student share it."""

    def __init__(
        self,
        name: str,
        judge: Callable[[str, Any], Feedback],
        chosen_by: Sequence[str],
        spending: Spending,
        on_best: Callable[[float, Tried], None] = lambda score, candidate: None,
    ) -> None:
        """`name` is the stage's. `judge` scores the prediction for an example's id. `chosen_by` are the ids of the
        examples that a candidate must have been tried on, all of them, to count."""
        self.name = name
        self.judge = judge
        self.spending = spending
        self._chosen_by = frozenset(chosen_by)
        self._on_best = on_best
        self._prompts: dict[str, Tried] = {}
        self._scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._told: float | None = None
        self._lock = threading.Lock()
        self._calls = threading.Condition()
        self._running = 0
        self._closed = False

    def __deepcopy__(self, memo: dict[int, Any]) -> CandidateTracker[Tried]:
        return self

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Enclose a call. Raises Stopped where the search is over."""
        # Threads of an optimizer that was ended do not know that it was.
        with self._calls:
            if self._closed:
                raise Stopped("the search is over", None)
            self._running += 1
        try:
            yield
        finally:
            with self._calls:
                self._running -= 1
                self._calls.notify_all()

    def close(self) -> None:
        """Let no further call begin, and wait for those that are running."""
        with self._calls:
            self._closed = True
            self._calls.wait_for(lambda: not self._running)

    def note(self, example_id: str, prompt: Tried, score: float) -> None:
        with self._lock:
            self._prompts.setdefault(prompt.key, prompt)
            self._scores[prompt.key][example_id].append(score)
            best = self.best
        if best and best[0] != self._told:
            self._told = best[0]
            self._on_best(*best)

    @property
    def best(self) -> tuple[float, Tried] | None:
        """Best candidate that was tried on all examples to choose by, the first of equals, with its score, 0–1."""
        tried = [(score, prompt) for prompt in self._prompts.values() if (score := self.score_of(prompt)) is not None]
        return max(tried, key=lambda each: each[0], default=None)

    def score_of(self, prompt: Tried) -> float | None:
        """Return a candidate's mean score on the examples to choose by; None where it was not tried on all."""
        scores = self._scores.get(prompt.key)
        if scores is None or not self._chosen_by <= scores.keys():
            return None
        return fmean(fmean(scores[each]) for each in self._chosen_by)


class Student(dspy.Module):  # type: ignore[misc]
    """One stage as a module, whose demonstrations and instructions the optimizer changes."""

    def __init__(self, stage: Stage[Any, Any], tracker: CandidateTracker[Prompt]) -> None:
        super().__init__()
        self.tracker = tracker
        self.max_tokens = stage.max_tokens
        self.answer = dspy.Predict(stage.signature())

    def forward(self, **inputs: Any) -> Any:
        """Ask the stage's model.

        Raises AdapterParseError for an answer that can't be read, which optimizers count as 0 and GEPA learns from;
        Stopped where nothing more may be spent; and any other error of a call.
        """
        tracker = self.tracker
        with tracker.calling():
            example_id = inputs.pop(ID, None)
            tracker.spending.check(tracker.name, self.max_tokens)
            prompt = Prompt.of(self.answer)
            try:
                prediction = self.answer(**inputs)
            except Exception as error:
                told = model_error(error)
                tracker.spending.failed(told)
                if example_id is not None and not (isinstance(told, ModelError) and told.kind in GONE):
                    tracker.note(example_id, prompt, 0.0)
                if isinstance(told, ModelError) and told.kind in ("unusable_output", "truncated"):
                    # Without the fields that could be read: DSPy 3.4 fails on them.
                    said = error.lm_response if isinstance(error, AdapterParseError) else str(told)
                    raise AdapterParseError("JSONAnswers", self.answer.signature, said, str(told)) from None
                raise
            tracker.spending.answered()
            if example_id is not None:
                tracker.note(example_id, prompt, tracker.judge(example_id, prediction).score)
            return prediction


def judge_of(stage_set: AnyStageSet, examples: Sequence[Example[Any, Any]]) -> Callable[[str, Any], Feedback]:
    """Return the function that scores one stage's predictions, for a tracker."""
    by_id = {example.id: example for example in examples}
    return lambda example_id, prediction: stage_set.judge(by_id[example_id], prediction)


def as_dspy(stage_set: AnyStageSet, examples: Sequence[Example[Any, Any]]) -> list[dspy.Example]:
    """Return the examples as optimizers take them.

    Inputs are as the model is shown them. Where labels give a right answer, the outputs are there too, so that the
    example can be a demonstration.
    """
    found = []
    for example in examples:
        shown = stage_set.stage.show(example.given)
        labelled = stage_set.demonstration(example) or shown
        found.append(dspy.Example(**{ID: example.id}, **labelled).with_inputs(ID, *shown))
    return found


def spread(examples: Sequence[Example[Any, Any]], most: int | None, seed: int) -> list[Example[Any, Any]]:
    """Return at most so many examples, in an order in which the kinds take turns."""
    # Any beginning of it has some of each kind: a prompt whose demonstrations are all of one kind teaches that kind.
    import random

    by_kind: dict[str, list[Example[Any, Any]]] = defaultdict(list)
    for example in examples:
        by_kind[example.kind].append(example)
    for kind in by_kind.values():
        random.Random(seed).shuffle(kind)
    turns = [
        kind[place] for place in range(len(examples)) for _, kind in sorted(by_kind.items()) if place < len(kind)
    ]
    return turns[:most]
