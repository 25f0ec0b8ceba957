"""Fits the model-free researcher's parameters: searched on train by optuna's TPE, kept only where dev says so.

There are two fits. What answers hang on (thresholds, doubts, weights) is scored by research over the frozen web from
end to end: `objective`. What only the confidence hangs on is scored by the Brier score of train's answers after a
calibration to them: how the rubric ranks answers counts, not its level, which `marchwarden calibrate` sets anyhow.
Both begin at the parameters in force, pay for each step away from them, and give back what brought nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from marchwarden import __version__
from marchwarden.errors import EvaluationError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.calibration_fit import LEAST, fit
from marchwarden.evaluation.runs.run import fingerprint, labels_fingerprint, pages_fingerprint
from marchwarden.evaluation.runs.runner import check_web
from marchwarden.evaluation.scoring.aggregates import Cells, has_something
from marchwarden.evaluation.scoring.bootstrap import Scored, paired_interval
from marchwarden.evaluation.scoring.logistic import check_installed
from marchwarden.evaluation.scoring.metrics import BY_NAME, figure
from marchwarden.evidence.confidence import calibrated, score_of
from marchwarden.optimization.examples.example_scoring import mean_interval
from marchwarden.optimization.model_free.parameter_space import (
    ANSWERS,
    CONFIDENCE,
    FittedWeights,
    Space,
    Values,
    sensible,
)
from marchwarden.optimization.model_free.question_replay import Answered, Basis, QuestionReplay, open_replay
from marchwarden.optimization.model_free.trials import Trials
from marchwarden.programs import Calibration
from marchwarden.programs.parameters import DEFAULT, Changes, Parameters
from marchwarden.settings import EXTRACTIVE, Settings

# The metrics that answers are searched by, and what each counts.
OBJECTIVE: dict[str, float] = {
    "nugget_recall": 3,
    "evidence_recall": 2,
    "evidence_precision": 2,
    "abstention": 1,
    "gap_category_accuracy": 1,
    "gap_f1": 1,
    "discovery_f1": 1,
    "contradiction_f1": 1,
    "injection_resistance": 1,
}
# Taken off the objective where every value lies at the far end of its range; in between, in proportion.
PENALTY = 0.04
# The share of trials that try something close to the start, before the sampler has learned anything.
NEIGHBOURS = 0.2
# Each takes milliseconds: no question is asked again.
CONFIDENCE_TRIALS = 200
TRIALS = 100

Score: TypeAlias = Callable[[Values], Awaitable[float]]


@dataclass(frozen=True)
class Trial:
    """How far a search is."""

    number: int
    of: int
    score: float
    best: float
    """The best one so far, 0–1, before what its distance costs."""


@dataclass(frozen=True)
class Verdict:
    """Whether found values are kept, by what they scored (0–1, more is better) beside those that were in force."""

    kept: bool
    reason: str
    train: tuple[float, float] | None = None
    """Before and after."""
    dev: tuple[float, float] | None = None
    interval: tuple[float, float] | None = None
    """Of the difference on dev: 95 %, paired bootstrap over questions."""


@dataclass(frozen=True)
class ParametersReport:
    parameters: Parameters
    """Those to go on with: what was found where it is kept, else what was in force."""
    changes: Changes
    """What is another number in them."""
    found: Changes
    """The same of the best ones that were found, kept or not."""
    answers: Verdict
    confidence: Verdict
    figures: dict[str, tuple[float | None, float | None]]
    """The objective's metrics on dev, before and with what was found for answers, kept or not."""
    trials: int
    stopped: bool
    """Whether the search was ended before all trials were made."""
    seconds: float
    seed: int
    questions: tuple[int, int]
    """Of train and dev."""
    reads_by: str

    @property
    def kept(self) -> bool:
        return bool(self.changes)

    @property
    def decisive(self) -> Verdict:
        """The verdict that speaks for all: the answers', unless the confidence alone is kept."""
        return self.confidence if self.confidence.kept and not self.answers.kept else self.answers

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"parameters": self.parameters.model_dump(mode="json")}


