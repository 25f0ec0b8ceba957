"""The compile of the whole program at once: dev questions as it is, a search on train, the same dev questions again.

It begins with the program that is there. So it comes after the stages have been compiled one by one, and not in their
place: a stage that few questions need learns little here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from marchwarden.errors import EvaluationError
from marchwarden.evaluation.labels.questions import Question, evenly_spaced
from marchwarden.evaluation.runs.run import Record
from marchwarden.evaluation.runs.runner import check_web
from marchwarden.evaluation.scoring.bootstrap import differences, paired_interval
from marchwarden.evaluation.scoring.objective import objective
from marchwarden.optimization.estimate import Order
from marchwarden.optimization.optimizers import REFLECTION_TOKENS, Search, run
from marchwarden.optimization.program_records import (
    DECIDING,
    Outcome,
    build_program_info,
    cost_record,
    figure_records,
    records_of,
)
from marchwarden.optimization.spending import Spending, Stopped, interrupted
from marchwarden.optimization.stage_search import MARGIN, VALIDATION, Progress
from marchwarden.optimization.student import CandidateTracker
from marchwarden.optimization.whole.whole_search import (
    RIGHT_WHOLE,
    WHOLE,
    Prompts,
    QuestionRunner,
    WholeStudent,
    as_examples,
)
from marchwarden.programs import CompiledStage, Program, StageRecord, WholeRecord, save_program
from marchwarden.settings import Settings
from marchwarden.stages.registry import STAGES


@dataclass(frozen=True)
class WholeQuestions:
    """Train questions to learn from and to choose by, and dev questions to decide."""

    learn: list[Question]
    choose: list[Question]
    dev: list[Question]

    @classmethod
    def of(cls, order: Order, train: Sequence[Question], dev: Sequence[Question]) -> WholeQuestions:
        """Take as many as the order's effort and `questions` say. Raises EvaluationError where there are too few, or
        they are about another web."""
        check_web([*train, *dev], order.settings)
        ordered = evenly_spaced(train, order.effort.train + order.effort.choose)
        chosen = cls(ordered[::2], ordered[1::2], evenly_spaced(dev, order.questions))
        for split, found, least in (("train", ordered, 4), ("dev", chosen.dev, 4)):
            if len(found) < least:
                raise EvaluationError(
                    f"there are {len(found)} {split} questions to ask from end to end: too few to compile the whole",
                    hint="Label more questions (evals/README.md), or allow more with --whole.",
                )
        return chosen


def compile_whole(
    order: Order,
    questions: WholeQuestions,
    dev: Sequence[Question],
    *,
    folder: Path,
    out: Path,
    before: Program | None = None,
    spending: Spending | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Compile all prompts at once into the program's folder `out`, from the program that is there.

    `dev` are the questions that the labels' hash is of.

    Raises ConfigurationError, EvaluationError, StorageError.
    """
    progress = progress or Progress()
    spending = spending or Spending(folder, tokens=order.tokens, calls=order.calls)
    spending.on_call = progress.call
    progress.stage(WHOLE)
    runner = QuestionRunner(
        [*questions.learn, *questions.choose, *questions.dev],
        _settings(order, folder, before, dev, spending),
        spending,
    )
    whole = _Whole(order, questions, runner, spending, progress)
    outcome = _outcome(order, before, dev, spending)
    try:
        whole.compile()
    except Stopped as stopped:
        if stopped.by is not None:
            raise stopped.by from None
        outcome.stopped = stopped
    except KeyboardInterrupt:
        outcome.stopped = interrupted()
    return _joined(outcome, whole, order, out, spending)


def _settings(
    order: Order, folder: Path, before: Program | None, dev: Sequence[Question], spending: Spending
) -> Settings:
    """Return settings with traces in the compile's folder, and with the usable part of the program that is there."""
    settings = order.settings.model_copy(update={"trace_dir": (folder / "traces").absolute(), "store": None})
    if before is None or not before.stages:
        return settings
    info = _outcome(order, before, dev, spending).info
    path = save_program(folder / "before", info, list(before.stages.values()))
    return settings.model_copy(update={"program": str(path.parent.absolute())})


def _outcome(order: Order, before: Program | None, dev: Sequence[Question], spending: Spending) -> Outcome:
    """Return the outcome of having found nothing: the program stays as it is."""
    info = build_program_info(order, records_of(before), dev, cost_record(spending))
    return Outcome(info, dict(before.stages) if before else {})


