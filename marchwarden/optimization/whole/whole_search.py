"""The whole researcher as the module that is optimized: a labelled question is asked from end to end, and scored.

Each question keeps its own token budget, which is reserved in the compile's before it is asked. So the compile's
limit is as hard as stage by stage, in threads too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import dspy

from marchwarden.agent.program import Researcher
from marchwarden.errors import MarchwardenError, TraceError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.matches import as_words, matches_of
from marchwarden.evaluation.runs.run import Record
from marchwarden.evaluation.runs.runner import scored
from marchwarden.evaluation.scoring.objective import objective
from marchwarden.optimization.examples.stage_example import Feedback
from marchwarden.optimization.spending import SERVICE, Spending, Stopped, service_gone
from marchwarden.optimization.student import ID, CandidateTracker, Prompt
from marchwarden.settings import Settings
from marchwarden.trace.reader import read_trace

# The name of the whole program where a stage's name could stand.
WHOLE = "whole"
# The least score (0–1) of a question whose calls become demonstrations. A guess: few whole answers earn the 0.9 that
# is asked of a single stage.
RIGHT_WHOLE = 0.75


@dataclass(frozen=True)
class Prompts:
    """The prompts of every stage, by its name."""

    by_stage: Mapping[str, Prompt]

    @classmethod
    def of(cls, researcher: Researcher) -> Prompts:
        return cls({name: Prompt.of(predictor) for name, predictor in researcher.named_predictors()})

    @property
    def key(self) -> str:
        return json.dumps({name: prompt.key for name, prompt in self.by_stage.items()}, sort_keys=True)

    @property
    def is_sound(self) -> bool:
        return all(prompt.is_sound for prompt in self.by_stage.values())

    def changed(self, before: Prompts) -> dict[str, Prompt]:
        """Return the prompts that differ from those before, by stage."""
        return {name: prompt for name, prompt in self.by_stage.items() if prompt.key != before.by_stage[name].key}

    def put_into(self, researcher: Researcher) -> None:
        for name, predictor in researcher.named_predictors():
            prompt = self.by_stage[name]
            predictor.signature = predictor.signature.with_instructions(prompt.instructions)
            predictor.demos = [dspy.Example(**demo) for demo in prompt.demos]


class QuestionRunner:
    """Asks labelled questions of a researcher, within the compile's budget. Copies of a student share it."""

    def __init__(self, questions: Sequence[Question], settings: Settings, spending: Spending) -> None:
        """`settings` name the folder of the traces, from which results are read."""
        self._questions = {question.id: question for question in questions}
        self._settings = settings
        self._spending = spending

    def __deepcopy__(self, memo: dict[int, Any]) -> QuestionRunner:
        return self

    def researcher(self) -> Researcher:
        """Return a researcher with the program that the settings name."""
        return Researcher(self._settings, connect=self._spending.open_within)

    def ask(self, researcher: Researcher, question_id: str) -> dspy.Prediction:
        """Ask one question, and return the prediction with its scored `record`.

        A question in which the model's service failed is asked once more. Raises Stopped where the budget does not
        reach, the service is gone or nothing can be kept.
        """
        question = self._questions[question_id]
        prediction, trouble = self._asked(researcher, question)
        if trouble:
            prediction, trouble = self._asked(researcher, question)
        if trouble:
            raise service_gone(trouble)
        return prediction

    def _asked(self, researcher: Researcher, question: Question) -> tuple[dspy.Prediction, str | None]:
        """Return the prediction, and the failure of the model's service where there was one."""
        used = question.request.constraints.token_budget
        reservation = self._spending.reserve(WHOLE, used)
        began = time.monotonic()
        try:
            found = researcher(
                question=question.question,
                context=question.context,
                depth=question.depth,
                constraints=question.constraints or None,
            )
            used = found.result.cost_metadata.tokens_used
        except MarchwardenError as error:
            raise Stopped(str(error), error.hint, by=error) from None
        finally:
            self._spending.budget.commit(reservation, used)
        trace_id = found.result.trace_id
        seconds = time.monotonic() - began
        found["record"] = scored(question, found.result, None, trace_id, seconds, self._settings)
        with suppress(TraceError):
            for line in read_trace(self._settings.traces / f"{trace_id}.jsonl").raw:
                reason = str(line.get("reason", "")) if line.get("action") == "fallback" else ""
                if reason.partition(":")[0] in SERVICE:
                    return found, reason
        return found, None

    def stages_without_model(self, trace_id: str) -> set[str]:
        """Return the stages that went on without the model at least once in a call."""
        with suppress(TraceError):
            lines = read_trace(self._settings.traces / f"{trace_id}.jsonl").raw
            fell_back = {str(line.get("stage")) for line in lines if line.get("action") == "fallback"}
            return fell_back | {str(line["action"]) for line in lines if line.get("stage_form") == "model_free"}
        return set()

    def judge(self, question_id: str, prediction: Any) -> Feedback:
        """Score what `ask` gave: the weighted mean of the metrics that the question has labels for, and the labels
        that were missed, in words."""
        record: Record = prediction["record"]
        wanted = matches_of(record, self._settings.traces).wanted
        missed = as_words([each for each in wanted if not each.met])
        text = "Missed: " + "; ".join(missed) + "." if missed else "Everything that was wanted was found."
        return Feedback(objective([record.cells]), text)

    def ask_all(self, researcher: Researcher, questions: Sequence[Question], jobs: int) -> Iterator[Record]:
        """Yield the questions' records in their order, asking `jobs` of them side by side. Raises Stopped."""
        if jobs == 1:  # in this thread, where Ctrl-C ends a question at once
            yield from (self.ask(researcher, question.id)["record"] for question in questions)
            return
        with ThreadPoolExecutor(jobs) as pool:
            asked = [pool.submit(self.ask, researcher.deepcopy(), question.id) for question in questions]
            try:
                for each in asked:
                    yield each.result()["record"]
            finally:
                for each in asked:
                    each.cancel()