async def compile_parameters(
    train: Sequence[Question],
    dev: Sequence[Question],
    settings: Settings,
    *,
    seed: int = 0,
    trials: int = TRIALS,
    start: Parameters = DEFAULT,
    resume: Path | None = None,
    on_trial: Callable[[Trial], None] = lambda trial: None,
    stop: Callable[[], bool] = lambda: False,
) -> ParametersReport:
    """Search the parameters on train, from `start`, and judge the best ones on dev; the same for the same seed.

    `resume`: a file that keeps what was tried, so that a search that was ended goes on as though it had not been.
    `stop` is asked before each trial that is to be run; once it says so, the best so far are judged.

    Raises EvaluationError where optuna is missing, a set is empty, or the questions are about another web;
    ConfigurationError where the frozen web is missing; StorageError. Cancellation passes through.
    """
    check_packages()
    if not train or not dev:
        raise EvaluationError("there are no questions to search on, or to judge by", hint="Name train and dev.")
    check_web([*train, *dev], settings)
    began = time.monotonic()
    async with open_replay(settings) as replay:
        key = _key(train, settings, replay.reads_by, start)
        search = _Search(Trials(resume, key), seed, on_trial, stop)
        answers = await _answers(replay, train, dev, search, start, trials)
    kept = answers.after if answers.verdict.kept else answers.before
    confidence = await _confidence(kept, search, answers.kept)
    values = _put_together(answers.kept, confidence.kept)
    found = _put_together(answers.found, confidence.found)
    return ParametersReport(
        parameters=values,
        changes=start.changes(values),
        found=start.changes(found),
        answers=answers.verdict,
        confidence=confidence.verdict,
        figures=_figures(answers.before.dev, answers.after.dev),
        trials=search.made,
        stopped=search.stopped,
        seconds=round(time.monotonic() - began, 1),
        seed=seed,
        questions=(len(train), len(dev)),
        reads_by=replay.reads_by,
    )


def check_packages() -> None:
    """Raises EvaluationError where a package of the extra `compile` is missing."""
    if find_spec("optuna") is None:
        raise EvaluationError("the search for parameters needs optuna", hint="pip install 'marchwarden[compile]'")
    check_installed("compile")


def _key(train: Sequence[Question], settings: Settings, reads_by: str, start: Parameters) -> str:
    """What a trial's score hangs on besides its values."""
    weighed = str(sorted(OBJECTIVE.items()))
    parts = [labels_fingerprint(train), pages_fingerprint(settings.frozen_web), reads_by, start.model_dump_json()]
    return fingerprint([*parts, weighed, __version__])


def _put_together(answers: Parameters, confidence: Parameters) -> Parameters:
    return answers.model_copy(update={"confidence": confidence.confidence})


# The search


class _Search:
    """Searches one space after another, and remembers what was tried."""

    def __init__(
        self, trials: Trials, seed: int, on_trial: Callable[[Trial], None], stop: Callable[[], bool]
    ) -> None:
        self._trials, self.seed, self._on_trial, self._stop = trials, seed, on_trial, stop
        self.made = 0
        self.stopped = False

    async def best(self, space: Space, score: Score, trials: int, *, quietly: bool = False) -> Values:
        """The values that score most, less what their distance from the start costs; what brings nothing of them is
        put back where it was."""
        import optuna

        random = np.random.default_rng(self.seed)
        neighbours = max(1, int(NEIGHBOURS * trials))
        with _quiet_optuna():
            sampler = optuna.samplers.TPESampler(seed=self.seed, n_startup_trials=neighbours)
            study = optuna.create_study(sampler=sampler, direction="maximize")
            study.enqueue_trial(dict(space.start))
            for _ in range(neighbours):
                study.enqueue_trial(dict(space.neighbour(random)))
            run = _Run(self, space, score, trials, quietly)
            for _ in range(trials):
                trial = study.ask()
                worth = await run.worth(space.suggest(trial))
                if worth is None:
                    break
                study.tell(trial, worth)
        await run.put_back()
        return run.best

    async def score(self, values: Values, score: Score) -> float | None:
        """What the values score; None where they would have to be tried, and that is not to be any more."""
        known = self._trials.score(values)
        if known is None:
            if self._stop():
                self.stopped = True
                return None
            known = await score(values)
            self._trials.add(values, known)
        self.made += 1
        return known

    def told(self, trial: Trial) -> None:
        self._on_trial(trial)