class _Whole:
    """One compile, and its state so far."""

    def __init__(
        self, order: Order, questions: WholeQuestions, runner: QuestionRunner, spending: Spending, progress: Progress
    ) -> None:
        self.order, self.questions = order, questions
        self._runner, self._spending, self._progress = runner, spending, progress
        self.start = Prompts.of(runner.researcher())
        self.found: Prompts | None = None
        self.before: list[Record] = []
        self.after: list[Record] = []
        self.searched: Stopped | None = None
        """The reason for which the search ended early; None where it did not."""

    def compile(self) -> None:
        """Score, search and validate. A search that ended early is validated as it is.

        Raises Stopped and KeyboardInterrupt where a validation was ended.
        """
        spent = self._spending.spent.copy()
        self.before = self._ask_dev("as it is", None)
        # The validation takes about as much as the questions took before, and the last ones reserve their whole
        # budgets. Longer prompts take more, but each question is bounded by its own budget.
        budgets = sorted(each.request.constraints.token_budget for each in self.questions.dev)
        tokens = int(MARGIN * self._spending.spent.since(spent).tokens) + sum(budgets[-self.order.jobs :])
        self._spending.set_aside(VALIDATION, tokens, 0)
        try:
            self._search()
        finally:
            self._spending.set_aside(VALIDATION, 0, 0)
        if self.found is not None and self.found.changed(self.start):
            self.after = self._ask_dev("compiled", self.found)

    def _ask_dev(self, name: str, prompts: Prompts | None) -> list[Record]:
        self._progress.phase(f"{name}, dev questions")
        researcher = self._runner.researcher()
        if prompts is not None:
            prompts.put_into(researcher)
        return list(self._runner.ask_all(researcher, self.questions.dev, self.order.jobs))

    def _search(self) -> None:
        order, spending = self.order, self._spending
        chosen_by = [each.id for each in self.questions.choose]
        tracker = CandidateTracker[Prompts](
            WHOLE,
            self._runner.judge,
            chosen_by,
            spending,
            on_best=lambda score, prompts: self._progress.best(score),
        )
        self._progress.phase(order.optimizer.name)
        model = spending.open(order.settings)
        reflecting = spending.open(order.reflection or order.settings, writes=True)
        try:
            with model.asking(WHOLE, max_tokens=REFLECTION_TOKENS):
                search = Search(
                    tracker,
                    WholeStudent(self._runner.researcher(), self._runner, tracker),
                    ["answer"],
                    as_examples(self.questions.learn),
                    as_examples(self.questions.choose),
                    order.effort,
                    order.seed,
                    order.jobs,
                    reflecting.lm(max_tokens=REFLECTION_TOKENS) if order.optimizer.reflects else None,
                    RIGHT_WHOLE,
                )
                run(order.optimizer, search)
        except Stopped as stopped:
            if stopped.by is not None:
                raise
            self.searched = stopped
        except KeyboardInterrupt:
            self.searched = interrupted()
        finally:
            anyio.run(model.aclose)
            anyio.run(reflecting.aclose)
        if (best := tracker.best) and best[1].is_sound:
            self.found = best[1]

    @property
    def scores(self) -> tuple[float, float | None]:
        """Scores of the program before and of what was found, on the dev questions."""
        before, after = (
            round(objective(_cells(records)), 4) if records else 0.0 for records in (self.before, self.after)
        )
        return before, after if self.after else None

    @property
    def gain(self) -> tuple[float, float] | None:
        """Gain on the dev questions: the 95 % paired-bootstrap interval; None where nothing was validated."""
        if not self.after:
            return None
        low, high = paired_interval(objective, _cells(self.before), _cells(self.after)) or (0.0, 0.0)
        return round(low, 4), round(high, 4)


def _cells(records: Sequence[Record]) -> list[Any]:
    return [each.cells for each in records]


def _joined(outcome: Outcome, whole: _Whole, order: Order, out: Path, spending: Spending) -> Outcome:
    """Complete the outcome, and put what was found in place where dev proves it."""
    outcome.stopped = outcome.stopped or whole.searched
    outcome.info = outcome.info.model_copy(update={"cost": cost_record(spending)})
    if whole.found is None or not whole.after:
        return outcome
    found = differences(_cells(whole.before), _cells(whole.after))
    told = WholeRecord(questions=len(whole.after), split="dev", figures=figure_records(found))
    outcome.info = outcome.info.model_copy(update={"whole": told})
    outcome.worse = [each.metric.name for each in found if each.metric.name in DECIDING and each.is_better is False]
    helped = whole.gain is not None and whole.gain[0] > 0
    changed = whole.found.changed(whole.start)
    records = {**outcome.info.stages}
    for name, prompt in changed.items():
        if helped:
            outcome.stages[name] = CompiledStage(
                stage=name,
                signature=STAGES[name].fingerprint,
                instructions=prompt.instructions,
                demos=[dict(demo) for demo in prompt.demos],
            )
        if helped or name not in outcome.stages:
            records[name] = _record(name, whole, order, changed, helped)
    outcome.info = outcome.info.model_copy(update={"stages": records})
    if helped and not outcome.worse:
        outcome.file = save_program(out, outcome.info, list(outcome.stages.values()))
    return outcome


def _record(name: str, whole: _Whole, order: Order, changed: Mapping[str, Any], helped: bool) -> StageRecord:
    before, after = whole.scores
    low, high = whole.gain or (0.0, 0.0)
    with_it = f"with {', '.join(changed)} at once" if len(changed) > 1 else "by itself"
    gained = f"gains {low:+.2f} to {high:+.2f} on whole dev questions"
    ended = f" The search ended early: {whole.searched.reason}." if whole.searched else ""
    reason = f"Compiled {with_it}, it {gained}." if helped else f"What it {gained}, {with_it}, may be noise."
    return StageRecord(
        kept=helped,
        reason=f"{reason}{ended}",
        optimizer=order.optimizer.name,
        seed=order.seed,
        signature=STAGES[name].fingerprint,
        whole=True,
        dev_examples=len(whole.after),
        uncompiled=before,
        compiled=after,
        difference=(low, high),
    )
