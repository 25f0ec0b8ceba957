"""One stage's compile: score it as it is on dev, search a better prompt on train, validate it on dev.

Dev decides and is never searched on. Tokens and calls for the validation are set aside before the search spends any.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import anyio

from marchwarden.evaluation.runs.run import write_json
from marchwarden.optimization.examples.stage_example import AnyStageSet
from marchwarden.optimization.optimizers import REFLECTION_TOKENS, Effort, Optimizer, Search, run
from marchwarden.optimization.spending import Clock, Spending, Spent, Stopped, interrupted
from marchwarden.optimization.splits import StageExamples
from marchwarden.optimization.student import CandidateTracker, Prompt, Student, as_dspy, judge_of
from marchwarden.optimization.validation import (
    Validation,
    gain,
    mean,
    model_free_scores,
    score_within_budget,
    valid_rate,
)
from marchwarden.programs import CompiledStage, StageRecord
from marchwarden.settings import Settings

# Name under which the budget sets tokens and calls aside for the validation.
VALIDATION = "validation"
# Factor by which the validation of a compiled prompt may cost more than that of the uncompiled one, demonstrations
# aside. A guess.
MARGIN = 1.3


@dataclass(frozen=True)
class StageTask:
    """One stage to compile, with its examples, optimizer and models."""

    stage_set: AnyStageSet
    examples: StageExamples
    optimizer: Optimizer
    effort: Effort
    settings: Settings
    reflection: Settings | None
    """Settings of the model that writes instructions; None where it is the one that is compiled for."""
    seed: int
    jobs: int
    folder: Path
    """Folder in which the prompt that was found is kept."""
    always_model: bool = False
    """True where the stage never goes without the model, however much worse it does."""

    @property
    def name(self) -> str:
        return self.stage_set.stage.name


@dataclass(frozen=True)
class StageOutcome:
    record: StageRecord
    compiled: CompiledStage | None
    """Compiled form of the stage; None where it is not kept."""
    validation: Validation | None
    """Scores on dev; None where not even the uncompiled stage was scored."""
    stopped: Stopped | None = None
    """Reason why the search ended early; None where it did not."""


class Progress:
    """Callbacks of a compile while it runs; each does nothing by itself."""

    def stage(self, name: str) -> None:
        """Take note that a stage begins."""

    def stage_done(self, name: str, record: StageRecord) -> None:
        """Take note of a stage's result."""

    def call(self) -> None:
        """Take note that a call ended."""

    def question(self) -> None:
        """Take note that a whole question was answered."""

    def phase(self, text: str) -> None:
        """Take note of what is being done."""

    def best(self, score: float) -> None:
        """Take note of the best score so far on the examples to choose by, 0–1."""


def compile_stage(task: StageTask, spending: Spending, progress: Progress) -> StageOutcome:
    """Compile one stage.

    Where the budget ends or the user interrupts, the best prompt so far is validated, if that can still be paid, and
    the outcome says so. Raises ConfigurationError, EvaluationError and StorageError.
    """
    clock, before, replayed_before = Clock(), spending.spent.copy(), spending.recording.replayed_seconds
    validation, found, stopped = _search_and_validate(task, spending, progress)
    spent = spending.spent.since(before)
    kept = found if validation and validation.helped else None
    # The stage is certainly better off without the model.
    is_better_without = validation is not None and validation.without_model[0] > 0
    if is_better_without and not task.always_model and stopped is None:
        # Not where the search ended early: that says nothing about what the model can do.
        stage = task.stage_set.stage
        kept = CompiledStage(
            stage=stage.name,
            signature=stage.fingerprint,
            form="model_free",
            instructions=stage.signature().instructions,
        )
    # Replayed answers count as long as they once took, so a compile that goes on reports about the time of one go.
    replayed = (spending.recording.replayed_seconds - replayed_before) / task.jobs
    record = _record(task, validation, kept, stopped).model_copy(
        update={"calls": spent.calls, "tokens": spent.tokens, "seconds": round(clock.seconds + replayed, 1)}
    )
    return StageOutcome(record, kept, validation, stopped)


def _search_and_validate(
    task: StageTask, spending: Spending, progress: Progress
) -> tuple[Validation | None, CompiledStage | None, Stopped | None]:
    """Return the validation, the stage that was found, and why it ended early.

    There is no validation where not even the uncompiled stage could be scored.
    """
    stage, dev = task.stage_set.stage, task.examples.dev
    before = spending.spent.copy()
    progress.phase("uncompiled, on dev")
    try:
        baseline = score_within_budget(task.stage_set, stage, dev, task.settings, spending, jobs=task.jobs)
    except Stopped as ended:
        return None, None, ended
    unproven = Validation(baseline, None, model_free_scores(task.stage_set, dev))
    share = _ValidationReserve(spending, task, before)
    # Demonstrations lengthen a prompt by the longest examples, at most.
    shown = [json.dumps(stage.show(each.given), default=str) for each in task.examples.learn]
    share.keep(sum(sorted((len(each.encode("utf-8")) for each in shown), reverse=True)[: task.effort.demos]))
    prompt, stopped = _search(task, spending, progress, share)
    share.give_back()
    if prompt is None or prompt == Prompt(stage.signature().instructions):
        return unproven, None, stopped
    found = CompiledStage(
        stage=stage.name,
        signature=stage.fingerprint,
        instructions=prompt.instructions,
        demos=[dict(demo) for demo in prompt.demos],
    )
    # A prompt that is not validated is no part of a program. It is kept in the compile's folder, to be looked at.
    write_json(task.folder / f"{task.name}.found.json", found.model_dump(mode="json"))
    progress.phase(f"compiled, on dev{'; Ctrl-C again ends that' if stopped and stopped.is_interrupt else ''}")
    try:
        compiled = score_within_budget(
            task.stage_set, stage.compiled(found), dev, task.settings, spending, jobs=task.jobs
        )
    except Stopped as ended:
        return unproven, None, ended
    return replace(unproven, compiled=compiled), found, stopped