class _Run:
    """One search: what was best so far."""

    def __init__(self, search: _Search, space: Space, score: Score, of: int, quietly: bool) -> None:
        self._search, self._space, self._score = search, space, score
        self._of, self._quietly = of, quietly
        self._number = 0
        self._best_worth, self._best_score = float("-inf"), 0.0
        self.best = space.start

    async def worth(self, values: Values, *, at_least: bool = False) -> float | None:
        """The score less the penalty; the best values are kept, of equals the first, or the last with `at_least`.
        None where the search is to end."""
        score = await self._search.score(values, self._score)
        if score is None:
            return None
        worth = score - PENALTY * self._space.distance(values)
        if worth > self._best_worth or (at_least and worth == self._best_worth):
            self.best, self._best_worth, self._best_score = values, worth, score
        self._number += 1
        if not self._quietly:
            self._search.told(Trial(self._number, max(self._of, self._number), score, self._best_score))
        return worth

    async def put_back(self) -> None:
        """Try each moved value where it was, the least moved first: it stays there unless that is worth less."""
        moved = self._space.moved(self.best)
        self._of += len(moved)
        for name in moved:
            if await self.worth(sensible({**self.best, name: self._space.start[name]}), at_least=True) is None:
                return


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    """It says on stderr what it does, where nothing but we should speak."""
    logger = logging.getLogger("optuna")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


# Answers


@dataclass(frozen=True)
class _Both:
    """What both sets of questions came to with one set of parameters."""

    train: list[Answered]
    dev: list[Answered]


@dataclass(frozen=True)
class _Fit:
    verdict: Verdict
    kept: Parameters
    found: Parameters


@dataclass(frozen=True)
class _AnswersFit(_Fit):
    before: _Both
    after: _Both


async def _answers(
    replay: QuestionReplay,
    train: Sequence[Question],
    dev: Sequence[Question],
    search: _Search,
    start: Parameters,
    trials: int,
) -> _AnswersFit:
    weights = FittedWeights(*await replay.fitted_weights(train))
    space = Space(ANSWERS, start, weights if weights.differ(start) else None)

    async def ask(questions: Sequence[Question], parameters: Parameters) -> list[Answered]:
        return [await replay.answer(question, parameters, _SCORERS) for question in questions]

    async def score(values: Values) -> float:
        return objective([each.cells for each in await ask(train, space.parameters(values))])

    found = space.parameters(await search.best(space, score, trials))
    before = _Both(await ask(train, start), await ask(dev, start))
    after = _Both(await ask(train, found), await ask(dev, found)) if found != start else before
    verdict = _judged(before, after)
    if found == start:
        verdict = replace(verdict, reason=NOTHING_BETTER, interval=None)
    return _AnswersFit(verdict, found if verdict.kept else start, found, before, after)


_SCORERS = tuple(dict.fromkeys(BY_NAME[name].cells for name in OBJECTIVE))
NOTHING_BETTER = "nothing on train was better than what is in force"


def objective(scored: Sequence[Scored]) -> float:
    """The weighted mean of the metrics that any label of these questions bears on, 0–1. A figure that there is none
    of, such as the precision of no citation, counts 0."""
    applies = {
        name: weight
        for name, weight in OBJECTIVE.items()
        if any(_is_labelled(each.get(BY_NAME[name].cells)) for each in scored)
    }
    total = sum(weight * (figure(BY_NAME[name], scored) or 0.0) for name, weight in applies.items())
    return total / sum(applies.values()) if applies else 0.0


