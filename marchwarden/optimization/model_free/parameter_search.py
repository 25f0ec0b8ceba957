"""Fits the model-free researcher's parameters: searched on train by optuna's TPE, kept only where dev shows a gain.

There are two fits. Parameters that decide answers (thresholds, doubts, weights) are scored by `objective`, on
research over the frozen web from end to end. Parameters that decide only the confidence are scored by the Brier score
of train's answers, after a calibration to them. So the order of answers counts, and not the level of the confidence,
which `marchwarden calibrate` sets. Both fits begin at the parameters in force, subtract a penalty for the distance
from them, and undo changes that gain nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from marchwarden import __version__
from marchwarden.errors import EvaluationError, how_to_install
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.calibration_fit import LEAST, fit
from marchwarden.evaluation.runs.run import fingerprint, labels_fingerprint, pages_fingerprint
from marchwarden.evaluation.runs.runner import check_web
from marchwarden.evaluation.scoring.bootstrap import mean_interval, paired_interval
from marchwarden.evaluation.scoring.logistic import check_installed
from marchwarden.evaluation.scoring.metrics import BY_NAME, figure
from marchwarden.evaluation.scoring.objective import OBJECTIVE, objective
from marchwarden.evidence.confidence import calibrated, score_of
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

# Penalty on the objective where every value lies at the far end of its range; in between, in proportion. A guess.
PENALTY = 0.04
# Share of trials close to the start, before the sampler has learned anything. A guess.
NEIGHBOURS = 0.2
# Trials of a search of the confidence. A guess: each takes milliseconds, since no question is asked again.
CONFIDENCE_TRIALS = 200
# Trials of a search of answers, by default. A guess.
TRIALS = 100

Score: TypeAlias = Callable[[Values], Awaitable[float]]


@dataclass(frozen=True)
class Trial:
    """Progress of a search."""

    number: int
    of: int
    score: float
    best: float
    """Best score so far, 0–1, without the penalty for distance."""


@dataclass(frozen=True)
class Verdict:
    """Decision on found values, with their scores (0–1, more is better) beside those of the values in force."""

    kept: bool
    reason: str
    train: tuple[float, float] | None = None
    """Scores on train, before and after."""
    dev: tuple[float, float] | None = None
    """Scores on dev, before and after."""
    interval: tuple[float, float] | None = None
    """95 % paired-bootstrap interval, over questions, of the difference on dev."""


@dataclass(frozen=True)
class ParametersReport:
    parameters: Parameters
    """Parameters to go on with: those that were found where they are kept, else those in force."""
    changes: Changes
    """Numbers in `parameters` that differ from the start."""
    found: Changes
    """Numbers that differ from the start in the best parameters found, kept or not."""
    answers: Verdict
    confidence: Verdict
    figures: dict[str, tuple[float | None, float | None]]
    """Metrics of the objective on dev, before and with what was found for answers, kept or not."""
    trials: int
    stopped: bool
    """True where the search was ended before all trials were made."""
    seconds: float
    seed: int
    questions: tuple[int, int]
    """Numbers of questions in train and dev."""
    reads_by: str

    @property
    def kept(self) -> bool:
        return bool(self.changes)

    @property
    def decisive(self) -> Verdict:
        """Verdict for the whole search: that on answers, unless the confidence alone is kept."""
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

    `resume` is a file that keeps what was tried, so that a search that was ended goes on as though it had not been.
    `stop` is called before each trial; once it is true, the best parameters so far are judged.

    Raises EvaluationError where optuna is missing, a set is empty, or the questions are about another web;
    ConfigurationError where the frozen web is missing; StorageError. Cancellation passes through.
    """
    check_packages()
    if not train or not dev:
        raise EvaluationError("there are no questions to search on, or to judge by", hint="Name train and dev.")
    check_web([*train, *dev], settings)
    began = time.monotonic()
    async with open_replay(settings) as replay:
        # Everything but its values that a trial's score depends on.
        key = fingerprint(
            [
                labels_fingerprint(train),
                pages_fingerprint(settings.frozen_web),
                replay.reads_by,
                start.model_dump_json(),
                str(sorted(OBJECTIVE.items())),
                __version__,
            ]
        )
        search = _Search(Trials(resume, key), seed, on_trial, stop)
        answers = await _fit_answers(replay, train, dev, search, start, trials)
    kept = answers.after if answers.verdict.kept else answers.before
    confidence = await _fit_confidence(kept, search, answers.kept)
    before, after = ([each.cells for each in replayed.dev] for replayed in (answers.before, answers.after))
    values = answers.kept.model_copy(update={"confidence": confidence.kept.confidence})
    found = answers.found.model_copy(update={"confidence": confidence.found.confidence})
    return ParametersReport(
        parameters=values,
        changes=start.changes(values),
        found=start.changes(found),
        answers=answers.verdict,
        confidence=confidence.verdict,
        figures={name: (figure(BY_NAME[name], before), figure(BY_NAME[name], after)) for name in OBJECTIVE},
        trials=search.made,
        stopped=search.stopped,
        seconds=round(time.monotonic() - began, 1),
        seed=seed,
        questions=(len(train), len(dev)),
        reads_by=replay.reads_by,
    )


