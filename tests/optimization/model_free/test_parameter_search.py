"""The search for the model-free parameters: what it finds on train, what dev keeps of it, how it stops and goes on."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import anyio
import numpy as np
import pytest

from marchwarden.agent.research import research
from marchwarden.errors import ConfigurationError, EvaluationError, StorageError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.optimization.examples.labelled_web import labelled_web
from marchwarden.optimization.examples.ledgers import filled
from marchwarden.optimization.model_free.parameter_search import (
    NOTHING_BETTER,
    ParametersReport,
    Trial,
    compile_parameters,
    objective,
)
from marchwarden.optimization.model_free.parameter_space import (
    ANSWERS,
    CONFIDENCE,
    WEIGHTS,
    FittedWeights,
    Space,
    sensible,
)
from marchwarden.optimization.model_free.question_replay import open_replay
from marchwarden.optimization.model_free.relevance_fit import fit_weights
from marchwarden.optimization.model_free.trials import Trials
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.settings import Settings, load_settings
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio

BRIDGES = (
    "Halden", "Tista", "Moss", "Vestby", "Enebakk", "Hurdal", "Nannestad", "Gjerdrum", "Lunner", "Jevnaker",
    "Hadeland", "Toten", "Gjovik", "Ringsaker", "Stange", "Elverum", "Trysil", "Rendalen", "Tynset", "Alvdal",
    "Folldal", "Dovre", "Lesja", "Lom", "Vaga", "Nord", "Ringebu", "Oyer", "Gausdal", "Etnedal",
    "Valdres", "Vang", "Hemsedal", "Gol", "Nesbyen", "Sigdal", "Krodsherad", "Modum", "Lier", "Drammen",
    "Hole", "Asker", "Nesodden", "Frogn", "Rade", "Sarpsborg", "Marker", "Skiptvet",
)  # fmt: skip
STRICT = DEFAULT.with_values({"extract.relevant": 1.0, "extract.together": 1.0})
"""A threshold that no passage reaches."""


def metres(number: int) -> str:
    return f"{120 + 7 * number} metres"


def address(number: int) -> str:
    name = BRIDGES[number].lower()
    return f"https://{name}-bridges.wordpress.com/span" if number % 2 else f"https://www.{name}.gov/span"


def says(number: int) -> str:
    return f"The {BRIDGES[number]} Bridge is {metres(number)} long."


def how_long(number: int, answer: str | None = None, split: str = "train") -> Question:
    """How long a bridge is: as its page says, or otherwise."""
    right = [{"url": address(number), "quote": says(number)}] if answer is None else []
    nugget = {"id": "n", "text": "its length", "answers": [answer or metres(number)], "evidence": right}
    return Question.model_validate(
        {
            "id": f"q{number}",
            "question": f"How long is the {BRIDGES[number]} Bridge?",
            "depth": "shallow",
            "split": split,
            "tags": ["one-fact"],
            "nuggets": [nugget],
        }
    )


def unanswerable(number: int) -> Question:
    return how_long(number).model_copy(
        update={
            "id": f"u{number}",
            "question": f"How long is the {BRIDGES[number]} Bridge in the winter of 1856?",
            "tags": ["unanswerable"],
            "nuggets": [],
        }
    )


TRAIN = [how_long(number) for number in range(4)]
DEV = [how_long(number, split="dev") for number in range(8, 14)]


@pytest.fixture
def settings() -> Settings:
    return settings_in(Path.cwd())


def settings_in(folder: Path, bridges: int = 14) -> Settings:
    """A web of the first bridges: those of `TRAIN` and `DEV`, unless a test asks of more."""
    pages = {
        address(number): article(f"{name} Bridge", says(number), "It was painted green by Berg and his sons.")
        for number, name in enumerate(BRIDGES[:bridges])
    }
    return load_settings(source="snapshot", web=make_web(folder / "web", pages), semantic=False, program="none")


async def compiled(settings: Settings, **given: Any) -> ParametersReport:
    train: Sequence[Question] = given.pop("train", TRAIN)
    dev: Sequence[Question] = given.pop("dev", DEV)
    return await compile_parameters(train, dev, settings, **{"trials": 12, "start": STRICT, **given})


class Searched(NamedTuple):
    report: ParametersReport
    told: list[Trial]
    lines: list[str]
    """Of the file of its trials, with their ends."""


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Searched:
    """A search, what it told, and what it wrote: two CPU seconds, once."""
    told: list[Trial] = []
    folder = tmp_path_factory.mktemp("searched")
    own = settings_in(folder).model_copy(update={"cache_dir": cache_dir})
    report = anyio.run(partial(compiled, own, on_trial=told.append, resume=folder / "trials.jsonl"))
    return Searched(report, told, (folder / "trials.jsonl").read_text().splitlines(keepends=True))


def test_a_threshold_that_lets_nothing_through_is_lowered_and_kept(searched: Searched) -> None:
    report, told, _ = searched
    before, after = report.changes["extract.relevant"]
    assert before == 1.0
    assert after < 1.0
    assert report.answers.kept
    assert report.answers.interval is not None
    assert report.answers.interval[0] > 0
    assert report.figures["nugget_recall"] == (0.0, 1.0)
    assert report.parameters == STRICT.with_values({name: new for name, (_, new) in report.changes.items()})
    assert report.trials == len(told)
    assert [each.best for each in told] == sorted(each.best for each in told)
    assert told[0].number == 1
    assert told[-1].number == told[-1].of


def test_only_what_brings_something_is_changed(searched: Searched) -> None:
    assert set(searched.report.changes) == {"extract.relevant"}


async def test_what_is_right_already_is_left_as_it_is(settings: Settings) -> None:
    report = await compiled(settings, start=DEFAULT, trials=6)
    assert report.parameters == DEFAULT
    assert not report.kept
    assert report.answers.reason == NOTHING_BETTER
    assert report.answers.dev == (1.0, 1.0)
    assert report.decisive is report.answers


async def test_what_helps_on_train_and_not_on_dev_is_not_kept(settings: Settings) -> None:
    report = await compiled(settings, trials=6, dev=[unanswerable(number) for number in range(8, 14)])
    assert report.found
    assert report.parameters == STRICT
    assert not report.answers.kept
    assert report.answers.train is not None
    assert report.answers.train[1] > report.answers.train[0]
    assert "dev" in report.answers.reason


@pytest.mark.slow  # A search that goes on proves it, too: it comes to what the whole one came to.
async def test_a_seed_finds_the_same_again(settings: Settings) -> None:
    first, again = await compiled(settings, seed=5, trials=4), await compiled(settings, seed=5, trials=4)
    assert replace(first, seconds=0.0) == replace(again, seconds=0.0)


async def test_a_search_that_is_ended_leaves_the_trials_that_it_made(
    settings: Settings, tmp_path: Path, searched: Searched
) -> None:
    file = tmp_path / "runs" / "trials.jsonl"
    told: list[Trial] = []
    part = await compiled(settings, resume=file, on_trial=told.append, stop=lambda: len(told) >= 5)
    assert part.stopped
    assert part.trials == 5
    assert file.read_text().splitlines(keepends=True) == searched.lines[:5]


async def test_a_search_that_was_ended_goes_on_as_though_it_had_not_been(
    settings: Settings, tmp_path: Path, searched: Searched
) -> None:
    file = tmp_path / "trials.jsonl"
    file.write_text("".join(searched.lines[:5])[:-9])  # SIGKILL in the middle of a write leaves a part
    run: list[str] = []

    def counted() -> bool:
        run.append("a trial")
        return False

    rest = await compiled(settings, resume=file, stop=counted)
    assert replace(rest, seconds=0.0) == replace(searched.report, seconds=0.0)
    assert len(run) == len(set(file.read_text().splitlines())) - 5


async def test_what_was_tried_with_other_labels_is_tried_again(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    await compiled(settings, resume=file, trials=2)
    lines = len(file.read_text().splitlines())
    await compiled(settings, resume=file, trials=2, train=TRAIN[:2])
    assert len(file.read_text().splitlines()) > lines


async def test_a_search_that_is_ended_at_once_finds_nothing(settings: Settings) -> None:
    report = await compiled(settings, stop=lambda: True)
    assert report.stopped
    assert report.parameters == STRICT


async def test_the_confidence_learns_which_sources_are_wrong_and_dev_keeps_it(tmp_path: Path) -> None:
    def asked(number: int) -> Question:
        return how_long(number, "999 metres" if number % 2 else None)

    blind = DEFAULT.with_values({"confidence.authority.low": 0.0, "confidence.authority.high": 0.0})
    report = await compiled(
        settings_in(tmp_path, bridges=48),
        start=blind,
        trials=1,
        train=[asked(number) for number in range(24)],
        dev=[asked(number) for number in range(24, 48)],
    )
    assert report.confidence.kept
    assert report.decisive is report.confidence
    assert report.confidence.dev is not None
    assert report.confidence.dev[1] > report.confidence.dev[0] + 0.1
    trust = report.parameters.confidence.authority
    assert trust.low < trust.high
    assert all(name.startswith("confidence.") for name in report.changes)


async def test_few_answers_teach_no_confidence(settings: Settings) -> None:
    report = await compiled(settings, start=DEFAULT, trials=1)
    assert not report.confidence.kept
    assert report.confidence.reason.startswith("4 answers of train")


def test_a_report_is_json(searched: Searched) -> None:
    report = searched.report
    told = report.as_json()
    assert Parameters.model_validate(told["parameters"]) == report.parameters
    assert told["questions"] == (4, 6)
    assert told["reads_by"] == "words"


async def test_without_questions_or_with_those_of_another_web_there_is_no_search(
    settings: Settings, tmp_path: Path
) -> None:
    with pytest.raises(EvaluationError, match="no questions"):
        await compiled(settings, dev=[])
    other = make_web(tmp_path / "other", {"https://a.org/": article("Fish", "Pike live in the river.")})
    with pytest.raises(EvaluationError, match="not in"):
        await compiled(settings.model_copy(update={"web": other}))
    with pytest.raises(ConfigurationError):
        await compiled(settings.model_copy(update={"web": tmp_path / "nowhere"}))


async def test_without_optuna_there_is_no_search(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)  # as an interpreter sees a package that is not installed
    with pytest.raises(EvaluationError) as refused:
        await compiled(settings)
    assert ".[compile]" in (refused.value.hint or "")


async def test_a_file_of_trials_that_can_not_be_written_ends_the_search(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError):
        await compiled(settings, resume=tmp_path / "file" / "trials.jsonl")
    with pytest.raises(StorageError):
        await compiled(settings, resume=tmp_path)


# What it stands on


async def test_a_replay_comes_to_what_a_research_comes_to_again_and_again(settings: Settings) -> None:
    class Nowhere:
        def record(self, event: Any) -> None:
            pass

        def progress(self, message: str) -> None:
            pass

    asked = [*TRAIN[:3], unanswerable(5)]
    async with open_replay(settings) as replay:
        first = [await replay.answer(question, DEFAULT) for question in asked]
        await replay.answer(asked[0], STRICT)
        assert [await replay.answer(question, DEFAULT) for question in asked] == first
    for question, answered in zip(asked, first, strict=True):
        result = await research(question.request, settings=settings, recorder=Nowhere(), trace_id=str(uuid4()))
        if answered.basis:
            assert answered.basis.factors == result.confidence_factors
        told = answered.cells["nugget_recall"]
        assert bool(told and told["hits"]) == (
            bool(question.nuggets) and metres(asked.index(question)) in result.answer
        )


def test_the_objective_counts_what_is_missing_as_nothing_and_leaves_out_what_no_label_is_about() -> None:
    found = {"nugget_recall": {"hits": 1, "of": 1}, "evidence_precision": {"hits": 0, "of": 0}}
    assert objective([found]) == pytest.approx(3 / 5)
    assert objective([{"nugget_recall": {"hits": 1, "of": 2}}]) == 0.5
    assert objective([]) == 0.0


def test_a_space_reaches_to_where_it_begins_and_stays_within_the_bounds_of_parameters() -> None:
    space = Space((*ANSWERS, *CONFIDENCE), STRICT)
    assert next(each.high for each in space.ranges if each.name == "extract.relevant") == 1.0
    assert space.parameters(space.start) == STRICT
    assert space.distance(space.start) == 0
    random = np.random.default_rng(1)
    for _ in range(200):
        values = sensible(space.neighbour(random))
        parameters = space.parameters(values)
        assert 0 < space.distance(values) < 1 or values == space.start
        base = [parameters.confidence.base(sources) for sources in range(1, 6)]
        assert base == sorted(base)
    for each in space.ranges:
        for end in (each.low, each.high):
            space.parameters({**space.start, each.name: each.rounded(end)})


def test_fitted_weights_are_tried_where_they_say_something_else() -> None:
    old = DEFAULT.relevance
    same = FittedWeights({"by_words": old.by_words.model_copy(update={"words": old.by_words.words + 0.001})})
    other = FittedWeights({"by_words": old.by_words.model_copy(update={"words": 1.0})})
    assert not FittedWeights({}).differ(DEFAULT)
    assert not same.differ(DEFAULT)
    assert other.differ(DEFAULT)
    space = Space(ANSWERS, DEFAULT, other)
    fitted = space.parameters({**space.start, WEIGHTS: 1})
    assert DEFAULT.changes(fitted) == {"relevance.by_words.words": (old.by_words.words, 1.0)}
    assert space.parameters(space.start) == DEFAULT


async def test_relevance_is_fitted_to_passages_that_answer(settings: Settings) -> None:
    async with open_replay(settings) as replay:
        fitted = await replay.fitted_weights(TRAIN)
    assert sorted(fitted) == ["by_words", "ranking_by_words"]
    assert all(math.isfinite(value) for weights in fitted.values() for value in weights.model_dump().values())
    assert fitted["ranking_by_words"].words > 0
    assert fit_weights([]) == {}


def test_trials_are_remembered_in_a_file_and_told_apart_by_their_key(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    Trials(file, "a").add({"extract.relevant": 0.5}, 0.25)
    file.write_text(file.read_text() + '{"key": "a", "values"')
    Trials(file, "a").add({"extract.relevant": 0.6}, 0.5)
    again = Trials(file, "a")
    assert again.score({"extract.relevant": 0.5}) == 0.25
    assert again.score({"extract.relevant": 0.6}) == 0.5
    assert again.score({"extract.relevant": 0.7}) is None
    assert Trials(file, "b").score({"extract.relevant": 0.5}) is None


# What stage sets make of a program's parameters


async def test_stage_sets_are_filled_by_the_parameters_in_force(settings: Settings) -> None:
    async with labelled_web(settings) as web:
        assert web.parameters == DEFAULT
        web.parameters = DEFAULT.with_values({"relevance.by_words.bias": -30.0})
        state = await filled(TRAIN[0], web)
    assert [excerpt.relevance for excerpt in state.ledger.excerpts if excerpt.relevance > 0.01] == []
    assert state.ledger.excerpts