class WholeStudent(dspy.Module):  # type: ignore[misc]
    """The researcher as a module that is asked questions by their ids, and whose prompts the optimizer changes."""

    def __init__(self, researcher: Researcher, runner: QuestionRunner, tracker: CandidateTracker[Prompts]) -> None:
        super().__init__()
        self.researcher = researcher
        self.runner = runner
        self.tracker = tracker

    def forward(self, **inputs: Any) -> Any:
        """Ask one question. Raises Stopped where nothing more may be spent, or the service is gone."""
        traced = dspy.settings.trace if dspy.settings.trace is not None else []
        begun = len(traced)
        with self.tracker.calling():
            prompts = Prompts.of(self.researcher)
            prediction = self.runner.ask(self.researcher, inputs[ID])
            score = self.tracker.judge(inputs[ID], prediction).score
            # Pages are picked from side by side. In the order of who was done first, demonstrations would be drawn by
            # chance, and a compile that goes on would not take the same road.
            steps = sorted(traced[begun:], key=lambda step: json.dumps(step[1], sort_keys=True, default=str))
            if score >= RIGHT_WHOLE:
                # Where a stage went on without the model, the answer says nothing of what the model gave, and it must
                # not become a demonstration.
                without_model = self.runner.stages_without_model(prediction.result.trace_id)
                names = {id(predictor): name for name, predictor in self.researcher.named_predictors()}
                steps = [step for step in steps if names.get(id(step[0])) not in without_model]
            traced[begun:] = steps
            self.tracker.note(inputs[ID], prompts, score)
            return prediction


def as_examples(questions: Sequence[Question]) -> list[dspy.Example]:
    """Return the questions as optimizers take them: without an answer, which is no demonstration of any stage."""
    return [dspy.Example(**{ID: each.id}, question=each.question).with_inputs(ID, "question") for each in questions]