def check_packages() -> None:
    """Raise EvaluationError where a package of the extra `compile` is missing."""
    if find_spec("optuna") is None:
        raise EvaluationError("the search for parameters needs optuna", hint=how_to_install("compile"))
    check_installed("compile")


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
        """Return the values with the best score, less the penalty for their distance from the start.

        Values whose change gains nothing are put back where they were.
        """
        import optuna

        random = np.random.default_rng(self.seed)
        neighbours = max(1, int(NEIGHBOURS * trials))
        # Optuna logs to stderr what it does, where only our own messages belong.
        logger = logging.getLogger("optuna")
        level = logger.level
        logger.setLevel(logging.ERROR)
        try:
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
        finally:
            logger.setLevel(level)
        await run.put_back()
        return run.best

    async def score(self, values: Values, score: Score) -> float | None:
        """Return the score of the values; None where they would have to be tried, and the search is stopped."""
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
    """One search, with its best values so far."""

    def __init__(self, search: _Search, space: Space, score: Score, of: int, quietly: bool) -> None:
        self._search, self._space, self._score = search, space, score
        self._of, self._quietly = of, quietly
        self._number = 0
        self._best_worth, self._best_score = float("-inf"), 0.0
        self.best = space.start

    async def worth(self, values: Values, *, at_least: bool = False) -> float | None:
        """Return the score less the penalty; None where the search is to end.

        The best values are kept: of equals the first, or the last with `at_least`.
        """
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


# Answers


@dataclass(frozen=True)
class _Replayed:
    """Results of both sets of questions with one set of parameters."""

    train: list[Answered]
    dev: list[Answered]


@dataclass(frozen=True)
class _Fit:
    verdict: Verdict
    kept: Parameters
    found: Parameters


@dataclass(frozen=True)
class _AnswersFit(_Fit):
    before: _Replayed
    after: _Replayed


async def _fit_answers(
    replay: QuestionReplay,
    train: Sequence[Question],
    dev: Sequence[Question],
    search: _Search,
    start: Parameters,
    trials: int,
) -> _AnswersFit:
    weights = FittedWeights(await replay.fitted_weights(train))
    space = Space(ANSWERS, start, weights if weights.differ(start) else None)

    async def ask(questions: Sequence[Question], parameters: Parameters) -> list[Answered]:
        return [await replay.answer(question, parameters, _SCORERS) for question in questions]

    async def score(values: Values) -> float:
        return objective([each.cells for each in await ask(train, space.parameters(values))])

    found = space.parameters(await search.best(space, score, trials))
    before = _Replayed(await ask(train, start), await ask(dev, start))
    after = _Replayed(await ask(train, found), await ask(dev, found)) if found != start else before
    ours, theirs = [each.cells for each in before.dev], [each.cells for each in after.dev]
    low, high = paired_interval(objective, ours, theirs) or (0.0, 0.0)
    verdict = _verdict(
        (objective([each.cells for each in before.train]), objective([each.cells for each in after.train])),
        (objective(ours), objective(theirs)),
        (low, high),
    )
    if found == start:
        verdict = replace(verdict, reason=NOTHING_BETTER, interval=None)
    return _AnswersFit(verdict, found if verdict.kept else start, found, before, after)


_SCORERS = tuple(dict.fromkeys(BY_NAME[name].cells for name in OBJECTIVE))
NOTHING_BETTER = "nothing on train was better than what is in force"


def _verdict(train: tuple[float, float], dev: tuple[float, float], interval: tuple[float, float]) -> Verdict:
    low, high = interval
    if low > 0:
        reason = "better on dev by more than the noise"
    elif high < 0:
        reason = "worse on dev"
    else:
        reason = "no better on dev than the noise"
    rounded = ((round(one, 4), round(other, 4)) for one, other in (train, dev, interval))
    return Verdict(low > 0, reason, *rounded)


# The confidence


async def _fit_confidence(answers: _Replayed, search: _Search, start: Parameters) -> _Fit:
    train, dev = ([each.basis for each in part if each.basis] for part in (answers.train, answers.dev))
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


def _scores(bases: Sequence[Basis], parameters: Parameters) -> list[float]:
    return [
        score_of(each.factors, each.share_answered, unresolved=each.unresolved, parameters=parameters)
        for each in bases
    ]


def _fitted(bases: Sequence[Basis], parameters: Parameters) -> Calibration:
    """Return the calibration of these parameters' scores to these answers."""
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
    """Return the squared error of each answer's confidence."""
    return [
        (calibrated(score, each.factors, calibration) - each.right) ** 2
        for score, each in zip(_scores(bases, parameters), bases, strict=True)
    ]