class _ValidationReserve:
    """Tokens and calls that are set aside for the validation, about as many as it needs at most.

    They are as many calls as a stage makes, as many tokens as the uncompiled prompt took, the length that the found
    prompt adds, and room to reserve the last calls at their longest.
    """

    def __init__(self, spending: Spending, task: StageTask, before: Spent) -> None:
        self._spending = spending
        self._task = task
        self._spent = spending.spent.since(before)
        self._own = len(task.stage_set.stage.signature().instructions.encode("utf-8"))

    def keep(self, longer: int) -> None:
        """Set aside for a prompt that is `longer` bytes longer than the uncompiled one."""
        examples, task = len(self._task.examples.dev), self._task
        # About three bytes make a token of English text, on the safe side.
        more = longer // 3
        last = min(task.jobs, examples) * (self._spending.hold(task.name) + longer)
        tokens = int(MARGIN * self._spent.tokens) + examples * more + last
        self._spending.set_aside(VALIDATION, tokens, max(2 * examples, int(MARGIN * self._spent.calls)))

    def keep_for(self, prompt: Prompt) -> None:
        self.keep(max(0, len(prompt.key.encode("utf-8")) - self._own))

    def give_back(self) -> None:
        self._spending.set_aside(VALIDATION, 0, 0)


def _search(
    task: StageTask, spending: Spending, progress: Progress, share: _ValidationReserve
) -> tuple[Prompt | None, Stopped | None]:
    """Return the best prompt that was tried on every example to choose by, and why the search ended early."""
    examples = task.examples

    def better(score: float, prompt: Prompt) -> None:
        share.keep_for(prompt)
        progress.best(score)

    tracker = CandidateTracker[Prompt](
        task.name,
        judge_of(task.stage_set, examples.learn + examples.choose),
        [each.id for each in examples.choose],
        spending,
        on_best=better,
    )
    progress.phase(task.optimizer.name)
    ended: Stopped | None = None
    stage = task.stage_set.stage
    model = spending.open(task.settings)
    reflecting = spending.open(task.reflection or task.settings, writes=True)
    try:
        with model.asking(stage.name, max_tokens=stage.max_tokens):
            search = Search(
                tracker,
                Student(stage, tracker),
                list(stage.signature().output_fields),
                as_dspy(task.stage_set, examples.learn),
                as_dspy(task.stage_set, examples.choose),
                task.effort,
                task.seed,
                task.jobs,
                reflecting.lm(max_tokens=REFLECTION_TOKENS) if task.optimizer.reflects else None,
            )
            run(task.optimizer, search)
    except Stopped as stopped:
        if stopped.by is not None:
            raise stopped.by from None
        ended = stopped
    except KeyboardInterrupt:
        ended = interrupted()
    finally:
        anyio.run(model.aclose)
        anyio.run(reflecting.aclose)
    best = tracker.best
    return (best[1] if best and best[1].is_sound else None), ended


def _record(
    task: StageTask, validation: Validation | None, kept: CompiledStage | None, stopped: Stopped | None
) -> StageRecord:
    """Build the stage's record, without its cost."""
    goes_without = kept is not None and kept.form == "model_free"
    record = StageRecord(
        kept=kept is not None,
        form=kept.form if kept else "model",
        reason=_reason(validation, goes_without, stopped),
        optimizer=task.optimizer.name,
        seed=task.seed,
        signature=task.stage_set.stage.fingerprint,
        dev_examples=len(validation.uncompiled) if validation else 0,
        uncompiled=mean(validation.uncompiled) if validation else 0.0,
        valid_uncompiled=valid_rate(validation.uncompiled) if validation else None,
        model_free=round(fmean(validation.model_free), 4) if validation else None,
    )
    if validation is None:
        return record
    if goes_without:
        gained = gain([each.score for each in validation.uncompiled], validation.model_free)
        return record.model_copy(update={"compiled": record.model_free, "difference": gained})
    if validation.compiled is None:
        return record
    told = {"compiled": mean(validation.compiled), "valid_compiled": valid_rate(validation.compiled)}
    return record.model_copy(update={**told, "difference": validation.interval})


def _reason(validation: Validation | None, goes_without: bool, stopped: Stopped | None) -> str:
    """Explain in words why the stage is kept or not."""
    ended = f" The search ended early: {stopped.reason}." if stopped else ""
    if validation is None:
        return f"It ended before anything was validated: {stopped.reason}." if stopped else "Nothing was validated."
    if goes_without:
        low, high = validation.without_model
        tried = f" The compiled prompt scored {mean(validation.compiled):.2f}." if validation.compiled else ""
        gained = f"{low:+.2f} to {high:+.2f} on dev over its best prompt"
        return f"It goes without the model, which gains {gained}.{tried}{ended}"
    if validation.unreadable:
        return f"No answer of the model could be read ({validation.unreadable}).{ended}"
    if validation.compiled is None:
        return ended.strip() or "No prompt did better than the uncompiled one."
    low, high = validation.interval
    if validation.helped:
        return f"It gains {low:+.2f} to {high:+.2f} on dev.{ended}"
    if high < 0:
        return f"It is worse on dev, by {low:+.2f} to {high:+.2f}.{ended}"
    return f"What it gains on dev, {low:+.2f} to {high:+.2f}, may be noise.{ended}"
