"""DSPy's optimizers by name: what each needs, how many calls it makes at most, and how it is run.

None of them is our own. We choose which examples they see, in an order in which kinds take turns, and keep what they
print off stdout. docs/wiki/Compiling.md says which to take when.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from math import log2
from pathlib import Path
from typing import Any

import dspy

from marchwarden.errors import EvaluationError, ModelError, how_to_install, model_error
from marchwarden.optimization.examples.stage_example import RIGHT
from marchwarden.optimization.spending import SERVICE, service_gone
from marchwarden.optimization.student import ID, CandidateTracker

# Errors after which an optimizer gives up. It never should: a model's unreadable answers are what it is to mend.
_MAX_ERRORS = 10**6
# Output limit of one answer of the model that writes instructions. A guess.
REFLECTION_TOKENS = 2000


@dataclass(frozen=True)
class Effort:
    """The size of a search. The defaults are those of `light`; all of them are guesses."""

    candidates: int = 3
    """Prompts to try beside the uncompiled one."""
    demos: int = 6
    """Demonstrations in a prompt, at most."""
    train: int = 24
    """Examples to learn from, at most."""
    choose: int = 12
    """Other train examples to choose by, at most."""
    dev: int | None = 24
    """Dev examples that validate what was found, at most; None for all."""
    demo_tokens: int = 2000
    """Tokens that demonstrations may add to a prompt, about. A stage whose examples are long shows fewer."""


@dataclass(frozen=True)
class Calls:
    """Calls of a search: of the model that is compiled for, and of the one that writes instructions."""

    task: int
    """Calls of the model that is compiled for, at most."""
    reflection: int = 0
    """Calls of the model that writes instructions, at most."""
    likely: int = 0
    """Calls of the model that is compiled for, where every other answer is right."""
    likely_reflection: int = 0
    """Calls of the model that writes instructions, where every other answer is right."""


@dataclass(frozen=True)
class Search:
    """Everything that an optimizer is given."""

    tracker: CandidateTracker[Any]
    student: dspy.Module
    """The module whose predictors are optimized."""
    outputs: Collection[str]
    """Fields that an example needs to be a demonstration as it is."""
    learn: list[dspy.Example]
    choose: list[dspy.Example]
    effort: Effort
    seed: int
    jobs: int
    reflection: Any = None
    """The `dspy.LM` that writes instructions; None for an optimizer that needs none."""
    right: float = RIGHT
    """Least score of an answer that is shown as a demonstration, 0–1."""

    def metric(self, example: Any, prediction: Any, trace: Any = None) -> float:
        return 0.0 if prediction is None else self.tracker.judge(example[ID], prediction).score

    def explained(
        self, gold: Any, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
    ) -> dspy.Prediction:
        """The metric as GEPA wants it: with reasons."""
        feedback = self.tracker.judge(gold[ID], pred)
        return dspy.Prediction(score=feedback.score, feedback=feedback.text)

    @property
    def labelled(self) -> list[dspy.Example]:
        """Examples to learn from that have a right answer: demonstrations are drawn from these."""
        return [each for each in self.learn if all(name in each for name in self.outputs)]

    @property
    def teaching(self) -> list[dspy.Example]:
        """Examples that demonstrations are made of. Where no label gives an answer, the model's own answers serve."""
        return self.labelled or self.learn

    @property
    def demonstrations(self) -> dict[str, Any]:
        """Options that all optimizers share that look for demonstrations."""
        # A third are answers of the model itself. A weak model is mostly right about what it says anyway, and
        # would be taught to say that of everything.
        bootstrapped = max(1, self.effort.demos // 3) if self.labelled else self.effort.demos
        return {
            "metric": self.metric,
            "metric_threshold": self.right,
            "max_bootstrapped_demos": bootstrapped,
            "max_labeled_demos": self.effort.demos if self.labelled else 0,
        }


@dataclass(frozen=True)
class Optimizer:
    name: str
    says: str
    """Description in a few words, for help and tables."""
    reflects: bool
    """True where a model writes instructions."""
    calls: Callable[[Effort, int, int], Calls]
    """Calls for an effort, a number of examples to learn from, and a number to choose by."""
    run: Callable[[Search], Any]
    needs: str | None = None
    """Package that is needed beyond DSPy."""

    def check(self) -> None:
        """Raise EvaluationError where its package is missing."""
        if self.needs and find_spec(self.needs) is None:
            raise EvaluationError(f"the optimizer {self.name} needs {self.needs}", hint=how_to_install("compile"))


def run(optimizer: Optimizer, search: Search) -> None:
    """Run the optimizer. The tracker then knows what was found, and no call is running any more.

    Raises Stopped, KeyboardInterrupt, and EvaluationError where the optimizer itself fails.
    """
    with _silence():
        try:
            optimizer.run(search)
        except Exception as error:
            raise _explain_failure(optimizer, search, error) from error
        finally:
            search.tracker.close()


def _explain_failure(optimizer: Optimizer, search: Search, error: Exception) -> EvaluationError:
    """Return the error to raise for an exception that an optimizer let through.

    It is a failed call of its own, mostly one for instructions, or a mistake of the optimizer's. Raises Stopped as
    `Spending.failed` does, and where the service is gone.
    """
    told = model_error(error)
    if not isinstance(told, ModelError) or told.kind != "unknown":
        search.tracker.spending.failed(told)
    if isinstance(told, ModelError) and told.kind in SERVICE:
        raise service_gone(str(told)) from None
    said = str(error).partition("\n")[0][:200]
    what, hint = (
        f"{type(error).__name__}: {said}",
        "Try another --optimizer, or label more questions (evals/README.md).",
    )
    if isinstance(told, ModelError) and told.kind != "unknown":
        what, hint = str(told), "Name another --reflection-model to write instructions, or another --optimizer."
    return EvaluationError(f"the optimizer {optimizer.name} failed on {search.tracker.name}: {what}", hint=hint)


# Each of them


def _bootstrap_calls(effort: Effort, learn: int, choose: int) -> Calls:
    return Calls(learn + choose, likely=min(learn, 2 * effort.demos) + choose)


def _bootstrap(search: Search) -> Any:
    program = dspy.BootstrapFewShot(**search.demonstrations, max_errors=_MAX_ERRORS).compile(
        search.student, trainset=search.teaching
    )
    # BootstrapFewShot tries no candidate itself; this lets the tracker see a score of the one that it built.
    dspy.Evaluate(
        devset=search.choose,
        metric=search.metric,
        num_threads=search.jobs,
        max_errors=_MAX_ERRORS,
        display_progress=False,
    )(program)
    return program


def _random_search_calls(effort: Effort, learn: int, choose: int) -> Calls:
    # Three candidates are always tried: no demonstration, labelled ones, and the first that bootstrap.
    tried, bootstraps = (effort.candidates + 3) * choose, effort.candidates + 1
    return Calls(tried + bootstraps * learn, likely=tried + bootstraps * min(learn, 2 * effort.demos))


def _random_search(search: Search) -> Any:
    optimizer = dspy.BootstrapFewShotWithRandomSearch(
        **search.demonstrations,
        num_candidate_programs=search.effort.candidates,
        num_threads=search.jobs,
        max_errors=_MAX_ERRORS,
        stop_at_score=100,
    )
    # Not sampled: labelled demonstrations stay in their order, in which kinds take turns.
    return optimizer.compile(search.student, trainset=search.teaching, valset=search.choose, labeled_sample=False)


def _trials(candidates: int) -> int:
    """Trials that MIPROv2 recommends for one predictor with instructions and demonstrations."""
    return int(max(4 * log2(max(2, candidates)), 1.5 * candidates))


def _mipro_calls(effort: Effort, learn: int, choose: int) -> Calls:
    tried, bootstraps = (_trials(effort.candidates) + 1) * choose, max(1, effort.candidates - 2)
    likely = tried + bootstraps * min(learn, 2 * effort.demos)
    # Beside one call a candidate, MIPROv2 asks to describe the data set: in up to ten calls and a summary.
    return Calls(tried + bootstraps * learn, effort.candidates + 11, likely, effort.candidates + 2)


def _mipro(search: Search) -> Any:
    optimizer = dspy.MIPROv2(
        **search.demonstrations,
        prompt_model=search.reflection,
        auto=None,
        num_candidates=search.effort.candidates,
        num_threads=search.jobs,
        max_errors=_MAX_ERRORS,
        seed=search.seed,
    )
    return optimizer.compile(
        search.student,
        trainset=search.teaching,
        valset=search.choose,
        num_trials=_trials(search.effort.candidates),
        minibatch=False,
        program_aware_proposer=False,  # it would read our module's source, which says nothing of the task
    )


# Examples that GEPA reflects on at a time: its default.
_MINIBATCH = 3


def _gepa_metric_calls(effort: Effort, choose: int) -> int:
    # The uncompiled prompt on all; then each candidate twice on a minibatch, and, where it is better, on all.
    return choose + effort.candidates * (2 * _MINIBATCH + choose)


def _gepa_calls(effort: Effort, learn: int, choose: int) -> Calls:
    # GEPA looks at its count before each candidate only, and so goes beyond it by one. Where no candidate is better
    # on its minibatch, the count lasts for more of them.
    counted = _gepa_metric_calls(effort, choose)
    written = (counted - choose) // (2 * _MINIBATCH) + 1
    return Calls(counted + 2 * _MINIBATCH + choose, written, counted, effort.candidates)


def _gepa(search: Search) -> Any:
    optimizer = dspy.GEPA(
        metric=search.explained,
        max_metric_calls=_gepa_metric_calls(search.effort, len(search.choose)),
        reflection_minibatch_size=_MINIBATCH,
        reflection_lm=search.reflection,
        add_format_failure_as_feedback=True,
        num_threads=search.jobs,
        seed=search.seed,
    )
    return optimizer.compile(search.student, trainset=search.learn, valset=search.choose)


# Steps of SIMBA, instead of its 8: each one is a search of its own. A guess.
_STEPS = 2


def _simba_sizes(effort: Effort, learn: int) -> tuple[int, int]:
    """Return the examples in a batch, and the candidates of a step."""
    return min(8, learn), max(2, effort.candidates // 2)


def _simba_calls(effort: Effort, learn: int, choose: int) -> Calls:
    batch, candidates = _simba_sizes(effort, learn + choose)
    tried = _STEPS * batch * (2 * candidates + 1) + (_STEPS + 1) * (learn + choose)
    return Calls(tried, _STEPS * (candidates + 1), tried, _STEPS * candidates)


def _simba(search: Search) -> Any:
    examples = search.learn + search.choose
    batch, candidates = _simba_sizes(search.effort, len(examples))
    optimizer = dspy.SIMBA(
        metric=search.metric,
        bsize=batch,
        num_candidates=candidates,
        max_steps=_STEPS,
        max_demos=search.effort.demos,
        prompt_model=search.reflection,
        num_threads=search.jobs,
    )
    return optimizer.compile(search.student, trainset=examples, seed=search.seed)


OPTIMIZERS = {
    each.name: each
    for each in (
        Optimizer("bootstrap", "the first right answers as demonstrations", False, _bootstrap_calls, _bootstrap),
        Optimizer(
            "random-search", "sets of demonstrations, the best one", False, _random_search_calls, _random_search
        ),
        Optimizer("mipro", "instructions and demonstrations together", True, _mipro_calls, _mipro, "optuna"),
        Optimizer("gepa", "instructions, rewritten after looking at failures", True, _gepa_calls, _gepa, "gepa"),
        Optimizer("simba", "rules and demonstrations from uneven answers", True, _simba_calls, _simba),
    )
}


@contextmanager
def _silence() -> Iterator[None]:
    """Discard what optimizers print, draw on stderr and log; our own progress bar says it better."""
    loggers = [logging.getLogger(name) for name in ("dspy", "optuna", "gepa")]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL)
    try:
        with (
            Path(os.devnull).open("w", encoding="utf-8") as nowhere,
            redirect_stdout(nowhere),
            redirect_stderr(nowhere),
        ):
            yield
    finally:
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)