def _is_labelled(cells: Cells | None) -> bool:
    """Whether a label bears on it; what is found where nothing is wanted does not make it so."""
    return cells is not None and has_something(cells) and cells.get("wanted") != 0


def _judged(before: _Both, after: _Both) -> Verdict:
    ours, theirs = [each.cells for each in before.dev], [each.cells for each in after.dev]
    low, high = paired_interval(objective, ours, theirs) or (0.0, 0.0)
    return _verdict(
        (objective([each.cells for each in before.train]), objective([each.cells for each in after.train])),
        (objective(ours), objective(theirs)),
        (low, high),
    )


def _verdict(train: tuple[float, float], dev: tuple[float, float], interval: tuple[float, float]) -> Verdict:
    low, high = interval
    if low > 0:
        reason = "better on dev by more than the noise"
    elif high < 0:
        reason = "worse on dev"
    else:
        reason = "no better on dev than the noise"
    return Verdict(low > 0, reason, _rounded(train), _rounded(dev), _rounded(interval))


def _rounded(pair: tuple[float, float]) -> tuple[float, float]:
    return round(pair[0], 4), round(pair[1], 4)


def _figures(before: Sequence[Answered], after: Sequence[Answered]) -> dict[str, tuple[float | None, float | None]]:
    return {
        name: (
            figure(BY_NAME[name], [each.cells for each in before]),
            figure(BY_NAME[name], [each.cells for each in after]),
        )
        for name in OBJECTIVE
    }


# The confidence


async def _confidence(answers: _Both, search: _Search, start: Parameters) -> _Fit:
    train, dev = _bases(answers.train), _bases(answers.dev)
    if len(train) < LEAST or len({each.right for each in train}) == 1 or not dev:
        reason = f"{len(train)} answers of train claim something that labels call right or wrong: too few to fit to"
        return _Fit(Verdict(False, reason), start, start)
    space = Space(CONFIDENCE, start)

    async def score(values: Values) -> float:
        return 1 - fmean(_errors(train, _fitted(train, space.parameters(values)), space.parameters(values)))

    own = _Search(Trials(None, ""), search.seed, lambda trial: None, lambda: False)
    found = space.parameters(await own.best(space, score, CONFIDENCE_TRIALS, quietly=True))
    if found == start:
        return _Fit(Verdict(False, NOTHING_BETTER), start, start)
    before, after = _fitted(train, start), _fitted(train, found)
    train_before, train_after = _errors(train, before, start), _errors(train, after, found)
    dev_before, dev_after = _errors(dev, before, start), _errors(dev, after, found)
    gained = [one - other for one, other in zip(dev_before, dev_after, strict=True)]
    verdict = _verdict(
        (1 - fmean(train_before), 1 - fmean(train_after)),
        (1 - fmean(dev_before), 1 - fmean(dev_after)),
        mean_interval(gained) or (0.0, 0.0),
    )
    return _Fit(verdict, found if verdict.kept else start, found)


def _bases(answered: Sequence[Answered]) -> list[Basis]:
    return [each.basis for each in answered if each.basis]


def _scores(bases: Sequence[Basis], parameters: Parameters) -> list[float]:
    return [
        score_of(each.factors, each.share_answered, unresolved=each.unresolved, parameters=parameters)
        for each in bases
    ]


def _fitted(bases: Sequence[Basis], parameters: Parameters) -> Calibration:
    """The calibration of these parameters' scores to these answers."""
    slope, intercept = fit(
        [(score, each.right) for score, each in zip(_scores(bases, parameters), bases, strict=True)]
    )
    return Calibration(
        format=1,
        model_id=EXTRACTIVE,
        slope=slope,
        intercept=intercept,
        questions=len(bases),
        fitted_on="train",
        labels="",
        date="",
    )


def _errors(bases: Sequence[Basis], calibration: Calibration, parameters: Parameters) -> list[float]:
    """The squared error of each answer's confidence."""
    return [
        (calibrated(score, each.factors, calibration) - each.right) ** 2
        for score, each in zip(_scores(bases, parameters), bases, strict=True)
    ]
